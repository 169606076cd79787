"""KernelBench problems by level and id: the ones in this package, any checkout in the same layout, or the public dataset.

A local problem is a file `level{L}/{id}_{Name}.py`; its name includes `.py`. Names of the public dataset come without it.
"""

import hashlib
import random
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from kernelguard.terms.errors import UsageError

KERNEL_BENCH_PATH = str(Path(__file__).resolve().parent / "problems")
DATASET_NAME = "ScalingIntelligence/KernelBench"
HUB_LEVELS = (1, 2, 3)

LEVEL1_REPRESENTATIVE_IDS = [1, 3, 6, 18, 23, 26, 33, 36, 40, 42, 48, 54, 57, 65, 77, 82, 86, 87]
LEVEL2_REPRESENTATIVE_IDS = [1, 2, 8, 18, 23, 28, 33, 43]
LEVEL3_REPRESENTATIVE_IDS = [1, 5, 8, 11, 20, 21, 33, 38, 43]
REPRESENTATIVE_IDS = {1: LEVEL1_REPRESENTATIVE_IDS, 2: LEVEL2_REPRESENTATIVE_IDS, 3: LEVEL3_REPRESENTATIVE_IDS}

_BLOCK_TEXT = re.compile(r'"""[\s\S]*?"""|\'\'\'[\s\S]*?\'\'\'')
_REMARK_OR_SPACE = re.compile(r"#.*$|\s+", re.MULTILINE)


@dataclass
class Problem:
    """One problem. `path` is None for one that came from the hub."""

    problem_id: int
    name: str
    code: str
    level: int
    path: str | None = None
    metadata: dict[str, object] | None = None

    @property
    def hash(self) -> str:
        """`get_code_hash` of the source: equal for two versions that differ in comments and spacing alone."""
        return get_code_hash(self.code)


def get_code_hash(code: str) -> str:
    """MD5 (hex) of `code` without triple-quoted strings, comments and whitespace. Names a version; protects nothing."""
    bare = _REMARK_OR_SPACE.sub("", _BLOCK_TEXT.sub("", code))
    return hashlib.md5(bare.encode(), usedforsecurity=False).hexdigest()


class BaseDataset(ABC):
    """Problems of one level, addressed by id."""

    @property
    @abstractmethod
    def level(self) -> int:
        """The level they belong to."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def __iter__(self) -> Iterator[Problem]: ...

    @abstractmethod
    def get_problem_by_id(self, problem_id: int) -> Problem:
        """The problem, or ValueError."""

    @abstractmethod
    def get_problem_ids(self) -> list[int]:
        """All ids, in order."""

    @abstractmethod
    def subset(self, problem_ids: Collection[int] | None = None, id_range: tuple[int, int] | None = None) -> "BaseDataset":
        """The problems with an id in `problem_ids` or in `id_range` (both ends included); all of them if neither is given."""

    def sample(self, n: int, seed: int = 42) -> "BaseDataset":
        """`n` problems (all, if there are fewer), the same ones for the same seed."""
        ids = self.get_problem_ids()
        return self.subset(problem_ids=sorted(random.Random(seed).sample(ids, min(n, len(ids)))))  # noqa: S311 - no secret

    def get_representative_subset(self) -> "BaseDataset":
        """Upstream's small selection of this level, as far as it is here; ValueError for a level without one."""
        return self.subset(problem_ids=_representative_ids(self.level))


class _Table(BaseDataset):
    """Problems held in memory."""

    def __init__(self, level: int, problems: Collection[Problem]) -> None:
        self._level = level
        self._problems = {problem.problem_id: problem for problem in sorted(problems, key=lambda one: one.problem_id)}
        if len(self._problems) != len(problems):
            raise ValueError(f"level {level}: two problems have the same id")

    @property
    def level(self) -> int:
        return self._level

    def __len__(self) -> int:
        return len(self._problems)

    def __iter__(self) -> Iterator[Problem]:
        return iter(self._problems.values())

    def __repr__(self) -> str:
        return f"{type(self).__name__}(level={self._level}, problems={len(self)})"

    def get_problem_by_id(self, problem_id: int) -> Problem:
        if problem_id not in self._problems:
            raise ValueError(f"Problem ID {problem_id} not found in dataset")
        return self._problems[problem_id]

    def get_problem_ids(self) -> list[int]:
        return list(self._problems)

    def subset(self, problem_ids: Collection[int] | None = None, id_range: tuple[int, int] | None = None) -> "BaseDataset":
        wanted = _filter(problem_ids, id_range)
        return _Table(self._level, [problem for problem in self if wanted(problem.problem_id)])


class LocalKernelBenchDataset(_Table):
    """Problems read from `base_path/level{L}`, or from the same folder inside a KernelBench or KernelGuard checkout."""

    def __init__(
        self,
        level: int,
        base_path: str = KERNEL_BENCH_PATH,
        problem_ids: Collection[int] | None = None,
        id_range: tuple[int, int] | None = None,
    ) -> None:
        if level < 1:
            raise ValueError(f"level must be >= 1, got {level}")
        wanted = _filter(problem_ids, id_range)
        files = [path for path in _level_directory(Path(base_path), level).glob("*.py") if path.stem.split("_")[0].isdecimal()]
        super().__init__(level, [_read(path, level) for path in files if wanted(_id_of(path))])


class HuggingFaceKernelBenchDataset(_Table):
    """Problems of the public dataset (levels 1 to 3). Downloads on first use; needs the `hub` extra."""

    def __init__(
        self,
        level: int,
        dataset_name: str = DATASET_NAME,
        problem_ids: Collection[int] | None = None,
        id_range: tuple[int, int] | None = None,
    ) -> None:
        if level not in HUB_LEVELS:
            raise ValueError(f"HuggingFace dataset only has levels 1, 2, 3, got {level}")
        try:
            from datasets import load_dataset  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise UsageError("dataset_src=huggingface needs the hub extra: pip install 'kernelguard-bench[hub]'") from error
        wanted = _filter(problem_ids, id_range)
        rows = [row for row in load_dataset(dataset_name, split=f"level_{level}") if wanted(row["problem_id"])]
        super().__init__(
            level,
            [Problem(problem_id=row["problem_id"], name=row["name"], code=row["code"], level=level) for row in rows],
        )


def construct_kernelbench_dataset(
    level: int,
    source: str = "local",
    dataset_name: str = DATASET_NAME,
    base_path: str = KERNEL_BENCH_PATH,
    problem_ids: Collection[int] | None = None,
    id_range: tuple[int, int] | None = None,
) -> BaseDataset:
    """The problems of a level. `source` is `local`, `huggingface`, or the path of a checkout; ValueError for anything else."""
    if source == "huggingface":
        return HuggingFaceKernelBenchDataset(level, dataset_name, problem_ids, id_range)
    if source == "local":
        return LocalKernelBenchDataset(level, base_path, problem_ids, id_range)
    if Path(source).is_dir():
        return LocalKernelBenchDataset(level, source, problem_ids, id_range)
    raise ValueError(f"Unknown dataset source {source!r}: say local, huggingface, or the path of a checkout")


def fetch_ref_arch_from_dataset(dataset: BaseDataset, problem_id: int) -> tuple[str | None, str, str]:
    """Path (None from the hub), name and source of a problem."""
    problem = dataset.get_problem_by_id(problem_id)
    return problem.path, problem.name, problem.code


def get_kernelbench_subset(
    level: int, num_subset_problems: int = 10, random_seed: int = 42, source: str = "local"
) -> tuple[BaseDataset, list[int]]:
    """A random selection of a level, and its ids."""
    selection = construct_kernelbench_dataset(level, source=source).sample(num_subset_problems, random_seed)
    return selection, selection.get_problem_ids()


def get_representative_dataset(level: int, source: str = "local") -> BaseDataset:
    """Upstream's small selection of level 1, 2 or 3; ValueError for another level."""
    return construct_kernelbench_dataset(level, source=source, problem_ids=_representative_ids(level))


def _representative_ids(level: int) -> list[int]:
    if level not in REPRESENTATIVE_IDS:
        raise ValueError(f"No representative subset for level {level}")
    return REPRESENTATIVE_IDS[level]


def _filter(problem_ids: Collection[int] | None, id_range: tuple[int, int] | None) -> Callable[[int], bool]:
    """Whether an id is asked for. Both conditions together select what either selects."""
    listed = frozenset(problem_ids or ())
    first, last = id_range or (1, 0)
    return lambda one: (problem_ids is None and id_range is None) or one in listed or first <= one <= last


def _level_directory(base: Path, level: int) -> Path:
    places = [base, base / "KernelBench", base / "src" / "kernelbench" / "problems"]
    found = [place / f"level{level}" for place in places if (place / f"level{level}").is_dir()]
    if not found:
        raise FileNotFoundError(f"Problem directory not found: {base / f'level{level}'}")
    return found[0]


def _read(path: Path, level: int) -> Problem:
    return Problem(problem_id=_id_of(path), name=path.name, code=path.read_text(encoding="utf-8"), level=level, path=str(path))


def _id_of(path: Path) -> int:
    return int(path.stem.split("_")[0])
