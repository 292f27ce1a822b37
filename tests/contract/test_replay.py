"""The replay of a release on its neighbour's records, on Spark."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from tests.contract.conftest import IN_SPARK
from tests.property.test_replay import SETTINGS, TABLES_AND_TOTALS, Neighbours, check, check_by_hand, neighbours

#: Neighbours tried in `make test-all`; a release takes Spark some seconds.
MANY = 25
pytestmark = IN_SPARK


@pytest.mark.parametrize("thresholds", ["tables", pytest.param("totals", marks=pytest.mark.long)])
def test_the_nastiest_neighbour_by_hand(thresholds: str, spark_session: Any) -> None:
    check_by_hand("eight codes in eight groups", TABLES_AND_TOTALS[thresholds], "spark", spark_session)


@pytest.mark.long
@settings(SETTINGS, max_examples=MANY, suppress_health_check=list(HealthCheck))
@given(case=neighbours())
def test_many_neighbours(case: Neighbours, spark_session: Any) -> None:
    check(case, "spark", spark_session)
