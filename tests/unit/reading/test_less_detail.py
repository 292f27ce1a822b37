"""Questions about releases that have no ages, no sexes, or neither: what T2 has is answered, and nothing else."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import safetab
from safetab.noise.source import SeededSourceNotPrivate
from tests.worlds.merovia import MEROVIA

WHERE = "COUNTRY/Merovia"
NO_SEX = [(r'sex = "GENDER"\nsexes = .*\n', "")]
NO_AGE = [(r"\[ages\]\n.*\n.*\n", ""), (r'age = "YEARS"\n', ""), (r"thresholds = \[(\d+), .*\]", r"thresholds = [\1]")]
NEITHER = [*NO_SEX, *NO_AGE, (r"thresholds = .*\n", "")]


def opened(folder: Path, changes: list[tuple[str, str]], **choices: Any) -> safetab.Release:
    """Merovia's release with some lines changed, or without noise where `choices` say so."""
    params = Path(shutil.copytree(MEROVIA / "params", folder / "params"))
    text = (params / "release.toml").read_text(encoding="utf-8")
    for old, new in changes:
        text, found = re.subn(old, new, text)
        assert found
    (params / "release.toml").write_text(text, encoding="utf-8")
    choices = choices or {"source": SeededSourceNotPrivate(5)}
    safetab.tabulate(params, MEROVIA / "data", folder / "out", not_private=True, **choices)
    return safetab.open(folder / "out")


def refused(release: safetab.Release, **words: Any) -> bool:
    with pytest.raises(safetab.UsageError, match="READ-005"):
        release.total("A04", WHERE, **words)
    return True


def test_without_ages_there_are_totals_by_sex(tmp_path: Path) -> None:
    release = opened(tmp_path, NO_AGE)
    rows = release.table("t2", "pandas").set_index(["REGION_TYPE", "REGION_ID", "ITERATION_CODE", "SEX"])
    for sex in ("F", "M"):
        row = rows.loc[("COUNTRY", "Merovia", "A04", sex)]
        found = release.total("A04", WHERE, sex=sex)
        assert (found.value, found.low, found.high) == (row["ESTIMATE"], row["LOW_95"], row["HIGH_95"])
    assert refused(release, ages=(0, 15))
    assert refused(release, ages=(0, 100))


def test_without_sexes_there_are_totals_by_age(tmp_path: Path) -> None:
    release = opened(tmp_path, NO_SEX, noise=False)
    young, old = release.total("A04", WHERE, ages=(0, 15)), release.total("A04", WHERE, ages=(16, 100))
    assert young.value + old.value == release.total("A04", WHERE).value
    assert refused(release, sex="F")
    assert refused(release, sex="*")


def test_without_both_every_question_about_totals_has_an_answer(tmp_path: Path) -> None:
    release = opened(tmp_path, NEITHER)
    here, around = ("A04", "PROVINCE/Ar"), ("A04", WHERE)
    rows = release.table("t1", "pandas").set_index(["REGION_TYPE", "REGION_ID", "ITERATION_CODE"])
    row = rows.loc[("PROVINCE", "Ar", "A04")]
    found = release.total(*here)
    assert (found.value, found.low, found.high) == (row["ESTIMATE"], row["LOW_95"], row["HIGH_95"])
    assert release.total("A04", regions=["DISTRICT/Ar01", "DISTRICT/Ar02"]).value > 0
    assert 0 < release.share(here, around).value < 1
    assert release.difference(around, here).low > 0
    assert [rank.group for rank in release.rank(["A05", "A04"], WHERE)] == ["A04", "A05"]
    assert refused(release, sex="F")
    assert refused(release, ages=(0, 15))
