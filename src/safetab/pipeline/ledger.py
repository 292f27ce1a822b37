"""The ledger of a release: what was promised, what was measured, with which noise, from which inputs.

In: the plan, what the gate measured, the parameter files. Out: the content of ledger.json. Everything in it is public:
parameter files are hashed, records only with a secret key, and the numbers of counts follow from noisy totals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

from safetab import __version__
from safetab.accounting.analysis import PrivacyLoss, loss_of
from safetab.accounting.events import CountEvent, LevelPlan, ReleasePlan
from safetab.noise.laws import DiscreteGaussian
from safetab.params.exact import decimal_text
from safetab.params.load import Parameters
from safetab.pipeline.measure import Gate
from safetab.population.iterations import Kind

#: The chance at which the ledger states epsilon: the paper's.
DELTA = Fraction(1, 10**10)


@dataclass(frozen=True, slots=True)
class RunRecord:
    """What one run did, in numbers that are public."""

    name: str
    groups_of_level: Mapping[str, int]
    gate: Gate
    rows_of_table: Mapping[str, int]
    suppressed: int


def ledger(
    parameters: Parameters,
    plan: ReleasePlan,
    runs: list[RunRecord],
    *,
    is_private: bool,
    engine: str,
    parameter_hashes: Mapping[str, str],
    records_fingerprint: str | None,
) -> dict[str, Any]:
    """The content of ledger.json."""
    release = parameters.release
    dearest = max((run.budget for run in plan.runs), default=Fraction(0))
    losses = [loss_of(run.name, run.levels, DELTA) for run in plan.runs]
    return {
        "format": "safetab ledger 1",
        "program": f"safetab {__version__}",
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "is_private": is_private,
        "warning": None if is_private else "NOT PRIVATE: noise was off or seeded. Do not publish.",
        "title": release.title,
        "privacy": release.privacy.value,
        "neighbours": "two sets of records are neighbours when one has one person more than the other",
        "budget_symbol": release.privacy.budget_symbol,
        "total_budget": decimal_text(dearest),
        "total_budget_note": "runs see disjoint records, so the release costs what its costliest run does",
        "analyses": _worst_of(losses),
        "stage_1_fraction": decimal_text(release.stage_1_fraction),
        "runs": [
            _run(record, planned.levels, loss) for record, planned, loss in zip(runs, plan.runs, losses, strict=True)
        ],
        "inputs": {
            "parameters": dict(parameter_hashes),
            "records": records_fingerprint,
            "records_note": "a keyed hash; the key is in the registry. null: no registry, or records on a cluster.",
        },
        "engine": engine,
    }


def parameter_files(parameters: Parameters) -> list[str]:
    """The files of the parameters folder that were read."""
    files = parameters.release.files
    names = [parameters.file, files.codes, files.race_iterations, files.code_to_iteration]
    if parameters.catalogue.count(Kind.ETHNICITY):
        names.append(files.ethnicity_iterations)
    return sorted(names)


def hashes_of_parameters(parameters: Parameters) -> dict[str, str]:
    """What the parameter files are, taken when they were read: a run is long, and they may change meanwhile."""
    return {name: _sha256(parameters.folder / name) for name in parameter_files(parameters)}


def _analyses(loss: PrivacyLoss) -> dict[str, Any]:
    """Upper bounds on what one person loses, each valid by itself; null where an analysis does not apply."""
    return {
        "delta": f"{float(DELTA):.0e}",
        "pure_epsilon": None if loss.pure_epsilon is None else decimal_text(loss.pure_epsilon),
        "rho": float(loss.rho),
        "epsilon_zcdp_analytic": loss.analytic,
        "epsilon_renyi": loss.renyi.value,
        "epsilon_loss_distribution": loss.pld,
        "epsilon": loss.epsilon,
    }


def _worst_of(losses: Sequence[PrivacyLoss]) -> dict[str, Any]:
    """The release under each analysis: its runs see disjoint records, so it costs what the costliest does."""
    found = [_analyses(loss) for loss in losses]

    def worst(name: str) -> Any:
        values = [entry[name] for entry in found]
        return None if not values or None in values else max(values, key=Fraction)

    return {name: worst(name) for name in found[0]} if found else {}


def _run(record: RunRecord, levels: tuple[LevelPlan, ...], loss: PrivacyLoss) -> dict[str, Any]:
    return {
        "name": record.name,
        "budget": decimal_text(sum((level.budget for level in levels), Fraction(0))),
        "analyses": _analyses(loss),
        "levels": [
            {
                "level": level.name,
                "budget": decimal_text(level.budget),
                "stability": level.stability,
                "groups": record.groups_of_level[level.name],
                "measurements": [_event(event, record.gate.counts_of_event[event]) for event in level.events],
            }
            for level in levels
        ],
        "rows": dict(record.rows_of_table),
        "suppressed_rows": record.suppressed,
    }


def _event(event: CountEvent, counts: int) -> dict[str, Any]:
    law = event.law
    scale = (
        {"sigma_squared": str(law.sigma_squared)} if isinstance(law, DiscreteGaussian) else {"scale": str(1 / law.rate)}
    )
    return {
        "stage": event.stage.value,
        "mechanism": event.mechanism.value,
        "budget_of_one_count": str(event.budget),
        **scale,
        "counts": counts,
    }


def _sha256(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()
