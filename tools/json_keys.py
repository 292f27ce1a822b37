"""Every key of every JSON file and output: where it is, what kind of value it has, what it means.

In: nothing. Out: `OUTPUTS`, from which docs/reference/json.md is generated. The promise: a test prints each output and
fails when a key or a kind of value here differs from what comes out.

A place is written like `runs[].levels[].budget`; `*` is a name that the release chooses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

TEXT, DECIMAL, WHOLE, NUMBER, SWITCH = "text", "decimal text", "whole number", "number", "true or false"
LIST, OBJECT, OR_NULL = "list", "object", " or null"


@dataclass(frozen=True, slots=True)
class Output:
    """One JSON file or output: where it comes from, and kind and meaning of the value at each place."""

    name: str
    source: str
    keys: Mapping[str, tuple[str, str]]


_FORMAT = "What this is, and the version of its keys."
_TITLE = {"title": (TEXT, "The title of the release.")}
_PRIVACY = {
    "privacy": (
        TEXT,
        "`zcdp`: discrete Gaussian noise, budgets are rho. `puredp`: geometric noise, budgets are epsilon.",
    )
}
_FRACTION = {"stage_1_fraction": (DECIMAL, "The share of a group's budget that stage 1 spends.")}
_DELTA = {"delta": (DECIMAL, "The delta at which every epsilon below is stated.")}
_LOSS = {
    "budget": (DECIMAL, "The sum of the budgets: rho for `zcdp`, epsilon for `puredp`."),
    "pure_epsilon": (DECIMAL + OR_NULL, "Epsilon of pure differential privacy. null: Gaussian noise has none."),
    "rho": (DECIMAL, "Rho of zero-concentrated differential privacy (zCDP)."),
    "rho_quoted": (DECIMAL, "Rho as the paper computes it: epsilon^2 / 2 for geometric noise. Never less than `rho`."),
    "epsilon": (NUMBER, "The smallest of the epsilons of all analyses, at `delta`. This is the figure to quote."),
    "epsilon_zcdp_analytic": (NUMBER, "Epsilon from rho by the formula rho + sqrt(4 rho log(1/delta))."),
    "epsilon_renyi": (NUMBER, "Epsilon from the Rényi divergence, at the best alpha."),
    "epsilon_renyi_alpha": (NUMBER, "That alpha."),
    "epsilon_loss_distribution": (
        NUMBER + OR_NULL,
        "Epsilon from the privacy loss distribution. null: the losses do not fit on the grid.",
    ),
}


def _within(place: str, keys: Mapping[str, tuple[str, str]]) -> dict[str, tuple[str, str]]:
    return {f"{place}.{key}": value for key, value in keys.items()}


_TOTALS = {
    "totals": (LIST, "95 % margins of error of the totals of two-stage groups. Empty: the level has none."),
    "totals[].stat_level": (WHOLE, "The stat level."),
    "totals[].cells": (WHOLE, "How many noisy counts COUNT is the sum of."),
    "totals[].estimate_moe_95": (WHOLE, "The margin of ESTIMATE, for groups far from thresholds and suppression."),
    "totals[].sum_moe_95": (WHOLE, "The margin of COUNT, the sum."),
}
_MARGINS = {
    **_TOTALS,
    "by_stage_1_fraction": (LIST, "The same margins if stage 1 got another share of the same budget."),
    "by_stage_1_fraction[].stage_1_fraction": (DECIMAL, "That share."),
    **_within("by_stage_1_fraction[]", _TOTALS),
}
_FINDING = {
    "findings[].code": (TEXT, "The code of the rule; errors.md lists all of them."),
    "findings[].severity": (TEXT, "`error` or `warning`."),
    "findings[].file": (TEXT, "The file, or the option of the command."),
    "findings[].key": (TEXT, "The column, or the path of the key in the file. Empty where there is none."),
    "findings[].lines": (LIST, "The first few lines of the file that break the rule; the header is line 1."),
    "findings[].rows": (LIST, "The same for a Parquet file, which has rows; the first row is 1."),
    "findings[].count": (WHOLE, "How many lines or rows break the rule. 0: the rule is not about lines."),
    "findings[].seen": (TEXT, "What was found there. Never a value of a record, unless --show-values is given."),
    "findings[].rule": (TEXT, "The rule: what must hold."),
    "findings[].next_step": (TEXT, "What to do."),
}

_CHECK = {
    "format": (TEXT, _FORMAT),
    "findings": (LIST, "Everything that was found, errors and warnings. Empty: nothing is wrong."),
    **_FINDING,
    "records_judged": (SWITCH, "Whether there were records to read and every one was judged."),
    "record_files": (
        WHOLE,
        "How many files contain records: the part files of a folder, otherwise 1. 0: none was found.",
    ),
    **_TITLE,
    **_PRIVACY,
    "race_iterations": (WHOLE, "How many race iterations the release defines."),
    "ethnicity_iterations": (WHOLE, "How many ethnicity iterations the release defines."),
    "codes": (WHOLE, "How many race and ethnicity codes the release defines."),
    "max_race_codes": (WHOLE, "The most race codes one person can have."),
    **_FRACTION,
    "runs": (LIST, "The runs of the release."),
    "runs[].name": (TEXT, "The name of the run."),
    "runs[].budget": (DECIMAL, "The sum of the budgets of its levels."),
    "runs[].levels": (LIST, "Its population group levels, including those that are switched off."),
    "runs[].levels[].geography": (TEXT, "The geography level."),
    "runs[].levels[].iteration_level": (WHOLE, "The iteration level."),
    "runs[].levels[].budget": (DECIMAL, "The budget of the level. 0: the level is switched off."),
    "runs[].levels[].moe_95": (WHOLE + OR_NULL, "The margin of error the release asks for in place of a budget."),
    "runs[].levels[].thresholds": (LIST, "The noisy totals from which a group has each stat level above 0."),
    "runs[].levels[].iterations": (WHOLE, "How many iterations the level tabulates."),
    "runs[].levels[].total_only": (WHOLE, "How many of them get a total and never a sex by age table."),
    "runs[].levels[].stability": (WHOLE, "The most groups of the level that one person can be in."),
    "runs[].blocks": (WHOLE, "How many blocks the geography file has for this run."),
    "runs[].block_sets": (WHOLE, "How many block sets these blocks form."),
    "runs[].regions": (OBJECT, "The geography levels of the run."),
    "runs[].regions.*": (WHOLE, "How many regions the geography level has."),
}

_ACCOUNT = {
    "format": (TEXT, _FORMAT),
    **_TITLE,
    **_PRIVACY,
    **_DELTA,
    "release": (OBJECT, "What one person loses by the whole release, at most, under every analysis."),
    "release.name": (TEXT, "`release`."),
    **_within("release", _LOSS),
    "runs": (LIST, "The same for each run."),
    "runs[].name": (TEXT, "The name of the run."),
    **_within("runs[]", _LOSS),
    "runs[].levels": (LIST, "The same for each level, to someone who sees that level only."),
    "runs[].levels[].name": (TEXT, "The population group level, for example `(COUNTY, 2)`."),
    **_within("runs[].levels[]", _LOSS),
    "accuracy": (LIST, "How accurate the figures of each level are."),
    "accuracy[].run": (TEXT, "The run."),
    "accuracy[].level": (TEXT, "The population group level."),
    "accuracy[].figures": (LIST, "The kinds of figures whose noise differs."),
    "accuracy[].figures[].kind": (
        TEXT,
        "`total_only_total`, `stage_1_total` (STAGE_1_COUNT), `stage_2_count`, `sex_marginal` or `sum_of_cells`.",
    ),
    "accuracy[].figures[].figure": (TEXT, "The same in words."),
    "accuracy[].figures[].cells": (WHOLE, "How many noisy counts are added up for the figure."),
    "accuracy[].figures[].moe_95": (WHOLE, "The exact 95 % margin of error, in persons."),
    "accuracy[].figures[].paper_moe_95": (NUMBER + OR_NULL, "The same by the paper's formula, where it has one."),
    "accuracy[].figures[].standard_deviation": (NUMBER, "The standard deviation of the noise."),
    "accuracy[].empty_group_seen": (
        NUMBER + OR_NULL,
        "The probability that a group with nobody in it is published. null: the level has no two-stage groups.",
    ),
    **_within("accuracy[]", _MARGINS),
    "delta_at_epsilon": (OBJECT, "Only with --epsilon."),
    "delta_at_epsilon.epsilon": (DECIMAL, "That epsilon."),
    "delta_at_epsilon.runs": (LIST, "The delta of each run at that epsilon."),
    "delta_at_epsilon.runs[].name": (TEXT, "The name of the run."),
    "delta_at_epsilon.runs[].delta_renyi": (NUMBER, "Delta from the Rényi divergence."),
    "delta_at_epsilon.runs[].delta_loss_distribution": (
        NUMBER + OR_NULL,
        "Delta from the privacy loss distribution. null: the losses do not fit on the grid.",
    ),
    "dp_accounting": (OBJECT, "Only with --cross-check: the runs."),
    "dp_accounting.*": (
        NUMBER + OR_NULL,
        "Epsilon of the run as the package dp-accounting computes it. null: delta is too small for it.",
    ),
}

_CALIBRATE = {
    "format": (TEXT, _FORMAT),
    "levels": (LIST, "The levels that are tabulated."),
    "levels[].run": (TEXT, "The run."),
    "levels[].level": (TEXT, "The population group level."),
    "levels[].moe_95": (WHOLE + OR_NULL, "The target. null: the level has a budget and no target."),
    "levels[].total_moe_95": (
        WHOLE + OR_NULL,
        "The target for the estimate at the finest stat level. null: none was asked for.",
    ),
    "levels[].budget": (DECIMAL, "The budget that keeps the target, or the budget of the release; scaled by `factor`."),
    "levels[].stage_2_moe_95": (WHOLE, "The exact margin of error with that budget, of a stage 2 count or a total."),
    "levels[].paper_budget": (NUMBER + OR_NULL, "The budget by the paper's formula. null: no target."),
    "levels[].paper_budget_moe_95": (WHOLE + OR_NULL, "The exact margin of error with the paper's budget."),
    **_within("levels[]", _MARGINS),
    "factor": (DECIMAL + OR_NULL, "What every budget was multiplied by. null: --epsilon was not given."),
    "target_epsilon": (DECIMAL + OR_NULL, "The epsilon to keep. null: --epsilon was not given."),
    **_DELTA,
    **_LOSS,
}

_SIZES = {
    "sizes.source": (TEXT, "`us-2020`, or the name of the table or of the folder of the release."),
    "sizes.words": (TEXT, "Where the sizes are from, in words. Sizes are public input."),
    "sizes.warning": (
        TEXT + OR_NULL,
        "What readers must be warned of: the sizes are of a release that is not private.",
    ),
    "sizes.groups": (WHOLE, "How many groups of the release have a size."),
    "sizes.left_out": (WHOLE, "How many sizes are of groups that the release does not tabulate."),
}
_SIZES_GIVEN = (OBJECT + OR_NULL, "The sizes of groups. null: none were given.")
_EXPECTED = {
    "groups": (WHOLE, "How many groups have a size."),
    "total_only": (WHOLE, "How many of these get a total and never a sex by age table."),
    "persons": (WHOLE, "The sum of their sizes."),
    "stat_levels": (LIST, "The expected numbers of these groups at stat level 0, 1, 2 and 3."),
    "published": (NUMBER, "The expected number of these groups that have a row in T1."),
}

_DETAIL = {
    "format": (TEXT, _FORMAT),
    **_TITLE,
    **_PRIVACY,
    "sizes": _SIZES_GIVEN,
    **_SIZES,
    "levels": (LIST, "The levels that are tabulated."),
    "levels[].run": (TEXT, "The run."),
    "levels[].level": (TEXT, "The population group level."),
    "levels[].thresholds": (LIST, "The noisy totals from which a group has stat level 1, 2 and 3."),
    "levels[].cells": (LIST, "How many noisy counts a total is the sum of at stat level 0, 1, 2 and 3."),
    "levels[].suppressed_up_to": (
        WHOLE + OR_NULL,
        "The largest noisy total that is suppressed at stat level 0. null: nothing is suppressed.",
    ),
    "levels[].total_only_moe_95": (
        WHOLE + OR_NULL,
        "The exact 95 % margin of error of groups that get a total only. null: the level has none.",
    ),
    "levels[].by_size": (LIST, "What a two-stage group gets, by its true size. Empty: the level has none."),
    "levels[].by_size[].size": (WHOLE, "The true size, in persons."),
    "levels[].by_size[].stat_levels": (LIST, "The probability of stat level 0, 1, 2 and 3."),
    "levels[].by_size[].published": (NUMBER, "The probability of a row in T1."),
    "levels[].by_size[].probable_stat_level": (WHOLE, "The most probable stat level."),
    "levels[].by_size[].half_width_95": (
        NUMBER + OR_NULL,
        "Half the width of the 95 % interval of ESTIMATE at that stat level, on average. null: hardly ever published.",
    ),
    "levels[].by_size[].relative_half_width_95": (NUMBER + OR_NULL, "The same as a share of the size."),
    "levels[].expected": (OBJECT + OR_NULL, "What is expected of the groups with a size. null: no group has one."),
    **_within("levels[].expected", _EXPECTED),
    "levels[].expected.iterations_without_size": (WHOLE, "How many iterations of the level have no size at all."),
    "levels[].groups": (LIST, "The same for each iteration with a size, over all its regions."),
    "levels[].groups[].code": (TEXT, "The iteration."),
    "levels[].groups[].name": (TEXT, "Its name."),
    **_within("levels[].groups[]", _EXPECTED),
}

_COMPARISON = {
    "format": (TEXT, _FORMAT),
    **_DELTA,
    "epsilon": (DECIMAL + OR_NULL, "The epsilon at which deltas are stated. null: none was asked for."),
    "plans": (LIST, "The plans, in the order of the command."),
    "plans[].params": (TEXT, "The folder or file of the plan."),
    **_within("plans[]", _TITLE),
    **_within("plans[]", _PRIVACY),
    "plans[].sizes": _SIZES_GIVEN,
    **_within("plans[]", _SIZES),
    "plans[].release": (OBJECT, "What one person loses by the whole release, at most, under every analysis."),
    "plans[].release.name": (TEXT, "`release`."),
    **_within("plans[].release", _LOSS),
    "plans[].delta_at_epsilon": (NUMBER + OR_NULL, "The least delta at `epsilon`. null: no epsilon was asked for."),
    "plans[].levels": (LIST, "The levels that are tabulated."),
    "plans[].levels[].run": (TEXT, "The run."),
    "plans[].levels[].level": (TEXT, "The population group level."),
    "plans[].levels[].budget": (DECIMAL, "The budget of the level."),
    "plans[].levels[].stability": (WHOLE, "The most groups of the level that one person can be in."),
    "plans[].levels[].thresholds": (LIST, "The noisy totals from which a group has stat level 1, 2 and 3."),
    "plans[].levels[].total_only_moe_95": (
        WHOLE + OR_NULL,
        "The exact 95 % margin of error of groups that get a total only. null: the level has none.",
    ),
    **_within("plans[].levels[]", _TOTALS),
    "plans[].levels[].sizes_with_detail": (
        LIST,
        "The least sizes from which a group has at least stat level 1, 2 and 3 with a probability of 95 %.",
    ),
    "plans[].levels[].expected": (OBJECT + OR_NULL, "What is expected of groups with a size. null: no group has one."),
    **_within("plans[].levels[].expected", _EXPECTED),
    "differences": (LIST, "The choices in which the plans differ."),
    "differences[].name": (TEXT, "The choice."),
    "differences[].values": (LIST, "What each plan chose, as text. null: the plan does not have the level."),
}

_PAPER = {
    "format": (TEXT, _FORMAT),
    "tables": (LIST, "The numeric tables of the paper."),
    "tables[].title": (TEXT, "What the table shows."),
    "tables[].labels": (LIST, "The labels it has in the source of the paper."),
    "tables[].notes": (LIST, "Where and why the columns differ."),
    "tables[].figures": (LIST, "Its figures."),
    "tables[].figures[].row": (TEXT, "The row."),
    "tables[].figures[].column": (TEXT, "The column."),
    "tables[].figures[].printed": (TEXT + OR_NULL, "As the paper prints it."),
    "tables[].figures[].formula": (TEXT + OR_NULL, "As the paper's formula gives it."),
    "tables[].figures[].exact": (TEXT + OR_NULL, "As it is."),
}

_LEDGER = {
    "format": (TEXT, _FORMAT),
    "program": (TEXT, "The program and its version."),
    "finished": (TEXT, "When the tabulation finished, in UTC."),
    "is_private": (SWITCH, "Whether every count has noise from the source of randomness of the operating system."),
    "warning": (TEXT + OR_NULL, "Why the release must not be published. null: it may be."),
    **_TITLE,
    **_PRIVACY,
    "neighbours": (TEXT, "Which sets of records the guarantee compares."),
    "budget_symbol": (TEXT, "`rho` or `epsilon`: what the budgets are."),
    "total_budget": (DECIMAL, "What the release spends: the budget of its costliest run."),
    "total_budget_note": (TEXT, "Why the budgets of runs are not added."),
    "analyses": (OBJECT, "What one person loses by the whole release, at most, under every analysis."),
    **_within("analyses", _DELTA | _LOSS),
    **_FRACTION,
    "has_noise": (SWITCH, "Whether the counts have noise at all."),
    "allow_negative_counts": (SWITCH, "Whether negative counts are published. false: they are set to 0."),
    "runs": (LIST, "The runs of the release."),
    "runs[].name": (TEXT, "The name of the run, and of its files in `t1/`, `t2/` and `parquet/`."),
    "runs[].budget": (DECIMAL, "The sum of the budgets of its levels."),
    "runs[].analyses": (OBJECT, "What one person loses by this run, at most, under every analysis."),
    **_within("runs[].analyses", _DELTA | _LOSS),
    "runs[].levels": (LIST, "Its population group levels that were tabulated."),
    "runs[].levels[].level": (TEXT, "The population group level, for example `(COUNTY, 2)`."),
    "runs[].levels[].geography": (TEXT, "Its geography level."),
    "runs[].levels[].iteration_level": (WHOLE, "Its iteration level."),
    "runs[].levels[].is_local": (SWITCH, "Whether the geography level is below the state."),
    "runs[].levels[].budget": (DECIMAL, "The budget of the level."),
    "runs[].levels[].stability": (WHOLE, "The most groups of the level that one person can be in."),
    "runs[].levels[].groups": (WHOLE, "How many population groups the level has, including empty ones."),
    "runs[].levels[].thresholds": (LIST, "The noisy totals from which a group has stat level 1, 2 and 3."),
    "runs[].levels[].measurements": (LIST, "The kinds of noisy counts that were made."),
    "runs[].levels[].measurements[].stage": (TEXT, "`total only`, `stage 1` or `stage 2`."),
    "runs[].levels[].measurements[].mechanism": (TEXT, "The law of the noise."),
    "runs[].levels[].measurements[].budget_of_one_count": (TEXT, "What one such count spends, as an exact fraction."),
    "runs[].levels[].measurements[].sigma_squared": (
        TEXT,
        "Only for discrete Gaussian noise: its parameter sigma^2, as an exact fraction.",
    ),
    "runs[].levels[].measurements[].scale": (TEXT, "Only for geometric noise: 1 / epsilon, as an exact fraction."),
    "runs[].levels[].measurements[].counts": (WHOLE, "How many such counts were made."),
    "runs[].levels[].measurements[].published_as": (
        TEXT,
        "The column of the tables that has them; of a total that is suppressed, neither stage is published.",
    ),
    "runs[].levels[].measurements[].suppressed_up_to": (
        WHOLE + OR_NULL,
        "A total measured by such a count is left out when it is at most this. null: none is.",
    ),
    "runs[].rows": (OBJECT, "The tables of the run."),
    "runs[].rows.*": (WHOLE, "How many rows of the table were published."),
    "runs[].suppressed_rows": (WHOLE, "How many rows of T1 were suppressed."),
    "inputs": (OBJECT, "What was read."),
    "inputs.parameters": (OBJECT, "The parameter files."),
    "inputs.parameters.*": (TEXT, "The SHA-256 of the file."),
    "inputs.geography": (OBJECT, "The geography file, or the parts of it."),
    "inputs.geography.*": (TEXT, "The SHA-256 of the file."),
    "inputs.records": (TEXT + OR_NULL, "A fingerprint of the records that only the key in the registry can make."),
    "inputs.records_note": (TEXT, "What that fingerprint is."),
    "engine": (TEXT, "What counted the records: `duckdb` or `spark`."),
    "outputs": (OBJECT, "Every other file of the release; `ledger.sha256` and `ledger.sig` seal the ledger itself."),
    "outputs.*": (TEXT, "The SHA-256 of the file."),
    "signing_key": (
        TEXT + OR_NULL,
        "The public Ed25519 key whose signature is in `ledger.sig`, as hexadecimal text. null: it is not signed.",
    ),
}

_VERIFY = {
    "format": (TEXT, _FORMAT),
    "is_sound": (SWITCH, "Whether nothing is wrong."),
    "findings": (LIST, "Everything that is wrong. Empty: nothing is."),
    **_FINDING,
    "files": (WHOLE, "How many files the release has. 0: the ledger does not say."),
    "rows": (WHOLE, "How many rows of T1 and T2 were recomputed. 0: something was wrong before that."),
    "signing_key": (TEXT + OR_NULL, "The public key that signed the release. null: it is not signed."),
    "key_compared": (SWITCH, "Whether the signature was compared with a key that was named (--key)."),
    "parameters_compared": (SWITCH, "Whether the parameters were compared with the ledger (--params)."),
}

_DICTIONARY = {
    "t1": (OBJECT, "Table T1."),
    "t2": (OBJECT, "Table T2."),
    **{
        f"{table}.{key}": value
        for table in ("t1", "t2")
        for key, value in {
            "description": (TEXT, "What the table contains."),
            "columns": (LIST, "Its columns, in order."),
            "columns[].name": (TEXT, "The name of the column."),
            "columns[].type": (TEXT, "Its type in the Parquet file."),
            "columns[].meaning": (TEXT, "What it means."),
            "columns[].in_text_file": (SWITCH, "Whether the text file has it too."),
        }.items()
    },
    "iterations": (OBJECT, "The characteristic iterations, by code."),
    "iterations.*": (TEXT, "The name of the iteration."),
    "regions": (OBJECT, "The geography levels whose regions have names."),
    "regions.*": (OBJECT, "The regions of the level, by id."),
    "regions.*.*": (TEXT, "The name of the region."),
    "groups": (OBJECT, "Who is in each characteristic iteration, by its code."),
    "groups.*": (OBJECT, "One iteration."),
    "groups.*.kind": (
        TEXT,
        "`race alone`: people all of whose race codes are in it. `race alone or in combination`: at least one is. "
        "`ethnicity`: people whose ethnicity code is in it.",
    ),
    "groups.*.iteration_level": (WHOLE, "How detailed it is: 0 is never tabulated."),
    "groups.*.reach": (
        TEXT + OR_NULL,
        "`common`; `detailed only`: not at local geography levels; `coarse only`: at these alone. null: at none.",
    ),
    "groups.*.codes": (LIST, "Its codes."),
    "max_race_codes": (WHOLE, "The most race codes one person can have."),
    "detail": (TEXT, "What T2 is by: `sex by age`, `sex`, `age`, or nothing."),
    "sexes": (LIST, "The values of SEX."),
    "age_starts": (OBJECT, "The age bins of stat levels 1, 2 and 3."),
    "age_starts.*": (LIST, "The first age of each bin."),
    "oldest_age": (WHOLE, "The last age of the last bin."),
}

_ESTIMATE = {
    "value": (NUMBER + OR_NULL, "The estimate. null: a ratio whose denominator may be 0."),
    "low": (NUMBER, "The lower end of the interval."),
    "high": (NUMBER + OR_NULL, "Its upper end. null: there is none."),
    "confidence": (NUMBER, "The probability of the interval, at least."),
    "variance": (NUMBER + OR_NULL, "The variance of the noise in the estimate. null: none is true."),
    "p_value": (
        NUMBER + OR_NULL,
        "The probability that noise alone makes a gap at least this large, at most. null: this is no difference.",
    ),
    "missing": (WHOLE, "How many totals of the sum were not published."),
    "how": (TEXT, "How it was computed."),
    "warnings": (LIST, "What a reader must know of the answer."),
}
_READ = {
    "format": (TEXT, _FORMAT),
    "question": (TEXT, "`total`, `share`, `difference` or `rank`."),
    "is_private": (
        SWITCH,
        "Whether every count of the release has noise from the source of randomness of the operating system.",
    ),
    **_ESTIMATE,
    "ranks": (LIST, "Only for `rank`, in place of the keys above: the groups, the largest first."),
    "ranks[].group": (TEXT, "The iteration code."),
    "ranks[].name": (TEXT, "The name of the group."),
    "ranks[].rank": (WHOLE, "Its rank by estimates."),
    "ranks[].low": (WHOLE, "The best rank it may have. All intervals of ranks hold together."),
    "ranks[].high": (WHOLE, "The worst rank it may have."),
    "ranks[].estimate": (OBJECT, "Its size."),
    **_within("ranks[].estimate", _ESTIMATE),
}

_ERROR = {
    "format": (TEXT, _FORMAT),
    "exit_status": (
        WHOLE,
        "1: the files break rules. 2: the command is wrong. 3: the machine failed. 130: interrupted.",
    ),
    "state": (TEXT, "What was written or spent until then, in words."),
    "findings": (LIST, "Why the command failed."),
    **_FINDING,
}

OUTPUTS = (
    Output("safetab check --json", "The report of a check.", _CHECK),
    Output("safetab account --json", "The privacy loss and the accuracy of a release.", _ACCOUNT),
    Output("safetab account A B --json", "Two or more plans side by side.", _COMPARISON),
    Output("safetab detail --json", "Which groups get which detail.", _DETAIL),
    Output("safetab calibrate --json", "Budgets that keep margins of error.", _CALIBRATE),
    Output("safetab paper --json", "The tables of the paper.", _PAPER),
    Output("safetab read --json", "The answer to a question about a release.", _READ),
    Output("safetab verify --json", "Whether a release is what it says.", _VERIFY),
    Output("ledger.json", "What a release spent. `safetab tabulate --json` prints the same.", _LEDGER),
    Output(
        "errors with --json",
        "What a command with --json prints to standard output when it fails; the same goes to standard error in words. "
        "Where files break rules, `check --json` and `verify --json` print their reports instead.",
        _ERROR,
    ),
    Output("data-dictionary.json", "What the tables of a release contain.", _DICTIONARY),
)
