"""Draws the pictures of docs/explanation/estimates.md: width of intervals near a threshold, coverage of local totals.

In: the production settings of a county. Out: two SVG files. The promise: every point is a sum over all noisy counts
with their exact chances, so that the same code draws the same picture. Run as `make docs`; a test fails when a picture
and the code differ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from safetab.accounting.accuracy.margins import moe_95_of_sum
from safetab.estimates import Publication, estimates_95
from safetab.estimates.noise_tails import Floats, Integers, NoiseTail, reach, tails_of_sum
from safetab.noise.laws import DiscreteGaussian, Law

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "explanation"
_COUNT = Fraction("0.159") / 9
STAGE_1, STAGE_2 = (DiscreteGaussian(1 / (2 * _COUNT * share)) for share in (Fraction("0.1"), Fraction("0.9")))
THRESHOLDS = (971, 4971, 19971)
CELLS = {1: 8, 2: 18, 3: 46}
_COLOURS = ("#1b6ca8", "#2e8b57", "#b5482a")
#: Noise beyond a chance of 2^-30 does not show in a picture.
_BITS = 30
Points = Sequence[tuple[float, float]]


def _masses(law: Law, cells: int) -> tuple[Integers, Floats]:
    """Every value of some noise that matters, and its chance."""
    far = reach(law, cells, _BITS)
    values = np.arange(-far, far + 1)
    if cells == 1:
        return values, NoiseTail(law, 60).between(values, values + 1)
    tails = tails_of_sum(law, cells, 1, far + 1)
    return values, tails[1:-1] - tails[2:]


@dataclass(frozen=True)
class Outcomes:
    """All pairs of noisy counts of groups with one true count, and their chances given publication."""

    x: Integers
    s: Integers
    chances: Floats

    @classmethod
    def of(cls, n: int, published: Publication) -> Outcomes:
        x, chance_x = _masses(STAGE_1, 1)
        s, chance_s = _masses(STAGE_2, published.n_cells)
        least, below = published.least_stage_1, published.stage_1_below
        is_x = (n + x >= (-np.inf if least is None else least)) & (n + x < (np.inf if below is None else below))
        is_s = n + s >= (-np.inf if published.least_sum is None else published.least_sum)
        x, chance_x, s, chance_s = n + x[is_x], chance_x[is_x], n + s[is_s], chance_s[is_s]
        pairs = [part.ravel() for part in np.meshgrid(x, s, indexing="ij")]
        chances = (chance_x[:, None] * chance_s[None, :]).ravel()
        return cls(pairs[0], pairs[1], chances / chances.sum())


def widths() -> dict[str, Points]:
    """Half the mean width of an interval, by how far the true count is from the threshold that was reached."""
    found: dict[str, Points] = {}
    wide = float(STAGE_1.sigma_squared) ** 0.5
    for stat_level, cells in CELLS.items():
        published = Publication.two_stage(STAGE_1, STAGE_2, cells, THRESHOLDS, stat_level)
        points = []
        for distance in np.arange(-3, 6.01, 0.25):
            n = int(THRESHOLDS[stat_level - 1] + distance * wide)
            outcomes = Outcomes.of(n, published)
            ends = estimates_95(published, outcomes.x, outcomes.s)
            points.append((float(distance), float((outcomes.chances * (ends.high_95 - ends.low_95)).sum()) / 2))
        found[f"ESTIMATE, {cells} cells"] = points
        margin = float(moe_95_of_sum(STAGE_2, cells))
        found[f"COUNT, {cells} cells"] = [(-3.0, margin), (6.0, margin)]
    return found


def coverage() -> dict[str, Points]:
    """The chance in percent that an interval of a published local total holds, by the true count."""
    dropped = STAGE_2.quantile(Fraction("0.9999"))
    published = Publication.two_stage(STAGE_1, STAGE_2, 1, THRESHOLDS, 0, dropped)
    margin = moe_95_of_sum(STAGE_2, 1)
    intervals, margins = [], []
    for n in range(61):
        outcomes = Outcomes.of(n, published)
        ends = estimates_95(published, outcomes.x, outcomes.s)
        holds = (ends.low_95 <= n) & (n <= ends.high_95)
        intervals.append((float(n), 100 * float(outcomes.chances[holds].sum())))
        margins.append((float(n), 100 * float(outcomes.chances[np.abs(outcomes.s - n) <= margin].sum())))
    return {"LOW_95 to HIGH_95": intervals, "COUNT ± margin of its noise": margins, "95 %": [(0, 95), (60, 95)]}


def svg(lines: Mapping[str, Points], across: str, up: str, top: float, step: tuple[float, float]) -> str:
    """A plain picture of some lines; those of COUNT and of 95 % are dashed."""
    left = min(x for points in lines.values() for x, _ in points)
    right = max(x for points in lines.values() for x, _ in points)

    def place(x: float, y: float) -> str:
        return f"{60 + 500 * (x - left) / (right - left):.1f},{320 - 280 * y / top:.1f}"

    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 820 380" font-family="sans-serif" font-size="12">',
        '<rect width="820" height="380" fill="white"/>',
        '<polyline points="60,40 60,320 560,320" fill="none" stroke="#444"/>',
        f'<text x="310" y="365" text-anchor="middle">{across}</text>',
        f'<text x="60" y="25">{up}</text>',
    ]
    for x in np.arange(left, right + step[0] / 2, step[0]):
        across_at, _ = place(x, 0).split(",")
        parts.append(f'<text x="{across_at}" y="338" text-anchor="middle">{x:g}</text>')
    for y in np.arange(0, top + step[1] / 2, step[1]):
        _, up_at = place(left, y).split(",")
        parts.append(f'<text x="52" y="{float(up_at) + 4:.1f}" text-anchor="end">{y:g}</text>')
    for number, (name, points) in enumerate(lines.items()):
        is_dashed = name.startswith(("COUNT", "95"))
        colour = _COLOURS[number // 2 if len(lines) > 3 else number]
        stroke = f'stroke="{colour}" stroke-width="2"' + (' stroke-dasharray="6 4"' if is_dashed else "")
        path = " ".join(place(x, y) for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" {stroke}/>')
        at = 60 + 22 * number
        parts.append(f'<line x1="575" y1="{at}" x2="605" y2="{at}" {stroke}/><text x="612" y="{at + 4}">{name}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def pictures() -> dict[str, str]:
    """The pictures, by file name."""
    distance = "true count minus the threshold that was reached, in standard deviations of stage 1"
    return {
        "estimates-width.svg": svg(widths(), distance, "half the width of the interval, in persons", 80, (1, 10)),
        "estimates-coverage.svg": svg(
            coverage(),
            "true count of a local group",
            "published totals whose interval holds, in percent",
            100,
            (10, 10),
        ),
    }


def main() -> None:
    """Write the pictures."""
    for name, text in pictures().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
