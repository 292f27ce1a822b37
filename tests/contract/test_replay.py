"""The replay of a release on its neighbour's records, on Spark."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from safetab.engines.choice import Spark
from tests import profile
from tests.contract.conftest import IN_SPARK
from tests.replay import check, check_by_hand
from tests.worlds.neighbours import TABLES_AND_TOTALS, Neighbours, neighbours

pytestmark = IN_SPARK
#: Both iteration levels, geography levels that are local and that are not, both runs. To an engine the others differ in
#: numbers only, and each takes Spark a second.
LEVELS = ("(USA, 1)", "(USA, 2)", "(COUNTY, 2)", "(PR-STATE, 2)")


@profile.tries("neighbours by hand replayed, with Spark")
@pytest.mark.parametrize("thresholds", ["tables", pytest.param("totals", marks=pytest.mark.long)])
def test_the_nastiest_neighbour_by_hand(thresholds: str, spark_session: Any) -> None:
    check_by_hand("eight codes in eight groups", TABLES_AND_TOTALS[thresholds], Spark(session=spark_session), LEVELS)


@pytest.mark.long
@profile.tries("neighbours by hand replayed, with Spark")
def test_the_only_person_of_a_run(spark_session: Any) -> None:
    """A run of no records is tabulated as one of one record is."""
    spark = Spark(session=spark_session)
    check_by_hand("eight codes in eight groups", TABLES_AND_TOTALS["tables"], spark, LEVELS, others=())


@pytest.mark.long
@profile.examples("random neighbours replayed, with Spark", quick=1, long=25)
@given(case=neighbours(most_levels=5))
def test_neighbours(case: Neighbours, spark_session: Any) -> None:
    check(case, Spark(session=spark_session))
