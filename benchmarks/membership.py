"""Code sets per second through membership, with the production parameters, on one core.

Prints the rate of the array code and its ratio to a plain loop over persons, measured in one run.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from benchmarks.page import Section
from safetab.params.load import load
from safetab.population.membership import NONE, CodeSets, membership
from tests.oracle.membership import Group, groups_of_person

SETS = 1_000_000
LOOPED = 300
PARAMS = Path(__file__).resolve().parents[2] / "shared" / "census-2020"


def random_sets(codes: int, count: int) -> CodeSets:
    """Most people have one code, some two or three, a few eight."""
    draw = np.random.default_rng(1)
    sizes = draw.choice([1, 2, 3, 8], count, p=[0.8, 0.14, 0.05, 0.01])
    sets = draw.integers(0, codes, (count, 8)).astype(np.int16)
    sets[np.arange(8) >= sizes[:, None]] = NONE
    return sets


def main() -> None:
    catalogue = load(PARAMS).catalogue
    sets = random_sets(len(catalogue.codes), SETS)
    section = Section("Membership")
    section.tell(f"{SETS:,} code sets, {len(catalogue.codes):,} codes")
    for level, local in ((1, False), (1, True), (2, False), (2, True)):
        function = membership(catalogue, level, local=local)
        start = time.perf_counter()
        pairs = function.of_race_codes(sets)
        seconds = time.perf_counter() - start
        groups = [
            Group(
                it.code,
                level,
                {"race alone": "True", "ethnicity": ""}.get(it.kind.value, "False"),
                "False",
                "False",
                it.members,
            )
            for it in function.iterations
        ]
        start = time.perf_counter()
        for row in sets[:LOOPED]:
            groups_of_person([catalogue.codes[code] for code in row if code != NONE], "", groups, level, local)
        looped = (time.perf_counter() - start) / LOOPED
        section.tell(
            f"iteration level {level}, {'local' if local else 'nation and state'}: "
            f"{SETS / seconds / 1e6:.1f} million sets a second, {len(pairs.row):,} memberships; "
            f"{looped * SETS / seconds:,.0f} times a loop over persons"
        )
    section.save()


if __name__ == "__main__":
    main()
