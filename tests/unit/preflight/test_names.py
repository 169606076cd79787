"""Names are followed to what they stand for, and only code that forward can reach counts as the framework computing."""

import pytest

FALLBACK = "framework_fallback"


@pytest.mark.parametrize(
    ("top", "forward"),
    [
        ("import torch.nn.functional as G", "G.softmax(x, -1)"),
        ("from torch.nn import functional", "functional.relu(x)"),
        ("from torch import mm as q", "q(x, x)"),
        ("from torch import *", "bmm(x, x)"),
        ("T = torch\nproduct = T.mm", "product(x, x)"),
        ("", "getattr(torch, 'm' + 'm')(x, x)"),
        ("import importlib", "importlib.import_module('torch').mm(x, x)"),
        ("", "__import__('torch').mm(x, x)"),
        ("", "torch.__dict__['mm'](x, x)"),
        ("", "vars(torch)['mm'](x, x)"),
        ("OPS = {'mm': torch.mm, 'add': torch.add}", "OPS['mm'](x, x)"),
        ("import functools", "functools.partial(torch.mm, x)(x)"),
        ("import functools", "functools.reduce(torch.add, [x, x])"),
        ("import operator", "operator.matmul(x, x)"),
        ("", "torch.nn.modules.linear.Linear(4, 4)(x)"),
        ("", "torch._C._nn.linear(x, x)"),
        ("", "torch.linalg.norm(x)"),
        ("", "torch.special.expit(x)"),
        ("", "torch.fft.fft(x)"),
        ("import numpy as np", "np.matmul(x.cpu().numpy(), x.cpu().numpy())"),
        ("", "x.mm(x)"),
        ("", "x.relu_()"),
        ("", "x.view(-1).sum()"),
        ("", "x.t().softmax(-1)"),
        ("", "x.T.max()"),
        ("", "f = x.sum\nf()"),
        ("", "(x > 0).float().mean()"),
        ("", "x * 2 + 1"),
        ("", "-x"),
        ("", "y = x\ny *= 2"),
        ("", "x @ self.weight"),
        ("", "abs(x)"),
        ("", "sum([x, x])"),
        ("", "[torch.relu(part) for part in x.chunk(2)]"),
        ("", "(lambda part: part.exp())(x)"),
        ("", "list(map(lambda part: part.exp(), x.unbind(0)))"),
        ("", "try:\n    pass\nexcept RuntimeError:\n    torch.relu(x)"),
        ("def helper(part, scale=2):\n    return inner(part)\ndef inner(part):\n    return part.cumsum(0)", "helper(x)"),
        ("class Block(nn.Module):\n    def forward(self, part):\n        return torch.relu(part)", "Block()(x)"),
        ("class Ops:\n    @staticmethod\n    def go(part):\n        return part.exp()", "Ops.go(x)"),
        ("class Ops:\n    @property\n    def go(self):\n        return torch.ones(1).exp()", "Ops().go"),
        ("class Ops:\n    def __matmul__(self, other):\n        return torch.mm(other, other)", "Ops() @ x"),
        ("def numbers(part):\n    yield part.exp()", "next(numbers(x))"),
        (
            "def twice(function):\n    return lambda part: function(part).exp()\n@twice\ndef same(part):\n    return part",
            "same(x)",
        ),
    ],
)
def test_framework_compute_is_seen_however_it_is_reached(top: str, forward: str, judge, triton) -> None:
    """An alias is the cheapest way past a search for names."""
    rules = [finding.policy_rule for finding in judge(triton(top, forward=forward))]

    assert FALLBACK in rules


@pytest.mark.parametrize(
    ("init", "forward"),
    [
        ("self.fc = nn.Linear(4, 4)", "self.fc(x)"),
        ("self.fc = nn.Linear(4, 4).to('cuda')", "self.fc.forward(x)"),
        ("self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(2)])", "for layer in self.layers:\n    x = layer(x)"),
        ("self.net = nn.Sequential(nn.Linear(4, 4), nn.ReLU())", "self.net(x)"),
        ("setattr(self, 'fc', nn.Linear(4, 4))", "self.fc(x)"),
        ("self.add_module('fc', nn.Linear(4, 4))", "self.fc(x)"),
        ("self.product = torch.mm", "self.product(x, x)"),
        ("self.act = lambda part: torch.relu(part)", "self.act(x)"),
        ("self.register_buffer('table', torch.ones(4))", "self.table.exp()"),
        ("self.register_forward_hook(lambda module, given, out: out.exp() if out is None else torch.exp(out))", ""),
    ],
)
def test_layers_and_functions_kept_in_init_count_when_forward_calls_them(init: str, forward: str, judge, triton) -> None:
    """What runs while the clock does is what counts, wherever it was made."""
    rules = [finding.policy_rule for finding in judge(triton(init=init, forward=forward))]

    assert FALLBACK in rules


@pytest.mark.parametrize(
    ("base", "body"),
    [
        ("nn.Linear", "    pass"),
        ("nn.Linear", "    def forward(self, x):\n        return super().forward(x)"),
        ("nn.Module", "    forward = staticmethod(torch.relu)\n    forward = torch.relu"),
        ("nn.Module", "    def forward(self, x):\n        return x\n    def __call__(self, x):\n        return torch.relu(x)"),
    ],
)
def test_an_entry_that_borrows_its_forward_from_the_framework_is_seen(base: str, body: str, judge) -> None:
    """No call stands in the file; the class itself is the fallback."""
    source = f"import torch\nimport torch.nn as nn\nclass ModelNew({base}):\n{body}\n"

    assert FALLBACK in [finding.policy_rule for finding in judge(source)]


@pytest.mark.parametrize(
    ("top", "init", "forward"),
    [
        (
            "",
            "w = torch.randn(4, 4) @ torch.randn(4, 4)\nself.folded = nn.Parameter(torch.softmax(w, -1) * 2)",
            "self.folded.data_ptr()",
        ),
        (
            "",
            "self.conv = nn.Conv2d(3, 8, 3)",
            "w, b = self.conv.weight, self.conv.bias\nk = self.conv.stride[0] * 2 + self.conv.padding[0]",
        ),
        ("TABLE = torch.arange(10).float().exp()", "", ""),
        ("", "", "M, N = x.shape\nblocks = (M * N + 255) // 256\nhalf = x.size(0) / 2 - x.stride(0)"),
        ("", "", "assert x.is_cuda and x.dtype == torch.float32 and x.data_ptr() % 16 == 0"),
        (
            "",
            "",
            "y = x.contiguous().view(-1).unsqueeze(0).expand(2, -1).permute(1, 0)\nz = torch.cat([y, y]).clone().to(x.device)",
        ),
        ("import math", "", "scale = 1.0 / math.sqrt(x.shape[-1])\nlimit = max(scale, 2.0) ** 2"),
        ("import numpy as np", "", "count = int(np.prod(x.shape))"),
        ("", "", "seen = set()\nseen.add(3)\nsizes = [1, 2] + [3]\nsizes.sort()\ntotal = sum(sizes)"),
        ("def unused(part):\n    return torch.relu(part)", "", ""),
        ("def grid(meta):\n    return (meta['BLOCK'] + 1,)", "", "grid({'BLOCK': 2})"),
        (
            "class Tile:\n    rows: int = 2\n    def max(self):\n        return self.rows * 2",
            "",
            "Tile().max()",
        ),
        ("", "self.calls = torch.zeros(1)", "calls = self.calls\ncalls += 1"),
        ("", "", "with torch.no_grad():\n    torch.cuda.synchronize()"),
        ("", "self.extension = {}", "out = out.detach()\nout.copy_(x)\nout.zero_()"),
    ],
)
def test_what_only_prepares_moves_or_describes_is_no_compute(top: str, init: str, forward: str, judge, triton, weighty) -> None:
    """A kernel needs memory, shapes and strides, and its weights may be folded once."""
    assert weighty(judge(triton(top, init=init, forward=forward))) == []


@pytest.mark.parametrize(
    ("parameter", "judged"),
    [("s", True), ("s: float", False), ("s: int", False), ("s=1.0", False)],
)
def test_a_number_given_to_forward_is_no_tensor(parameter: str, judged: bool, judge, triton) -> None:  # noqa: FBT001 - a row's column
    """Problems with a scalar argument exist; arithmetic on it is the host's business."""
    source = triton(forward="factor = s * 2").replace("forward(self, x)", f"forward(self, x, {parameter})")

    assert (FALLBACK in [finding.policy_rule for finding in judge(source)]) is judged


@pytest.mark.parametrize(
    ("top", "rule"),
    [
        ("import os as o\no.system('true')", "process"),
        ("from os import system as s\ns('true')", "process"),
        ("import torch.utils.cpp_extension as c\nc.os.system('true')", "process"),
        ("import builtins\nbuiltins.exec('x')", "built_code"),
        ("run = exec\nrun('x')", "built_code"),
        ("exec = exec\nexec('x')", "built_code"),
        ("import sys\nsys.modules['time'].sleep = None", "patched_api"),
        ("torch.cuda.__dict__['synchronize'] = None", "patched_api"),
        ("vars(torch.cuda).update(synchronize=None)", "patched_api"),
        ("object.__setattr__(torch.cuda, 'synchronize', None)", "patched_api"),
        ("print.__code__ = None", "patched_api"),
        ("del torch.cuda.synchronize", "patched_api"),
        ("from unittest import mock\nmock.patch('torch.allclose')", "patched_api"),
        ("torch.library.impl('aten::mm', 'CUDA')(print)", "patched_api"),
        ("import time\ntime.time = print", "patched_api"),
        ("import socket\nsocket.socket()", "network"),
        ("import urllib.request", "network"),
        ("from pathlib import Path\n(Path('/etc') / 'passwd').read_text()", "files"),
        ("from pathlib import Path\nPath(__file__).read_text()", "files"),
        ("import inspect\ninspect.getsource(print)", "files"),
        ("class Worker(__import__('threading').Thread):\n    pass", "thread"),
        ("import multiprocessing as mp\nmp.Process(target=print)", "process"),
        ("import os\nos.environ.update(CUDA_LAUNCH_BLOCKING='1')", "environment"),
        ("import os\nos.putenv('A', '1')", "environment"),
        ("torch.backends.cudnn.flags(enabled=False)", "backend_setting"),
        ("torch.set_num_threads(1)", "backend_setting"),
        ("torch.set_float32_matmul_precision('medium')", "precision_switch"),
        ("torch.backends.cudnn.conv.fp32_precision = 'tf32'", "precision_switch"),
        ("Lazy = type('Lazy', (torch.Tensor,), {})", "tensor_subclass"),
        ("import functools", "replay_key"),
    ],
)
def test_other_constructs_are_seen_through_their_aliases(top: str, rule: str, judge, triton) -> None:
    """The same names by other roads."""
    cached = "@functools.lru_cache\ndef kept(part):\n    return part" if rule == "replay_key" else ""
    source = triton(f"{top}\n{cached}", forward="kept(x)" if cached else "")

    assert rule in [finding.policy_rule for finding in judge(source)]


@pytest.mark.parametrize(
    "forward",
    [
        "self.last = id(x)",
        "self.kept.get(x.data_ptr())",
        "(x.data_ptr(), x._version) in self.kept",
        "self.kept[hash((x.data_ptr(), 1))]",
        "self.kept[float(x[0, 0])]",
        "self.kept[x.untyped_storage().data_ptr() ^ 1]",
        "key = x.view(-1)[:8].tolist()\nself.kept.setdefault(str(key), out)",
    ],
)
def test_a_key_made_of_an_input_is_seen(forward: str, judge, triton) -> None:
    """Answers kept by address, version or sampled content are the oldest way to look fast."""
    assert "replay_key" in [finding.policy_rule for finding in judge(triton(init="self.kept = {}", forward=forward))]


@pytest.mark.parametrize(
    "forward",
    [
        "self.kept[(self.weight.data_ptr(), self.weight._version)] = self.weight",
        "if x.data_ptr() % 16 == 0:\n    pass",
        "if x.data_ptr() == out.data_ptr():\n    pass",
        "pointers = []\npointers.append(x.data_ptr())",
        "row = x[int(x.shape[0] // 2)]",
    ],
)
def test_addresses_that_are_not_remembered_are_fine(forward: str, judge, triton, weighty) -> None:
    """Alignment checks, pointer tables and weights prepared once are ordinary."""
    assert weighty(judge(triton(init="self.kept = {}", forward=forward))) == []
