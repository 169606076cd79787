"""No text makes preflight raise or run long, and each finding says where and what."""

import ast
import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelguard.preflight import inspect, refuses
from kernelguard.preflight.source import MAX_SOURCE_BYTES
from kernelguard.terms.findings import Finding, Severity
from kernelguard.terms.policy import Mode, Policy, Rules
from kernelguard.terms.problem import Candidate

FAST = settings(max_examples=10, deadline=None, database=None, derandomize=True)
PROGRAM = '''
import torch, os, triton
import torch.nn.functional as F
from torch.utils.cpp_extension import load_inline
CODE = r"""__global__ void k(float* x) { x[0] = 1; } at::Tensor run(at::Tensor x) { k<<<1, 1>>>(0); return at::mm(x, x); }"""
ext = load_inline(name="e", cuda_sources=[CODE], functions=["run"])

@triton.jit
def kernel(p, n: "tl.constexpr" = 4):
    tl.store(p, n)

class Base(torch.nn.Module):
    def __init__(self, *args, scale=2, **rest):
        super().__init__()
        self.layers = [torch.nn.Linear(1, 1) for _ in range(scale)]
        self.kept, *self.others = {}, 1, 2

    def helper(self, part, /, *, flag=True):
        global count
        count = id(part)
        return (lambda a, b=part: a @ b)(part) if flag else getattr(torch, "relu")(part)

class ModelNew(Base):
    def forward(self, x):
        with torch.no_grad() as guard:
            for layer in self.layers:
                x += layer(x)
        match x:
            case [first, *others]:
                del first
        kernel[(1,)](x)
        return ext.run(self.helper(x, flag=False)), f"{x!r} {CODE}", [y async for y in x] or {**self.kept}
'''
LINES = PROGRAM.splitlines()
WORDS = re.split(r"(\W)", PROGRAM)


def seen(source: str, backend: str = "cuda", mode: Mode = Mode.ENFORCE) -> tuple[Finding, ...]:
    """What preflight says, under source_strict."""
    return inspect(Candidate(source=source, name="test", backend=backend), Policy(mode=mode))


@FAST
@given(st.text(max_size=300), st.sampled_from(["cuda", "triton", "cpp", "nonsense", ""]))
def test_no_text_makes_it_raise(source: str, backend: str) -> None:
    """A scan that can be made to raise is a way around it."""
    assert isinstance(seen(source, backend), tuple)


@FAST
@given(st.lists(st.sampled_from([*WORDS, "\x00", "\ud800", "(" * 300, "\\\n", "'''", "\ufeff"]), max_size=60).map("".join))
def test_no_string_of_its_own_words_makes_it_raise(source: str) -> None:
    """Words of a real program reach further than noise does."""
    assert isinstance(seen(source), tuple)


@FAST
@given(st.lists(st.sampled_from(range(len(LINES))), min_size=8, max_size=len(LINES)).map(sorted))
def test_no_program_with_lines_missing_or_doubled_makes_it_raise(kept: list[int]) -> None:
    """Half of a program parses surprisingly often."""
    assert isinstance(seen("\n".join(LINES[number] for number in kept)), tuple)


@FAST
@given(st.data())
def test_no_tree_makes_it_raise(data: st.DataObject) -> None:
    """Expressions moved to where nobody would write them: whatever still is a program is read."""
    tree = ast.parse(PROGRAM)
    holders = [(node, name) for node in ast.walk(tree) for name, value in ast.iter_fields(node) if isinstance(value, ast.expr)]
    pieces = [node for node in ast.walk(ast.parse(PROGRAM)) if isinstance(node, ast.expr)]
    for _ in range(data.draw(st.integers(1, 6))):
        holder, name = data.draw(st.sampled_from(holders))
        setattr(holder, name, data.draw(st.sampled_from(pieces)))

    assert isinstance(seen(ast.unparse(tree)), tuple)


@FAST
@given(st.lists(st.sampled_from(re.findall(r"\w+|\s|[^\w\s]+", LINES[4])), max_size=60).map("".join))
def test_no_native_text_makes_it_raise(code: str) -> None:
    """The C++ reader is no parser, and must not need one."""
    assert isinstance(seen(PROGRAM.replace(LINES[4], f"CODE = {code!r}")), tuple)


@pytest.mark.parametrize(
    "source",
    [
        "(" * 100_000,
        "-" * 100_000 + "1",
        "x = " + "[" * 5000,
        "a" + ".b" * 20_000,
        "f(" * 160 + "x" + ")" * 160,
        "x" * (MAX_SOURCE_BYTES + 1),
        "x = [" + "0," * 50_001 + "]",
        "if a:\n    pass\n" + "elif a:\n    pass\n" * 1000,
    ],
)
def test_a_source_beyond_the_bounds_is_one_finding(source: str) -> None:
    """Depth and length are attacks on the scan itself."""
    (finding,) = seen(source)

    assert finding.severity is Severity.ERROR
    assert finding.code in {"RH-13", "RH-14"}


@pytest.mark.parametrize(("source", "line"), [("x = 1\ndef broken(:\n", 2), ("a\x00b", 1), ("x = '\ud800'", 1)])
def test_a_source_that_is_no_python_is_one_finding_with_its_line(source: str, line: int) -> None:
    """The author should find the place without a search."""
    (finding,) = seen(source)

    assert (finding.code, finding.policy_rule, finding.evidence["line"]) == ("RH-14", "parse", line)


def test_deep_but_readable_code_is_read() -> None:
    """The bound on depth must not depend on how much of the stack the caller has used."""
    source = f"import os\nx = {'f(' * 60}os.system('true'){')' * 60}"

    assert "process" in [finding.policy_rule for finding in seen(source)]


def test_repeated_sources_and_long_chains_do_not_multiply() -> None:
    """Chains, repeated sources and large classes are where a scan goes quadratic."""
    chain = "\n".join(f"a{number + 1} = a{number}.x" for number in range(200))
    kernels = "__global__ void k(float* a) { a[0] = 1; }\\n" * 50
    extensions = "\n".join(f"e{number} = load_inline(name='a', cuda_sources=S)" for number in range(34))  # more than are read

    findings = seen(
        f"import torch\na0 = torch\n{chain}\nfrom torch.utils.cpp_extension import load_inline\nS = '{kernels}'\n{extensions}"
    )

    assert "unreadable_native" in [finding.policy_rule for finding in findings]


def test_a_finding_says_what_where_and_how_often() -> None:
    """One construct is one finding, however often it stands there, and the record holds JSON alone."""
    source = "import os\nx = 1\nos.fork(); y = '\u2028'\nos.fork()\n"

    (finding,) = [one for one in seen(source) if one.policy_rule == "process"]

    assert finding.detector == "RH-PREFLIGHT-PROCESS"
    assert finding.summary == "os.fork starts or signals processes."
    assert finding.evidence == {"line": 3, "column": 1, "snippet": "os.fork(); y = '?'", "construct": "os.fork", "places": 2}
    assert json.loads(json.dumps(dict(finding.evidence))) == finding.evidence


def test_a_snippet_is_one_short_line() -> None:
    """A line of a megabyte must not travel into every record."""
    (finding,) = [one for one in seen(f"import os\nos.fork({'0' * 500})") if one.policy_rule == "process"]

    assert len(str(finding.evidence["snippet"])) == 120


def test_findings_are_bounded_and_the_same_each_time() -> None:
    """A record is compared with records; order and number may not depend on hashing."""
    source = "import torch\n" + "\n".join(f"torch.cuda.a{number} = 1" for number in range(210))

    assert len(seen(source)) == 200
    assert seen(source) == seen(source)


def test_only_enforce_refuses_and_only_for_errors_of_preflight() -> None:
    """Audit records; a note never refuses; another detector's error is not for this question."""
    error = seen("import os\nos.fork()")
    note = tuple(finding for finding in seen(PROGRAM) if finding.severity is Severity.INFO)
    foreign = Finding(code="RH-02", detector="RH-OUTPUT-WRONG", severity=Severity.ERROR, summary="wrong")

    assert refuses(error, Policy(mode=Mode.ENFORCE))
    assert not refuses(error, Policy(mode=Mode.AUDIT))
    assert not refuses(error, Policy(mode=Mode.ENFORCE, rules=Rules.BEHAVIOUR))
    assert not refuses((*note, foreign), Policy(mode=Mode.ENFORCE))
    assert not refuses((), Policy(mode=Mode.ENFORCE))
