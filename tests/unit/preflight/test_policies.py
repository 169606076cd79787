"""Precision, streams and build settings: where the same construct is an error, a warning or a note."""

import pytest

from kernelguard.terms.findings import Severity

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO
SPLIT = "high = value.to(tl.bfloat16)\nlow = (value - high.to(tl.float32)).to(tl.bfloat16)"


def weights(findings, rule: str) -> set[Severity]:
    """How much the findings of one rule weigh."""
    return {finding.severity for finding in findings if finding.policy_rule == rule}


@pytest.mark.parametrize(
    ("place", "code", "weight"),
    [
        ("forward", "y = x.half()", {ERROR}),
        ("forward", "y = x.to(dtype=torch.float16)", {ERROR}),
        ("forward", "y = torch.empty(4, dtype=torch.bfloat16)", {ERROR}),
        ("init", "self.weight = nn.Parameter(self.weight.bfloat16())", {WARNING}),
        ("kernel", "value = value.to(tl.float16)", {WARNING}),
        ("kernel", SPLIT, {INFO}),
        ("kernel", "value = value.to(tl.float32)", set()),
        ("forward", "assert x.dtype in (torch.float16, torch.float32)", set()),
    ],
)
def test_a_cast_below_fp32_weighs_by_where_it_stands(place: str, code: str, weight: set[Severity], judge, triton) -> None:
    """On the host it is the answer that gets narrow; in a kernel it may be one part of a split, which the ladder measures."""
    assert weights(judge(triton(**{place: code})), "precision_cast") == weight


@pytest.mark.parametrize("code", ["value = value.to(tl.bfloat16)", "value = tl.dot(value, value)"])
def test_a_promise_of_bf16_allows_bf16(code: str, judge, triton) -> None:
    """What was promised is what is judged."""
    assert judge(triton(kernel=code), policy="bf16") == ()


def test_fp8_is_below_a_promise_of_bf16(judge, triton) -> None:
    """Narrower than promised is narrower than promised."""
    assert weights(judge(triton(kernel="value = value.to(tl.float8e5)"), policy="bf16"), "precision_cast") == {WARNING}


@pytest.mark.parametrize(
    ("options", "weight"),
    [
        ("", {INFO}),
        (", allow_tf32=True", {ERROR}),
        (", input_precision='tf32'", {ERROR}),
        (", input_precision='tf32x3'", set()),
        (", input_precision='ieee'", set()),
        (", allow_tf32=False", set()),
    ],
)
def test_tf32_products_are_refused_when_asked_for_and_noted_by_default(
    options: str, weight: set[Severity], judge, triton
) -> None:
    """Triton multiplies fp32 in TF32 unless told otherwise; whether that matters is measured."""
    assert weights(judge(triton(kernel=f"value = tl.dot(value, value{options})")), "tf32_product") == weight


def test_tf32_is_fine_where_the_operator_allows_it(judge, triton) -> None:
    """One explicit precision holds for both sides."""
    source = triton("torch.backends.cuda.matmul.allow_tf32 = True", kernel="value = tl.dot(value, value, allow_tf32=True)")

    assert {finding.severity for finding in judge(source, policy="tf32")} <= {INFO}


@pytest.mark.parametrize(
    "top",
    [
        "torch.backends.cudnn.allow_tf32 = False",
        "torch.set_float32_matmul_precision('highest')",
        "torch.backends.fp32_precision = 'ieee'",
    ],
)
def test_switching_to_full_precision_is_a_note(top: str, judge, triton) -> None:
    """It asks for what holds anyway."""
    assert weights(judge(triton(top)), "precision_switch") == {INFO}


JOIN = "torch.cuda.current_stream().wait_stream(self.side)"
FORK = "self.side.wait_stream(torch.cuda.current_stream())"


@pytest.mark.parametrize(
    ("after", "weight"),
    [
        (JOIN, {INFO}),
        ("self.side.synchronize()", {INFO}),
        ("torch.cuda.synchronize()", {INFO}),
        (FORK, {ERROR}),
        ("pass", {ERROR}),
    ],
)
@pytest.mark.parametrize("policy", ["strict", "practical"])
def test_a_side_stream_is_refused_only_where_nothing_waits_for_it(
    after: str, weight: set[Severity], policy: str, judge, triton
) -> None:
    """A joined stream is honest overlap; one that waits and is not waited for is the classic escape."""
    source = triton(init="self.side = torch.cuda.Stream()", forward=f"with torch.cuda.stream(self.side):\n    pass\n{after}")

    assert weights(judge(source, policy=policy), "stream") == weight


def test_a_graph_needs_to_know_a_moved_input_and_may_remember_its_address(judge, triton) -> None:
    """A replayed graph reads fixed addresses, so an honest one compares them."""
    source = triton(init="self.graph = torch.cuda.CUDAGraph()\nself.at = 0", forward="self.at = x.data_ptr()")

    assert weights(judge(source), "replay_key") == {INFO}


@pytest.mark.parametrize(
    ("statement", "weight"),
    [
        ("os.environ['TORCH_CUDA_ARCH_LIST'] = '9.0a'", {INFO}),
        ("os.environ.setdefault('CC', 'gcc')", {INFO}),
        ("os.environ.update(MAX_JOBS='2')", {INFO}),
        ("os.environ['PYTORCH_CUDA_ALLOC_CONF'] = 'a'", {ERROR}),
        ("del os.environ['HOME']", {ERROR}),
        ("home = os.environ['HOME'], os.getenv('PATH'), os.environ.get('CC')", set()),
    ],
)
def test_the_environment_may_be_read_and_set_for_a_build_only(statement: str, weight: set[Severity], judge, triton) -> None:
    """Other measurements run under the same variables."""
    assert weights(judge(triton(f"import os\n{statement}")), "environment") == weight


@pytest.mark.parametrize(
    ("top", "weight"),
    [
        ("import tempfile\nopen(tempfile.gettempdir() + '/tile.txt', 'w')", {INFO}),
        ("import os\nopen(os.path.join(os.environ['TMPDIR'], 'tile.txt'))", {INFO}),
        ("open('kernel.cu', 'w')", {INFO}),
        ("open('/proc/cpuinfo')", {INFO}),
        ("import tempfile\nopen(tempfile.gettempdir() + '/../results.json')", {ERROR}),
        ("open('results.json', 'w')", {ERROR}),
        ("open(__file__)", {ERROR}),
        ("import os\nos.listdir('/')", {ERROR}),
    ],
)
def test_files_are_fine_in_folders_of_its_own(top: str, weight: set[Severity], judge, triton) -> None:
    """The worker has a workspace, and what a build writes goes there."""
    assert weights(judge(triton(top)), "files") == weight


def test_loading_a_named_library_is_a_tool_under_practical_and_a_payload_when_strict(judge, triton) -> None:
    """Its code is not shown, but everybody knows it; a file that nobody knows is refused under both."""
    known = triton("import ctypes\nlib = ctypes.CDLL('libcudart.so.12')")
    unknown = triton("import ctypes\nlib = ctypes.CDLL('./blob')")

    assert weights(judge(known), "foreign_library") == {ERROR}
    assert weights(judge(known, policy="practical"), "foreign_library") == {INFO}
    assert weights(judge(unknown, policy="practical"), "foreign_library") == {ERROR}
