"""Faults of the release itself: `config.json`, or a `release.toml` in its place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from safetab.params import rules
from safetab.params.load import CONFIG_FILE, RELEASE_FILE
from safetab.params.template import release_toml
from safetab.synth.faults.site import Fault, Site

_Change = Callable[[dict[str, Any]], object]


def _config(change: _Change) -> Callable[[Site], None]:
    """Change the parsed configuration."""

    def make(site: Site) -> None:
        config = site.config()
        change(config)
        site.write_config(config)

    return make


def _set(**values: object) -> Callable[[Site], None]:
    return _config(lambda config: config.update(values))


def _set_thresholds(key: str, values: object) -> Callable[[Site], None]:
    return _config(lambda config: config["thresholds_p"].update({key: values}))


def _toml(old: str, new: str) -> Callable[[Site], None]:
    """Put a `release.toml` in place, with the first `old` in it replaced by `new`."""

    def make(site: Site) -> None:
        text = release_toml("census-2020")
        if old not in text:
            raise ValueError(f"the new release has no {old!r} to break")
        site.write_release(text.replace(old, new, 1))

    return make


def _toml_end(more: str) -> Callable[[Site], None]:
    return lambda site: site.write_release(release_toml("census-2020") + more)


def _no_release(site: Site) -> None:
    for name in (CONFIG_FILE, RELEASE_FILE):
        (site.params / name).unlink(missing_ok=True)


def _two_releases(site: Site) -> None:
    site.write_config(site.config())
    (site.params / RELEASE_FILE).write_text(release_toml("census-2020"), encoding="utf-8")


def _cut_off(site: Site) -> None:
    site.config()
    text = (site.params / CONFIG_FILE).read_text(encoding="utf-8")
    site.write_config(text[: text.rindex("}")])


def _repeated_key(site: Site) -> None:
    site.config()
    text = (site.params / CONFIG_FILE).read_text(encoding="utf-8")
    site.write_config(text.replace("{", '{\n  "run_us": true,', 1))


FAULTS = (
    Fault("no-release", rules.NO_RELEASE, "the parameters folder has no release", _no_release),
    Fault("two-releases", rules.TWO_RELEASES, "release.toml beside config.json", _two_releases),
    Fault("json-cut-off", rules.NOT_JSON, "config.json lacks its last brace", _cut_off),
    Fault("not-toml", rules.NOT_TOML, "a release.toml that ends in the middle of a line", _toml_end("title = ")),
    Fault("repeated-key", rules.REPEATED_KEY, "run_us stands twice in config.json", _repeated_key),
    Fault("unknown-key", rules.UNKNOWN_KEY, "a key that has no meaning", _set(privacy_buget=1)),
    Fault("missing-key", rules.MISSING_KEY, "max_race_codes left out", _config(lambda c: c.pop("max_race_codes"))),
    Fault("wrong-type", rules.WRONG_TYPE, 'run_us is "yes"', _set(run_us="yes")),
    Fault("not-a-decimal", rules.NOT_A_DECIMAL, "a budget in words", _set(privacy_budget_p_level_1_usa="a little")),
    Fault("negative-budget", rules.NEGATIVE_BUDGET, "a budget below 0", _set(privacy_budget_p_level_1_usa=-0.159)),
    Fault("stage-1-fraction", rules.STAGE_1_FRACTION, "stage 1 takes 1.5", _set(privacy_budget_p_stage_1_fraction=1.5)),
    Fault("suppression-chance", rules.SUPPRESSION_CHANCE, "a chance of 2", _set(zero_suppression_chance=2)),
    Fault("two-thresholds", rules.THREE_THRESHOLDS, "two thresholds", _set_thresholds("(USA, 1)", [1, 2])),
    Fault("falling-thresholds", rules.FALLING_THRESHOLDS, "thresholds 3, 2, 1", _set_thresholds("(USA, 1)", [3, 2, 1])),
    Fault(
        "budget-and-moe",
        rules.BUDGET_OR_MOE,
        "a level with a budget and a margin of error",
        _toml('budget = "0.008"', 'budget = "0.008"\nmoe_95 = 5'),
    ),
    Fault("moe-target", rules.MOE_TARGET, "a margin of error of 0", _toml('budget = "0.008"', "moe_95 = 0")),
    Fault("privacy-definition", rules.PRIVACY_DEFINITION, "an unknown definition", _set(privacy_defn="trust")),
    Fault("max-race-codes", rules.MAX_RACE_CODES, "nine race codes", _set(max_race_codes=9)),
    Fault("age-bins", rules.AGE_BINS, "age bins that start at 5", _toml("[0, 18, 45, 65]", "[5, 18, 45, 65]")),
    Fault("unknown-run", rules.UNKNOWN_RUN, "a level of an unknown run", _toml('run = "us"', 'run = "moon"')),
    Fault(
        "unknown-geography",
        rules.UNKNOWN_GEOGRAPHY,
        "a level of an unknown geography level",
        _toml('geography = "COUNTY"', 'geography = "MOON"'),
    ),
    Fault("repeated-level", rules.REPEATED_LEVEL, "a level twice", _toml("iteration_level = 2", "iteration_level = 1")),
    Fault(
        "no-levels",
        rules.NO_LEVELS,
        "a run without levels",
        _toml("[[level]]", '[[run]]\nname = "idle"\nwhere.TABBLKST = ["99"]\n\n[[level]]'),
    ),
    Fault("no-runs", rules.NO_RUNS, "both runs switched off", _set(run_us=False, run_pr=False)),
    Fault("run-name", rules.RUN_NAME, "a run name with a space", _toml('name = "us"', 'name = "us run"')),
    Fault("runs-overlap", rules.RUNS_OVERLAP, "a state in two runs", _toml('["72"]', '["01"]')),
    Fault(
        "run-filter",
        rules.RUN_FILTER,
        "a run by a column that names no block",
        _toml('where.TABBLKST = ["72"]', 'where.PLACEFP = ["72"]'),
    ),
    Fault("region-columns", rules.REGION_COLUMNS, "a level without region ids", _toml('region_id = "1"\n', "")),
    Fault("region-widths", rules.REGION_WIDTHS, "a column without a width", _toml("TABTRACTCE = 6, ", "")),
    Fault("absent-column", rules.ABSENT_COLUMN, "absent in another column", _toml("{ PLACEFP =", "{ TABBLK =")),
    Fault("level-number", rules.LEVEL_NUMBER, "iteration level 0", _toml("iteration_level = 1", "iteration_level = 0")),
    Fault("state-filter", rules.STATE_FILTER, "72 in state_filter_us", _set(state_filter_us=["72"])),
    Fault("threshold-key", rules.THRESHOLD_KEY, "thresholds of the moon", _set_thresholds("(MOON, 1)", [1, 2, 3])),
    Fault("reader", rules.READER, 'reader is "xml"', _set(reader="xml")),
    Fault("cef-reader", rules.CEF_READER, "the Bureau's internal reader", _set(reader="cef")),
    Fault("format-version", rules.FORMAT_VERSION, "an unknown version", _toml("safetab = 1", "safetab = 2")),
    Fault(
        "unused-geography",
        rules.UNUSED_GEOGRAPHY,
        "a geography level no level uses",
        _toml_end('\n[geography.SCHOOL]\ncolumns = ["TABBLKST"]\n'),
    ),
    Fault("file-name", rules.FILE_NAME, "a file name with slashes", _toml_end('\n[files]\ncodes = "../codes.txt"\n')),
    Fault("repeated-name", rules.REPEATED_NAME, "the same sex twice", _toml('["1", "2"]', '["1", "1"]')),
    Fault("empty-text", rules.EMPTY_TEXT, "a column without a name", _toml('age = "QAGE"', 'age = ""')),
)
