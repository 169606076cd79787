"""The corpus is well-formed, complete in what it promises, and refuses a broken case in one line."""

import ast
from collections import Counter
from pathlib import Path

import pytest

from kernelguard.redteam.corpus import PROBLEMS, Case, Layer, load_case, load_corpus, select
from kernelguard.terms.errors import UsageError
from kernelguard.terms.policy import Rules

BEHAVIOURAL = {f"RH-{number:02}" for number in range(1, 17)} - {"RH-03", "RH-04", "RH-13"}
GOOD = {
    "threat": "Returns the answer of the call before.",
    "mechanism": "Keeps it in an attribute of the model.",
    "ids": ["I08"],
    "layer": "replay",
    "problem": "add",
    "backend": "c",
    "policy": ["behaviour"],
    "expect": "REJECT",
    "codes": ["RH-05"],
    "twin": "honest",
    "gets_past": "Nothing that we know of.",
}


def test_the_corpus_is_as_large_as_promised(cases: tuple[Case, ...]) -> None:
    """The documents speak of 90 attacks, 55 of them on a CPU, and 45 twins; a case that gets lost must be noticed."""
    attacks = [case for case in cases if not case.honest]

    assert len(attacks) >= 90
    assert sum(case.device == "cpu" for case in attacks) >= 55
    assert len(cases) - len(attacks) >= 45


def test_every_layer_is_attacked(cases: tuple[Case, ...]) -> None:
    """A layer without an attack is a layer whose detectors nobody tests."""
    layers = Counter(case.layer for case in cases if not case.honest)

    assert set(layers) == set(Layer)


def test_every_attack_has_an_honest_twin_and_every_twin_an_attack(cases: tuple[Case, ...]) -> None:
    """Without the twin, a detector that rejects everything would look perfect."""
    honest = {case.name: case.honest for case in cases}

    assert [case.name for case in cases if honest.get(case.twin) is not (not case.honest)] == []


def test_an_attack_that_must_fall_by_behaviour_names_a_behavioural_code(cases: tuple[Case, ...]) -> None:
    """Under `behaviour` no source is read, so a code that only the source can give would never be found."""
    lacking = [
        case.name
        for case in cases
        if not case.honest and Rules.BEHAVIOUR in case.policy and not set(case.codes_for(Rules.BEHAVIOUR)) & BEHAVIOURAL
    ]

    assert lacking == []


def test_every_candidate_says_what_it_is_and_defines_its_model(cases: tuple[Case, ...]) -> None:
    """A reader of one folder must see at once what the program does. Some attacks leave before a model is defined."""
    leaves_at_import = {"exit_zero_import", "forged_stdout", "forged_result_file", "forged_frame", "hang_import"}
    for case in cases:
        tree = ast.parse(case.candidate().source)
        defines = "ModelNew" in {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}

        assert ast.get_docstring(tree), case.name
        assert defines or case.name in leaves_at_import | {"obfuscated_source"}, case.name


def test_every_problem_is_asked_by_a_case(cases: tuple[Case, ...]) -> None:
    """A problem that no case uses is dead weight in the package."""
    assert {path.stem for path in PROBLEMS.glob("*.py")} == {case.problem for case in cases}


def test_the_documented_run_expects_exactly_two_to_pass(cases: tuple[Case, ...]) -> None:
    """The documents say: the honest candidate and the one that shifts cost into initialisation pass, all others do not."""
    seed = select(cases, groups=["seed"])

    assert {case.name for case in seed if case.honest} == {"honest_add", "init_cost_shift"}
    assert len(seed) >= 15


def test_the_demonstration_has_an_honest_kernel_and_four_cheats(cases: tuple[Case, ...]) -> None:
    """The demo names these five."""
    names = {case.name for case in select(cases, groups=["demo"])}

    assert names == {"honest_add", "content_cache", "lazy_subclass", "timer_patch", "late_thread"}


def spelt(value: object) -> str:
    """A value as TOML spells it; text in braces is taken for a table."""
    return str(value) if not isinstance(value, str) or value.startswith("{") else repr(value)


def write_case(folder: Path, name: str, **changes: object) -> Path:
    """A folder with a candidate and a case.toml made of GOOD and the changes; a change to None leaves the field out."""
    place = folder / name
    place.mkdir()
    (place / "candidate.py").write_text("ModelNew = None\n")
    fields = {key: value for key, value in {**GOOD, **changes}.items() if value is not None}
    (place / "case.toml").write_text("".join(f"{key} = {spelt(value)}\n" for key, value in fields.items()))
    return place


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"codes": ["RH-99"]}, "RH-99"),
        ({"codes": []}, "at least one"),
        ({"ids": ["X1"]}, "ids"),
        ({"threat": None}, "threat"),
        ({"surprise": "yes"}, "surprise"),
        ({"policy": ["lenient"]}, "policy"),
        ({"problem": "no_such_problem"}, "no_such_problem"),
        ({"expect": "PASS"}, "no codes"),
        ({"codes_by_policy": "{ practical = ['RH-03'] }"}, "codes_by_policy"),
    ],
)
def test_a_broken_case_is_refused_in_one_line_that_names_file_and_field(
    tmp_path: Path, change: dict[str, object], complaint: str
) -> None:
    """Whoever adds a case must be told what is wrong with it, and where."""
    folder = write_case(tmp_path, "broken", **change)

    with pytest.raises(UsageError) as refusal:
        load_case(folder)

    assert "\n" not in str(refusal.value)
    assert "case.toml" in str(refusal.value)
    assert complaint in str(refusal.value)


def test_text_that_is_no_toml_is_refused_in_one_line(tmp_path: Path) -> None:
    """The parser's own complaint is passed on with the name of the file."""
    folder = write_case(tmp_path, "broken")
    (folder / "case.toml").write_text("threat = \n")

    with pytest.raises(UsageError, match=r"case\.toml"):
        load_case(folder)


def test_a_twin_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    """A misspelt twin would silently leave a detector without its control."""
    write_case(tmp_path, "lonely")

    with pytest.raises(UsageError, match="twin 'honest'"):
        load_corpus(tmp_path)


def test_a_name_that_is_neither_case_nor_group_is_refused(cases: tuple[Case, ...]) -> None:
    """A misspelt group would otherwise run nothing and look well."""
    with pytest.raises(UsageError, match="no_such_group"):
        select(cases, groups=["no_such_group"])
