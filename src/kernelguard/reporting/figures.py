"""The measured half of a verdict in words: clocks, speedup, correctness, and where it was measured.

Reads `Verdict.extended`, in which anything may be absent: what is not there is not printed, and nothing is made up for it.
"""

from collections.abc import Mapping

from rich.table import Table
from rich.text import Text

from kernelguard.reporting.plain import figure, safe_line, section, short, word
from kernelguard.terms.verdict import Verdict

STATISTICS = ("median", "p10", "p90")
CLOCK_NAMES = {
    "claimed_event_ms": "device events, as the worker claims",
    "claimed_host_ms": "host clock, as the worker claims",
    "witness_ms": "witness, read outside the worker",
}
BOUND_NAMES = {
    "overhead_us": "hand-over, in the witness time only: {} us",
    "gap_us": "witness less claim, beyond the reference's: {} us",
    "gap_se_us": "standard error of that: {} us",
    "slack_us": "allowed for one call: {} us",
    "timing_bound_ms": "at most this much could have been hidden: {} ms",
}


def clocks(verdict: Verdict) -> list[Table | Text]:
    """Each clock's median, 10th and 90th percentile, and the bounds that tie them together."""
    values = section(verdict.extended, "clocks")
    rows = {name: value for name, value in values.items() if isinstance(value, Mapping) and "median" in value}
    lines: list[Table | Text] = [_clock_table(rows)] if rows else []
    for name, sentence in BOUND_NAMES.items():
        value = figure(values, name)
        if value is not None:
            lines.append(Text(sentence.format(short(value))))
    if verdict.verified_reference_runtime_ms is not None:
        lines.append(Text(f"reference, verified: {short(verdict.verified_reference_runtime_ms, 'ms')}"))
    return lines


def speedup(extended: Mapping[str, object]) -> list[Text]:
    """The paired speedup with its interval, and how the plan came to its end."""
    values = section(extended, "speedup")
    median, low, high = (figure(values, name) for name in ("median", "low", "high"))
    if median is None:
        return []
    line = f"{median:.3g}x"
    if low is not None and high is not None:
        line += f", 95 % interval {low:.3g}x to {high:.3g}x"
    pairs = figure(values, "pairs")
    if pairs is not None:
        line += f", {pairs:.0f} pairs"
    status = word(values, "status")
    return [Text(f"{line}, {status}" if status else line)]


def correctness(verdict: Verdict) -> list[Text]:
    """Where the candidate's error stands against the tolerance, and the first wrong value if there is one."""
    values = section(verdict.extended, "correctness")
    if not values:
        return []
    native = "yes" if verdict.native.correctness else "no"
    verified = "yes" if verdict.verified_correctness else "no"
    lines = [Text(f"within KernelBench's tolerance: {native}; verified: {verified}")]
    lines += _against_tolerance(values)
    lines += _first_mismatch(section(values, "first_mismatch"))
    row = figure(values, "worst_row")
    if row is not None:
        lines.append(Text(f"worst row on its own: {short(row)} of its tolerance"))
    return lines


def surroundings(extended: Mapping[str, object]) -> list[Text]:
    """Host, isolation, plan and stages, one line each."""
    lines = []
    host = section(extended, "host")
    if host:
        lines.append(Text(", ".join(f"{safe_line(name)} {_value(value)}" for name, value in host.items() if value)))
    level = word(section(extended, "isolation"), "level")
    if level:
        lines.append(Text(f"isolation {level} {word(section(extended, 'isolation'), 'detail')}".rstrip()))
    seed = word(section(extended, "plan"), "seed")
    if seed:
        lines.append(Text(f"plan seed {seed} (kernelguard replay repeats it)"))
    stages = section(extended, "stages_s")
    if stages:
        lines.append(Text("seconds: " + ", ".join(f"{safe_line(name)} {_value(value)}" for name, value in stages.items())))
    return lines


def _clock_table(rows: Mapping[str, Mapping[str, object]]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column()
    for _ in STATISTICS:
        table.add_column(justify="right")
    table.add_row("", *(Text(name, style="dim") for name in STATISTICS))
    for name, row in rows.items():
        cells = (figure(row, statistic) for statistic in STATISTICS)
        table.add_row(Text(CLOCK_NAMES.get(name, safe_line(name))), *("-" if cell is None else short(cell) for cell in cells))
    return table


def _against_tolerance(values: Mapping[str, object]) -> list[Text]:
    worst, tolerance = figure(values, "worst_relative"), figure(values, "tolerance")
    if worst is None:
        return []
    if tolerance is None or not tolerance > 0:
        return [Text(f"largest error: {short(worst)}")]
    return [Text(f"largest error: {short(worst)}, which is {short(worst / tolerance)} of the tolerance ({short(tolerance)})")]


def _first_mismatch(first: Mapping[str, object]) -> list[Text]:
    if not first:
        return []
    where = f"call {word(first, 'call')} ({word(first, 'kind')}), output {word(first, 'output')}, index {word(first, 'index')}"
    return [Text(f"first wrong value: {where}: expected {word(first, 'expected')}, got {word(first, 'actual')}")]


def _value(value: object) -> str:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return short(value)
    return safe_line(str(value))
