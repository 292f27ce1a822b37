"""Draws the pictures of docs/how-to/read-a-release.md from the release that the page makes: noise with a fixed seed.

In: examples/merovia. Out: SVG files. The promise: every mark is an answer of `safetab.open`, so that page and pictures
say the same. Run as `make docs`; a test fails when a picture and the code differ.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from html import escape
from math import ceil, floor, log10
from pathlib import Path
from typing import NamedTuple

import safetab
from safetab.noise.source import SeededSourceNotPrivate

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "how-to"
#: The seeds of the two releases of the page.
SEEDS = {"my-out": 7, "earlier-out": 4}
ARAN = [f"DISTRICT/Ar0{number}" for number in (1, 2, 3)]
_BLUE, _ORANGE, _INK = "#0072b2", "#d55e00", "#1b1b1b"
_LEFT, _RIGHT, _ROW = 330, 760, 34


class Line(NamedTuple):
    """One row of a picture."""

    name: str
    low: float
    value: float
    high: float


def tabulated(folder: Path, name: str) -> safetab.Release:
    """One of the releases of the page."""
    source = SeededSourceNotPrivate(SEEDS[name])
    data = ROOT / "examples" / "merovia"
    safetab.tabulate(data / "params", data / "data", folder / name, not_private=True, source=source)
    return safetab.open(folder / name)


def of(name: str, answer: safetab.Estimate, times: float = 1.0) -> Line:
    """An answer as a row."""
    return Line(name, times * answer.low, times * answer.value, times * answer.high)


def svg(lines: Sequence[Line], across: str, alt: str, *, zero: bool = False) -> str:
    """A point for each number and a line for its interval; `zero` marks 0."""
    low, high = min(line.low for line in lines), max(line.high for line in lines)
    low, high = (min(low, 0.0), max(high, 0.0)) if zero else (low, high)
    step = _step(high - low)
    low, high = step * floor(low / step), step * ceil(high / step)
    bottom = 20 + _ROW * len(lines)

    def place(x: float) -> float:
        return round(_LEFT + (_RIGHT - _LEFT) * (x - low) / (high - low), 1)

    parts = [*_frame(bottom + 50, alt), f'<path d="M{_LEFT},{bottom} H{_RIGHT}" stroke="#444"/>']
    for number in range(round((high - low) / step) + 1):
        at, x = place(low + number * step), low + number * step
        parts.append(f'<path d="M{at},14 V{bottom}" stroke="#ddd"/>')
        parts.append(f'<text x="{at}" y="{bottom + 17}" text-anchor="middle">{x:,.10g}</text>')
    if zero:
        parts.append(f'<path d="M{place(0)},14 V{bottom}" stroke="{_INK}" stroke-dasharray="4 3"/>')
    for number, line in enumerate(lines):
        y = 20 + _ROW * number + _ROW // 2
        parts.append(f'<text x="{_LEFT - 12}" y="{y + 4}" text-anchor="end">{escape(line.name)}</text>')
        parts.append(f'<path d="M{place(line.low)},{y} H{place(line.high)}" stroke="{_BLUE}" stroke-width="4"/>')
        parts.append(f'<circle cx="{place(line.value)}" cy="{y}" r="5" fill="{_INK}"/>')
    parts.append(f'<text x="{(_LEFT + _RIGHT) / 2}" y="{bottom + 38}" text-anchor="middle">{escape(across)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _frame(height: int, alt: str) -> list[str]:
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 {height}" font-family="sans-serif" '
        f'font-size="13" role="img" aria-label="{escape(alt)}">',
        f'<rect width="800" height="{height}" fill="white"/>',
    ]


def _step(width: float) -> float:
    """A round distance between five or so marks."""
    rough = width / 5
    power = 10.0 ** floor(log10(rough))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)


def pyramid(release: safetab.Release, group: str, region: str) -> str:
    """Ages upwards, one sex to each side, with intervals."""
    rows = release.sex_by_age(group, region).to_pylist()
    ages = list(dict.fromkeys((row["AGESTART"], row["AGEEND"]) for row in rows))
    most = max(row["HIGH_95"] for row in rows)
    bottom, middle, wide = 30 + 26 * len(ages), 430, 310
    parts = _frame(bottom + 45, f"Sex by age of {release.group(group).name} in {region}, with 95 % intervals")
    parts.append('<text x="270" y="18" text-anchor="middle">female (F)</text>')
    parts.append('<text x="590" y="18" text-anchor="middle">male (M)</text>')
    for row in rows:
        sign, colour = (-1, _BLUE) if row["SEX"] == "F" else (1, _ORANGE)
        y = bottom - 26 * (ages.index((row["AGESTART"], row["AGEEND"])) + 1)
        length = wide * row["ESTIMATE"] / most
        left = middle - length if sign < 0 else middle
        parts.append(
            f'<rect x="{left:.1f}" y="{y + 2}" width="{length:.1f}" height="22" fill="{colour}" opacity="0.55"/>'
        )
        ends = [middle + sign * wide * row[end] / most for end in ("LOW_95", "HIGH_95")]
        parts.append(f'<path d="M{min(ends):.1f},{y + 13} H{max(ends):.1f}" stroke="{_INK}" stroke-width="2"/>')
    for number, (first, last) in enumerate(ages):
        y = bottom - 26 * number - 9
        parts.append(f'<text x="100" y="{y}" text-anchor="end">{first} to {last}</text>')
    for x in range(-2, 3):
        people = abs(x) * 10 * floor(most / 20)
        at = middle + (1 if x > 0 else -1 if x < 0 else 0) * wide * people / most
        parts.append(f'<text x="{at:.1f}" y="{bottom + 17}" text-anchor="middle">{people:,}</text>')
    parts.append(f'<text x="{middle}" y="{bottom + 36}" text-anchor="middle">people; lines are 95 % intervals</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def pictures() -> dict[str, str]:
    """The pictures, by file name."""
    with tempfile.TemporaryDirectory() as folder:
        release, earlier = (tabulated(Path(folder), name) for name in SEEDS)
        province, districts = release.total("A04", "PROVINCE/Ar"), [release.total("A04", name) for name in ARAN]
        sums = [Line(name, one.low, one.value, one.high) for name, one in zip(ARAN, districts, strict=True)]
        added = [sum(part) for part in zip(*((one.low, one.value, one.high) for one in sums), strict=True)]
        country = [("A04", "Arani"), ("A05", "Beshk"), ("A08", "Lumo"), ("A09", "Saltfolk"), ("A10", "Norder")]
        shares = [
            of(name, release.share((code, "PROVINCE/Ar"), (code, "COUNTRY/Merovia")), 100) for code, name in country
        ]
        gaps = [
            of(f"{one} minus {other}", release.difference((a, "COUNTRY/Merovia"), (b, "COUNTRY/Merovia")))
            for (a, one), (b, other) in ((country[0], country[2]), (country[4], country[2]), (country[3], country[1]))
        ]
        ranks = release.rank([code for code, _ in country], "PROVINCE/Co")
        changes = [of(name, safetab.change(earlier, release, code, "COUNTRY/Merovia")) for code, name in country]
        return {
            "read-totals.svg": svg(
                [of("the province's own total", province), Line("the three districts, simply added", *added)],
                "Arani alone in the province Ar, with the 95 % interval",
                "The province's own total has a far narrower interval than its districts added up.",
            ),
            "read-shares.svg": svg(
                shares, "percent who live in the province Ar, with the 95 % interval", "Shares with 95 % intervals."
            ),
            "read-differences.svg": svg(
                gaps, "difference in the country, with the 95 % interval", "Differences with intervals.", zero=True
            ),
            "read-ranks.svg": svg(
                [Line(one.name, one.low, one.rank, one.high) for one in ranks],
                "rank in the province Co; all intervals hold together with 95 %",
                "Ranks with intervals that hold together.",
            ),
            "read-changes.svg": svg(
                changes, "change between two releases, with the 95 % interval", "Changes with intervals.", zero=True
            ),
            "read-ages.svg": pyramid(release, "A04", "COUNTRY/Merovia"),
        }


def main() -> None:
    """Write the pictures."""
    for name, text in pictures().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
