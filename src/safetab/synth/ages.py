"""Ages and sexes: pyramids that differ between communities and between kinds of neighbourhood.

In: nothing. Out: a table that turns 16 random bits into an age and a sex for each pyramid. The pyramids start from the
shape of the United States in 2020, and lean so that the medians published for major groups and for Hispanic people
nearly come out.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np
import numpy.typing as npt

from safetab.synth.communities import Pyramid
from safetab.synth.draws import Floats, outcome_table

OLDEST = 115
BITS = 16
#: Percent of persons in each five-year age group, from 0-4 to 95-99.
_FIVE_YEARS = (
    5.6, 6.1, 6.5, 6.6, 6.7, 6.9, 6.9, 6.6, 6.2, 6.0, 6.2, 6.6, 6.3, 5.5, 4.5, 2.9, 1.9, 1.15, 0.55, 0.16,
)  # fmt: skip
#: How much a pyramid leans towards old people (above 0) or young people (below 0).
_LEANING = {
    Pyramid.OLDER: 0.265, Pyramid.MIDDLE: -0.13, Pyramid.WORKING: 0.01, Pyramid.YOUNGER: -0.31, Pyramid.YOUNGEST: -0.34,
}  # fmt: skip
#: Children and old people, so that their shares in the nation come out although most people lean to one side.
_CHILDREN, _OLD = 1.08, 0.925
#: People of several major groups are younger.
_MIXED_LEANING = -0.15
#: Of each year of age past 100, the share that lives to the next.
_SURVIVAL_PAST_100 = 0.6


class Neighbourhood(IntEnum):
    """What kind of people live in a neighbourhood besides families."""

    FAMILIES = 0
    STUDENTS = 1
    RETIRED = 2
    BARRACKS = 3


#: Share of neighbourhoods of each kind.
NEIGHBOURHOOD_SHARES = {
    Neighbourhood.FAMILIES: 0.89,
    Neighbourhood.STUDENTS: 0.04,
    Neighbourhood.RETIRED: 0.05,
    Neighbourhood.BARRACKS: 0.02,
}


def ages_of(pyramid: Pyramid, *, is_mixed: bool, kind: Neighbourhood) -> tuple[Floats, Floats]:
    """The share of each age from 0 to 115, and the share of men at each age."""
    ages = np.arange(OLDEST + 1)
    middles = np.arange(2, 100, 5)
    shares = np.interp(ages, middles, np.array(_FIVE_YEARS) / 5)
    shares[100:] = shares[99] * 0.35 * _SURVIVAL_PAST_100 ** np.arange(OLDEST + 1 - 100)
    leaning = _LEANING[pyramid] + (_MIXED_LEANING if is_mixed else 0.0)
    shares *= np.exp(leaning * (ages - 38) / 38)
    shares[:18] *= _CHILDREN
    shares[65:] *= _OLD
    if pyramid is Pyramid.WORKING:
        shares[25:50] *= 1.25
    men = np.interp(ages, [0, 25, 45, 65, 80, 95, OLDEST], [0.512, 0.51, 0.5, 0.48, 0.43, 0.26, 0.15])
    if kind is Neighbourhood.STUDENTS:
        shares[18:25] *= 7.0
    elif kind is Neighbourhood.RETIRED:
        shares[65:] *= 3.0
    elif kind is Neighbourhood.BARRACKS:
        shares[19:45] *= 2.0
        men[19:45] = 0.8
    return shares / shares.sum(), men


def age_sex_table() -> npt.NDArray[np.uint8]:
    """Twice the age, plus 1 for women: for each pyramid, one major group or more, kind of neighbourhood and 16 bits."""
    table = np.empty((len(Pyramid), 2, len(Neighbourhood), 1 << BITS), dtype=np.uint8)
    for pyramid in Pyramid:
        for mixed in (False, True):
            for kind in Neighbourhood:
                shares, men = ages_of(pyramid, is_mixed=mixed, kind=kind)
                cells = np.stack([shares * men, shares * (1 - men)], axis=1).ravel()
                table[pyramid, int(mixed), kind] = outcome_table(cells, 1 << BITS)
    return table


def householder_chances() -> npt.NDArray[np.uint16]:
    """For each age, the number below which 16 random bits make a householder."""
    chances = np.interp(np.arange(OLDEST + 1), [17, 18, 30, 50, 80, OLDEST], [0.0, 0.08, 0.45, 0.58, 0.66, 0.4])
    chances[:15] = 0.0
    return (chances * (1 << BITS)).astype(np.uint16)
