"""One run of an evaluation: its trials, and the figures that come out of them.

In: the records of a run, and a gate for each trial. Out: rows of figures, by table, level and class of size. The
promise: errors are of published rows, given that they were published; shares are of all groups of a class. The figures
are confidential.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
import pyarrow as pa

from safetab.engines.protocol import Records
from safetab.params.plan import PlannedRun
from safetab.pipeline.assemble import ALL_AGES, Rows
from safetab.pipeline.counted_once import CountedOnce
from safetab.pipeline.groups import MembersOfRun
from safetab.pipeline.inputs import Inputs
from safetab.pipeline.measure import Gate
from safetab.pipeline.progress import Progress, RunWork, Unwatched, WholeWork
from safetab.pipeline.run import tabulate_levels
from safetab.pipeline.trial_errors import CLASSES, SIZE_STARTS, STAT_LEVELS, Details, Errors, Floats, Integers, Truth
from safetab.pipeline.trial_sums import SumsOfLevel, sums_of_levels

#: The columns of the figures. KIND is T1, T2, or sums: of finer regions (SUM_OVER) against the region that they fill.
SCHEMA = pa.schema(
    [
        ("KIND", pa.string()),
        ("RUN", pa.string()),
        ("GEOGRAPHY", pa.string()),
        ("ITERATION_LEVEL", pa.int32()),
        ("SUM_OVER", pa.string()),
        # The true number of people in the group; both are empty in a row over all sizes, SIZE_TO in the last class.
        ("SIZE_FROM", pa.int64()),
        ("SIZE_TO", pa.int64()),
        ("TRIALS", pa.int32()),
        ("GROUPS", pa.int64()),
        # Published rows, on average over the trials.
        ("ROWS", pa.float64()),
        *((f"{number}_{error}", pa.float64()) for number in ("COUNT", "ESTIMATE") for error in ("BIAS", "MAE", "RMSE")),
        ("COVERAGE", pa.float64()),
        ("COVERAGE_ERROR", pa.float64()),
        # Shares of groups, on average over the trials.
        ("NOT_PUBLISHED", pa.float64()),
        *((f"STAT_LEVEL_{level}", pa.float64()) for level in range(STAT_LEVELS)),
        # The share of pairs of trials in which a group got different detail, on average over the groups.
        ("CHANGES", pa.float64()),
        ("OWN_COUNT_RMSE", pa.float64()),
        ("OWN_ESTIMATE_RMSE", pa.float64()),
    ]
)


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """The rows of a table, the places of their groups among levels and sizes, and the true numbers."""

    rows: Rows
    place: Integers
    true: Integers


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """What one trial published, beside the truth."""

    t1: Compared
    t2: Compared


class EvaluatedRun:
    """The trials of one run."""

    def __init__(self, run: PlannedRun, inputs: Inputs, records: Records) -> None:
        self._release = inputs.parameters.release
        self._run, self._domains = run, inputs.domains(run)
        self._records = CountedOnce(records, self._domains, self._release.age_bins, len(self._release.columns.sexes))
        self._members = MembersOfRun(inputs.parameters.catalogue, records.code_sets(), self._domains)
        totals = [
            next(self._records.totals(domain.region_of_block_set, self._members.of(domain)))
            # Finest first: an engine makes counties out of tracts.
            for domain in reversed(self._domains)
        ]
        self._truth = Truth(self._domains, totals[::-1])
        self._t1, self._t2 = Errors(self._truth.places), Errors(self._truth.places)
        self._details = Details(self._truth, [])
        self._sums = list(sums_of_levels(self._truth))
        groups = sum(domain.groups for domain in self._domains)
        work = RunWork(0, groups, len(self._domains), sum(domain.has_tables for domain in self._domains))
        self._progress = Progress(WholeWork(Unwatched(), {run.name: work}), work)

    def draw(self, gate: Gate) -> Trial:
        """One trial. Threads may draw some at the same time."""
        tables = tabulate_levels(
            self._domains, self._records, self._members, self._truth.order, self._release, gate, self._progress
        )
        true = self._truth.of(tables.t1.key)
        place = self._truth.place(tables.t1.key, true)
        place_of_t2 = self._truth.place(tables.t2.key, self._truth.of(tables.t2.key))
        true_cells = self._true_cells(tables.t2, place_of_t2 // CLASSES)
        return Trial(Compared(tables.t1, place, true), Compared(tables.t2, place_of_t2, true_cells))

    def add(self, trial: Trial) -> None:
        """Add the errors of one trial to those of the others."""
        for errors, compared in ((self._t1, trial.t1), (self._t2, trial.t2)):
            errors.add(compared.place, compared.true, compared.rows.count, compared.rows.estimates)
        self._details.add(trial.t1.rows)
        for sums in self._sums:
            sums.add(trial.t1.rows, trial.t1.place // CLASSES)

    def _true_cells(self, rows: Rows, level: Integers) -> Integers:
        """The true numbers of rows of T2."""
        assert rows.age is not None  # noqa: S101
        assert rows.sex is not None  # noqa: S101
        true = np.zeros(len(rows), dtype=np.int64)
        region, code = np.divmod(rows.key, self._truth.codes)
        for number, domain in enumerate(self._domains):
            of_region, of_code = (_inverse(ranks) for ranks in self._truth.ranks[number])
            for stat_level in range(1, STAT_LEVELS):
                chosen = np.flatnonzero((level == number) & (rows.stat_level == stat_level))
                if not len(chosen):
                    continue
                group = of_region[region[chosen]] * len(domain.iterations) + of_code[code[chosen]]
                groups, row = np.unique(group, return_inverse=True)
                cells = self._records.true_tables(domain, stat_level, groups)
                age, sex = rows.age[chosen].astype(np.int64), rows.sex[chosen].astype(np.int64)
                with_sums = np.concatenate([cells, cells.sum(axis=2, keepdims=True)], axis=2)
                # ALL_AGES is the last column.
                assert ALL_AGES == -1  # noqa: S101
                true[chosen] = with_sums[row, sex, age]
        return true

    def figures(self) -> Iterator[dict[str, Any]]:
        """The rows of figures of this run."""
        at_level, changes = self._details.shares()
        groups = self._truth.groups()
        for kind, errors in (("T1", self._t1), ("T2", self._t2)):
            for level in range(len(self._domains)):
                first = level * CLASSES
                slices = [slice(first, first + CLASSES), *(slice(at, at + 1) for at in range(first, first + CLASSES))]
                for number, part in enumerate(slices):
                    if not errors.rows[part].any() and (kind == "T2" or not groups[part].any()):
                        continue
                    about = self._about(kind, level) | _sizes(number - 1)
                    about["GROUPS"] = int(groups[part].sum())
                    about |= _errors(errors, part, self._details.trials)
                    if kind == "T1":
                        about |= self._shares(about["GROUPS"], at_level[part].sum(axis=0), changes[part].sum())
                    yield about
        for sums in self._sums:
            yield self._about("sums", self._domains.index(sums.coarse)) | _errors_of_sums(sums)

    def _about(self, kind: str, level: int) -> dict[str, Any]:
        planned = self._domains[level].planned.level
        return {
            "KIND": kind,
            "RUN": self._run.name,
            "GEOGRAPHY": planned.geography.name,
            "ITERATION_LEVEL": planned.iteration_level,
            "TRIALS": self._details.trials,
        }

    def _shares(self, groups: int, at_level: Floats, changes: float) -> dict[str, float]:
        trials = self._details.trials
        shares = {f"STAT_LEVEL_{level}": float(at_level[level]) / (groups * trials) for level in range(STAT_LEVELS)}
        missing = 1 - float(at_level.sum()) / (groups * trials)
        changed = {"CHANGES": float(changes) / groups} if trials > 1 else {}
        return shares | {"NOT_PUBLISHED": missing} | changed


def _inverse(ranks: Integers) -> Integers:
    """The place of each rank; -1 for a rank that no place has."""
    places = np.full(int(ranks.max(initial=-1)) + 1, -1, dtype=np.int64)
    places[ranks] = np.arange(len(ranks))
    return places


def _sizes(number: int) -> dict[str, int | None]:
    if number < 0:
        return {"SIZE_FROM": None, "SIZE_TO": None}
    last = None if number + 1 == CLASSES else SIZE_STARTS[number + 1] - 1
    return {"SIZE_FROM": SIZE_STARTS[number], "SIZE_TO": last}


def _errors(errors: Errors, part: slice, trials: int) -> dict[str, float | None]:
    rows = float(errors.rows[part].sum())
    found: dict[str, float | None] = {"ROWS": rows / trials}
    if rows:
        for name, sums in (("COUNT", errors.of_count), ("ESTIMATE", errors.of_estimate)):
            found |= _means(name, {kind: float(of_kind[part].sum()) for kind, of_kind in sums.items()}, rows)
        found["COVERAGE"], found["COVERAGE_ERROR"] = errors.coverage(part)
    return found


def _means(name: str, sums: Mapping[str, float], rows: float) -> dict[str, float]:
    return {
        f"{name}_BIAS": sums["sum"] / rows,
        f"{name}_MAE": sums["absolute"] / rows,
        f"{name}_RMSE": sqrt(sums["squared"] / rows),
    }


def _errors_of_sums(sums: SumsOfLevel) -> dict[str, Any]:
    found: dict[str, Any] = {"SUM_OVER": sums.fine.planned.level.geography.name, "GROUPS": sums.groups}
    rows = sums.groups * sums.trials
    if rows:
        for name in ("COUNT", "ESTIMATE"):
            of_sum = {kind: float(value[0]) for kind, value in sums.errors[f"sum of {name.lower()}"].items()}
            found |= _means(name, of_sum, rows)
            found[f"OWN_{name}_RMSE"] = sqrt(float(sums.errors[f"own {name.lower()}"]["squared"][0]) / rows)
    return found
