"""Rules about what others depend on: replaced functions, the environment, settings of the framework and of the process."""

import ast
import re
from collections.abc import Iterator

from kernelguard.preflight.rule import ERROR, INFO, Rule, Sighting, Watch, found_in, free_call, sighted, uses_of
from kernelguard.preflight.source import Facts
from kernelguard.preflight.uses import Role
from kernelguard.preflight.vocabulary import words
from kernelguard.terms.policy import Policy

BUILD_SETTINGS = words(
    "CUDA_HOME CUDA_PATH TORCH_CUDA_ARCH_LIST PYTORCH_ROCM_ARCH ROCM_HOME CXX CC CUDAHOSTCXX MAX_JOBS PATH THUNDERKITTENS_ROOT"
)
PRECISION_ATTRIBUTES = ("allow_tf32", "fp32_precision", "allow_fp16", "allow_bf16")
_SPECIAL = words("__code__ __globals__ __closure__ __defaults__ __kwdefaults__")
_NOT_PATCHED = ("?.", "tensor.", "ctypes.", "torch.backends.", "os.environ", "sys.path", "torch.Tensor.requires_grad")
_CONFIGS = ("torch._dynamo.config", "torch._inductor.config", "torch._functorch.config")
_WRITTEN = frozenset({Role.WRITE})
_CALLED = frozenset({Role.CALL})
_ENVIRONMENT = Watch(
    names=words(
        "os.environ[] os.environ os.environ.setdefault os.environ.pop os.environ.update os.environ.clear os.putenv os.unsetenv"
    ),
    roles=_WRITTEN | _CALLED,
)
_ENVIRONMENT_READS = words(
    "os.environ.get os.environ.items os.environ.keys os.environ.values os.environ.copy os.environ.__getitem__"
)
_SETTINGS = Watch(
    names=words(
        """
        torch.use_deterministic_algorithms torch.set_default_dtype torch.set_default_device torch.set_default_tensor_type
        torch.set_flush_denormal torch.set_deterministic_debug_mode torch.set_num_threads torch.set_num_interop_threads
        torch.cuda.set_per_process_memory_fraction torch.cuda.memory.set_per_process_memory_fraction
        torch.cuda.memory.change_current_allocator torch.cuda.memory.CUDAPluggableAllocator torch.cuda.set_sync_debug_mode
        torch.backends.cudnn.flags torch.backends.mkldnn.flags torch.backends.cudnn.set_flags sys.setswitchinterval
        os.sched_setaffinity os.nice os.setpriority os.sched_setscheduler resource.setrlimit
        """
    ),
    roles=_CALLED,
)
_NATIVE_SETTING = re.compile(
    r"\b(?:cudaLimitPersistingL2CacheSize|CU_LIMIT_PERSISTING_L2_CACHE_SIZE|cudaDeviceReset|cudaCtxResetPersistingL2Cache)\b"
    r"|\bglobalContext\s*\(\s*\)\s*\.\s*set(?!\w*(?:TF32|Precision))\w+|" + free_call("sched_setaffinity").pattern
)
_SWITCHING_CALL = re.compile(r"torch\.backends\.(?:cuda|mha|mkl|opt_einsum|cudnn)\.(?:enable_|preferred_|set_)\w+$")


def _patches(facts: Facts, policy: Policy) -> Iterator[Sighting]:
    """Attributes of modules and classes from outside the file that are assigned to, by whatever way."""
    for use in facts.uses:
        special = use.last in _SPECIAL and use.role is Role.WRITE
        outside = use.role is Role.WRITE and not use.name.startswith((*_NOT_PATCHED, *_CONFIGS)) and use.name != "os.environ[]"
        by_dict = use.role is Role.CALL and ".__dict__." in use.name and not use.name.startswith("?.")
        by_method = (
            use.role is Role.CALL and use.last in {"__setattr__", "__delattr__"} and use.name.startswith(("torch.", "time."))
        )
        if (
            special
            or outside
            or by_dict
            or (by_method and not use.name.startswith("torch.nn."))
            or (use.name.startswith("torch.library.") and use.role is Role.CALL and (use.given.text or "").startswith("aten"))
        ):
            yield sighted(facts, use)
    yield from Watch(names=words("unittest.mock sys.modules"), native=re.compile(r"\bTORCH_LIBRARY_IMPL\s*\(\s*aten\b"))(
        facts, policy
    )


def _environment(facts: Facts, _policy: Policy) -> Iterator[Sighting]:
    """Variables that are set; what a build needs is recorded."""
    for use in uses_of(facts, _ENVIRONMENT):
        if use.name in _ENVIRONMENT_READS or (use.role is Role.CALL and use.name == "os.environ"):
            continue
        known = use.given.text in BUILD_SETTINGS or (bool(use.given.options) and set(use.given.options) <= BUILD_SETTINGS)
        yield sighted(facts, use, INFO if known else ERROR)
    yield from found_in(facts, facts.native_regions, free_call("setenv|putenv|unsetenv|clearenv"))


def _settings(facts: Facts, _policy: Policy) -> Iterator[Sighting]:
    """Settings of the framework or of the process that other measurements depend on, precision apart."""
    scoped = {node.context_expr for scope in facts.program.scopes for node in scope.nodes if isinstance(node, ast.withitem)}
    for use in uses_of(facts, _SETTINGS):
        yield sighted(facts, use, INFO if use.node in scoped and use.last == "flags" else None)
    yield from found_in(facts, facts.native_regions, _NATIVE_SETTING)
    for use in facts.uses:
        switched = use.role is Role.WRITE and use.name.startswith(("torch.backends.", *_CONFIGS))
        called = use.role is Role.CALL and _SWITCHING_CALL.match(use.name)
        if (switched and not use.last.startswith(PRECISION_ATTRIBUTES)) or called:
            yield sighted(facts, use)


def _shadowed_names(facts: Facts, _policy: Policy) -> Iterator[Sighting]:
    """Names of the problem's own source that are defined here, where they have no effect."""
    for use in facts.uses:
        if use.role is Role.UNUSED or (use.role is Role.DEFINE and use.name in {"get_inputs", "get_init_inputs"}):
            yield sighted(facts, use)


TAMPERING_RULES = (
    Rule(
        name="patched_api",
        code="RH-07",
        says="replaces something that others call",
        honest="attributes of the candidate's own modules, classes and libraries (argtypes)",
        gets_past="writes into the machine code or the tables of a loaded library",
        check=_patches,
    ),
    Rule(
        name="patched_code",
        code="RH-07",
        says="makes loaded code writable, or new code executable",
        honest="nothing: a kernel is compiled and loaded by others",
        gets_past="mappings that a library makes",
        check=Watch(native=re.compile(free_call(r"(?:pkey_)?mprotect").pattern + r"|\b(?:PROT_EXEC|RTLD_DEFAULT|RTLD_NEXT)\b")),
    ),
    Rule(
        name="interposed",
        code="RH-07",
        says="puts itself between the caller and what is called",
        honest="forward hooks on the candidate's own modules",
        gets_past="hooks installed by native code",
        check=Watch(
            names=words(
                """
                torch.utils._python_dispatch torch.overrides.TorchFunctionMode torch.overrides.BaseTorchFunctionMode
                sys.settrace sys.setprofile sys.addaudithook sys.monitoring threading.settrace threading.setprofile
                sys.meta_path sys.path_hooks sys.excepthook sys.displayhook codecs.register
                torch.nn.register_module_forward_hook torch.nn.register_module_forward_pre_hook
                torch.nn.register_module_full_backward_hook
                """
            )
        ),
    ),
    Rule(
        name="environment",
        code="RH-01",
        says="changes the environment",
        honest="reading any variable; setting what a build needs: " + ", ".join(sorted(BUILD_SETTINGS)),
        gets_past="variables set by native code without setenv",
        check=_environment,
    ),
    Rule(
        name="backend_setting",
        code="RH-01",
        says="changes a setting that other measurements depend on",
        honest="reading settings; `with torch.backends.cudnn.flags(...)`, which puts them back (recorded)",
        gets_past="heat, and settings of the driver that no listed call makes",
        check=_settings,
    ),
    Rule(
        name="problem_name",
        code="RH-01",
        says="is a name that the problem may use, and has no effect here",
        honest="everything: it is recorded, because other evaluators share one namespace",
        gets_past="nothing that matters: candidate and reference share no namespace",
        check=_shadowed_names,
        strict=INFO,
        practical=INFO,
    ),
)
