"""One person more or less: the same questions, the same output, and true counts that differ by what is paid for.

Each case is a world, a neighbour made to be nasty and the noisy answers of the first world replayed on the second. The
oracle says how many groups the person is in, so that the counts that change are not only few enough but exactly those.
Here with DuckDB; `tests/contract/test_replay.py` does the same with Spark.
"""

from __future__ import annotations

import pytest
from hypothesis import given

from tests import profile
from tests.replay import check, check_by_hand
from tests.worlds.neighbours import IN_GROUPS, TABLES_AND_TOTALS, Neighbours, neighbours


@profile.examples("random neighbours replayed, with DuckDB", quick=8, long=500)
@given(case=neighbours())
def test_a_neighbour_changes_nothing_but_true_counts(case: Neighbours) -> None:
    check(case, "duckdb")


@profile.tries("neighbours by hand replayed, with DuckDB")
@pytest.mark.parametrize("thresholds", TABLES_AND_TOTALS)
@pytest.mark.parametrize("name", IN_GROUPS)
def test_the_nastiest_neighbours_by_hand(name: str, thresholds: str) -> None:
    check_by_hand(name, TABLES_AND_TOTALS[thresholds], "duckdb")


@profile.tries("neighbours by hand replayed, with DuckDB")
@pytest.mark.parametrize("others", [(), ("72",), ("01",)], ids=["nobody", "nobody in this run", "nobody in the other"])
@pytest.mark.parametrize("thresholds", TABLES_AND_TOTALS)
def test_the_only_person_of_a_run(thresholds: str, others: tuple[str, ...]) -> None:
    """A run of no records is tabulated as one of one record is."""
    check_by_hand("eight codes in eight groups", TABLES_AND_TOTALS[thresholds], "duckdb", others=others)
