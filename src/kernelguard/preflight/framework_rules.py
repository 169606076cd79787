"""Rules about who does the work: the reference, the framework, its compilers, or a vendor's library."""

import re
from collections.abc import Iterator

from kernelguard.preflight.kinds import Tag, names, only
from kernelguard.preflight.rule import INFO, Rule, Sighting, Watch, sighted
from kernelguard.preflight.source import Facts
from kernelguard.preflight.uses import Role, Use
from kernelguard.preflight.vocabulary import COMPUTE, DISTINCTIVE, METHOD_PLUMBING, PLUMBING, is_torch_compute, words
from kernelguard.terms.policy import Policy

VENDOR_LIBRARY = re.compile(
    r"(?:cublas|cudnn|cufft|cusolver|cusparse|cutensor|curand|nvinfer|nvjitlink|npp|miopen|rocblas|hipblas|rocfft|mkl|openblas|"
    r"cblas|dnnl|onednn|nccl)",
    re.IGNORECASE,
)
_LINKED = re.compile(
    r"^(?:-l|(?:.*/)?lib)(?:cublas|cudnn|cufft|cusolver|cusparse|cutensor|nvinfer|miopen|rocblas|hipblas|mkl|openblas|dnnl)"
)
_NATIVE_CALL = re.compile(r"\b(?:at|torch|aten)((?:::\w+)+)\s*(?:<[^;(){}]{0,80}>\s*)?\(")
_NATIVE_ADDRESS = re.compile(r"&\s*(?:at|torch|aten)((?:::\w+)+)\b")
_NATIVE_METHOD = re.compile(r"\.\s*([a-z_]\w*)\s*\(")
_NATIVE_TENSOR = re.compile(
    r"\b(?:(?:torch|at)::)?Tensor\s*(?:const\s*)?&?&?\s*(\w+)\s*[=;,)]|\bauto\s*&?\s*(\w+)\s*=\s*(?:torch|at)::\w"
)
_NATIVE_USING = re.compile(r"\busing\s+namespace\s+(?:at|torch)\s*;")
_OWN_SPACES = words("cuda hip autograd detail impl indexing headeronly stable python vec data Library utils mps xpu")
_NATIVE_PLUMBING = PLUMBING | words(
    """
    dtype device TensorOptions from_blob check acc_type opmath_type ceil_div get_generator_or_default parallel_for
    parallel_reduce get_num_threads get_thread_num set_num_threads globalContext init_num_threads native_parallel divup
    infer_size expand_inplace borrow_from_optional_tensor checkDim checkSameGPU wrap_pybind_function class_ optional
    scalar_type toString typeMetaToScalarType launch elementSize is_available can_use_32bit_index_math
    """
)
_NATIVE_METHOD_PLUMBING = METHOD_PLUMBING | words(
    """
    packed_accessor packed_accessor32 packed_accessor64 accessor options sizes strides scalar_type dtype device is_cuda
    is_cpu defined unsafeGetTensorImpl key_set sym_sizes sym_numel data_ptr index_put reset use_count get_device
    mutable_data const_data is_sparse layout has_storage
    """
)


def _reference(facts: Facts, _policy: Policy) -> Iterator[Sighting]:
    """The problem's own Model: derived from, renamed, or made and called."""
    entry = facts.program.scopes[facts.entries[0]].node if facts.entries else facts.program.scopes[0].node
    if "Model" in facts.ancestors:
        yield Sighting(construct="Model", place=facts.place(entry))
    for use in facts.uses:
        if use.last == "Model" and use.role is not Role.IMPORT and (use.name == "Model" or use.role is Role.BASE):
            yield sighted(facts, use)


def _fallback(facts: Facts, _policy: Policy) -> Iterator[Sighting]:
    """Compute that torch or numpy does while forward runs, and at:: calls in the native code that forward reaches."""
    for entry in facts.entries:
        for name in (*names(facts.forward, Tag.NAME), *(f"{layer}.__call__" for layer in names(facts.forward, Tag.LAYER))):
            if is_torch_compute(name):
                yield Sighting(construct=name, place=facts.place(facts.program.scopes[entry].node))
    for use in facts.uses:
        if use.on_host_in_forward and _computes(use):
            yield sighted(facts, use)
    yield from _native_fallback(facts)


def _computes(use: Use) -> bool:
    word = use.last.strip("_")
    if use.name.startswith("?."):
        return use.role is Role.CALL and word in DISTINCTIVE
    if use.name.startswith("operator."):
        return word.removeprefix("i") == "matmul" or (word in COMPUTE and bool(only(use.given.kinds, Tag.TENSOR)))
    if use.name.startswith(("numpy.", "scipy.")):
        return use.role is Role.CALL and word in COMPUTE and bool(only(use.given.kinds, Tag.TENSOR))
    called = use.role is Role.CALL or (use.role is Role.READ and word in COMPUTE)
    return called and is_torch_compute(use.name)


def _native_fallback(facts: Facts) -> Iterator[Sighting]:
    for region in facts.reached_regions:
        tensors = {name for match in _NATIVE_TENSOR.finditer(region.code) for name in match.groups() if name}
        bare = bool(_NATIVE_USING.search(region.code))
        for pattern in (_NATIVE_CALL, _NATIVE_ADDRESS):
            for match in pattern.finditer(region.code):
                if _is_native_compute(match.group(1).split("::")[1:]):
                    yield Sighting(construct=match.group().rstrip("(< "), place=facts.place_in(region, match.start()))
        for match in re.finditer(r"(\w+|\))\s*\.\s*([a-z_]\w*)\s*\(|(?<![\w.>:])([a-z]\w*)\s*\(", region.code):
            receiver, method, function = match.groups()
            known = receiver in tensors and method.strip("_") not in _NATIVE_METHOD_PLUMBING and method.strip("_") in COMPUTE
            if known or (method and method.strip("_") in DISTINCTIVE) or (bare and function and function.strip("_") in COMPUTE):
                yield Sighting(construct=match.group().rstrip("( "), place=facts.place_in(region, match.start()))


def _is_native_compute(path: list[str]) -> bool:
    """Whether `at::<path>` computes: it is neither plumbing nor of a namespace that holds no operators."""
    if path[0] == "_ops":
        return len(path) > 1 and path[1].strip("_") not in PLUMBING
    if path[0] == "nn":
        return True
    last = path[-1].removesuffix("_out").strip("_")
    if set(path) & _OWN_SPACES or last[:1].isupper() or last.endswith("_t") or (last.startswith("k") and last[1:2].isupper()):
        return False
    return last not in _NATIVE_PLUMBING and (last in COMPUTE or len(path) == 1 or path[0] == "native")


def _vendor(facts: Facts, policy: Policy) -> Iterator[Sighting]:
    """Libraries of a vendor, by import, by call in reached native code, or by link flag."""
    yield from _VENDOR(facts, policy)
    for extension in facts.extensions:
        for option in extension.options:
            if _LINKED.match(option.value):
                yield Sighting(construct=option.value[:80], place=facts.place(option.node))


_VENDOR = Watch(
    names=words(
        """
        flash_attn xformers apex transformer_engine bitsandbytes vllm sgl_kernel flashinfer liger_kernel jax tensorflow
        onnxruntime tensorrt torch_tensorrt cudnn nvmath torchvision torchaudio torchao deep_gemm triton_kernels
        cutlass.op cutlass_cppgen torch.cuda.current_blas_handle torch._C._cuda_getCurrentBlasHandle onednn mkl
        """
    ),
    reached=re.compile(
        r"\b(?:cublas|cudnn|cufft|cusolver|cusparse|cutensor|nvinfer|miopen|rocblas|hipblas|rocfft|cblas|mkl|dnnl)\w*\s*(?:::\s*\w+\s*)*\(|"
        r"\bcub::Device\w+|\bthrust::(?!device_ptr|raw_pointer_cast|device_pointer_cast)\w+\s*\(|\bgetCurrentCUDABlasHandle\b|\bat::cuda::blas::\w+"
    ),
)

FRAMEWORK_RULES = (
    Rule(
        name="reference",
        code="RH-03",
        says="is the reference itself",
        honest="a class of any other name, however much it looks like the reference",
        gets_past="a copy of the reference under another name, whose calls are then judged as anybody's",
        check=_reference,
        practical=INFO,
    ),
    Rule(
        name="framework_fallback",
        code="RH-03",
        says="lets the framework compute while forward runs",
        honest="allocating, viewing, copying and casting; counting up by a number; layers that only hold parameters; __init__",
        gets_past="calls through names that are built at run time, operators on at::Tensor in C++",
        check=_fallback,
        practical=INFO,
    ),
    Rule(
        name="framework_compiler",
        code="RH-03",
        says="lets a compiler of the framework write the kernel",
        honest="torch.compiler.is_compiling, torch.jit.ignore",
        gets_past="a compiler reached through a name that is built at run time",
        check=Watch(
            names=words(
                """
                torch.compile torch.jit.script torch.jit.trace torch.jit.freeze torch._dynamo.optimize
                torch._inductor.compile torch.export torch.nn.Module.compile torch.fx
                """
            ),
            native=re.compile(r"\btorch::jit::(?:compile|load|script)\w*"),
        ),
        practical=INFO,
    ),
    Rule(
        name="vendor_library",
        code="RH-03",
        says="is a vendor's library",
        honest="cub and CUTLASS inside the candidate's own kernel, -lcuda for tensor maps",
        gets_past="library source pasted into the candidate",
        check=_vendor,
        practical=INFO,
    ),
)
