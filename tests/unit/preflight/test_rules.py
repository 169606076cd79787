"""The source scan: each rule catches its attack, honest kernels pass, words are no deeds, and no text makes it raise."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelguard.preflight import inspect, refuses
from kernelguard.preflight.native_table import NATIVE_RULES, NativeRule
from kernelguard.preflight.rule import Rule
from kernelguard.preflight.table import RULES
from kernelguard.terms.findings import Finding, Severity
from kernelguard.terms.policy import Mode, Policy, Rules
from kernelguard.terms.problem import Candidate

ROOT = Path(__file__).parents[3]
PROMPTS = ROOT / "src/kernelbench/prompts"
STRICT, PRACTICAL, BEHAVIOUR = (Policy(rules=rules) for rules in (Rules.SOURCE_STRICT, Rules.PRACTICAL, Rules.BEHAVIOUR))

TRITON = """
import torch
import triton
import triton.language as tl
{prelude}

@triton.jit
def double(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < n) * 2, mask=at < n)


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)

    def forward(self, x):
        out = torch.empty_like(x)
        {statement}
        double[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
        return out
"""

NATIVE = '''
import torch
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>
__global__ void double_it(const float* x, float* out, int n) {{
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < n) out[at] = x[at] * 2;
}}
torch::Tensor run(torch::Tensor x) {{
  auto out = torch::empty_like(x);
  {statement}
  double_it<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), out.data_ptr<float>(), x.numel());
  return out;
}}
"""
ext = load_inline(name="ext", cpp_sources="torch::Tensor run(torch::Tensor x);", cuda_sources=SOURCE, functions=["run"])


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return ext.run(x)
'''

# Rule: (at module level, in forward).
PYTHON_ATTACKS = {
    "framework_fallback": ("", "out = torch.matmul(x, x)"),
    "thread": ("import threading", "threading.Thread(target=print).start()"),
    "process": ("import os", "os.fork()"),
    "patched_api": ("torch.cuda.synchronize = lambda *_: None", ""),
    "patched_modules": ("import sys\nsys.modules['time'] = None", ""),
    "frame_walk": ("import sys", "sys._getframe(1)"),
    "precision_switch": ("torch.backends.cuda.matmul.allow_tf32 = True", ""),
    "precision_call": ("torch.set_float32_matmul_precision('medium')", ""),
    "backend_flag": ("torch.backends.cudnn.benchmark = True", ""),
    "backend_call": ("torch.set_num_threads(1)", ""),
    "environment": ("import os\nos.environ['CUDA_LAUNCH_BLOCKING'] = '1'", ""),
    "tensor_subclass": ("class Lazy(torch.Tensor):\n    pass", ""),
    "files": ("", "open('/tmp/answer').read()"),
    "network": ("import socket", "socket.create_connection(('localhost', 1))"),
    "process_memory": ("import os", "os.kill(1, 9)"),
    "early_exit": ("import os\nos._exit(0)", ""),
    "built_code": ("exec('x = 1')", ""),
    "decoded_payload": ("import base64\ncode = base64.b64decode('eA==')", ""),
    "foreign_library": ("import ctypes\nlib = ctypes.CDLL('libcublas.so')", ""),
    "streams_and_graphs": ("", "torch.cuda.Stream()"),
}
NATIVE_ATTACKS = {
    "native_fallback": "out = at::mm(x, x);",
    "native_method_fallback": "out = x.matmul(x);",
    "vendor_library": "cublasSgemm(handle, 0, 0);",
    "native_thread": "std::thread worker([] {});",
    "native_process": "fork();",
    "native_callback": "cudaLaunchHostFunc(0, call, 0);",
    "native_files": 'fopen("/tmp/answer", "r");',
    "native_network": "socket(2, 1, 0);",
    "native_loader": 'dlopen("libx.so", 2);',
    "native_streams": "cudaStreamCreate(&stream);",
}


def seen(source: str, backend: str = "triton", policy: Policy = STRICT) -> tuple[Finding, ...]:
    """What preflight says about a source."""
    return inspect(Candidate(source=source, name="test", backend=backend), policy)


def triton(prelude: str = "", statement: str = "pass") -> str:
    """An honest Triton kernel with something put into it."""
    return TRITON.format(prelude=prelude, statement=statement or "pass")


def cuda(statement: str = "") -> str:
    """An honest CUDA kernel with something put into it."""
    return NATIVE.format(statement=statement)


def errors(findings: tuple[Finding, ...]) -> list[str]:
    """The rules that refuse."""
    return [finding.policy_rule for finding in findings if finding.severity is Severity.ERROR]


def backend_of(path: Path) -> str:
    """The backend that an example is written for, by its name or what it imports."""
    if path.stem.endswith("_cpp"):
        return "cpp"
    return "triton" if re.search(r"^import triton", path.read_text(), re.MULTILINE) else "cuda"


HONEST = sorted(
    [
        *PROMPTS.glob("model_new_ex_*.py"),
        *(path for path in (ROOT / "bench/kernels").glob("[!_]*.py") if path.stem != "reference"),
    ]
)


@pytest.mark.parametrize("path", HONEST, ids=lambda path: path.stem)
def test_honest_kernels_of_each_backend_pass(path: Path) -> None:
    """The examples that we hand out ourselves must not be refused."""
    assert errors(seen(path.read_text(), backend_of(path))) == []


def test_the_carriers_of_the_attacks_are_honest_themselves() -> None:
    """Otherwise the tests below would pass for another reason."""
    assert seen(triton()) == ()
    assert errors(seen(cuda(), "cuda")) == []
    assert len(HONEST) >= 7


NAMESAKES = {
    "network": ("import socket", "socket.socket()"),
    "patched_api": ("import time\ntime.time = lambda: 0.0", ""),
    "files": ("import mmap", "mmap.mmap(-1, 4096)"),
}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_every_rule_over_names_catches_its_attack(rule: Rule) -> None:
    """A rule without an attack here fails, so that none is added untested."""
    found = seen(triton(*PYTHON_ATTACKS[rule.name]))

    assert (rule.name, rule.code, rule.strict) in [(one.policy_rule, one.code, one.severity) for one in found]


@pytest.mark.parametrize("name", [pytest.param("network"), pytest.param("patched_api"), "files"])
def test_what_is_called_like_its_module_is_caught(name: str) -> None:
    """`socket.socket` is how everybody opens one, and `time.time` a clock worth patching."""
    assert name in errors(seen(triton(*NAMESAKES[name])))


@pytest.mark.parametrize("rule", NATIVE_RULES, ids=lambda rule: rule.name)
def test_every_rule_over_native_text_catches_its_attack(rule: NativeRule) -> None:
    """The same for C++ and CUDA."""
    found = seen(cuda(NATIVE_ATTACKS[rule.name]), "cuda")

    assert (rule.name, rule.code, rule.strict) in [(one.policy_rule, one.code, one.severity) for one in found]


@pytest.mark.parametrize("name", sorted(PYTHON_ATTACKS))
def test_an_attack_in_a_comment_or_docstring_is_no_attack(name: str) -> None:
    """Words are no deeds: a kernel may explain what it avoids."""
    text = "\n".join(part for part in PYTHON_ATTACKS[name] if part)
    comment = "\n".join(f"# {line}" for line in text.splitlines())

    assert seen(triton(f'{comment}\nNOTE = r"""\n{text}\n"""')) == ()


@pytest.mark.parametrize("name", sorted(NATIVE_ATTACKS))
def test_a_native_attack_in_a_comment_or_string_is_no_attack(name: str) -> None:
    """The same for C++ and CUDA."""
    attack = NATIVE_ATTACKS[name]
    quoted = attack.replace('"', "'")

    assert seen(cuda(f"// {attack}\n/* {attack} */"), "cuda") == seen(cuda(), "cuda")
    assert seen(cuda(f'const char* note = "{quoted}";'), "cuda") == seen(cuda(), "cuda")


def test_practical_allows_the_framework_and_nothing_else() -> None:
    """Library calls become notes; a patched clock stays an error."""
    fallback, patched = (triton(*PYTHON_ATTACKS[name]) for name in ("framework_fallback", "patched_api"))

    assert errors(seen(fallback, policy=PRACTICAL)) == []
    assert seen(fallback, policy=PRACTICAL)
    assert errors(seen(patched, policy=PRACTICAL)) == ["patched_api"]


@pytest.mark.parametrize("source", [triton(*parts) for parts in PYTHON_ATTACKS.values()] + ["def broken(:", "\x00"])
def test_behaviour_reads_no_source(source: str) -> None:
    """There only what the candidate does counts."""
    assert seen(source, policy=BEHAVIOUR) == ()


@pytest.mark.parametrize(
    ("source", "rule"),
    [
        ("import torch\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return x", "custom_kernel"),
        (
            triton().replace("        double[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)\n", ""),
            "kernel_launched",
        ),
        ("x = 1", "entry"),
        ("def broken(:", "parse"),
    ],
)
def test_a_source_without_a_kernel_on_its_path_is_refused(source: str, rule: str) -> None:
    """Strictly, the declared backend has to carry the work."""
    assert rule in errors(seen(source))


def test_only_enforce_refuses_and_only_for_errors() -> None:
    """Audit records; a note never refuses."""
    error = seen(triton(*PYTHON_ATTACKS["thread"]))
    note = seen(triton(*PYTHON_ATTACKS["streams_and_graphs"]))

    assert refuses(error, Policy(mode=Mode.ENFORCE))
    assert not refuses(error, Policy(mode=Mode.AUDIT))
    assert not refuses(note, Policy(mode=Mode.ENFORCE))


def test_a_finding_names_the_line() -> None:
    """The author should find it without a search."""
    source = triton("import threading", "threading.Thread(target=print).start()")

    (finding,) = [one for one in seen(source) if one.policy_rule == "thread"]

    assert "threading.Thread" in source.splitlines()[int(str(finding.evidence["line"])) - 1]


WORDS = [*re.split(r"(\s+|\W)", triton() + cuda()), *(part for parts in PYTHON_ATTACKS.values() for part in parts)]
PIECES = st.sampled_from([*WORDS, "\x00", "\ud800", "(" * 300])


@settings(max_examples=150, deadline=None, database=None)
@given(
    st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=60).map("".join)), st.sampled_from(["cuda", "triton", "cpp", ""])
)
def test_no_text_makes_it_raise(source: str, backend: str) -> None:
    """A scan that can be made to raise is a way around it."""
    assert isinstance(seen(source, backend), tuple)


@settings(max_examples=150, deadline=None, database=None)
@given(st.data())
def test_no_mutation_of_a_kernel_makes_it_raise(data: st.DataObject) -> None:
    """Lines left out or doubled reach further into the scan than noise does."""
    lines = triton(*data.draw(st.sampled_from(sorted(PYTHON_ATTACKS.values())))).splitlines()
    kept = data.draw(st.lists(st.sampled_from(range(len(lines))), min_size=5, max_size=40).map(sorted))

    assert isinstance(seen("\n".join(lines[number] for number in kept)), tuple)


@pytest.mark.parametrize(
    "source", ["(" * 100_000, "-" * 100_000 + "1", "x = " + "[" * 5000, "a." * 20_000 + "b", "x" * 2_000_000, "1" * 10_000]
)
def test_sources_that_exhaust_a_parser_are_findings(source: str) -> None:
    """Depth and length are attacks on the scan itself."""
    assert errors(seen(source)) != []
