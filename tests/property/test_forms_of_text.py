"""Every form of text gives the oracle's tables: delimiters, quotes, line ends, marks, compression."""

from __future__ import annotations

from pathlib import Path

import pytest

import safetab
from tests import profile
from tests.worlds.census import read_t1, read_t2
from tests.worlds.small_census import sound_world
from tests.worlds.text_variants import VARIANTS, Quoting, TextVariant

#: 13 has no divisor in common with the sizes of the dimensions: a few variants have every value of each of them.
CHOSEN = VARIANTS[:: profile.size(quick=13, long=1)]


def test_a_few_variants_have_every_value_of_each_dimension() -> None:
    for name in ("delimiter", "quoting", "end", "mark", "compression"):
        assert {getattr(variant, name) for variant in CHOSEN} == {getattr(variant, name) for variant in VARIANTS}


@profile.tries("forms of text")
@pytest.mark.parametrize("variant", CHOSEN, ids=str)
def test_every_form_of_text_gives_the_tables_of_the_oracle(tmp_path: Path, variant: TextVariant) -> None:
    world = sound_world()
    world.write(tmp_path)
    for name, rows in (("person-records.txt", world.record_rows()), ("GRF-C.txt", world.geography_rows())):
        (tmp_path / "data" / name).unlink()
        (tmp_path / "data" / f"{name}{variant.compression}").write_bytes(variant.written(rows))
    words = tmp_path / "params", tmp_path / "data"
    report = safetab.check_inputs(*words)
    warnings = ["FILE-019"] if variant.quoting is Quoting.NONE else ["FILE-019", "FILE-022"]
    assert (report.judged_records, [found.rule.code for found in report.findings]) == (True, warnings)
    safetab.tabulate(*words, tmp_path / "out", noise=False, not_private=True)
    for run in ("us", "pr"):
        t1, t2 = world.expected(run)
        assert t1
        assert read_t1(tmp_path / "out" / "t1" / f"{run}.NOT-PRIVATE.csv") == t1
        assert read_t2(tmp_path / "out" / "t2" / f"{run}.NOT-PRIVATE.csv") == t2
