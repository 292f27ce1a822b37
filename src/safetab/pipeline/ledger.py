"""The ledger of a release: what was promised, what was measured, with which noise, from which inputs.

In: the plan, what the gate measured, the parameter files. Out: the content of ledger.json. Everything in it is public:
parameter and geography files are hashed, records only with a secret key, and the numbers of counts follow from noisy
totals.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

from safetab import __version__
from safetab.accounting.events import CountEvent, Stage
from safetab.accounting.privacy_loss import PrivacyLoss, costliest, loss_of
from safetab.files.memory import MemoryTable, add_to_digest
from safetab.files.parquet import locate_text
from safetab.files.parts import list_parts
from safetab.files.seals import hash_file
from safetab.noise.laws import DiscreteGaussian
from safetab.params.exact import decimal_text
from safetab.params.load import Parameters
from safetab.params.plan import PlannedLevel, PlannedRun
from safetab.params.release import Release
from safetab.pipeline.assemble import PostProcessing
from safetab.pipeline.measure import Gate
from safetab.pipeline.sources import DataSources
from safetab.population.iterations import Kind

#: Where the noisy counts of each stage are published; of totals that are suppressed neither stage is.
PUBLISHED_AS = {
    Stage.TOTAL_ONLY: "COUNT of T1",
    Stage.STAGE_1: "STAGE_1_COUNT of T1",
    Stage.STAGE_2: "COUNT of T1 at stat level 0, COUNT of T2 else",
}
#: The chance at which the ledger states epsilon: the paper's.
DELTA = Fraction(1, 10**10)


@dataclass(frozen=True, slots=True)
class RunRecord:
    """What one run did, in numbers that are public."""

    planned: PlannedRun
    #: The levels that were measured, and how many groups each has.
    levels: tuple[tuple[PlannedLevel, int], ...]
    gate: Gate
    rows_of_table: Mapping[str, int]
    suppressed: int

    @property
    def loss(self) -> PrivacyLoss:
        return loss_of(self.planned.name, self.planned.noise, DELTA)


def ledger(
    parameters: Parameters,
    runs: list[RunRecord],
    *,
    is_private: bool,
    engine: str,
    hashes: Mapping[str, Mapping[str, str]],
    records_fingerprint: str | None,
    outputs: Mapping[str, str],
    signing_key: str | None,
) -> dict[str, Any]:
    """The content of ledger.json."""
    release, plan = parameters.release, parameters.plan
    return {
        "format": "safetab ledger 2",
        "program": f"safetab {__version__}",
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "is_private": is_private,
        "warning": None if is_private else "NOT PRIVATE: noise was off or seeded. Do not publish.",
        "title": release.title,
        "privacy": release.privacy.value,
        "neighbours": "two sets of records are neighbours when one has one person more than the other",
        "budget_symbol": release.privacy.budget_symbol,
        "total_budget": decimal_text(plan.budget),
        "total_budget_note": "runs see disjoint records, so the release costs what its costliest run does",
        "analyses": _analyses(costliest([record.loss for record in runs])),
        "stage_1_fraction": decimal_text(release.stage_1_fraction),
        "has_noise": all(record.gate.has_noise for record in runs),
        "allow_negative_counts": release.allow_negative_counts,
        "runs": [_run(record, release) for record in runs],
        "inputs": {
            **{kind: dict(of_files) for kind, of_files in hashes.items()},
            "records": records_fingerprint,
            "records_note": "a keyed hash; the key is in the registry. null: no registry, or records on a cluster.",
        },
        "engine": engine,
        "outputs": dict(outputs),
        "signing_key": signing_key,
    }


def parameter_files(parameters: Parameters) -> list[str]:
    """The files of the parameters folder that were read."""
    files = parameters.release.files
    names = [parameters.file, files.codes, files.race_iterations, files.code_to_iteration]
    if parameters.catalogue.count(Kind.ETHNICITY):
        names.append(files.ethnicity_iterations)
    return sorted(names)


def hashes_of_parameters(parameters: Parameters) -> dict[str, str]:
    """What the parameter files are, hashed when they were read: a tabulation is long, and they may change meanwhile."""
    found = [locate_text(parameters.folder, name, []) for name in parameter_files(parameters)]
    return {path.name: hash_file(path) for path in found if path is not None}


def hashes_of_geography(parameters: Parameters, data: DataSources) -> dict[str, str]:
    """What the geography file is, or each part of it, or the columns of it in memory, hashed when it was read."""
    found = data.find_geography(parameters.release.files.geography, [])
    if isinstance(found, MemoryTable):
        digest = sha256()
        add_to_digest(found.content, digest)
        return {found.name: digest.hexdigest()}
    parts = [] if found is None else list_parts(found)[0]
    folder = data.folder or Path(found or "").parent
    return {part.path.relative_to(folder).as_posix(): hash_file(part.path) for part in parts}


def _analyses(loss: PrivacyLoss) -> dict[str, Any]:
    """Upper bounds on what one person loses, each valid by itself; null where an analysis does not apply."""
    return {"delta": f"{float(DELTA):.0e}"} | loss.as_json()


def _run(record: RunRecord, release: Release) -> dict[str, Any]:
    policy = PostProcessing(release.zero_suppression_chance, release.allow_negative_counts, record.gate.has_noise)
    return {
        "name": record.planned.name,
        "budget": decimal_text(record.planned.budget),
        "analyses": _analyses(record.loss),
        "levels": [_level(level, groups, record.gate, policy) for level, groups in record.levels],
        "rows": dict(record.rows_of_table),
        "suppressed_rows": record.suppressed,
    }


def _level(planned: PlannedLevel, groups: int, gate: Gate, policy: PostProcessing) -> dict[str, Any]:
    level = planned.level
    return {
        "level": level.name,
        "geography": level.geography.name,
        "iteration_level": level.iteration_level,
        "is_local": level.geography.local,
        "budget": decimal_text(planned.budget),
        "stability": planned.stability,
        "groups": groups,
        "thresholds": list(level.thresholds),
        "measurements": [
            _event(event, gate.counts_of_event[event]) | {"suppressed_up_to": _suppressed_up_to(event, planned, policy)}
            for event in planned.noise.events
        ],
    }


def _suppressed_up_to(event: CountEvent, planned: PlannedLevel, policy: PostProcessing) -> int | None:
    """The largest total that is left out; None where none is. Stage 1 counts choose detail and are no totals."""
    if event.stage is Stage.STAGE_1 or policy.zero_suppression_chance is None or not planned.level.geography.local:
        return None
    return policy.threshold(event)


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
        "published_as": PUBLISHED_AS[event.stage],
    }
