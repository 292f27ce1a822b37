"""What a release publishes of its own definitions: who is in a group, how ages are cut.

In: the release and its iterations. Out: entries of the data dictionary. Promise: with these and the ledger, a reader
can tell which groups overlap and which population groups were measured, without the parameters.
"""

from __future__ import annotations

from collections.abc import Iterable

from safetab.params.release import Release
from safetab.population.iterations import Iteration


def group_definitions(release: Release, iterations: Iterable[Iteration]) -> dict[str, object]:
    """What the data dictionary says of groups, sexes and ages."""
    return {
        "groups": {
            iteration.code: {
                "kind": iteration.kind.value,
                "iteration_level": iteration.level,
                "reach": iteration.reach.value if iteration.reach else None,
                "codes": sorted(iteration.members),
            }
            for iteration in iterations
        },
        "max_race_codes": release.max_race_codes,
        "detail": release.detail,
        "sexes": list(release.columns.sexes),
        "age_starts": {str(level): list(bins.starts) for level, bins in enumerate(release.age_bins, start=1)},
        "oldest_age": release.age_bins[0].oldest,
    }
