"""What readers of a release must know beside its numbers: how to read them, what they do not say, where texts err.

In: the ledger of a release. Out: sentences. The promise: a sentence is here only if it is true of this release.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Ledger = Mapping[str, Any]


def how_to_read(ledger: Ledger) -> Iterator[str]:
    """What the columns promise."""
    yield "**A population group** is a group of people, such as a race, tribe or ethnic group, in one region."
    yield (
        "**A level** such as (COUNTY, 2) is all population groups of one geography level and one iteration level. "
        "Iteration level 1 has regional groups, level 2 detailed ones. Each level has its own budget and its own noise."
    )
    yield (
        "**ESTIMATE** is the best single number. The true number is from **LOW_95** to **HIGH_95** with a probability "
        "of at least 95 %, given that the group was published with this much detail."
    )
    yield (
        "**COUNT** adds up within a group: the total of a sex by age table is the sum of its cells. It uses only part "
        "of what was measured, so ESTIMATE is usually closer."
    )
    yield (
        "**The stat level** is the detail that a group got: 0 is a total only; 1, 2 and 3 are tables with coarse, "
        "medium and fine age bins. A first noisy total chose it, so groups of nearly the same size can differ."
    )
    yield "**Half-width** is half of HIGH_95 - LOW_95. **Relative margin** is the half-width divided by ESTIMATE."
    yield (
        "**To compare, add or divide numbers**, use `safetab read OUT` or `safetab.open(OUT)` in Python. They know "
        "which noise two numbers share. Two intervals that overlap do not show that two numbers are equal."
    )
    if any(_thresholds(ledger)):
        yield (
            "**A group without a row** has few people or none. It does not mean 0. `safetab read` says how many it may "
            "have."
        )


def limits(ledger: Ledger) -> Iterator[str]:
    """What the guarantee and the figures do not cover."""
    if ledger["is_private"]:
        yield (
            "**Other publications.** The guarantee is about this release. Budgets of other releases about the same "
            "people add up to it."
        )
        yield (
            "**Facts about groups.** What is true of nearly everybody in a group can be learnt about its members. The "
            "guarantee is about what one person's record adds."
        )
        yield (
            "**Households.** For k persons whose records depend on each other, epsilon grows by the factor k"
            + (", and rho by k^2." if ledger["privacy"] == "zcdp" else ".")
        )
    yield (
        "**Noise only.** Intervals and margins are about the noise. They do not include errors of the census itself: "
        "people who were missed, counted twice or coded wrongly."
    )
    yield "**No consistency.** Regions do not add up to the region that contains them. Each was measured by itself."
    if len(ledger["runs"]) > 1:
        yield "**Runs.** The account assumes that nobody is in two runs. Somebody who is loses the sum of both."
    if any(_thresholds(ledger)):
        yield (
            "**Suppression.** Small totals of local groups were left out after the noise was added. So the COUNT of a "
            "published local total is too large on average, and has no margin of error (`MOE_95`). ESTIMATE and its "
            "interval take that into account."
        )
    if not ledger["allow_negative_counts"]:
        yield (
            "**Negative counts were set to 0.** Sums of many small cells in COUNT are too large and have no margin. "
            "ESTIMATE and its interval are made before counts are set to 0."
        )


def errata(ledger: Ledger) -> Iterator[str]:
    """Where the paper that the method comes from differs from what is exact, for the noise of this release."""
    mechanisms = {part["mechanism"] for level in _levels(ledger) for part in level["measurements"]}
    if "geometric" in mechanisms:
        yield (
            "The paper's margin of error for geometric noise is too small: it leaves 5.1 % to 6.1 % outside where it "
            "promises 5 %. Margins here are exact."
        )
        yield (
            "The paper's bound by Rényi divergence integrates where the noise is discrete, and so claims too much. The "
            "bound here sums over the integers."
        )
    if "discrete_gaussian" in mechanisms:
        yield (
            "The paper's margin of error for Gaussian noise is too large: it leaves 3.3 % outside at a margin of 6 "
            "where 5 % is allowed. Margins here are exact."
        )
        yield "The paper's best epsilon is not the least one: the loss distribution, used here, gives a smaller bound."
    if any(part["stage"] == "stage 1" for level in _levels(ledger) for part in level["measurements"]):
        yield "The paper's text says rho / gamma for the budget of a table; its tables and this release use 1 - gamma."


def _levels(ledger: Ledger) -> Iterator[Mapping[str, Any]]:
    for run in ledger["runs"]:
        yield from run["levels"]


def _thresholds(ledger: Ledger) -> Iterator[bool]:
    """For each measurement, whether totals were left out."""
    for level in _levels(ledger):
        for part in level["measurements"]:
            yield part["suppressed_up_to"] is not None and ledger["has_noise"]
