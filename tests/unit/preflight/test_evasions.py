"""What a scanner by regular expressions let through: 23 programs that pass upstream's check, and honest code that it refuses."""

import pytest

from kernelguard.terms.findings import Severity

DEAD_CUDA = 'DEAD = "__global__ void k(float* x) { x[0] = 1; } void f() { k<<<1, 1>>>(0); }"\n'
HEAD = "import torch\nimport torch.nn as nn\nimport triton\nimport triton.language as tl\n"
STORE = "@triton.jit\ndef k(p):\n    tl.store(p, 1)\n"
LAUNCH = "        k[(1,)](x)\n"


def model(forward: str, *, top: str = "", init: str = "", launch: bool = True) -> str:
    """A program with a Triton kernel that forward launches, and with more in it."""
    start = "    def __init__(self):\n        super().__init__()\n" + "".join(f"        {line}\n" for line in init.splitlines())
    body = "".join(f"        {line}\n" for line in forward.splitlines())
    return (
        f"{HEAD}{top}\n{STORE}class ModelNew(nn.Module):\n{start}    def forward(self, x, w):\n{LAUNCH if launch else ''}{body}"
    )


def extension(body: str) -> str:
    """A program whose forward calls one C++ function with this body."""
    return (
        "import torch\nfrom torch.utils.cpp_extension import load_inline\n"
        'CODE = r"""__global__ void k(float* x) { x[0] = 1; }\n'
        f'torch::Tensor run(torch::Tensor x, torch::Tensor w) {{ k<<<1, 1>>>(x.data_ptr<float>()); {body} }}"""\n'
        'ext = load_inline(name="e", cuda_sources=CODE, functions=["run"])\n'
        "class ModelNew(torch.nn.Module):\n    def forward(self, x, w):\n        return ext.run(x, w)\n"
    )


# Name: (program, backend, rule, severity).
EVASIONS = {
    "a layer beside a dead kernel in a string": (
        f"import torch.nn as nn\n{DEAD_CUDA}class ModelNew(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.fc = nn.Linear(4, 4)\n    def forward(self, x):\n        return self.fc(x)",
        "cuda",
        "framework_fallback",
    ),
    "the matmul operator": (model("return x @ w"), "triton", "framework_fallback"),
    "addmm": (model("return torch.addmm(x, x, w)"), "triton", "framework_fallback"),
    "torch.ops.aten": (model("return torch.ops.aten.mm(x, w)"), "triton", "framework_fallback"),
    "at::matmul in C++": (extension("return at::matmul(x, w);"), "cuda", "framework_fallback"),
    "inheriting the reference": (
        f"{HEAD}{STORE}class ModelNew(Model):\n    def forward(self, x):\n        k[(1,)](x)\n        return super().forward(x)",
        "triton",
        "reference",
    ),
    "renaming the reference": ("ModelNew = Model", "triton", "reference"),
    "torch.compile": (model("return self.fast(x)", init="self.fast = torch.compile(print)"), "triton", "framework_compiler"),
    "a thread after a floor division": (
        model("n = 7 // 2; import threading; threading.Thread(target=print).start()"),
        "triton",
        "thread",
    ),
    "_thread": (model("import _thread\n_thread.start_new_thread(print, ())"), "triton", "thread"),
    "futures from concurrent": (model("futures.ThreadPoolExecutor()", top="from concurrent import futures"), "triton", "thread"),
    "setattr on torch.cuda": (model("return x", top="setattr(torch.cuda, 'synchronize', print)"), "triton", "patched_api"),
    "an imported Event": (
        model("return x", top="from torch.cuda import Event\nEvent.elapsed_time = lambda *_: 0.0"),
        "triton",
        "patched_api",
    ),
    "torch.allclose": (model("return x", top="torch.allclose = lambda *_, **__: True"), "triton", "patched_api"),
    "a size of the problem": (model("return x", top="batch_size = 1"), "triton", "problem_name"),
    "allow_tf32": (model("return x", top="torch.backends.cuda.matmul.allow_tf32 = True"), "triton", "precision_switch"),
    "a cast to bf16": (model("return x.bfloat16()"), "triton", "precision_cast"),
    "a stream in C++": (extension("cudaStream_t s; cudaStreamCreate(&s); return x;"), "cuda", "stream"),
    "a subclass by another name": (
        model("return x", top="T = torch.Tensor\nclass Lazy(T):\n    pass"),
        "triton",
        "tensor_subclass",
    ),
    "a subclass with two bases": (
        model("return x", top="class Mixin:\n    pass\nclass Lazy(Mixin, torch.Tensor):\n    pass"),
        "triton",
        "tensor_subclass",
    ),
    "outputs kept by address": (
        model(
            "key = x.data_ptr()\nif key not in self.kept:\n    self.kept[key] = x\nreturn self.kept[key]", init="self.kept = {}"
        ),
        "triton",
        "replay_key",
    ),
    "a kernel that is never launched": (model("return x", launch=False), "triton", "kernel_launched"),
    "a cast inside the kernel": (
        model("return x", top="@triton.jit\ndef half(p):\n    tl.store(p, tl.load(p).to(tl.float16))"),
        "triton",
        "precision_cast",
    ),
}
INERT = frozenset({"a size of the problem"})  # candidate and reference share no namespace here: recorded, never refused


def test_there_are_23_evasions() -> None:
    """The count that was measured against the scanner by regular expressions."""
    assert len(EVASIONS) == 23


@pytest.mark.parametrize("name", EVASIONS)
def test_an_evasion_is_seen(name: str, judge) -> None:
    """Each passed the older scan without a word."""
    source, backend, rule = EVASIONS[name]

    weights = {finding.policy_rule: finding.severity for finding in judge(source, backend)}

    assert rule in weights
    assert (weights[rule] is Severity.INFO) == (name in INERT)


@pytest.mark.parametrize(
    "top",
    [
        'class Note:\n    """The forward pass of the cached stream; nothing is tried, nothing passes."""',
        "try:\n    import cuda_bindings_that_may_be_missing\nexcept ImportError:\n    pass",
        "import torch.nn.functional as F",
        "def forward_pass(cache, stream):\n    pass",
        "# pass, try: except, thread, torch.mm, os.system, cudaStreamCreate",
    ],
)
def test_honest_code_that_the_older_scan_refused_passes(top: str, judge, triton) -> None:
    """A docstring with the word pass, a guarded import, an unused import: none of them does anything."""
    assert judge(triton(top)) == ()
