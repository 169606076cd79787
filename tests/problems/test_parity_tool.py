"""The tool that compares the problems with upstream: it must see each kind of difference, or its table proves nothing."""

import importlib
import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

NAME = "21_Conv2d_Add_Scale_Sigmoid_GroupNorm.py"
OneFile = Callable[[str, str], Path]


@pytest.fixture
def parity(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The tool, imported as its script imports its own parts."""
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[2] / "tools"))
    return importlib.import_module("problem_parity")


@pytest.fixture
def checkout(tmp_path: Path, root: Path) -> OneFile:
    """`checkout(old, new)`: a checkout that holds one problem, ours with `old` replaced by `new`."""

    def make(old: str = "", new: str = "") -> Path:
        source = (root / "level2" / NAME).read_text()
        assert old in source
        path = tmp_path / "KernelBench" / "level2" / NAME
        path.parent.mkdir(parents=True)
        path.write_text(source.replace(old, new) if old else source)
        return tmp_path

    return make


def test_a_file_agrees_with_itself(parity: ModuleType, checkout: OneFile, root: Path) -> None:
    """The honest twin of the differences below."""
    row = parity.compare(2, root / "level2" / NAME, checkout("", "") / "KernelBench" / "level2" / NAME)

    assert (row.status, row.differences, row.max_relative_difference) == ("agree", [], 0.0)
    assert row.informative
    assert row.same_state_names
    assert row.operations_only_here == row.operations_only_upstream == {}


@pytest.mark.parametrize(
    ("old", "new", "seen"),
    [
        pytest.param("out_channels = 32", "out_channels = 24", "constants", id="a constant"),
        pytest.param("num_groups = 8", "num_groups = 8.0", "constants", id="the type of a constant"),
        pytest.param("scale_shape: tuple[int, int, int]", "scale_shape=()", "parameters of __init__", id="a default"),
        pytest.param("self, x: torch.Tensor", "self, y: torch.Tensor, x=1", "parameters of forward", id="a parameter"),
        pytest.param("in_channels, height, width)", "in_channels, width, height)", "inputs", id="swapped axes"),
        pytest.param("[torch.rand(batch", "[torch.randn(batch", "inputs", id="another distribution of inputs"),
        pytest.param("torch.randn(scale_shape)", "torch.rand(scale_shape)", "initial state", id="other weights"),
        pytest.param("GroupNorm(num_groups,", "GroupNorm(num_groups // 2,", "outputs", id="other groups"),
        pytest.param("torch.sigmoid(", "torch.tanh(", "outputs", id="another activation"),
        pytest.param("+ self.bias", "+ 1.000000001 * self.bias", "outputs", id="one part in a thousand million"),
        pytest.param("return self.group_norm(", "return self.group_nrm(", "AttributeError", id="a file that fails to run"),
        pytest.param("def get_inputs()", "def get_inputs(", "SyntaxError", id="a file that fails to load"),
    ],
)
def test_a_difference_is_seen(parity: ModuleType, checkout: OneFile, root: Path, old: str, new: str, seen: str) -> None:
    """Each of these would time or judge another problem under the benchmark's name."""
    row = parity.compare(2, root / "level2" / NAME, checkout(old, new) / "KernelBench" / "level2" / NAME)

    assert row.status == "differ"
    assert seen in " ".join(row.differences)


def test_work_that_changes_no_value_is_recorded(parity: ModuleType, checkout: OneFile, root: Path) -> None:
    """Runtimes compare with upstream's only where the same operations run."""
    upstream = checkout("return self.group_norm(", "torch.exp(x)\n        return self.group_norm(")
    row = parity.compare(2, root / "level2" / NAME, upstream / "KernelBench" / "level2" / NAME)

    assert row.status == "agree"
    assert row.operations_only_here == {}
    assert [name.split()[0] for name in row.operations_only_upstream] == ["exp.default"]


def test_the_table_is_written_and_the_exit_code_says_whether_all_agree(
    parity: ModuleType, checkout: OneFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CI and readers go by the code and the file."""
    table = tmp_path / "table.json"
    directory = str(checkout("torch.sigmoid(", "torch.tanh("))
    monkeypatch.setattr("sys.argv", ["problem_parity.py", directory, "--revision", "abc", "--out", str(table)])
    code = parity.main()
    written = json.loads(table.read_text())

    assert code == 1
    assert written["upstream"]["revision"] == "abc"
    assert (written["agree"], written["differ"]) == (0, 1)
    assert written["problems"][0]["name"] == NAME.removesuffix(".py")


def test_a_path_that_is_no_checkout_is_refused_in_one_line(
    parity: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An empty comparison must not look like a clean one."""
    monkeypatch.setattr("sys.argv", ["problem_parity.py", str(tmp_path)])
    with pytest.raises(SystemExit) as stop:
        parity.main()

    assert stop.value.code == 2
    assert "give the path of a checkout" in capsys.readouterr().err.splitlines()[-1]


def test_the_committed_table_says_that_all_250_agree(parity: ModuleType, root: Path) -> None:
    """The table is evidence only for files that are still the ones compared: their names and number must match."""
    table = json.loads((parity.ROOT / "bench" / "results" / "problem_parity.json").read_text())
    named = {f"level{row['level']}/{row['name']}.py" for row in table["problems"]}

    assert (table["agree"], table["differ"]) == (250, 0)
    assert named == {str(path.relative_to(root)) for path in root.rglob("*.py")}
