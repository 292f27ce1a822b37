"""The pictures of the README and of the pages on estimates and on reading are those that the code draws."""

from __future__ import annotations

import re

import pytest

from tools import reading_pictures, readme_picture
from tools.estimate_pictures import FOLDER, coverage, pictures, widths


@pytest.mark.parametrize("name", ["estimates-width.svg", "estimates-coverage.svg"])
def test_pictures_are_up_to_date(name: str) -> None:
    assert (FOLDER / name).read_text(encoding="utf-8") == pictures()[name], "run make docs"
    assert f"]({name})" in (FOLDER / "estimates.md").read_text(encoding="utf-8")


def test_pictures_of_answers_are_up_to_date() -> None:
    page = (reading_pictures.FOLDER / "read-a-release.md").read_text(encoding="utf-8")
    for name, drawn in reading_pictures.pictures().items():
        assert (reading_pictures.FOLDER / name).read_text(encoding="utf-8") == drawn, "run make docs"
        assert f"]({name})" in page
    for folder, seed in reading_pictures.SEEDS.items():
        assert f'("{folder}", {seed})' in page


def test_the_change_on_the_page_is_none() -> None:
    """The page says that its interval contains 0, which other noise need not do."""
    page = (reading_pictures.FOLDER / "read-a-release.md").read_text(encoding="utf-8")
    shown = page.split("print(safetab.change(")[1].split("```")[2]
    ends = re.search(r"from (-?\d+) to (-?\d+) \(95 %\)", shown)
    assert ends
    assert int(ends[1]) <= 0 <= int(ends[2])
    assert "The interval contains 0" in page


def test_the_figures_of_the_page_are_those_of_the_pictures() -> None:
    drawn = widths()
    page = (FOLDER / "estimates.md").read_text(encoding="utf-8")
    for cells in (46, 18, 8):
        ours, counts = (round(drawn[f"{what}, {cells} cells"][-1][1]) for what in ("ESTIMATE", "COUNT"))
        assert re.search(rf"{cells}\s+cells\s+(is\s+known\s+)?to\s+±{ours}\s+instead\s+of\s+±{counts}\b", page)
        # Even where an interval is widest, it is narrower than COUNT with its margin.
        assert max(y for _, y in drawn[f"ESTIMATE, {cells} cells"]) < counts


def test_the_picture_of_the_readme_shows_what_it_prints() -> None:
    readme = readme_picture.README.read_text(encoding="utf-8")
    shown = list(readme_picture.rows(readme))
    assert len(shown) == 14
    assert shown[1] == {"who": "age 0 to 6, M", "estimate": 14, "low": 10, "high": 18}
    assert readme_picture.PICTURE.read_text(encoding="utf-8") == readme_picture.picture(readme), "run make docs"
    assert "](docs/pictures/published.svg)" in readme


def test_intervals_of_local_totals_hold_where_margins_do_not() -> None:
    drawn = coverage()
    assert min(y for _, y in drawn["LOW_95 to HIGH_95"]) >= 95
    assert drawn["COUNT ± margin of its noise"][0][1] == 0
