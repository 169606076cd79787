"""C, C++ and CUDA text: what is blanked, what is followed, and what the rules see in what forward can reach."""

import pytest

from kernelguard.preflight.native_text import has_launch, has_loop, launched, reached, read_native
from kernelguard.terms.findings import Severity

TEXT = r"""
// cublasSgemm( in a comment \
   that goes on
/* at::mm( */ const char* note = "std::thread(\"";  const char c = '"';
const char* raw = R"x( system( )" )x";
#if 0
__global__ void off(float* x) { x[0] = 1; }
#if 1
#endif
#else
__global__ void __launch_bounds__(256, 2) on(float* x) { x[0] = 1; }
#endif
template <typename T> __global__ void typed(T* x) { x[0] = T(1); }
__global__ void idle(float* x) { }
static void helper(float* x) { typed<float><<<1, 1>>>(x); }
void entry(float* x) { helper(x); }
void other(float* x) { on<<<1, 1>>>(x); at::mm(x, x); }
PYBIND11_MODULE(NAME, m) { m.def("go", &entry); m.def("stop", &other); }
"""


def test_comments_and_strings_are_blanked_in_place() -> None:
    """Positions must stay, or findings would point at the wrong line."""
    native = read_native(TEXT)

    assert len(native.code) == len(TEXT)
    assert [word for word in ("cublasSgemm", "std::thread", "system", "off") if word in native.code] == []
    assert "const char* note" in native.code


def test_kernels_are_functions_that_do_something() -> None:
    """Disabled and empty ones do nothing."""
    assert read_native(TEXT).kernels == {"on", "typed"}


def test_only_what_an_entry_leads_to_is_reached() -> None:
    """Dead C++ beside the path of the call neither helps nor hurts the candidate."""
    native = read_native(TEXT)

    assert launched(native, reached(native, frozenset({"go"}))) == {"typed"}
    assert "at::mm" not in reached(native, frozenset({"go"}))
    assert launched(native, reached(native, frozenset({"stop"}))) == {"on"}
    assert "at::mm" in reached(native, frozenset({"stop"}))


def test_what_cannot_be_followed_counts_as_reached() -> None:
    """An entry that no function answers to (a macro made it) must not hide anything."""
    native = read_native(TEXT)

    assert reached(native, frozenset({"made_by_a_macro"})) == native.code
    assert reached(native, None) == native.code


@pytest.mark.parametrize(
    ("code", "launches", "loops"),
    [
        ("k<<<1, 2>>>(x);", True, False),
        ("cudaLaunchKernelEx(&config, k, x);", True, False),
        ("cudaLaunchCooperativeKernel(k, 1, 1, 0, 0, 0);", True, False),
        ("for (;;) {}", False, True),
        ("std::transform(a, b, c, f);", False, True),
        ("return x;", False, False),
    ],
)
def test_launches_and_loops_are_told_from_the_rest(code: str, launches: bool, loops: bool) -> None:  # noqa: FBT001 - columns
    """They are what makes a backend's work real."""
    assert has_launch(code) is launches
    assert has_loop(code) is loops


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("out = torch::relu(x);", "framework_fallback"),
        ("out = at::_ops::mm::call(x, x);", "framework_fallback"),
        ("out = at::native::softmax(x, 1);", "framework_fallback"),
        ("out = torch::nn::functional::softmax(x, 1);", "framework_fallback"),
        ("at::mm_out(out, x, x);", "framework_fallback"),
        ("auto f = &at::mm;", "framework_fallback"),
        ("out = x.matmul(x);", "framework_fallback"),
        ("out = x.t().mm(x);", "framework_fallback"),
        ("out = x.sum(0);", "framework_fallback"),
        ("cudnnConvolutionForward(h, 0, 0);", "vendor_library"),
        ("cub::DeviceReduce::Sum(0, n, x, out, 4);", "vendor_library"),
        ("thrust::sort(x, x);", "vendor_library"),
        ("std::thread worker(work);", "thread"),
        ("std::async(work);", "thread"),
        ("fork();", "process"),
        ("std::system(name);", "process"),
        ("::execve(name, 0, 0);", "process"),
        ("socket(2, 1, 0);", "network"),
        ("fopen(name, mode);", "files"),
        ("std::ifstream file(name);", "files"),
        ("cudaStreamCreateWithFlags(&s, 1);", "stream"),
        ("cudaStreamAddCallback(s, f, 0, 0);", "host_callback"),
        ("setenv(name, value, 1);", "environment"),
        ("dlopen(name, 1);", "foreign_library"),
        ("cuModuleLoadData(&m, image);", "foreign_library"),
        ("PyRun_SimpleString(code);", "foreign_library"),
        ("ptrace(0, 1, 0, 0);", "foreign_memory"),
        ("_exit(0);", "forged_result"),
        ("exit(EXIT_SUCCESS);", "forged_result"),
        ("at::globalContext().setBenchmarkCuDNN(true);", "backend_setting"),
        ("cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 1);", "backend_setting"),
        ("at::globalContext().setAllowTF32CuBLAS(true);", "precision_switch"),
        ("auto h = __float2half(1.0f);", "precision_cast"),
        ("auto h = x.to(torch::kBFloat16);", "precision_cast"),
    ],
)
def test_a_native_construct_is_seen(text: str, rule: str, judge, cuda) -> None:
    """The same threats as in Python, in the other language of the file."""
    findings = {finding.policy_rule: finding for finding in judge(cuda(text), "cuda")}

    assert findings[rule].severity is not Severity.INFO
    assert str(findings[rule].evidence["snippet"]).strip() == text


@pytest.mark.parametrize(
    "text",
    [
        "auto y = x.contiguous().view({-1}); auto z = torch::zeros_like(y); at::Tensor w = y.to(x.device());",
        "int64_t rows = x.size(0), columns = x.stride(1); auto options = x.options().dtype(torch::kFloat32);",
        'TORCH_CHECK(x.dim() == 2, "at::mm( is not used"); C10_CUDA_CHECK(cudaGetLastError());',
        "auto stream = at::cuda::getCurrentCUDAStream(); c10::cuda::CUDAGuard guard(x.device());",
        "cudaFuncSetAttribute(double_it, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);",
        'if (cudaPeekAtLastError() != cudaSuccess) { fprintf(stderr, "failed"); exit(EXIT_FAILURE); }',
        "auto copy = x.clone(); out.copy_(copy); out.zero_();",
        "cudaStream_t s; cudaStreamCreate(&s); cudaStreamSynchronize(s);",
        "pthread_create(&t, 0, f, 0); pthread_join(t, 0);",
        "half h = __float2half(v); float rest = v - __half2float(h);",
    ],
)
def test_honest_native_code_draws_no_objection(text: str, judge, cuda, weighty) -> None:
    """Plumbing, error checks, joined streams and threads, and split precision are what good kernels are made of."""
    assert weighty(judge(cuda(text), "cuda")) == []


def test_dead_native_code_is_no_fallback_but_no_hiding_place_either(judge, cuda) -> None:
    """What forward can't reach computes nothing; what starts a thread is refused wherever it stands."""
    unused = "torch::Tensor unused(torch::Tensor x) { return at::mm(x, x); }"
    thread = "void unused() { std::thread worker(work); }"

    assert judge(cuda(file_scope=unused), "cuda") == ()
    assert [finding.policy_rule for finding in judge(cuda(file_scope=thread), "cuda")] == ["thread"]


def test_a_link_flag_names_the_library(judge, cuda) -> None:
    """The call may hide behind a macro; the linker can't be told in secret."""
    source = cuda().replace('functions=["run"]', 'functions=["run"], extra_ldflags=["-lcublas"]')

    assert [finding.policy_rule for finding in judge(source, "cuda")] == ["vendor_library"]
