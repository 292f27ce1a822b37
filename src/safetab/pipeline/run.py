"""SafeTab, the paper's Algorithm 1: tabulate every population group level of a run.

In: a planned run, its opened records, the gate through which every number passes. Out: the rows of T1 and T2, noisy and
so public. The promise: the loops below are all that happens between the records and the tables, and one line of them
is the privacy barrier.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from safetab.engines.protocol import Records
from safetab.params.load import Parameters
from safetab.params.release import Release
from safetab.pipeline.assemble import Assembler, KeyOrder, PostProcessing, Rows
from safetab.pipeline.groups import GroupDomain, MembersOfRun
from safetab.pipeline.measure import Gate
from safetab.pipeline.precision import Precision, Precisions
from safetab.pipeline.progress import Progress
from safetab.pipeline.tabulate_level import (
    MeasuredLevel,
    NoisyTables,
    NoisyTotals,
    tabulate_tables,
    tabulate_totals,
)


@dataclass(frozen=True, slots=True, eq=False)
class RunTables:
    """What a run publishes: T1 and T2, what their numbers stand for, and how many rows were suppressed."""

    order: KeyOrder
    precisions: tuple[Precision, ...]
    t1: Rows
    t2: Rows
    suppressed: int


def tabulate_run(
    domains: list[GroupDomain], records: Records, parameters: Parameters, gate: Gate, progress: Progress
) -> RunTables:
    """Algorithm 1 for one run."""
    members = MembersOfRun(parameters.catalogue, records.code_sets(), domains)
    return tabulate_levels(domains, records, members, KeyOrder.of(domains), parameters.release, gate, progress)


def tabulate_levels(
    domains: list[GroupDomain],
    records: Records,
    members: MembersOfRun,
    order: KeyOrder,
    release: Release,
    gate: Gate,
    progress: Progress,
) -> RunTables:
    """Algorithm 1 goes through the population group levels: once for all totals, once for all tables."""
    policy = PostProcessing(release.zero_suppression_chance, release.allow_negative_counts, gate.has_noise)
    precisions = Precisions(has_noise=gate.has_noise)
    assembler = Assembler(order, policy, precisions)
    for domain, noisy in _measured(domains, records, members, release, gate, progress):
        # ---- privacy barrier: from here on there are only noisy numbers ----
        assembler.add(domain, noisy)
    t1, t2 = assembler.t1(), assembler.t2(with_marginals=release.has_sex_marginals)
    return RunTables(assembler.order, tuple(precisions.listed), t1, t2, assembler.suppressed)


def _measured(
    domains: list[GroupDomain],
    records: Records,
    members: MembersOfRun,
    release: Release,
    gate: Gate,
    progress: Progress,
) -> Iterator[tuple[GroupDomain, NoisyTotals | NoisyTables]]:
    """The noisy numbers of every level: all totals, then all tables, so that an engine is asked for these once."""
    levels: list[MeasuredLevel] = []
    # Finest level first, as releases list the coarsest first: an engine makes counties out of tracts, states out of
    # counties, and need not go back to the people.
    for domain in reversed(domains):
        level = MeasuredLevel(domain, members.of(domain))
        progress.begin_totals(domain)
        for totals in tabulate_totals(records, level, gate):
            yield domain, totals
        progress.end_totals(domain)
        if domain.has_tables:
            levels.append(level)
    if levels:
        progress.begin_tables()
    sexes = len(release.columns.sexes)
    for domain, of_level in tabulate_tables(records, levels, gate, release.age_bins, sexes):
        for tables in of_level:
            yield domain, tables
        progress.end_tables()
