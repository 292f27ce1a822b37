"""The picture of the README: the sex by age table that it prints, drawn as a report draws intervals.

In: the README. Out: docs/pictures/published.svg. The promise: the picture shows the numbers that the README prints. Run
as `make docs`; a test fails when the two differ.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from safetab.reports.charts import intervals

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
PICTURE = ROOT / "docs" / "pictures" / "published.svg"
_ROW = re.compile(r"^(\d+ to \d+) +(?:\S+ \(.+?\) *){2}$", re.MULTILINE)
_NUMBER = re.compile(r"([\d,]+) \(([\d,]+) to ([\d,]+)\)")


def rows(readme: str) -> Iterator[dict[str, str | int]]:
    """Each age bin and sex of the table: the estimate and its interval."""
    for line in _ROW.finditer(readme):
        for sex, found in zip("FM", _NUMBER.finditer(line[0]), strict=True):
            estimate, low, high = (int(number.replace(",", "")) for number in found.groups())
            yield {"who": f"age {line[1]}, {sex}", "estimate": estimate, "low": low, "high": high}


def picture(readme: str) -> str:
    """The SVG."""
    return intervals(list(rows(readme)), "who", title="people", alt="", caption="").svg + "\n"


def main() -> None:
    """Draw the picture."""
    PICTURE.write_text(picture(README.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
