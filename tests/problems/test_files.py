"""The 250 files: the benchmark's names, one contract, and the sizes that the manifest states."""

import ast
import inspect
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest
import torch
from torch.overrides import TorchFunctionMode

LoadProblem = Callable[..., ModuleType]
MANIFEST = Path(__file__).with_name("manifest.txt")
STEP_BY_STEP = {f"3/{number}" for number in range(34, 43)}  # recurrent: ten seconds each on the meta device


class Entry(NamedTuple):
    """What the benchmark says of one problem."""

    level: int
    file: str
    parameters: int
    output: str

    @property
    def key(self) -> str:
        """Level and number, as `3/48`."""
        return f"{self.level}/{self.file.split('_', 1)[0]}"


def manifest() -> list[Entry]:
    """The entries of the manifest, in the benchmark's order."""
    lines = [line.split() for line in MANIFEST.read_text().splitlines() if not line.startswith("#")]
    return [Entry(int(level), file, int(parameters), output) for level, file, parameters, output in lines]


def test_the_manifest_has_100_100_and_50_problems_numbered_without_gaps() -> None:
    """A line lost from the manifest would make every test below weaker without a sound."""
    keys = [entry.key for entry in manifest()]

    assert keys == [f"{level}/{number}" for level, count in ((1, 100), (2, 100), (3, 50)) for number in range(1, count + 1)]


def test_the_files_are_those_of_the_benchmark(root: Path) -> None:
    """Runs, baselines and leaderboards find a problem by its file name, so one letter off is another problem."""
    found = {str(path.relative_to(root)) for path in root.rglob("*.py")}

    assert found == {f"level{entry.level}/{entry.file}" for entry in manifest()}


def test_importing_a_problem_changes_nothing_in_torch(load_problem: LoadProblem) -> None:
    """A problem that drew a number or set a flag at import would shift the weights and inputs of everything after it."""

    def state() -> tuple[object, ...]:
        return (
            torch.get_rng_state().tolist(),
            torch.get_default_dtype(),
            torch.get_default_device(),
            torch.get_num_threads(),
            torch.is_grad_enabled(),
            torch.are_deterministic_algorithms_enabled(),
            torch.get_float32_matmul_precision(),
            torch.backends.cudnn.allow_tf32,
            torch.backends.cudnn.benchmark,
        )

    before = state()
    modules = [load_problem(entry.key) for entry in manifest()]

    assert state() == before
    assert not [m for m in modules if any(isinstance(v, torch.Tensor | torch.nn.Module) for v in vars(m).values())]


def test_problems_import_torch_and_the_standard_library_alone(root: Path) -> None:
    """The worker that runs a reference is confined; a further dependency would be missing there, or be an attack surface."""
    imported = set()
    for path in root.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                imported |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                imported.add(str(node.module).split(".")[0])

    assert imported == {"math", "torch"}


def test_each_model_says_in_one_line_what_it_computes_and_with_which_shapes(load_problem: LoadProblem) -> None:
    """The sentence stands in every prompt; without shapes a reader has to run the file to know the task."""
    documents = {entry.key: inspect.getdoc(load_problem(entry.key).Model) or "" for entry in manifest()}

    assert [key for key, text in documents.items() if "->" not in text.splitlines()[0]] == []
    assert len(set(documents.values())) == len(documents) - 1  # 2/33 and 2/39 differ in their sizes alone


def test_inputs_fit_the_signatures(load_problem: LoadProblem) -> None:
    """Candidates are called by position with what these two functions return."""
    for entry in manifest():
        module = load_problem(entry.key)
        with torch.device("meta"):
            inputs = module.get_inputs()

        inspect.signature(module.Model.forward).bind(None, *inputs)
        inspect.signature(module.Model).bind(*module.get_init_inputs())


@pytest.mark.filterwarnings("ignore:input's size at dim=1 does not match num_features")
def test_parameters_and_output_have_the_benchmarks_sizes(load_problem: LoadProblem) -> None:
    """At full size, without its memory: a wrong constant, layer or axis would time another workload under the same name."""
    for entry in manifest():
        module = load_problem(entry.key)
        with torch.device("meta"), torch.no_grad():
            model = module.Model(*module.get_init_inputs())
            output = None if entry.key in STEP_BY_STEP else model(*module.get_inputs())

        assert (entry.key, sum(p.numel() for p in model.parameters())) == (entry.key, entry.parameters)
        if output is not None:
            assert (entry.key, "x".join(map(str, output.shape)) or "scalar") == (entry.key, entry.output)


class Draws(TorchFunctionMode):
    """Note the name of each torch function that is called."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_function__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        """Note the name, then call."""
        self.names.append(func.__name__)
        return func(*args, **(kwargs or {}))


def test_inputs_are_drawn_by_rand_and_randint_alone(load_problem: LoadProblem) -> None:
    """The judge alters these draws to probe a candidate; a draw from anywhere else would slip past it."""
    derivation = {"__get__", "add", "mul", "sub", "div", "triu", "tril", "softmax", "bool", "float"}
    called = {}
    for entry in manifest():
        module = load_problem(entry.key)
        with torch.device("meta"), Draws() as draws:
            module.get_inputs()
        called[entry.key] = set(draws.names)

    assert [key for key, names in called.items() if "rand" not in names] == []
    assert {key: names for key, names in called.items() if not names <= derivation | {"rand", "randint"}} == {}
