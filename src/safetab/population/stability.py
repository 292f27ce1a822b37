"""Stability, the paper's Delta(g_i): the most groups of one population group level that any one person can be in.

Every noise scale is a budget divided by this number, so a value that is too small breaks the guarantee. It is
computed from the public code-to-iteration mapping alone; the records never enter.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from safetab.population.iterations import Iteration, Kind


def stability(iterations: Sequence[Iteration], max_race_codes: int) -> int:
    """The most of these iterations, those of one level at one kind of geography, that one record can belong to.

    Claim. Given the iterations tabulated for one population group level, no record with 1 to `max_race_codes` race
    codes and one ethnicity code belongs to more than the returned number of them. If no code is in two iterations of
    the same kind, which the checks demand, some record attains it.

    Argument. A record lies in one region of a geography level at most, so its groups are as many as its iterations.
    Ethnicity iterations depend on the ethnicity code alone: at most E, the most that share one code. For race, let C
    be the record's set of codes, |C| <= m.
    (a) C is alone in nothing. Its combination iterations are those of its codes: each code gives at most as many
        as hold it, so the m largest of these numbers bound their sum, and there are never more than exist.
    (b) C is alone in some iteration A. Then C is a subset of A, so the bound of (a) holds with the codes and the
        combination iterations that meet A only; and each alone iteration of C holds every code of C, so they are at
        most as many as hold some one code of A.
    The largest of these bounds over (a) and every A bounds the race iterations. Where each code has at most one
    iteration of a kind, (a) is min(m, number of combination iterations), attained by one code out of each of m
    of them, unless such a C happens to be alone in some A, and then (b) is larger by its own count; (b) is 1 +
    min(m, number of combination iterations that meet A), attained by codes of A out of each. Race and ethnicity
    codes are free of one another, so the sum is attained too.

    The Bureau's formula max(2, m) + 1 misses (b): an alone iteration whose codes lie in m different
    combination iterations makes m + 2.
    """
    alone, combination, ethnicity = (
        [it.members for it in iterations if it.kind is kind] for kind in (Kind.ALONE, Kind.COMBINATION, Kind.ETHNICITY)
    )
    alone_of, combination_of, ethnicity_of = map(_holders, (alone, combination, ethnicity))
    race = _most_in_combination(combination_of, combination_of, max_race_codes)
    for group in alone:
        most_alone = max(len(alone_of[code]) for code in group) if group else 0
        race = max(race, most_alone + _most_in_combination(combination_of, group, max_race_codes))
    return race + max((len(groups) for groups in ethnicity_of.values()), default=0)


def _holders(groups: Sequence[Collection[str]]) -> dict[str, list[int]]:
    """The numbers of the groups that hold each code."""
    holders: dict[str, list[int]] = {}
    for number, members in enumerate(groups):
        for code in members:
            holders.setdefault(code, []).append(number)
    return holders


def _most_in_combination(holders: Mapping[str, Sequence[int]], codes: Iterable[str], max_codes: int) -> int:
    """At least as many groups as any `max_codes` of these codes meet; exactly that where no code has two groups."""
    groups_of_each = [holders[code] for code in codes if code in holders]
    most_held = sorted(map(len, groups_of_each), reverse=True)[:max_codes]
    return min(sum(most_held), len(set().union(*groups_of_each)))
