"""`safetab init` for files of one's own: what the options say, what is asked for, and what is written.

In: options, and answers on a terminal. Out: the texts of a parameters folder, by name. Promise: of the records the
header line alone is read, unless --look was given; the texts were read back and checked with the geography file.
"""

from __future__ import annotations

import csv
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import pyarrow.compute as pc

from safetab.cli.terminal import console
from safetab.errors import Finding, InputError, UsageError
from safetab.files.delimited import DELIMITERS, ToldForm
from safetab.files.parquet import read_table
from safetab.files.text import empty_values
from safetab.params.document import MOST_CODES
from safetab.params.document_text import document_toml
from safetab.params.group_table import LevelColumns, read_group_table
from safetab.params.load import RELEASE_FILE, read_parameters
from safetab.params.own_release import ADVICE, OwnFiles, RegionColumns, judge_geography, own_document, read_forms
from safetab.pipeline.inputs import read_geographies
from safetab.pipeline.process import holding_records
from safetab.rules import usage_rules

#: What is needed, and how it is asked for.
_QUESTIONS = {
    "records": "The file with the records, one line for each person",
    "geography": "The file with the blocks and their regions",
    "groups": "The table of groups, one line for each code",
    "group_levels": "The columns of each level of groups, coarse to fine, such as Code1:Name1,Code2:Name2",
    "block": "The column with the block, in the records and in the geography",
    "age": "The column with the age; Enter alone for a release without ages",
    "sex": "The column with the sex; Enter alone for a release without sex",
    "codes": "The columns with the codes of a person, such as Eth1,Eth2,Eth3",
    "region": "The geography levels, coarse to fine, such as NATION,REGION=RegionCode:RegionName",
    "sexes": "The values of the sex column, such as M,F",
}
#: What a release may lack, and the option that says so.
_OPTIONAL = {"age": "no_age", "sex": "no_sex"}
_TABLES = ("records", "geography", "groups")
#: What may be said in place of an option.
_OTHERWISE = {"age": " (or --no-age)", "sex": " (or --no-sex)", "sexes": " (or --look)"}
_MOST_SEXES_SEEN = 10
_Options = Mapping[str, Any]


def own_texts(folder: Path, options: _Options) -> tuple[dict[str, str], OwnFiles]:
    """The texts of a parameters folder for own files, and what was said of these; raises with all that is wrong."""
    own = _own_files(folder, _complete(options))
    findings: list[Finding] = []
    forms = read_forms(own, findings)
    no_group = [code for text in options["no_group"] for code in _listed("--no-group", text)]
    groups = read_group_table(own.groups, own.group_levels, no_group, own.told["groups"], findings)
    widths = judge_geography(own, findings)
    # Otherwise a file that two readers have read would be reported twice.
    _refuse(list(dict.fromkeys(findings)))
    if forms is None or groups is None:
        raise AssertionError("nothing was read, and nothing was found wrong")
    texts = groups.texts(forms.of_group_files, one_code=len(own.codes) == 1)
    texts[RELEASE_FILE] = document_toml(own_document(own, forms, widths), ADVICE)
    _check(texts, own.geography)
    return texts, own


def _check(texts: Mapping[str, str], geography: Path) -> None:
    """Read back what is going to be written, and the geography by it."""
    findings: list[Finding] = []
    with tempfile.TemporaryDirectory(prefix="safetab-init-") as place:
        for name, text in texts.items():
            (Path(place) / name).write_text(text, encoding="utf-8", newline="")
        parameters = read_parameters(Path(place), findings)
        if parameters is not None:
            read_geographies(parameters.release, geography.parent, findings)
    _refuse(findings)


def _refuse(findings: list[Finding]) -> None:
    errors = [finding for finding in findings if finding.is_error]
    if errors:
        raise InputError(errors)


def _complete(options: _Options) -> dict[str, Any]:
    """The options and, for those that are missing, answers; where nobody can answer, one error lists them all."""
    complete = dict(options)
    missing = [key for key in _QUESTIONS if not options[key] and not options.get(_OPTIONAL.get(key, ""))]
    if options["look"] or options["no_sex"]:
        missing = [key for key in missing if key != "sexes"]
    if missing and not (sys.stdin.isatty() and sys.stdout.isatty()):
        words = ", ".join(f"--{key.replace('_', '-')}{_OTHERWISE.get(key, '')}" for key in missing)
        raise UsageError(Finding(usage_rules.MISSING_OPTIONS, "safetab init", seen=words))
    for key in missing:
        if key != "sexes" or complete["sex"]:
            complete[key] = _ask(key)
    if "region" in missing:
        complete["region"] = tuple(_listed("--region", complete["region"]))
    return complete


def _ask(key: str) -> str:
    """An answer; only what a release may lack can be left empty, anything else is asked for again."""
    default = "" if key in _OPTIONAL else None
    while True:
        judge = _existing if key in _TABLES else None
        answer: str = click.prompt(_QUESTIONS[key], default=default, show_default=False, value_proc=judge).strip()
        if answer or key in _OPTIONAL:
            return answer


def _existing(answer: str) -> Any:
    """The path of a file that is there; otherwise click says that it is not, and asks again."""
    return click.Path(exists=True).convert(answer.strip(), None, None)


def _own_files(folder: Path, options: _Options) -> OwnFiles:
    told = _told_forms(options["delimiter"], options["no_quotes"])
    records, sex = Path(options["records"]), options["sex"] or None
    sexes: tuple[str, ...] = ()
    if sex and options["sexes"]:
        sexes = tuple(_listed("--sexes", options["sexes"]))
    elif sex and options["look"]:
        sexes = _look(records, sex, told["records"])
    return OwnFiles(
        title=folder.resolve().name,
        records=records,
        geography=Path(options["geography"]),
        groups=Path(options["groups"]),
        group_levels=_group_levels(options["group_levels"]),
        block=tuple(_listed("--block", options["block"])),
        age=options["age"] or None,
        sex=sex,
        sexes=sexes,
        codes=_codes(options["codes"]),
        regions=_regions(options["region"]),
        no_code=options["no_code"],
        told=told,
    )


def _listed(option: str, text: str) -> list[str]:
    """The words of a list, at least one; one with a comma in it is written in quotes."""
    try:
        words = [word.strip() for word in next(csv.reader([text]), []) if word.strip()]
    except csv.Error:
        words = []
    if not words:
        raise UsageError(Finding(usage_rules.OPTION_WORDS, option, seen=repr(text)))
    return words


def _pair(option: str, text: str) -> tuple[str, str | None]:
    """A column of codes and perhaps one of names."""
    # On a terminal no shell takes away the quotes around a name.
    code, colon, name = (_unquoted(part.strip()) for part in text.partition(":"))
    if not code or (colon and not name):
        raise UsageError(Finding(usage_rules.OPTION_WORDS, option, seen=repr(text)))
    return code, name or None


def _unquoted(word: str) -> str:
    is_quoted = len(word) > 1 and word[0] == word[-1] and word[0] in "\"'"
    return word[1:-1].strip() if is_quoted else word


def _group_levels(text: str) -> tuple[LevelColumns, ...]:
    """The columns of the levels of groups, coarse to fine."""
    levels = tuple(LevelColumns(*_pair("--group-levels", part)) for part in _listed("--group-levels", text))
    codes = [level.code for level in levels]
    if repeated := _repeated(codes):
        raise UsageError(Finding(usage_rules.GROUP_LEVEL_TWICE, "--group-levels", seen=repr(repeated[0])))
    return levels


def _codes(text: str) -> tuple[str, ...]:
    columns = tuple(_listed("--codes", text))
    if len(columns) > MOST_CODES:
        raise UsageError(Finding(usage_rules.MANY_CODES, "--codes", seen=f"{len(columns)} columns"))
    return columns


def _repeated(words: Sequence[str]) -> list[str]:
    """The words that were there before."""
    return [word for number, word in enumerate(words) if word in words[:number]]


def _regions(words: tuple[str, ...]) -> tuple[RegionColumns, ...]:
    """The geography levels, coarse to fine."""
    regions = tuple(map(_region, words))
    levels = [part.level for part in regions]
    if repeated := _repeated(levels):
        raise UsageError(Finding(usage_rules.LEVEL_TWICE, "--region", seen=repr(repeated[0])))
    countries = [part.level for part in regions if part.code is None]
    if len(countries) > 1:
        raise UsageError(Finding(usage_rules.TWO_COUNTRIES, "--region", seen=repr(countries[1])))
    return regions


def _region(text: str) -> RegionColumns:
    level, equals, columns = (part.strip() for part in text.partition("="))
    if not level or (equals and not columns):
        raise UsageError(Finding(usage_rules.OPTION_WORDS, "--region", seen=repr(text)))
    return RegionColumns(level, *_pair("--region", columns)) if columns else RegionColumns(level)


def _told_forms(delimiters: tuple[str, ...], no_quotes: tuple[str, ...]) -> dict[str, ToldForm]:
    told = dict(_told_delimiters(delimiters))
    return {
        table: ToldForm(told.get(table), False if table in no_quotes else None, table, by_options=True)
        for table in _TABLES
    }


def _told_delimiters(words: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for text in words:
        table, _, delimiter = text.partition("=")
        delimiter = "\t" if delimiter.upper() == "TAB" else delimiter
        if table not in _TABLES or delimiter not in DELIMITERS:
            raise UsageError(Finding(usage_rules.OPTION_WORDS, "--delimiter", seen=repr(text)))
        yield table, delimiter


@holding_records()
def _look(records: Path, column: str, told: ToldForm) -> tuple[str, ...]:
    """The distinct values of the sex column; this alone reads confidential data, and says so."""
    console(to_stderr=True).print(
        f"--look: reading the column {column} of {records.name}, which is confidential. Its distinct values are "
        "written into release.toml, which is public."
    )
    findings: list[Finding] = []
    table = read_table(records, [column], {}, findings, told)
    findings += [] if table is None else empty_values(table, [column])
    _refuse(findings)
    values = [] if table is None else sorted(pc.unique(table.columns[column]).to_pylist())
    if len(values) > _MOST_SEXES_SEEN:
        raise InputError(Finding(usage_rules.MANY_SEXES, records.name, key=column, seen=f"of {len(values):,} values"))
    return tuple(values)
