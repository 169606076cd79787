"""Honest kernels of every backend pass without a word, and a backend that is declared and not used is noticed."""

import re
from pathlib import Path

import pytest

from kernelguard.terms.findings import Severity

ROOT = Path(__file__).parents[3]

TRITON_AUTOTUNED = """
import torch
import triton
import triton.language as tl

@triton.autotune(configs=[triton.Config({"BLOCK": size}, num_warps=4) for size in (128, 256)], key=["n"])
@triton.jit
def scale(x_ptr, out_ptr, n, factor, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    part = tl.load(x_ptr + at, mask=at < n)
    tl.store(out_ptr + at, tl.exp(part - tl.max(part, 0)) * factor, mask=at < n)

def launch(x, out, factor):
    n = x.numel()
    waves = (n + 255) // 256
    scale[lambda meta: (triton.cdiv(n, meta["BLOCK"]) + 0 * waves,)](x, out, n, factor)
    return out

class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.space = {}
        w = torch.randn(4, 4)
        self.folded = torch.nn.Parameter((w @ w.t()).softmax(-1))

    def forward(self, x):
        x = x.contiguous().view(-1)
        key = (x.shape, x.device)
        if key not in self.space:
            self.space[key] = torch.empty_like(x)
        return launch(x, self.space[key], 1.0).view(4, -1)
"""
TRITON_OPERATOR = """
import torch
import triton
import triton.language as tl
from torch.library import triton_op, wrap_triton

@triton.jit
def fill_kernel(p):
    tl.store(p, 1.0)

@triton_op("own::fill", mutates_args={"x"})
def fill(x: torch.Tensor) -> None:
    wrap_triton(fill_kernel)[(1,)](x)

class ModelNew(torch.nn.Module):
    def forward(self, x):
        fill(x)
        return x
"""
TRITON_AUTOGRAD = """
import torch
import triton
import triton.language as tl

@triton.jit
def fill_kernel(p):
    tl.store(p, 1.0)

class Fill(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        fill_kernel[(1,)](x)
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad * torch.ones_like(grad).softmax(0)

class ModelNew(torch.nn.Module):
    def forward(self, x):
        return Fill.apply(x)
"""
NATIVE = '''
import os
import torch
from torch.utils.cpp_extension import load_inline

os.environ.setdefault("TORCH_CUDA_ARCH_LIST", "9.0a")
CODE = r"""
#include <torch/extension.h>
INCLUDES
template <typename T>
__global__ void __launch_bounds__(256) scale(const T* __restrict__ x, T* out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = T(2) * x[i];
}
static inline int blocks(int64_t n) { return int((n + 255) / 256); }
torch::Tensor run(torch::Tensor x) {
  TORCH_CHECK(x.is_contiguous() && x.scalar_type() == torch::kFloat32, "contiguous fp32");
  auto out = torch::empty_like(x);
  auto stream = at::cuda::getCurrentCUDAStream();
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "scale", [&] {
    auto* from = x.data_ptr<scalar_t>();
    auto* to = out.data_ptr<scalar_t>();
    LAUNCH
  });
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return out.view(x.sizes());
}
"""
ext = load_inline(
    name="scale", cpp_sources="torch::Tensor run(torch::Tensor x);", cuda_sources=CODE, functions=["run"],
    extra_cuda_cflags=["-O3", "--use_fast_math"], extra_ldflags=["-lcuda"],
)

class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.side = None

    def forward(self, x):
        return ext.run(x.contiguous())
'''
CHEVRONS = "scale<scalar_t><<<blocks(x.numel()), 256, 0, stream>>>(from, to, x.numel());"
HIP_LAUNCH = "hipLaunchKernelGGL(scale<scalar_t>, dim3(8), dim3(256), 0, stream, from, to, x.numel());"
CUDA = NATIVE.replace("INCLUDES", "#include <c10/cuda/CUDAException.h>").replace("LAUNCH", CHEVRONS, 1)
CUDA_BUILT_LATE = CUDA.replace("ext = load_inline(", "@functools.lru_cache(None)\ndef built():\n    return load_inline(").replace(
    "ext.run", "built().run"
)
CUDA_FROM_FILE = re.sub(
    r"ext = load_inline\(.*?\n\)",
    'path = os.path.join(tempfile.mkdtemp(), "scale.cu")\nwith open(path, "w") as file:\n    file.write(CODE)\n'
    'ext = load(name="scale", sources=[path])',
    CUDA.replace("import load_inline", "import load"),
    flags=re.DOTALL,
)
CUDA_OVERLAPPED = CUDA.replace("self.side = None", "self.side, self.graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()").replace(
    "        return ext.run(x.contiguous())",
    "        self.side.wait_stream(torch.cuda.current_stream())\n        with torch.cuda.stream(self.side):\n"
    "            out = ext.run(x)\n        torch.cuda.current_stream().wait_stream(self.side)\n        return out",
)
CUDA_NVRTC = """
import torch
CODE = "__global__ void scale(float* x) { x[threadIdx.x] *= 2; }"
scale = torch.cuda._compile_kernel(CODE, "scale")

class ModelNew(torch.nn.Module):
    def forward(self, x):
        scale((1,), (32,), (x,))
        return x
"""
CUTE = """
import cutlass
import cutlass.cute as cute
import torch
from cutlass.cute.runtime import from_dlpack

@cute.kernel
def scale(x: cute.Tensor):
    i, _, _ = cute.arch.thread_idx()
    x[i] = x[i] * 2

@cute.jit
def host(x: cute.Tensor):
    scale(x).launch(grid=[1, 1, 1], block=[32, 1, 1])

class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.compiled = None

    def forward(self, x):
        view = from_dlpack(x)
        if self.compiled is None:
            self.compiled = cute.compile(host, view)
        self.compiled(view)
        return x
"""
TILELANG = """
import tilelang
import tilelang.language as T
import torch

@tilelang.jit(out_idx=[-1])
def scale(M, N, dtype="float32"):
    @T.prim_func
    def main(A: T.Tensor((M, N), dtype), B: T.Tensor((M, N), dtype)):
        with T.Kernel(M, threads=128) as m:
            for n in T.Parallel(N):
                B[m, n] = A[m, n] * 2
    return main

class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.kernel = None

    def forward(self, x):
        if self.kernel is None:
            self.kernel = scale(*x.shape)
        return self.kernel(x)
"""
TILELANG_COMPILED = TILELANG.replace("@tilelang.jit(out_idx=[-1])\n", "").replace(
    "scale(*x.shape)", "tilelang.compile(scale(4, 4))"
)
CPP = '''
import torch
from torch.utils.cpp_extension import load_inline

CODE = """
#include <torch/extension.h>
torch::Tensor twice(torch::Tensor x) {
  auto out = torch::empty_like(x);
  const float* in = x.data_ptr<float>();
  float* to = out.data_ptr<float>();
  at::parallel_for(0, x.numel(), 4096, [&](int64_t a, int64_t b) { for (int64_t i = a; i < b; ++i) to[i] = 2 * in[i]; });
  return out;
}
"""
ext = load_inline(name="twice", cpp_sources=[CODE], functions=["twice"])

class ModelNew(torch.nn.Module):
    def forward(self, x):
        return ext.twice(x)
'''
CPP_LIBRARY = """
import ctypes
import torch
from torch.utils.cpp_extension import load_inline

CODE = 'extern "C" void twice(const float* x, float* y, long n) { for (long i = 0; i < n; i++) y[i] = 2 * x[i]; }'
path = load_inline(name="twice", cpp_sources=[CODE], is_python_module=False, no_implicit_headers=True)
library = ctypes.CDLL(path)
library.twice.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_long]

class ModelNew(torch.nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        library.twice(x.data_ptr(), out.data_ptr(), x.numel())
        return out
"""
HONEST = {
    "triton, autotuned": ("triton", TRITON_AUTOTUNED),
    "triton through torch.library": ("triton", TRITON_OPERATOR),
    "triton under autograd": ("triton", TRITON_AUTOGRAD),
    "cuda": ("cuda", CUDA),
    "cuda built on first use": ("cuda", f"import functools{CUDA_BUILT_LATE}"),
    "cuda from a file that it writes": ("cuda", f"import tempfile{CUDA_FROM_FILE}"),
    "cuda compiled by NVRTC": ("cuda", CUDA_NVRTC),
    "cuda with a joined side stream and a graph": ("cuda", CUDA_OVERLAPPED),
    "hip": ("hip", NATIVE.replace("INCLUDES", "").replace("LAUNCH", HIP_LAUNCH, 1)),
    "thunderkittens": (
        "thunderkittens",
        NATIVE.replace("INCLUDES", '#include "kittens.cuh"\nusing namespace kittens;').replace("LAUNCH", CHEVRONS, 1),
    ),
    "cute in C++": ("cute", NATIVE.replace("INCLUDES", "#include <cute/tensor.hpp>").replace("LAUNCH", CHEVRONS, 1)),
    "cute in Python": ("cute", CUTE),
    "tilelang": ("tilelang", TILELANG),
    "tilelang, compiled by hand": ("tilelang", TILELANG_COMPILED),
    "cpp": ("cpp", CPP),
    "cpp as a plain shared object": ("cpp", CPP_LIBRARY),
}
EXAMPLES = [
    *sorted((ROOT / "src/kernelbench/prompts").glob("model_new_ex_*.py")),
    *sorted(path for path in (ROOT / "bench/kernels").glob("[!_]*.py") if path.stem != "reference"),
]
IDENTITY = "import torch\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return x.contiguous()\n"


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_kernel_draws_no_objection(name: str, judge, weighty) -> None:
    """Notes are fine; a warning would already cost an honest author the verdict."""
    backend, source = HONEST[name]

    assert weighty(judge(source, backend)) == []


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_examples_that_we_hand_out_draw_none(path: Path, judge, weighty) -> None:
    """Nobody may be refused for following our own example."""
    source = path.read_text(encoding="utf-8")
    kind = "triton" if re.search(r"^import triton", source, re.MULTILINE) else "cuda"

    assert weighty(judge(source, "cpp" if path.stem.endswith("_cpp") else kind)) == []


def test_there_are_examples_to_read() -> None:
    """A moved folder must not turn the test above into none."""
    assert len(EXAMPLES) >= 7


@pytest.mark.parametrize("backend", ["triton", "cuda", "hip", "thunderkittens", "cute", "tilelang", "cpp", "c"])
def test_a_declared_backend_without_a_kernel_is_noticed(backend: str, judge) -> None:
    """The declaration is a promise; the same program is fine under practical."""
    strict = [(finding.policy_rule, finding.code, finding.severity) for finding in judge(IDENTITY, backend)]
    practical = {finding.severity for finding in judge(IDENTITY, backend, "practical")}

    assert strict == [("custom_kernel", "RH-04", Severity.ERROR)]
    assert practical == {Severity.INFO}


def test_a_candidate_that_declares_no_backend_has_no_kernel_to_show(judge) -> None:
    """`torch` is what a candidate under practical may declare."""
    assert judge(IDENTITY, "torch") == ()


@pytest.mark.parametrize("name", HONEST)
def test_a_kernel_that_forward_does_not_reach_is_noticed(name: str, judge) -> None:
    """The decoy: everything of the honest program but the call."""
    backend, source = HONEST[name]
    head, _, _ = source.rpartition("    def forward(self, x):\n")

    rules = [finding.policy_rule for finding in judge(f"{head}    def forward(self, x):\n        return x\n", backend)]

    assert "kernel_launched" in rules


@pytest.mark.parametrize(
    "statement", ["if False:\n    {launch}", "return out\n{launch}", "while 0:\n    {launch}", "def later():\n    {launch}"]
)
def test_a_launch_that_cannot_run_is_no_launch(statement: str, judge, triton) -> None:
    """A launch in dead code satisfies a search for its text, and nobody else."""
    launch = "double[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)"
    dead = "\n".join(f"        {line}" for line in statement.format(launch=launch).splitlines())

    rules = [finding.policy_rule for finding in judge(triton().replace(f"        {launch}", dead))]

    assert "kernel_launched" in rules


@pytest.mark.parametrize("gone", ["    tl.store(out_ptr + at, value * 2, mask=at < n)\n", "@triton.jit\n"])
def test_a_kernel_that_writes_nothing_or_is_none_does_not_count(gone: str, judge, triton) -> None:
    """An empty kernel is a decoy too."""
    rules = [finding.policy_rule for finding in judge(triton().replace(gone, ""))]

    assert "custom_kernel" in rules


def test_an_empty_native_kernel_does_not_count(judge, cuda) -> None:
    """The same in CUDA: a body that does nothing."""
    source = re.sub(r"\{\n  int at.*?\n\}", "{ }", cuda(), count=1, flags=re.DOTALL)

    assert "custom_kernel" in [finding.policy_rule for finding in judge(source, "cuda")]


def test_a_spare_kernel_beside_a_working_one_is_a_note(judge, triton) -> None:
    """Leftovers are untidy, not dishonest."""
    findings = judge(triton("@triton.jit\ndef spare(p):\n    tl.store(p, 1)"))

    assert [(finding.policy_rule, finding.severity) for finding in findings] == [("spare_kernel", Severity.INFO)]


@pytest.mark.parametrize("alias", ["cutlass", "CuTe"])
def test_a_backend_may_be_spelt_otherwise(alias: str, judge, weighty) -> None:
    """Upstream calls the same backend by two names."""
    assert weighty(judge(HONEST["cute in C++"][1], alias)) == []
