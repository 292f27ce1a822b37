"""Breakages of the release: `config.json`, or a `release.toml` instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from safetab.params.load import CONFIG_FILE, RELEASE_FILE
from safetab.params.template import release_toml
from safetab.rules import geography_rules, release_rules
from safetab.synth.breakages.site import Breakage, Site


def _config(change: Callable[[dict[str, Any]], object]) -> Callable[[Site], None]:
    return lambda site: site.edit_config(change)


def _set(**values: object) -> Callable[[Site], None]:
    return _config(lambda config: config.update(values))


def _set_thresholds(key: str, values: object) -> Callable[[Site], None]:
    return _config(lambda config: config["thresholds_p"].update({key: values}))


def _toml(old: str, new: str) -> Callable[[Site], None]:
    """Replace the configuration by a `release.toml` in which the first `old` is `new`."""

    def apply(site: Site) -> None:
        text = release_toml("census-2020")
        if old not in text:
            raise ValueError(f"the template has no {old!r}; use a text that release_toml writes")
        site.write_release(text.replace(old, new, 1))

    return apply


def _toml_end(more: str) -> Callable[[Site], None]:
    return lambda site: site.write_release(release_toml("census-2020") + more)


def _no_release(site: Site) -> None:
    for name in (CONFIG_FILE, RELEASE_FILE):
        (site.params / name).unlink(missing_ok=True)


def _two_releases(site: Site) -> None:
    site.config()
    (site.params / RELEASE_FILE).write_text(release_toml("census-2020"), encoding="utf-8")


def _config_text(change: Callable[[str], str]) -> Callable[[Site], None]:
    return lambda site: site.edit_config_text(change)


BREAKAGES = (
    Breakage("no-release", release_rules.NO_RELEASE, "the parameters folder has no release", _no_release),
    Breakage("two-releases", release_rules.TWO_RELEASES, "release.toml beside config.json", _two_releases),
    Breakage(
        "json-cut-off",
        release_rules.NOT_JSON,
        "config.json without its last brace",
        _config_text(lambda t: t[: t.rindex("}")]),
    ),
    Breakage(
        "not-toml", release_rules.NOT_TOML, "a release.toml that ends in the middle of a line", _toml_end("title = ")
    ),
    Breakage(
        "repeated-key",
        release_rules.REPEATED_KEY,
        "run_us appears twice in config.json",
        _config_text(lambda text: text.replace("{", '{\n  "run_us": true,', 1)),
    ),
    Breakage("unknown-key", release_rules.UNKNOWN_KEY, "a key that has no meaning", _set(privacy_buget=1)),
    Breakage(
        "missing-key",
        release_rules.MISSING_KEY,
        "max_race_codes is missing",
        _config(lambda c: c.pop("max_race_codes")),
    ),
    Breakage("wrong-type", release_rules.WRONG_TYPE, 'run_us is "yes"', _set(run_us="yes")),
    Breakage(
        "not-a-decimal", release_rules.NOT_A_DECIMAL, "a budget in words", _set(privacy_budget_p_level_1_usa="a little")
    ),
    Breakage(
        "negative-budget", release_rules.NEGATIVE_BUDGET, "a budget below 0", _set(privacy_budget_p_level_1_usa=-0.159)
    ),
    Breakage(
        "stage-1-fraction",
        release_rules.STAGE_1_FRACTION,
        "a stage 1 fraction of 1.5",
        _set(privacy_budget_p_stage_1_fraction=1.5),
    ),
    Breakage(
        "suppression-chance",
        release_rules.SUPPRESSION_CHANCE,
        "a suppression chance of 2",
        _set(zero_suppression_chance=2),
    ),
    Breakage("two-thresholds", release_rules.THRESHOLDS, "two thresholds", _set_thresholds("(USA, 1)", [1, 2])),
    Breakage(
        "falling-thresholds",
        release_rules.FALLING_THRESHOLDS,
        "thresholds 3, 2, 1",
        _set_thresholds("(USA, 1)", [3, 2, 1]),
    ),
    Breakage(
        "budget-and-moe",
        release_rules.BUDGET_OR_MOE,
        "a level with a budget and a margin of error",
        _toml('budget = "0.008"', 'budget = "0.008"\nmoe_95 = 5'),
    ),
    Breakage("moe-target", release_rules.MOE_TARGET, "a margin of error of 0", _toml('budget = "0.008"', "moe_95 = 0")),
    Breakage(
        "privacy-definition",
        release_rules.PRIVACY_DEFINITION,
        "an unknown privacy definition",
        _set(privacy_defn="trust"),
    ),
    Breakage("max-race-codes", release_rules.MAX_RACE_CODES, "max_race_codes is 9", _set(max_race_codes=9)),
    Breakage(
        "age-bins", release_rules.AGE_BINS, "age bins that start at 5", _toml("[0, 18, 45, 65]", "[5, 18, 45, 65]")
    ),
    Breakage(
        "unknown-run", release_rules.UNKNOWN_RUN, "a level of an unknown run", _toml('run = "us"', 'run = "moon"')
    ),
    Breakage(
        "unknown-geography",
        release_rules.UNKNOWN_GEOGRAPHY,
        "a level of an unknown geography level",
        _toml('geography = "COUNTY"', 'geography = "MOON"'),
    ),
    Breakage(
        "repeated-level",
        release_rules.REPEATED_LEVEL,
        "the same level twice",
        _toml("iteration_level = 2", "iteration_level = 1"),
    ),
    Breakage(
        "no-levels",
        release_rules.NO_LEVELS,
        "a run without levels",
        _toml("[[level]]", '[[run]]\nname = "idle"\nwhere.TABBLKST = ["99"]\n\n[[level]]'),
    ),
    Breakage("no-runs", release_rules.NO_RUNS, "both runs switched off", _set(run_us=False, run_pr=False)),
    Breakage("run-name", release_rules.RUN_NAME, "a run name with a space", _toml('name = "us"', 'name = "us run"')),
    Breakage("runs-overlap", release_rules.RUNS_OVERLAP, "a state in two runs", _toml('["72"]', '["01"]')),
    Breakage(
        "run-filter",
        release_rules.RUN_FILTER,
        "a run chosen by a column that does not identify blocks",
        _toml('where.TABBLKST = ["72"]', 'where.PLACEFP = ["72"]'),
    ),
    Breakage(
        "region-columns",
        release_rules.REGION_COLUMNS,
        "a geography level without region ids",
        _toml('region_id = "1"\n', ""),
    ),
    Breakage(
        "ages-alone", release_rules.AGES_AND_COLUMN, "age bins without a column of ages", _toml('age = "QAGE"\n', "")
    ),
    Breakage(
        "sex-alone",
        release_rules.SEX_AND_SEXES,
        "a column of sexes without its values",
        _toml('sexes = ["1", "2"]\n', ""),
    ),
    Breakage("delimiter", release_rules.DELIMITER, "a colon as delimiter", _toml_end('[files]\ndelimiter = ":"\n')),
    Breakage("quote", release_rules.QUOTE, "an apostrophe as quote", _toml_end('[files]\nquote = "\'"\n')),
    Breakage(
        "name-column",
        release_rules.NAME_COLUMN,
        "names of the one region that contains everything",
        _toml('region_id = "1"\n', 'region_id = "1"\nname_column = "TABBLK"\n'),
    ),
    Breakage(
        "two-names",
        geography_rules.TWO_NAMES,
        "blocks as names of states",
        _toml('columns = ["TABBLKST"]\n', 'columns = ["TABBLKST"]\nname_column = "TABBLK"\n'),
    ),
    Breakage("region-widths", release_rules.REGION_WIDTHS, "a column without a width", _toml("TABTRACTCE = 6, ", "")),
    Breakage(
        "absent-column",
        release_rules.ABSENT_COLUMN,
        "`absent` names a column that its level does not have",
        _toml("{ PLACEFP =", "{ TABBLK ="),
    ),
    Breakage(
        "level-number",
        release_rules.LEVEL_NUMBER,
        "iteration level 0",
        _toml("iteration_level = 1", "iteration_level = 0"),
    ),
    Breakage("state-filter", release_rules.STATE_FILTER, "72 in state_filter_us", _set(state_filter_us=["72"])),
    Breakage(
        "threshold-key",
        release_rules.THRESHOLD_KEY,
        "thresholds for an unknown geography level",
        _set_thresholds("(MOON, 1)", [1, 2, 3]),
    ),
    Breakage("reader", release_rules.READER, 'reader is "xml"', _set(reader="xml")),
    Breakage("cef-reader", release_rules.CEF_READER, "the Bureau's internal reader", _set(reader="cef")),
    Breakage(
        "format-version", release_rules.FORMAT_VERSION, "an unknown format version", _toml("safetab = 1", "safetab = 2")
    ),
    Breakage(
        "unused-geography",
        release_rules.UNUSED_GEOGRAPHY,
        "a geography level that is not used",
        _toml_end('\n[geography.SCHOOL]\ncolumns = ["TABBLKST"]\n'),
    ),
    Breakage(
        "file-name",
        release_rules.FILE_NAME,
        "a file name with slashes",
        _toml_end('\n[files]\ncodes = "../codes.txt"\n'),
    ),
    Breakage("repeated-name", release_rules.REPEATED_NAME, "the same sex twice", _toml('["1", "2"]', '["1", "1"]')),
    Breakage("empty-text", release_rules.EMPTY_TEXT, "an empty column name", _toml('age = "QAGE"', 'age = ""')),
    Breakage("label", release_rules.LABEL, "a sex with a bar in it", _toml('["1", "2"]', '["1", "2|3"]')),
    Breakage(
        "control-characters",
        release_rules.CONTROL_CHARACTERS,
        "a column name with a line end",
        _toml('age = "QAGE"', r'age = "Q\nAGE"'),
    ),
    Breakage(
        "geography-name",
        release_rules.GEOGRAPHY_NAME,
        "a geography level with a slash in its name",
        _toml_end('\n[geography."STATE/COUNTY"]\ncolumns = ["TABBLKST"]\n'),
    ),
    Breakage(
        "columns-alike",
        release_rules.COLUMNS_ALIKE,
        "two columns that differ in capitals alone",
        _toml('sex = "QSEX"', 'sex = "qage"'),
    ),
    Breakage(
        "too-many-sexes",
        release_rules.TOO_MANY_SEXES,
        "1,001 values of the sex column",
        _toml('["1", "2"]', str([str(number) for number in range(1001)])),
    ),
)
