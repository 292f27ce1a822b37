"""Text laid out in columns: facts, tables of figures, and paragraphs that are folded to a width.

In: text, and the width there is. Out: lines, each a list of spans, a span being text and how it is shown. The promise:
columns are straight, even if letters are wide or combine, and nothing is ever cut. On a narrow terminal the headings
of a table are folded first, then columns move closer, then its numbers are folded between words, then names; if that
is not enough its rows are stacked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from safetab.screen import display_width

#: Columns are cut to no less than this.
_LEAST_WIDTH = 6
#: Stands for a space at which text is not folded. It is shown as a space.
NO_BREAK = "\u00a0"


class Style(Enum):
    """How text is shown on a terminal; the value is its escape code."""

    PLAIN = ""
    BOLD = "1"
    ERROR = "1;31"
    WARNING = "1;33"


Span = tuple[str, Style]
Line = list[Span]


def unbroken(text: str) -> str:
    """The text as one word: it is never folded between its words."""
    return text.replace(" ", NO_BREAK)


def folded(text: str, width: int) -> list[str]:
    """The text in lines of at most `width` places: between words where that is possible, else within a word."""
    lines: list[str] = []
    for paragraph in text.split("\n"):
        first, *words = paragraph.split(" ")
        *full, line = _pieces(first, width)
        lines += full
        for word in words:
            joined = f"{line} {word}"
            if display_width(joined) <= width:
                line = joined
            else:
                *full, rest = _pieces(word, width)
                lines += [line, *full]
                line = rest
        lines.append(line)
    return lines


def _pieces(word: str, width: int) -> list[str]:
    pieces, piece = [], ""
    for letter in word:
        if piece and display_width(piece + letter) > width:
            pieces.append(piece)
            piece = ""
        piece += letter
    return [*pieces, piece]


@dataclass(frozen=True)
class Paragraph:
    """Text that is folded, or left as it is for the reader to copy."""

    text: str
    style: Style = Style.PLAIN
    is_folded: bool = True

    def lines(self, width: int | None) -> Iterator[Line]:
        for line in folded(self.text, width) if self.is_folded and width else [self.text]:
            yield [(line, self.style)]


@dataclass(frozen=True)
class Facts:
    """Names and what belongs to them; the second column is folded."""

    rows: Sequence[tuple[str, str]]
    style: Style = Style.BOLD

    def lines(self, width: int | None) -> Iterator[Line]:
        indent = max((display_width(name) for name, _ in self.rows), default=0) + 2
        for name, text in self.rows:
            wrapped = folded(text, max(width - indent, _LEAST_WIDTH)) if width else [text]
            for number, line in enumerate(wrapped):
                start = name if number == 0 else ""
                yield [(_padded(start, indent), self.style), (line, Style.PLAIN)]


@dataclass(frozen=True)
class Grid:
    """A table of figures below its title: the first `left` columns are names, the others are numbers.

    A name that is the same as above is left out in columns where `repeats` is False.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: int = 1
    repeats: bool = True

    def lines(self, width: int | None) -> Iterator[Line]:
        yield from Paragraph(self.title, Style.BOLD).lines(width)
        chosen = self._best(width, folds_names=False) or self._best(width, folds_names=True)
        if chosen is None:
            yield from self._stacked(width)
            return
        widths, gap = chosen
        above = ""
        for number, (name, *others) in enumerate((self.columns, *self.rows)):
            style = Style.BOLD if number == 0 else Style.PLAIN
            row = ["" if name == above and not self.repeats else name, *others]
            above = name
            cells = [folded(text, place) for text, place in zip(row, widths, strict=True)]
            for height in range(max(map(len, cells), default=0)):
                shown = (
                    _padded(cell[height] if height < len(cell) else "", place if column < self.left else -place)
                    for column, (cell, place) in enumerate(zip(cells, widths, strict=True))
                )
                yield [((" " * gap).join(shown), style)]

    def _best(self, width: int | None, *, folds_names: bool) -> tuple[list[int], int] | None:
        """How wide the columns and the gaps between them are: two spaces, or one if rows take fewer lines then."""
        ways = [(widths, gap) for gap in (2, 1) if (widths := self._widths(width, gap, folds_names=folds_names))]
        return min(ways, key=lambda way: self._height(way[0]), default=None)

    def _height(self, widths: Sequence[int]) -> int:
        """How many lines the rows take in columns of these widths."""
        return sum(max(len(folded(*cell)) for cell in zip(row, widths, strict=True)) for row in self.rows)

    def _widths(self, width: int | None, gap: int, *, folds_names: bool) -> list[int] | None:
        """How wide each column is; None if not even their longest words fit beside each other."""
        columns = list(zip(*self.rows, strict=True)) or [() for _ in self.columns]
        cells = [max(map(display_width, column), default=0) for column in columns]
        words = [_longest_word(*column) for column in columns]
        headings = [_longest_word(heading) for heading in self.columns]
        widths = [max(display_width(heading), cell) for heading, cell in zip(self.columns, cells, strict=True)]
        # Headings give way first, then numbers that are several words, then perhaps names.
        numbers = [
            cell if column < self.left else word for column, (cell, word) in enumerate(zip(cells, words, strict=True))
        ]
        for least in (cells, numbers, words) if folds_names else (cells, numbers):
            bounds = [max(heading, bound, 1) for heading, bound in zip(headings, least, strict=True)]
            while width is not None and _total(widths, gap) > width:
                column = max(range(len(widths)), key=lambda number: widths[number] - bounds[number])
                if widths[column] <= bounds[column]:
                    break
                widths[column] -= 1
        return widths if width is None or _total(widths, gap) <= width else None

    def _stacked(self, width: int | None) -> Iterator[Line]:
        """A block for each row, with a line for each of its values; a name without a heading stands above them."""
        first = 0 if self.columns[0] else 1
        indent = max(map(display_width, self.columns)) + 2
        longest = max((_longest_word(*row[first:]) for row in self.rows), default=0)
        for row in self.rows:
            yield [("", Style.PLAIN)]
            if first:
                yield from Paragraph(row[0], Style.BOLD).lines(width)
            named = tuple(zip(self.columns, row, strict=True))[first:]
            if width is None or indent + longest <= width:
                yield from Facts(named, Style.PLAIN).lines(width)
                continue
            for heading, text in named:
                yield from Paragraph(f"{heading}:").lines(width)
                yield from Facts((("", text),)).lines(width)


def _total(widths: Sequence[int], gap: int) -> int:
    """The width of columns with so many spaces between them."""
    return sum(widths) + gap * (len(widths) - 1)


def _longest_word(*texts: str) -> int:
    return max((display_width(word) for text in texts for word in text.split(" ")), default=0)


def _padded(text: str, width: int) -> str:
    """Filled with spaces on the right, or on the left where the width is negative."""
    spaces = " " * (abs(width) - display_width(text))
    return text + spaces if width >= 0 else spaces + text
