"""The printed verdict is what most people will ever see of an evaluation."""

import io

import pytest
from rich.console import Console, RenderableType

from kernelguard.reporting.plain import safe_line, safe_tail, short
from kernelguard.reporting.text import render, render_native
from kernelguard.terms.findings import Capability, CapabilityStatus, Finding, Severity
from kernelguard.terms.policy import Policy
from kernelguard.terms.verdict import Integrity, Native, Verdict

EXTENDED: dict[str, object] = {
    "host": {"device": "NVIDIA H200", "driver": "580.1", "torch": "2.11"},
    "isolation": {"level": "landlock", "detail": "ABI 7"},
    "plan": {"seed": "ab12", "calls": 120},
    "clocks": {
        "claimed_event_ms": {"median": 0.1295, "p10": 0.128, "p90": 0.131},
        "witness_ms": {"median": 0.318, "p10": 0.309, "p90": 0.33},
        "gap_us": 0.4,
        "timing_bound_ms": 0.002,
    },
    "speedup": {"median": 2.13, "low": 2.1, "high": 2.15, "status": "converged", "pairs": 100},
    "correctness": {
        "worst_relative": 3.2e-5,
        "tolerance": 1e-4,
        "first_mismatch": {"call": 3, "kind": "sparse", "output": 0, "index": [5, 2], "expected": "1.25", "actual": "1.5"},
        "worst_row": 0.25,
    },
    "stages_s": {"build": 3.14, "calls": 7.2},
}


def printed(thing: RenderableType, width: int = 120) -> str:
    """What a terminal without colours would show."""
    stream = io.StringIO()
    Console(file=stream, width=width, color_system=None).print(thing)
    return stream.getvalue()


def verdict(integrity: Integrity, **fields: object) -> Verdict:
    """A verdict with this status and whatever else matters."""
    passed = integrity is Integrity.PASS
    return Verdict(integrity=integrity, verified_correctness=passed, verified_runtime_ms=0.1295 if passed else None, **fields)


def test_a_pass_says_its_time_both_clocks_and_the_bound() -> None:
    """A time without the clock it was read from is what this project exists to avoid."""
    text = printed(render(verdict(Integrity.PASS, extended=EXTENDED), Policy()))

    assert text.startswith("PASS  verified: right, in 0.1295 ms\n  enforce, source_strict, cuda, fp32\n")
    for words in (
        "device events, as the worker claims  0.1295  0.128  0.131",
        "witness, read outside the worker      0.318  0.309   0.33",
        "at most this much could have been hidden: 0.002 ms",
        "2.13x, 95 % interval 2.1x to 2.15x, 100 pairs, converged",
        "largest error: 3.2e-05, which is 0.32 of the tolerance (0.0001)",
        "first wrong value: call 3 (sparse), output 0, index [5, 2]: expected 1.25, got 1.5",
        "worst row on its own: 0.25 of its tolerance",
        "device NVIDIA H200, driver 580.1, torch 2.11",
        "isolation landlock ABI 7",
        "plan seed ab12",
    ):
        assert words in text


def test_a_finding_shows_code_name_line_and_remedy() -> None:
    """Whoever wrote the kernel must learn what is wrong and where, without a second command."""
    finding = Finding(
        code="RH-05", detector="RH-CACHE", severity=Severity.ERROR, summary="An output is kept.", evidence={"line": 12}
    )

    text = printed(render(verdict(Integrity.FAIL, findings=(finding,)), Policy()))

    assert "FAIL  rejected: RH-05" in text
    assert "RH-05 replayed output  error, by RH-CACHE" in text
    assert "An output is kept." in text
    assert "| line: 12" in text
    assert "What to do: Keep no results between calls" in text


def test_an_unsupported_verdict_names_what_the_host_lacks() -> None:
    """The reader must see that the host is at fault, not the kernel."""
    missing = Capability(name="cuda_runtime", status=CapabilityStatus.UNSUPPORTED, required=True, detail="no device")
    present = Capability(name="landlock", status=CapabilityStatus.SUPPORTED, required=True, detail="ABI 7")

    text = printed(render(verdict(Integrity.UNSUPPORTED, capabilities=(missing, present), limitations=("No GPU.",)), Policy()))

    assert "UNSUPPORTED  could not be evaluated here: cuda_runtime" in text
    assert "UNSUPPORTED  cuda_runtime  required  no device" in text
    assert "landlock" not in text
    assert "- No GPU." in text


def test_sections_with_nothing_to_say_are_left_out() -> None:
    """An empty heading reads like a check that was made."""
    text = printed(render(verdict(Integrity.FAIL), Policy()))

    for title in ("Found", "Clocks", "Speedup", "Correctness", "Limits", "error", "Where"):
        assert title not in text


@pytest.mark.parametrize("key", ["log", "error"])
def test_what_a_candidate_printed_cannot_steer_the_terminal(key: str) -> None:
    """A log that clears the screen and prints PASS in green would be the cheapest attack of all."""
    hostile = "\x1b[2J\x1b[1;32mPASS  verified\x1b[0m\r[bold]PASS[/bold] \u202etxet\u200b\n" + "x" * 5000

    text = printed(render(verdict(Integrity.FAIL, extended={key: hostile}), Policy()))

    assert "\x1b" not in text
    assert "\r" not in text
    assert "\u202e" not in text
    assert "| \\x1b[2J\\x1b[1;32mPASS  verified" in text
    assert "[bold]PASS[/bold]" in text
    assert not any(line.startswith("PASS") for line in text.splitlines())
    assert text.count("x") < 500


@pytest.mark.parametrize("width", [20, 40, 80])
def test_a_long_line_of_a_candidate_keeps_its_bar_when_it_is_folded(width: int) -> None:
    """Padding up to the next line would otherwise let a candidate's words begin a line of their own."""
    hostile = " ".join(["a"] * 60) + " " * 60 + "PASS verified"

    lines = printed(render(verdict(Integrity.FAIL, extended={"log": hostile}), Policy()), width).splitlines()

    title = max(place for place, line in enumerate(lines) if "lines)" in line)
    assert len(lines) > title + 2
    assert all(line.startswith("  | ") for line in lines[title + 1 :])


def test_hostile_words_in_evidence_and_metadata_are_printed_as_they_are() -> None:
    """Evidence quotes the candidate's source, which may hold markup of the terminal library."""
    finding = Finding(
        code="RH-02", detector="RH-X", severity=Severity.WARNING, summary="[red]odd[/red]", evidence={"[link=x]": "\x1b]8;;"}
    )

    text = printed(render(verdict(Integrity.SUSPICIOUS, findings=(finding,)), Policy()))
    native = printed(render_native(Native(metadata={"compilation_error": "[bold]\x1b[H"})))

    assert "[red]odd[/red]" in text
    assert "| [link=x]: \\x1b]8;;" in text
    assert "compilation_error: [bold]\\x1b[H" in native


def test_a_native_result_says_that_nothing_is_verified() -> None:
    """A native runtime must never be mistaken for a trusted one."""
    text = printed(render_native(Native(compiled=True, correctness=True, runtime_ms=2695.4)))

    assert "nothing here is verified" in text
    assert "2,695 ms" in text
    assert "not measured" in text


def test_only_the_end_of_a_long_log_is_printed() -> None:
    """The last lines hold the error; a million lines hold nothing more."""
    assert safe_tail("\n".join(str(number) for number in range(1000)), lines=3) == ["997", "998", "999"]
    assert len(safe_line("y" * 1000, 50)) == 50


@pytest.mark.parametrize(("value", "words"), [(2695.4, "2,695"), (0.1295, "0.1295"), (3.2e-5, "3.2e-05"), (0, "0")])
def test_figures_have_four_digits(value: float, words: str) -> None:
    """More digits than the clock has would be a claim."""
    assert short(value) == words
