"""The faults: which text of which file is replaced by what, and the tests that ought to notice.

Each is a mistake somebody could make, or has made. A text to be replaced must stand in its file exactly once, so that a
change of the code that loses a fault is noticed too.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """One mistake: its name, the file below src/safetab, replacements as (old, new), and the tests to run."""

    name: str
    file: str
    swaps: tuple[tuple[str, str], ...]
    tests: tuple[str, ...]


def _fault(name: str, file: str, *texts: str, tests: tuple[str, ...]) -> Fault:
    return Fault(name, file, tuple(zip(texts[::2], texts[1::2], strict=True)), tests)


_EVENTS = ("tests/unit/accounting/test_events.py",)
_GATE = ("tests/unit/pipeline/test_gate.py",)
_REPLAY = tuple(
    f"tests/property/test_replay.py::test_the_nastiest_neighbours_by_hand[eight codes in eight groups-{kind}]"
    for kind in ("tables", "totals")
)
_AUDIT = (
    "tests/statistical/test_exact_audit.py::test_what_is_spent_is_what_is_claimed[one of each-zcdp]",
    "tests/statistical/test_exact_audit.py::test_what_is_spent_is_what_is_claimed[one of each-puredp]",
)
_HAND = ("tests/golden/test_by_hand.py",)
_PARTS = ("tests/unit/population/test_geography.py::test_parts_of_regions",)
_OUTPUT = "tests/unit/pipeline/test_output.py::"
_EMPTY = (_OUTPUT + "test_every_group_is_there_also_without_people",)
_NEGATIVE = (_OUTPUT + "test_negative_counts_are_kept_or_not",)
_PRIVATE = (
    _OUTPUT + "test_noise_off_and_seeds_need_the_words",
    _OUTPUT + "test_what_is_not_private_says_so_everywhere",
)
_REGISTRY = ("tests/unit/pipeline/test_registry.py",)
_EXACTNESS = ("tests/unit/noise/test_exactness.py",)
_WORKSPACE = (_OUTPUT + "test_the_temporary_folder_is_private_and_abandoned_ones_are_removed",)
_RECORDS = "tests/cli/test_broken_records.py::test_a_broken_record_is_told"
_INPUTS = "tests/cli/test_broken_inputs.py::test_broken_input_is_told"
_SOURCE = ("tests/unit/noise/test_source.py::test_parent_and_children_have_streams_of_their_own",)

FAULTS: tuple[Fault, ...] = (
    # Scales.
    _fault("s one too small", "accounting/events.py", "self.budget / self.stability, self.stability",
           "self.budget / max(1, self.stability - 1), self.stability", tests=_EVENTS),
    _fault("s one too small, seen by the audit", "accounting/events.py", "self.budget / self.stability, self.stability",
           "self.budget / max(1, self.stability - 1), self.stability", tests=_AUDIT),
    _fault("s left out", "accounting/events.py", "shares[stage] * self.budget / self.stability",
           "shares[stage] * self.budget", tests=_EVENTS),
    _fault("stage fractions swapped", "accounting/events.py", "Stage.STAGE_1: self.stage_1_fraction,",
           "Stage.STAGE_1: 1 - self.stage_1_fraction,", "Stage.STAGE_2: 1 - self.stage_1_fraction,",
           "Stage.STAGE_2: self.stage_1_fraction,", tests=_EVENTS),
    _fault("stage 2 gets the whole budget", "accounting/events.py", "Stage.STAGE_2: 1 - self.stage_1_fraction,",
           "Stage.STAGE_2: Fraction(1),", tests=_AUDIT),
    _fault("sigma squared is 1 / (4 rho)", "accounting/events.py", "DiscreteGaussian(1 / (2 * budget))",
           "DiscreteGaussian(1 / (4 * budget))", tests=_AUDIT),
    _fault("sigma where sigma squared belongs", "accounting/events.py", "DiscreteGaussian(1 / (2 * budget))",
           "DiscreteGaussian(1 / (2 * budget) ** 2)", tests=_EVENTS),
    _fault("geometric scale squared", "accounting/events.py", "TwoSidedGeometric(budget)",
           "TwoSidedGeometric(budget**2)", tests=_EVENTS),
    _fault("a run costs its dearest level", "accounting/events.py",
           "return sum((level.budget for level in self.levels), Fraction(0))",
           "return max((level.budget for level in self.levels), default=Fraction(0))", tests=_EVENTS),
    _fault("budgets become floats", "params/exact.py", "return Fraction(number)", "return Fraction(float(number))",
           tests=("tests/unit/params/test_exact.py",)),
    # Stability and membership.
    _fault("stability ignores ethnicity", "population/stability.py",
           "return race + max((len(groups) for groups in ethnicity_of.values()), default=0)", "return race",
           tests=_REPLAY),
    _fault("stability by the Bureau's formula", "population/stability.py",
           "race = max(race, most_alone + _most_in_combination(combination_of, group, max_race_codes))",
           "race = max(race, most_alone + 1)", tests=_REPLAY),
    _fault("stability one code short", "population/stability.py", "reverse=True)[:max_codes]",
           "reverse=True)[: max_codes - 1]", tests=_REPLAY),
    _fault("stability too large", "population/stability.py", "return race + max(", "return 1 + race + max(",
           tests=_REPLAY),
    _fault("a group counts a person once a code", "population/membership.py",
           "iterations[iterations == earlier] = NONE", "pass", tests=_REPLAY),
    _fault("alone with one code outside", "population/membership.py", "candidate[~held] = NONE",
           "candidate[:0] = NONE", tests=_HAND),
    # The gate.
    _fault("no noise where nobody is", "pipeline/measure.py",
           "return add_noise(true_counts, event.law, self._source)",
           "return add_noise(true_counts, event.law, self._source) * (true_counts != 0)", tests=_GATE),
    _fault("noise reused between stages", "pipeline/measure.py",
           "return add_noise(true_counts, event.law, self._source)",
           "kept = self.__dict__.setdefault('kept', {})\n"
           "        fresh = add_noise(true_counts * 0, event.law, self._source).ravel()\n"
           "        return kept.setdefault((event.law, fresh.size), fresh).reshape(true_counts.shape) + true_counts",
           tests=_GATE),
    _fault("a measurement is not written down", "pipeline/measure.py",
           "self.counts_of_event[event] += true_counts.size", "self.counts_of_event[event] = true_counts.size",
           tests=_GATE),
    _fault("two cells share one draw", "noise/sampler.py", "        sampler.fill(part, source)\n        _add",
           "        sampler.fill(part, source)\n        part[1::2] = part[: part.size // 2 * 2 : 2]\n        _add",
           tests=_GATE),
    _fault("every chunk gets the noise of the first", "noise/sampler.py",
           "        sampler.fill(part, source)\n        _add",
           "        sampler.fill(part, source)\n"
           "        part[...] = (first := part.copy()) if start == 0 else first[: part.size]\n        _add",
           tests=_GATE),
    # One level.
    _fault("thresholds meet the true count", "pipeline/tabulate_level.py",
           "reached += noisy >= threshold", "reached += true[is_two_stage] >= threshold", tests=_REPLAY),
    _fault("a threshold is passed, not reached", "pipeline/tabulate_level.py",
           "reached += noisy >= threshold", "reached += noisy > threshold", tests=_HAND),
    _fault("empty groups are left out before the noise", "pipeline/tabulate_level.py",
           "gets_total = stat_levels == StatLevel.TOTAL", "gets_total = (stat_levels == StatLevel.TOTAL) & (true > 0)",
           tests=_REPLAY),
    _fault("groups with a table are chosen by who is in them", "pipeline/tabulate_level.py",
           "chosen.append(_groups_with_tables(stat_levels, first))",
           "chosen.append(_groups_with_tables(np.where(true > 0, stat_levels, -1), first))", tests=_REPLAY),
    _fault("stage 2 starts from the noisy count of stage 1", "pipeline/tabulate_level.py",
           "    stat_levels[is_two_stage] = reached", "    stat_levels[is_two_stage] = reached\n"
           "    true[is_two_stage] = noisy", tests=_REPLAY),
    _fault("a stage 2 total with the noise of TotalOnly", "pipeline/tabulate_level.py",
           "yield _measure_totals(true, gets_total, first, domain.plan.event(Stage.STAGE_2), gate)",
           "yield _measure_totals(true, gets_total, first, domain.plan.event(Stage.TOTAL_ONLY), gate)", tests=_REPLAY),
    _fault("totals without noise", "pipeline/tabulate_level.py",
           "gate.measure(true[is_measured], event))", "true[is_measured])", tests=_REPLAY),
    _fault("empty cells stay 0", "pipeline/tabulate_level.py", "noisy = gate.measure(cells, event)",
           "noisy = (gate.measure(cells, event) * (cells > 0))", tests=_REPLAY),
    _fault("cells with the noise of stage 1", "pipeline/tabulate_level.py", "noisy = gate.measure(cells, event)",
           "noisy = gate.measure(cells, domain.plan.event(Stage.STAGE_1))", tests=_REPLAY),
    _fault("a cell spills into the next", "pipeline/tabulate_level.py",
           "+ batch.sex * bins_of_group[batch.group] + batch.age_bin]",
           "+ batch.sex * (bins_of_group[batch.group] - 1) + batch.age_bin]", tests=_HAND),
    _fault("the last region is missing", "pipeline/tabulate_level.py",
           "for first in range(0, len(domain.regions), step):", "for first in range(0, len(domain.regions) - 1, step):",
           tests=_EMPTY),
    # After the barrier.
    _fault("negative counts are cut after the sums", "pipeline/assemble.py",
           "counts = self._policy.clipped(part.noisy_count)", "counts = part.noisy_count",
           "counts.sum(axis=(1, 2)),", "self._policy.clipped(counts.sum(axis=(1, 2))),", tests=_NEGATIVE),
    _fault("suppression lets its own threshold through", "pipeline/assemble.py",
           "kept = noisy > self._thresholds[totals.event]", "kept = noisy >= self._thresholds[totals.event]",
           tests=_HAND),
    _fault("suppression at every geography", "pipeline/assemble.py",
           "is not None and domain.level.geography.local", "is not None", tests=_HAND),
    # What is promised and written down.
    _fault("the registry is written after the noise", "pipeline/run.py",
           "fingerprint = _enter(Path(registry), plan, inputs, spend_again=spend_again)\n", "pass\n",
           "        content = ledger(",
           "        fingerprint = (\n"
           "            _enter(Path(registry), plan, inputs, spend_again=spend_again) if registry else None\n"
           "        )\n        content = ledger(", tests=_REGISTRY),
    _fault("the registry counts the cheapest run", "pipeline/run.py", "max(run.budget for run in plan.runs)",
           "min(run.budget for run in plan.runs)", tests=_REGISTRY),
    _fault("the registry forgets", "pipeline/registry.py", "if before and not spend_again:",
           "if before and spend_again:", tests=_REGISTRY),
    _fault("noise off without the words", "pipeline/run.py", "if not not_private and (", "if not_private and (",
           tests=_PRIVATE),
    _fault("the ledger always says private", "pipeline/ledger.py", '"is_private": is_private,',
           '"is_private": True,', tests=_PRIVATE),
    # The sampler and its randomness.
    _fault("the table of the sampler is one off", "noise/table.py", "return -len(below), [",
           "return 1 - len(below), [", tests=_EXACTNESS),
    _fault("a word on a threshold falls to the wrong side", "noise/table.py",
           "places += np.take(self._thresholds, places) < words",
           "places += np.take(self._thresholds, places) <= words", tests=_EXACTNESS),
    _fault("a tail rounded up", "noise/table.py", "for k, tail in enumerate(whole)] + [0]",
           "for k, tail in enumerate(whole)] + [1]", tests=_EXACTNESS),
    _fault("a forked child continues its parent's stream", "noise/source.py", 'getattr(local, "home", None) != home',
           'not hasattr(local, "home")', tests=_SOURCE),
    _fault("the source can be seeded", "noise/source.py", "material = entropy(KEY_BYTES + NONCE_BYTES)\n            #",
           "material = bytes(range(KEY_BYTES + NONCE_BYTES))\n            #",
           tests=("tests/unit/noise/test_source.py::test_two_sources_and_a_copy_share_nothing",)),
    # Records that break rules.
    _fault("records are not judged", "engines/duckdb_engine.py", "        if any(counts):\n", "        if False:\n",
           tests=(_RECORDS + "[a third sex-text]",)),
    _fault("records are not judged, with Spark", "engines/spark_engine.py", "        if any(counts):\n",
           "        if False:\n",
           tests=("tests/contract/test_faults.py::test_all_faults_are_told_at_once[spark-Parquet]",)),
    _fault("people in no block are left out", "engines/queries.py", '"cell IS NULL",', '"FALSE",',
           tests=(_RECORDS + "[an unknown tract-text]",)),
    _fault("more codes than the stability allows", "engines/queries.py",
           '" OR ".join(f"{index} <> {_NO_CODE}" for index in beyond) or "FALSE",', '"FALSE",',
           tests=(_OUTPUT + "test_more_codes_than_allowed_is_refused",)),
    _fault("people of an unknown state are left out", "engines/queries.py",
           "NOT IN ({', '.join(map(quoted, left_out))})", "IN ({', '.join(map(quoted, only.values))})",
           tests=(_RECORDS + "[a state that is nowhere-text]",)),
    _fault("a run counts the people of another", "engines/queries.py", "if only is None or not left_out:",
           "if True:", tests=_HAND),
    _fault("a region is made of parts that reach beyond it", "population/geography.py",
           "return regions if np.array_equal(regions[part_of_cell[inside]], region_of_cell[inside]) else None",
           "return regions", tests=_PARTS),
    _fault("people outside every part of a region are left out", "population/geography.py",
           "    if np.any(region_of_cell[~inside] != NO_REGION):\n", "    if False:\n", tests=_PARTS),
    _fault("values are always shown", "engines/fault_queries.py", "        if self._layout.show_values:\n",
           "        if True:\n", " if self._layout.show_values else None", "",
           tests=(_RECORDS + "[an age beyond the oldest-text]",)),
    _fault("Puerto Rico in both runs", "params/census.py", "            and PUERTO_RICO not in states\n", "",
           tests=(_INPUTS + "[Puerto Rico among the states]",)),
    # What is left lying, and what is published when.
    _fault("the registry is skipped", "pipeline/run.py", "        if registry is not None:\n", "        if False:\n",
           tests=_REGISTRY),
    _fault("the registry lies in the output", "pipeline/run.py", "(params, data, records, registry)",
           "(params, data, records)", tests=(_OUTPUT + "test_what_must_stay_is_not_kept_in_the_output",)),
    _fault("published before the ledger is written", "pipeline/run.py",
           "_write_json(space.out / LEDGER_FILE, content)\n        space.publish()",
           "space.publish()\n        _write_json(out / LEDGER_FILE, content)",
           tests=(_OUTPUT + "test_what_is_published_is_complete_when_it_appears",)),
    _fault("everybody may enter the temporary folder", "pipeline/workspace.py",
           '    lock = (folder / _LOCK).open("w")\n',
           '    folder.chmod(0o755)\n    lock = (folder / _LOCK).open("w")\n',
           tests=_WORKSPACE),
    _fault("what a killed run left stays", "pipeline/workspace.py",
           "                shutil.rmtree(folder, ignore_errors=True)\n        except BlockingIOError",
           "                pass\n        except BlockingIOError", tests=_WORKSPACE),
    _fault("a link in place of the output", "pipeline/workspace.py", "if target.is_symlink() or (", "if (",
           tests=(_OUTPUT + "test_a_link_in_place_of_the_output_is_refused_before_anything_is_spent",)),
    _fault("age bins are numbered in eight bits", "pipeline/assemble.py", "np.arange(ALL_AGES, bins, dtype=np.int16)",
           "np.arange(ALL_AGES, bins, dtype=np.int8)",
           tests=(_OUTPUT + "test_an_age_bin_for_every_year_up_to_two_hundred",)),
    _fault("a target pays for a stage that is not there", "pipeline/plan.py",
           "release.stage_1_fraction if has_two_stage else Fraction(0)", "release.stage_1_fraction",
           tests=("tests/unit/pipeline/test_plan.py",)),
    _fault("the ledger tells half the budget", "pipeline/ledger.py", '"budget": decimal_text(level.budget),',
           '"budget": decimal_text(level.budget / 2),',
           tests=("tests/property/test_fuzz.py::test_the_sound_world_is_accepted_and_compared",)),
    _fault("noise that cannot be drawn is found too late", "pipeline/run.py", "        prepare_noise(plan)\n",
           "        pass\n",
           tests=(_OUTPUT + "test_noise_that_cannot_be_drawn_is_refused_before_anything_is_spent",)),
)  # fmt: skip
