"""What the tests of preflight share: a judge that reads a source, and honest programs with room for something else."""

from collections.abc import Callable
from textwrap import indent

import pytest

from kernelguard.preflight import inspect
from kernelguard.terms.findings import Finding, Severity
from kernelguard.terms.policy import Fp32Precision, Policy, Precision, Rules
from kernelguard.terms.problem import Candidate

POLICIES = {
    "strict": Policy(rules=Rules.SOURCE_STRICT),
    "practical": Policy(rules=Rules.PRACTICAL),
    "behaviour": Policy(rules=Rules.BEHAVIOUR),
    "bf16": Policy(rules=Rules.SOURCE_STRICT, precision=Precision.BF16),
    "tf32": Policy(rules=Rules.SOURCE_STRICT, fp32_precision=Fp32Precision.TF32),
}

TRITON = """
import torch
import torch.nn as nn
import triton
import triton.language as tl
{top}

@triton.jit
def double(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x_ptr + at, mask=at < n)
{kernel}
    tl.store(out_ptr + at, value * 2, mask=at < n)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(4, 4))
{init}

    def forward(self, x):
        out = torch.empty_like(x)
        double[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
{forward}
        return out
"""

CUDA = '''
import torch
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>
FILE_SCOPE
__global__ void double_it(const float* x, float* out, int n) {
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < n) out[at] = x[at] * 2;
}
torch::Tensor run(torch::Tensor x) {
  auto out = torch::empty_like(x);
  double_it<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), out.data_ptr<float>(), x.numel());
  IN_RUN
  return out;
}
"""
ext = load_inline(name="ext", cpp_sources="torch::Tensor run(torch::Tensor x);", cuda_sources=SOURCE, functions=["run"])


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return ext.run(x)
'''

Judge = Callable[..., tuple[Finding, ...]]


@pytest.fixture(scope="session")
def judge() -> Judge:
    """Read one source: `judge(source, backend="triton", policy="strict")`."""

    def read(source: str, backend: str = "triton", policy: str = "strict") -> tuple[Finding, ...]:
        return inspect(Candidate(source=source, name="test", backend=backend), POLICIES[policy])

    return read


@pytest.fixture(scope="session")
def triton() -> Callable[..., str]:
    """An honest Triton program with lines put at the top, into the kernel, into __init__ and into forward."""

    def write(top: str = "", *, kernel: str = "", init: str = "", forward: str = "") -> str:
        deep = {"kernel": 4, "init": 8, "forward": 8}
        put = {
            name: indent(text or "pass", " " * deep[name])
            for name, text in (("kernel", kernel), ("init", init), ("forward", forward))
        }
        return TRITON.format(top=top, **put)

    return write


@pytest.fixture(scope="session")
def cuda() -> Callable[..., str]:
    """An honest CUDA program with text put at file scope and into the function that launches."""

    def write(in_run: str = "", *, file_scope: str = "") -> str:
        return CUDA.replace("FILE_SCOPE", file_scope).replace("IN_RUN", in_run)

    return write


@pytest.fixture(scope="session")
def weighty() -> Callable[[tuple[Finding, ...]], list[tuple[str, Severity]]]:
    """Rule and severity of the findings that are more than notes."""

    def pick(findings: tuple[Finding, ...]) -> list[tuple[str, Severity]]:
        return [(finding.policy_rule, finding.severity) for finding in findings if finding.severity is not Severity.INFO]

    return pick
