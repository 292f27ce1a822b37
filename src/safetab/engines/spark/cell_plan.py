"""What Spark counts for the sex by age tables of all levels of a run, in one job.

In: a question about each level, the zone of each block set. Out: the places that are counted, and for each question the
region of each place. Promise: the people of a chosen group's region are those of the region's places, each once.

The places are the zones, which are counted for all chosen iterations and serve every level whose regions are made up of
them, and behind the zones the regions of each other geography level, which are counted for chosen groups alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from safetab.engines.arrays.questions import positions
from safetab.engines.arrays.tables import Places
from safetab.engines.protocol import CellQuestion, IntArray, Members
from safetab.population.geography import NO_REGION, region_of_finer


@dataclass(frozen=True, slots=True, eq=False)
class CellPlan:
    """The places that are counted, and for whom."""

    #: The membership that all questions share.
    members: Members
    #: The numbers of the iterations that any question chose, in order.
    iterations: IntArray
    #: How many zones are counted; 0 where no question is answered by zones.
    zones: int
    #: The place of each block set; an array for each geography level that is counted for chosen groups alone.
    places: Sequence[Places]
    #: The place of each of these groups, and its position in `iterations`: a row a group, each once.
    groups: IntArray
    #: For each question the region of each place; NO_REGION where the place is not counted for it.
    region_of_place: Sequence[Places]


def plan_cells(questions: Sequence[CellQuestion], zone_of_block_set: Places) -> CellPlan:
    """The plan for some questions, of which there is at least one."""
    iterations = np.unique(np.concatenate([_chosen(question) for question in questions]))
    zones, by_geography = int(zone_of_block_set.max(initial=-1)) + 1, defaultdict[bytes, list[int]](list)
    # Where the places of a question start, and their regions.
    regions: dict[int, tuple[int, Places]] = {}
    has_zones, end = False, zones
    for number, question in enumerate(questions):
        if not len(question.chosen.region):
            # Nothing was chosen, so nobody is counted for this level.
            regions[number] = 0, np.empty(0, dtype=np.int32)
        elif (of_zones := region_of_finer(zone_of_block_set, question.region_of_block_set)) is not None:
            regions[number], has_zones = (0, of_zones), True
        else:
            by_geography[question.region_of_block_set.tobytes()].append(number)
    places, groups = list[Places](), [np.empty((0, 2), dtype=np.int64)]
    for numbers in by_geography.values():
        some = [questions[number] for number in numbers]
        places.append(_places(some, end))
        groups += [_groups(question, end, iterations) for question in some]
        of_region = np.arange(int(some[0].region_of_block_set.max()) + 1, dtype=np.int32)
        regions |= dict.fromkeys(numbers, (end, of_region))
        end += len(of_region)
    return CellPlan(
        members=_membership(questions),
        iterations=iterations,
        zones=zones if has_zones else 0,
        places=places,
        groups=np.unique(np.concatenate(groups), axis=0),
        region_of_place=[_among_all(*regions[number], end) for number in range(len(questions))],
    )


def _chosen(question: CellQuestion) -> IntArray:
    """The number of each chosen group's iteration."""
    return question.members.numbers[question.chosen.iteration]


def _membership(questions: Sequence[CellQuestion]) -> Members:
    """The membership of all questions; people would be left out silently if it were that of some."""
    first, *others = (question.members.whole or question.members for question in questions)
    if any(other is not first for other in others):
        raise AssertionError("questions about one run have one membership")
    return first


def _places(questions: Sequence[CellQuestion], first: int) -> Places:
    """The place of each block set whose region has a group that one of these questions, of one geography, chose."""
    regions = questions[0].region_of_block_set
    # NO_REGION is the last one, which nobody chooses.
    is_chosen = np.zeros(int(regions.max()) + 2, dtype=np.bool_)
    for question in questions:
        is_chosen[question.chosen.region] = True
    return np.where(is_chosen[regions], regions + np.int32(first), np.int32(NO_REGION))


def _groups(question: CellQuestion, first: int, iterations: IntArray) -> IntArray:
    """The place and the iteration of each chosen group."""
    return np.stack([question.chosen.region + first, positions(_chosen(question), iterations)], axis=1)


def _among_all(first: int, regions: Places, end: int) -> Places:
    """The region of each place up to `end`, if those from `first` on have these regions and no other has any."""
    of_place = np.full(end, NO_REGION, dtype=np.int32)
    of_place[first : first + len(regions)] = regions
    return of_place
