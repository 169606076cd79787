"""The scripts' arguments are KernelBench's: what was typed for years must still mean the same, and mistakes must be one line."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import pytest

from kernelguard.cli.keyvalue import describe, parse_value, read, run_script
from kernelguard.terms.errors import HostError, UsageError
from kernelguard.terms.policy import Mode


@dataclass(frozen=True, kw_only=True, slots=True)
class Parameters:
    """One of each type."""

    SHORTCUTS: ClassVar[dict[str, dict[str, object]]] = {"verbose_logging": {"verbose": True, "log": True}}

    level: Annotated[int, "which level"]
    run_name: Annotated[str, "what it is called"] = "run"
    temperature: Annotated[float, "how wild"] = 0.0
    verbose: Annotated[bool, "say more"] = False
    log: Annotated[bool, "keep a log"] = False
    mode: Annotated[Mode, "how strict"] = Mode.OFF
    max_tokens: Annotated[int | None, "how long"] = None
    gpu_arch: Annotated[tuple[str, ...], "which cards"] = ("Ada",)
    subset: Annotated[tuple[int | None, int | None], "from and to"] = (None, None)


@pytest.mark.parametrize(
    ("typed", "name", "value"),
    [
        ("level=3", "level", 3),
        ("run_name=my_run", "run_name", "my_run"),
        ("run_name=007", "run_name", "007"),
        ("run_name='quoted name'", "run_name", "quoted name"),
        ("run_name=a=b", "run_name", "a=b"),
        ("run_name=T", "run_name", "T"),
        ("run_name=", "run_name", ""),
        ("temperature=1", "temperature", 1.0),
        ("temperature=1e-3", "temperature", 1e-3),
        ("verbose=T", "verbose", True),
        ("verbose=True", "verbose", True),
        ("verbose=F", "verbose", False),
        ("mode=enforce", "mode", Mode.ENFORCE),
        ("max_tokens=4096", "max_tokens", 4096),
        ("max_tokens=None", "max_tokens", None),
        ('gpu_arch=["Hopper"]', "gpu_arch", ("Hopper",)),
        ("gpu_arch=[Ada,Hopper]", "gpu_arch", ("Ada", "Hopper")),
        ("gpu_arch=Hopper", "gpu_arch", ("Hopper",)),
        ("subset=(1,10)", "subset", (1, 10)),
        ("subset=(None, 5)", "subset", (None, 5)),
    ],
)
def test_a_value_is_read_as_kernelbench_reads_it(typed: str, name: str, value: object) -> None:
    """Existing command lines are the compatibility that the scripts promise."""
    given = read(Parameters, ["level=1", typed])

    assert getattr(given, name) == value
    assert type(getattr(given, name)) is type(value)


def test_the_last_of_two_values_wins_and_shortcuts_set_several() -> None:
    """Both are used by wrappers that append to a fixed command line."""
    given = read(Parameters, ["level=1", ".verbose_logging", "level=2", "log=F"])

    assert (given.level, given.verbose, given.log) == (2, True, False)


def test_a_list_can_be_spelled_with_words() -> None:
    """Brackets and quotes are hard to type through two shells."""
    given = read(Parameters, ["--list", "gpu_arch", "Ada", "Hopper", "list--", "level=1"])

    assert given.gpu_arch == ("Ada", "Hopper")


@pytest.mark.parametrize(
    ("typed", "complaint"),
    [
        ("levle=1", "unknown key 'levle'; did you mean 'level'?"),
        ("+extra=1", "unknown key"),
        ("level=one", "level=one: must be a whole number"),
        ("level=1.5", "level=1.5: must be a whole number"),
        ("level=T", "level=T: must be a whole number"),
        ("verbose=maybe", "verbose=maybe: must be T or F"),
        ("verbose=1", "verbose=1: must be T or F"),
        ("temperature=1e999", "must be a number"),
        ("mode=strict", "mode=strict: must be off or audit or enforce"),
        ("subset=(1,2,3)", "subset="),
        ("max_tokens=(4*1024)", "max_tokens="),
        (".verbose", "did you mean 'verbose_logging'?"),
        ("--level", "key=value"),
        ("level", "key=value"),
        ("--list", "list--"),
    ],
)
def test_a_mistake_is_one_line_that_names_it(typed: str, complaint: str) -> None:
    """A traceback, or a value that is silently taken for another, costs somebody a night of GPU time."""
    with pytest.raises(UsageError) as refusal:
        read(Parameters, ["level=1", typed])

    assert complaint in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_required_key_that_is_missing_is_named() -> None:
    """The first thing a newcomer meets."""
    with pytest.raises(UsageError, match=r"level=\.\.\. is required: a whole number"):
        read(Parameters, [])


@pytest.mark.parametrize("text", ["(__import__('os').getpid())", "__import__('os').getpid()", "[__import__('os').getpid()]"])
def test_a_value_is_never_evaluated(text: str) -> None:
    """Arguments come from batch files and web forms; KernelBench's own parser runs what stands in parentheses."""
    assert parse_value(text) in (text, [text[1:-1]])


def test_help_lists_every_key_with_its_default() -> None:
    """The table is the only documentation that can't go stale."""
    text = describe(Parameters, "script: does things")

    for line in ("level=required", "run_name=run", "verbose=F", "mode=off", "gpu_arch=['Ada']", "subset=[None, None]"):
        assert f"  {line}\n" in text


def test_run_script_answers_help_and_show_without_working(capsys: pytest.CaptureFixture[str]) -> None:
    """Both are for looking before leaping."""
    helped = run_script(Parameters, "script: does things", ["--help"], pytest.fail)
    shown = run_script(Parameters, "script: does things", ["level=3", "--show"], pytest.fail)

    assert (helped, shown) == (0, 0)
    out = capsys.readouterr().out
    assert out.startswith("script: does things")
    assert "level=3\nrun_name=run\n" in out


def test_run_script_turns_our_errors_into_one_line_and_a_code(capsys: pytest.CaptureFixture[str]) -> None:
    """2 for what the user did, 3 for what the host did: never 1, which means a rejected candidate."""

    def broken_host(_: Parameters) -> int:
        raise HostError("the lease was lost:\nretry")

    assert run_script(Parameters, "script: does things", ["level=x"], pytest.fail) == 2
    assert run_script(Parameters, "script: does things", ["level=1"], broken_host) == 3
    assert capsys.readouterr().err.splitlines() == [
        "script: level=x: must be a whole number",
        "script: the lease was lost: retry",
    ]
