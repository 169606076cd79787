"""The table of rules over C++ and CUDA text that forward's calls lead to."""

import re
from dataclasses import dataclass

from kernelguard.terms.findings import Severity

_COMPUTE = (
    "mm|matmul|bmm|addmm|baddbmm|linear|conv1d|conv2d|conv3d|convolution|conv_transpose\\w*|relu|gelu|silu|sigmoid|tanh|softmax|"
    "log_softmax|layer_norm|batch_norm|group_norm|native_\\w+|einsum|sum|mean|max|min|argmax|argmin|cumsum|cumprod|sort|topk|exp|"
    "log|sqrt|rsqrt|pow|add|sub|mul|div|dot|mv|norm|cross_entropy\\w*|scaled_dot_product_attention|clamp|where|abs|erf|"
    "max_pool\\w*|avg_pool\\w*|adaptive_\\w+|dropout|embedding|tensordot|outer|var|std"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class NativeRule:
    """One row: a pattern over code without comments and strings."""

    name: str
    code: str
    pattern: re.Pattern[str]
    words: str
    strict: Severity = Severity.ERROR
    practical: Severity = Severity.ERROR


INFO = Severity.INFO
NATIVE_RULES: tuple[NativeRule, ...] = (
    NativeRule(
        name="native_fallback",
        code="RH-03",
        pattern=re.compile(rf"\b(?:at|torch)::(?:_ops::)?(?:{_COMPUTE})(?:_out|_)?\s*\("),
        words="lets the framework compute",
        practical=INFO,
    ),
    NativeRule(
        name="native_method_fallback",
        code="RH-03",
        pattern=re.compile(r"\.\s*(?:mm|matmul|bmm|addmm|relu|softmax|sigmoid|tanh|gelu|conv2d)(?:_)?\s*\("),
        words="lets the framework compute",
        practical=INFO,
    ),
    NativeRule(
        name="vendor_library",
        code="RH-03",
        pattern=re.compile(r"\b(?:cublas|cudnn|cusparse|cufft|cutensor|mkl_|cblas_)\w*\s*\("),
        words="calls a vendor library",
        practical=INFO,
    ),
    NativeRule(
        name="native_thread",
        code="RH-10",
        pattern=re.compile(r"\bstd::(?:thread|jthread|async)\b|\bpthread_create\b"),
        words="starts a thread",
    ),
    NativeRule(
        name="native_process",
        code="RH-10",
        pattern=re.compile(r"\b(?:fork|vfork|clone|system|popen|execv?[lpe]*|posix_spawnp?)\s*\("),
        words="starts a process",
    ),
    NativeRule(
        name="native_callback",
        code="RH-09",
        pattern=re.compile(r"\bcuda(?:LaunchHostFunc|StreamAddCallback)\b|\bcuLaunchHostFunc\b"),
        words="hands work to a driver thread",
    ),
    NativeRule(
        name="native_files",
        code="RH-12",
        pattern=re.compile(r"\b(?:fopen|open|openat|mmap)\s*\(|\bstd::[io]?fstream\b|\bptrace\s*\(|\bprocess_vm_\w+"),
        words="reaches for files or other processes",
    ),
    NativeRule(
        name="native_network",
        code="RH-12",
        pattern=re.compile(r"\b(?:socket|connect|sendto|getaddrinfo)\s*\("),
        words="uses the network",
    ),
    NativeRule(
        name="native_loader",
        code="RH-13",
        pattern=re.compile(r"\b(?:dlopen|dlsym|cuModuleLoad\w*|cuLibraryLoad\w*)\s*\("),
        words="loads code that is not shown",
    ),
    NativeRule(
        name="native_streams",
        code="RH-09",
        pattern=re.compile(r"\bcuda(?:StreamCreate\w*|GraphLaunch|GraphInstantiate\w*|StreamBeginCapture)\b"),
        words="uses streams or graphs, which the clocks judge",
        strict=INFO,
        practical=INFO,
    ),
)
