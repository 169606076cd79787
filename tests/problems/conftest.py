"""The problem files as tests load them: by level and number, with some of their constants set smaller."""

import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

LoadProblem = Callable[..., ModuleType]


@pytest.fixture
def root() -> Path:
    """The directory of the problems, `level1` to `level3` in it."""
    return Path(__file__).resolve().parents[2] / "src" / "kernelbench" / "problems"


@pytest.fixture
def load_problem(root: Path) -> LoadProblem:
    """`load_problem("3/48", n_heads=2)`: a fresh module of that file in which those constants are set."""

    def load(key: str, **constants: object) -> ModuleType:
        level, number = key.split("/")
        (path,) = (root / f"level{level}").glob(f"{number}_*.py")
        spec = importlib.util.spec_from_file_location(f"problem_{level}_{number}", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        assert constants.keys() <= vars(module).keys(), f"{path.name} lacks one of {sorted(constants)}"
        vars(module).update(constants)
        return module

    return load
