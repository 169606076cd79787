"""Which names of torch move and describe data, which compute, and how one name is spelt however it was reached.

The lists say what is *not* framework compute; everything else of torch that `forward` calls is. The other way round, each new
torch function would be a way past the rule.
"""


def words(text: str) -> frozenset[str]:
    """The set of words in a text."""
    return frozenset(text.split())


# Names of modules that many other modules expose as attributes: `torch.utils.data.os.system` is `os.system`.
_EXPOSED = words(
    """
    builtins ctypes gc importlib inspect io multiprocessing os pathlib pickle shutil signal socket subprocess sys tempfile
    threading time traceback types
    """
)
_CLOSED = words("? triton tilelang cutlass ctypes")  # whose attributes of such a name are their own
_SAME = (
    ("builtins.", ""),
    ("torch.nn.modules.module.", "torch.nn."),
    ("torch.nn.parameter.", "torch.nn."),
    ("torch._tensor.", "torch."),
    ("torch.functional.", "torch."),
    ("torch._C._VariableFunctions.", "torch."),
    ("torch._VF.", "torch."),
    ("torch._C._nn.", "torch.nn.functional."),
    ("torch.cuda.streams.", "torch.cuda."),
    ("torch.cuda.graphs.", "torch.cuda."),
    ("triton.language.core.", "triton.language."),
    ("posix.", "os."),
    ("os.posixpath.", "os.path."),
    ("_socket.", "socket."),
)
MAX_PARTS = 10

# torch.<name>: making, viewing, moving and describing tensors; also what reads a tensor's shape or type.
PLUMBING = words(
    """
    empty empty_like empty_strided empty_permuted zeros zeros_like ones ones_like full full_like tensor as_tensor
    from_numpy scalar_tensor arange from_dlpack from_blob frombuffer asarray as_strided reshape permute transpose t
    swapaxes swapdims movedim moveaxis squeeze unsqueeze flatten unflatten ravel view_as_real view_as_complex broadcast_to
    broadcast_tensors broadcast_shapes chunk split tensor_split unbind narrow select atleast_1d atleast_2d atleast_3d cat
    concat concatenate stack hstack vstack dstack clone detach tile diagonal expand_copy adjoint numel equal is_tensor
    is_floating_point is_complex is_nonzero is_same_size is_storage result_type promote_types can_cast finfo iinfo device
    dtype layout memory_format Size Generator is_grad_enabled is_inference_mode_enabled get_default_dtype
    get_default_device get_device typename no_grad enable_grad inference_mode set_grad_enabled is_autocast_enabled randint
    seed initial_seed default_generator get_rng_state Tensor FloatTensor HalfTensor IntTensor LongTensor Stream Event
    manual_seed set_rng_state set_printoptions is_deterministic are_deterministic_algorithms_enabled
    get_float32_matmul_precision get_num_threads get_autocast_dtype get_autocast_gpu_dtype
    """
)

# Dotted beginnings below torch that hold no compute, or that another rule watches.
PLUMBING_PREFIXES = (
    *("torch.cuda.", "torch.hip.", "torch.xpu.", "torch.mtia.", "torch.accelerator.", "torch.version.", "torch.backends."),
    *("torch.autograd.", "torch.utils.", "torch.library.", "torch.profiler.", "torch.random.", "torch.types.", "torch.testing."),
    *("torch.nn.Parameter", "torch.nn.Module", "torch.nn.Buffer", "torch.nn.Identity", "torch.nn.Flatten", "torch.nn.Unflatten"),
    *("torch.nn.functional.pad", "torch._assert", "torch._check", "torch.ops."),
    *("torch.compiler.", "torch.compile", "torch.jit.", "torch._dynamo.", "torch._inductor.", "torch.export.", "torch.fx."),
    *("torch.hub.", "torch.load", "torch.save", "torch.from_file", "torch.package.", "torch.classes."),
    *("torch.multiprocessing.", "torch.distributed.", "torch.nested."),
    *("torch.set_", "torch.autocast", "torch.amp.", "torch.overrides.", "torch.use_deterministic_algorithms"),
)

# Tensor.<name>: the same for methods, a trailing underscore left out.
METHOD_PLUMBING = words(
    """
    as_strided as_subclass reshape reshape_as permute transpose t swapaxes swapdims movedim moveaxis squeeze unsqueeze
    flatten unflatten ravel view view_as expand expand_as repeat tile broadcast_to chunk split split_with_sizes
    tensor_split unbind narrow select diagonal unfold contiguous clone detach to type type_as float double half bfloat16
    int long short bool byte char cpu cuda copy fill zero new_empty new_empty_strided new_zeros new_ones new_full
    new_tensor resize resize_as set requires_grad retain_grad pin_memory share_memory record_stream data adjoint real imag
    resolve_conj resolve_neg index_copy is_shared untyped_storage storage numpy cfloat cdouble coalesce to_dense
    register_hook register_post_accumulate_grad_hook backward rename refine_names dim_order size stride numel nelement dim
    ndimension data_ptr storage_offset element_size get_device item tolist is_contiguous is_pinned is_set_to
    is_floating_point is_complex is_signed is_coalesced is_inference is_same_size is_nonzero nbytes itemsize storage_type
    sym_size tofile astype const_data_ptr mutable_data_ptr tobytes apply_settings has_names names align_to
    """
)
# Methods of those that answer with numbers, so that arithmetic on what they return is no arithmetic on tensors.
DESCRIBING = words(
    """
    size stride numel nelement dim ndimension data_ptr storage_offset element_size get_device item tolist is_contiguous
    is_pinned
    is_set_to is_floating_point is_complex is_signed is_coalesced is_inference is_same_size is_nonzero is_shared dim_order
    tobytes
    """
)
SAMPLING = frozenset({"data_ptr", "item", "tolist", "tobytes"})  # of an input: something to recognise it by
TENSOR_FACTS = words("shape ndim dtype device layout is_cuda is_cpu requires_grad itemsize nbytes names is_leaf is_sparse ctypes")
TENSOR_VIEWS = frozenset({"T", "mT", "H", "mH", "data", "grad", "real", "imag"})

# Compute by name alone: for a reference that is no call, for C++, and for a method whose receiver nobody knows.
COMPUTE = words(
    """
    mm bmm matmul addmm addbmm baddbmm addmv mv dot vdot inner outer ger addr einsum tensordot linear bilinear kron
    chain_matmul multi_dot conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d convolution
    _convolution cudnn_convolution miopen_convolution conv_tbc unfold fold im2col col2im relu relu6 leaky_relu prelu rrelu
    elu selu celu gelu silu mish swish sigmoid hardsigmoid hardswish hardtanh tanh logsigmoid softplus softsign tanhshrink
    softshrink hardshrink threshold glu softmax log_softmax softmin gumbel_softmax layer_norm rms_norm batch_norm
    native_batch_norm native_layer_norm group_norm instance_norm local_response_norm normalize max_pool1d max_pool2d
    max_pool3d avg_pool1d avg_pool2d avg_pool3d adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d
    adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d lp_pool1d lp_pool2d interpolate upsample grid_sample
    scaled_dot_product_attention _scaled_dot_product_flash_attention multi_head_attention_forward embedding embedding_bag
    cross_entropy nll_loss mse_loss l1_loss smooth_l1_loss huber_loss kl_div binary_cross_entropy
    binary_cross_entropy_with_logits hinge_embedding_loss margin_ranking_loss triplet_margin_loss cosine_embedding_loss
    cosine_similarity pairwise_distance cdist sum nansum mean nanmean prod std var std_mean var_mean median mode max min
    amax amin aminmax argmax argmin all any norm logsumexp cumsum cumprod cummax cummin logcumsumexp trace count_nonzero
    add sub subtract rsub mul multiply div divide true_divide floor_divide fmod remainder pow square sqrt rsqrt exp exp2
    expm1 log log2 log10 log1p abs absolute neg negative sign reciprocal sin cos tan asin acos atan atan2 sinh cosh erf
    erfc erfinv lgamma digamma ceil floor round trunc frac clamp clip lerp addcmul addcdiv maximum minimum fmax fmin where
    hypot logit logaddexp sort topk argsort kthvalue unique gather scatter scatter_add scatter_reduce index_select
    index_add index_fill masked_fill masked_select masked_scatter take take_along_dim tril triu flip roll rot90 cross
    dropout alpha_dropout bernoulli multinomial repeat_interleave bincount histc bucketize searchsorted one_hot svd qr
    cholesky inverse solve lstsq eigh slogdet det
    """
)  # fmt: skip
TENSOR_WORDS = METHOD_PLUMBING | COMPUTE | TENSOR_FACTS | TENSOR_VIEWS | {"version"}
# Of those, the ones that hardly anything but a tensor (or torch) has as a method.
DISTINCTIVE = words(
    """
    mm bmm matmul addmm addbmm baddbmm addmv mv softmax log_softmax logsumexp relu cumsum cumprod amax amin masked_fill
    index_select scatter_add sigmoid clamp rsqrt
    """
)
FRAMEWORK_OPS = words(  # namespaces of torch.ops that are not the candidate's own
    "aten prim prims quantized _quantized mkldnn mkl xnnpack inductor higher_order onednn fbgemm torchvision torchao symm_mem"
)
LOW_PRECISION = {  # dtype name: how many bits of the significand survive
    "float16": 11, "half": 11, "bfloat16": 8, "float8_e4m3fn": 4, "float8_e5m2": 3, "float8_e4m3fnuz": 4, "float8_e5m2fnuz": 3,
    "float8e4nv": 4, "float8e5": 3, "float8e4b8": 4, "float8e5b16": 3, "float8e4b15": 4,
}  # fmt: skip


def canonical(name: str) -> str:
    """One spelling for a dotted name, whichever module it was reached through; at most MAX_PARTS parts."""
    parts = name.split(".")[:MAX_PARTS]
    for place in range(len(parts) - 1, 0, -1):
        if parts[place] in _EXPOSED and parts[place] != parts[place - 1] and parts[0] not in _CLOSED:
            parts = parts[place:]
            break
    if parts[0] == "torch" and parts[1:3] == ["nn", "modules"] and len(parts) > 4:
        parts = ["torch", "nn", *parts[4:]]
    name = ".".join(parts)
    for prefix, spelling in _SAME:
        if name.startswith(prefix):
            return spelling + name[len(prefix) :]
    return name


def is_torch_compute(name: str) -> bool:
    """Whether calling this dotted name makes torch do the work: any torch function or method that is no plumbing."""
    if name.startswith("torch.Tensor."):
        return name.rsplit(".", 1)[1].strip("_") not in METHOD_PLUMBING
    if name.startswith("torch.ops."):
        return name.split(".")[2] in FRAMEWORK_OPS and not set(name.split(".")[3:]) & PLUMBING
    parts = name.split(".")
    if parts[0] != "torch" or len(parts) < 2 or (parts[1] == "nn" and parts[-1] in _MODULE_PLUMBING):
        return False
    return parts[1] not in PLUMBING and not name.startswith(PLUMBING_PREFIXES)


# What an nn.Module has besides what its author gives it: a name that is not among these was set in a way that nobody follows.
MODULE_METHODS = words(
    """
    forward __call__ _call_impl compile half bfloat16 float double to type cuda cpu eval train apply requires_grad_ zero_grad
    register_buffer register_parameter register_module add_module register_forward_hook register_forward_pre_hook parameters
    named_parameters buffers named_buffers children named_children modules named_modules state_dict load_state_dict
    get_parameter get_buffer get_submodule __init__ __setattr__
    """
)
MODULE_CHAINED = words("half bfloat16 float double to type cuda cpu eval train apply requires_grad_")  # they return self

_MODULE_PLUMBING = MODULE_METHODS - {"forward", "__call__", "_call_impl"}


def is_layer(name: str) -> bool:
    """Whether a dotted name is a class of torch.nn that computes when it is called."""
    last = name.rsplit(".", 1)[-1]
    return name.startswith("torch.nn.") and last[:1].isupper() and last not in {"Parameter", "Buffer", "Module"}
