"""Somebody else's words, each printed line of them behind a bar, however narrow the terminal."""

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions
from rich.measure import Measurement
from rich.text import Text

BAR = "| "


class Quoted:
    """Lines of untrusted text, already safe (`plain.safe_line`).

    A long line is folded and the bar repeated, so that no part of it can stand where the evaluator's own lines stand.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = tuple(lines)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        """Fold to the width at hand."""
        room = max(1, options.max_width - len(BAR))
        for line in self.lines:
            for part in Text(line).wrap(console, room, overflow="fold") if line else [Text()]:
                part.rstrip()
                yield Text(BAR) + part

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """No wider than the longest line, so that nothing is padded out to the margin."""
        widest = max((cell_len(line) for line in self.lines), default=0) + len(BAR)
        return Measurement(len(BAR) + 1, max(len(BAR) + 1, min(options.max_width, widest)))
