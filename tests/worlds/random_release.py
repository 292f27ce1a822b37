"""Random releases of every kind that `release.toml` can say: wild labels, levels, ages, thresholds and budgets.

Each is a whole folder, parameters and data, that is sound in most of its parts; whether it is sound in all of them is
for `check` to say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st

from tests.worlds import tiny

#: Letters that mean something to TOML, SQL, CSV, shells, terminals or file systems, and that a label may have.
ODD = "aB1é-_ .'%$;*\\/ñ中😀#,()[]{}=&~`^?!<>:@+\u0301\u00a0\u200f"
#: Letters that a published label may not have.
FORBIDDEN = '|"\n\r\t\0\x1b\x7f\x85\u2028'
#: Words that mean something to a program on the way.
WORDS = (
    *("Null", "NULL", "None", "NaN", "NA", "inf", "true", "*", "-", "..", "1e5", "0", "01", "-1", "select", "order"),
    *("b0", "b1", "i0", "k0", "n", "age", "sex", "atom", "raw", "region", "rowid", "block_set", "COUNT", "REGION_ID"),
)
BUDGETS = ("1", "0.001", "25", "1e-9", "1e-13", "1e6", "1e60", "0.333333333333333333333333333333")
CHANCES = ("0", "0.5", "0.9999", "1e-60", "0." + "9" * 60)
FRACTIONS = ("0.1", "0.5", "1e-12", "0." + "9" * 20)
THRESHOLDS = (-(10**15) + 1, -5, 0, 0, 1, 1, 2, 3, 5, 100, 2**31, 10**15 - 1)
FLAGS = (("False", "False"), ("False", "False"), ("True", "False"), ("False", "True"))


@st.composite
def labels(draw: st.DrawFn, width: int | None = None) -> str:
    """One label, nearly always one that may be published."""
    letters = ODD if draw(st.integers(0, 60)) else ODD + FORBIDDEN * 3
    least, most = (1, 6) if width is None else (width, width)
    if width is None and draw(st.booleans()):
        return draw(st.sampled_from(WORDS))
    return draw(st.text(letters, min_size=least, max_size=most))


def some(least: int, most: int, width: int | None = None) -> st.SearchStrategy[list[str]]:
    """Some labels, each once."""
    return st.lists(labels(width), min_size=least, max_size=most, unique_by=str.lower)


@dataclass(frozen=True)
class RandomRelease:
    """The document of `release.toml` and the tables beside it, header first."""

    document: dict[str, Any]
    tables: Mapping[str, Sequence[Sequence[str]]]
    is_parquet: bool

    def write(self, folder: Path) -> Path:
        """Write `params` and `data` below a folder."""
        files: dict[str, str | bytes] = {"params/release.toml": toml_of(self.document)}
        for name, table in self.tables.items():
            if name.startswith("params/") or not self.is_parquet:
                files[f"{name}.txt"] = "".join("|".join(line) + "\n" for line in table)
            else:
                header, *rows = table
                columns = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in header]
                path = folder / f"{name}.parquet"
                path.parent.mkdir(parents=True, exist_ok=True)
                pq.write_table(pa.table([pa.array(c, pa.string()) for c in columns], names=list(header)), path)
        return tiny.write(folder, files)


def toml_of(document: Mapping[str, Any]) -> str:
    """A document of the shape of `release.toml` as TOML."""
    return "".join(f"{_text(key)} = {_value(value)}\n" for key, value in document.items())


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_text(key)} = {_value(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    return _text(value) if isinstance(value, str) else str(value)


def _text(value: str) -> str:
    return '"' + "".join(c if c.isprintable() and c not in '"\\' else f"\\U{ord(c):08x}" for c in value) + '"'


@st.composite
def random_releases(draw: st.DrawFn) -> RandomRelease:
    """A release, its group definitions, its geography and some people."""
    names = draw(some(9, 9))
    block, others, race, (age, sex, tongue) = names[:2], names[2:4], names[4:6], names[6:9]
    widths = {name: draw(st.integers(1, 3)) for name in (*block, *others) if draw(st.integers(0, 12))}
    pools = {name: draw(some(1, 3, widths.get(name))) for name in (*block, *others)}
    places = draw(st.lists(st.tuples(*(st.sampled_from(pools[n]) for n in (*block, *others))), min_size=1, max_size=6))
    blocks = list({place[: len(block)]: place for place in places}.values())
    sexes = draw(some(1, 4)) if draw(st.integers(0, 30)) else [f"sex {number}" for number in range(140)]
    has_age, has_sex = draw(st.sampled_from([(True, True)] * 3 + [(True, False), (False, True), (False, False)]))
    ages = draw(_ages()) if has_age else {}
    kinds = len(ages["bins"]) if has_age else int(has_sex)
    iteration_levels = draw(st.sampled_from([[1], [1, 2], [2, 7]]))
    runs = draw(_runs(block[0], sorted({place[0] for place in blocks})))
    geography = draw(_geography(block + others, pools))
    codes, has_tongue = draw(some(1, 5)), draw(st.booleans())
    document: dict[str, Any] = {
        "safetab": 1,
        "title": draw(labels()),
        "privacy": draw(st.sampled_from(["zcdp", "puredp"])),
        "max_race_codes": draw(st.integers(1, 2)),
        "stage_1_fraction": draw(st.sampled_from(FRACTIONS)),
        "zero_suppression_chance": draw(st.sampled_from(CHANCES)),
        "allow_negative_counts": draw(st.booleans()),
        **({"ages": ages} if has_age else {}),
        **draw(st.sampled_from([{}, {"output": {"columns": "all"}}, {"output": {"columns": "bureau"}}])),
        "columns": {
            "block": block,
            **({"age": age} if has_age else {}),
            **({"sex": sex, "sexes": sexes} if has_sex else {}),
            "race_codes": race,
            "no_code": draw(labels().filter(lambda label: label not in codes)),
            "widths": widths,
            **({"ethnicity": tongue} if has_tongue else {}),
        },
        "geography": geography,
        "run": runs,
        "level": [draw(_level(run["name"], geography, iteration_levels, kinds)) for run in runs],
    }
    more = draw(st.lists(_level(draw(st.sampled_from(runs))["name"], geography, iteration_levels, kinds), max_size=4))
    for level in more:
        taken = {(one["run"], one["geography"], one["iteration_level"]) for one in document["level"]}
        if (level["run"], level["geography"], level["iteration_level"]) not in taken:
            document["level"].append(level)
    used = sorted({level["iteration_level"] for level in document["level"]})
    tables = draw(_groups(codes, used, has_tongue=has_tongue))
    tables["data/GRF-C"] = [[*block, *others], *map(list, blocks)]
    tables["data/person-records"] = draw(_people(document, blocks, codes))
    return RandomRelease(document, tables, draw(st.booleans()))


@st.composite
def _runs(draw: st.DrawFn, column: str, values: list[str]) -> list[dict[str, Any]]:
    """One run of everything, or one for each value of a column."""
    if draw(st.booleans()):
        return [{"name": draw(st.sampled_from(["us", "us", "0", "a-b-", "x" * 100, "x" * 100, "x" * 101]))}]
    return [{"name": f"run-{number}", "where": {column: [value]}} for number, value in enumerate(values)]


@st.composite
def _geography(draw: st.DrawFn, columns: list[str], pools: dict[str, list[str]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in draw(some(1, 4)):
        # Half of the odd labels have a slash, which no name of a level may have.
        name = name if draw(st.integers(0, 20)) == 0 else name.replace("/", "")
        level: dict[str, Any] = {"local": draw(st.booleans())}
        if draw(st.booleans()):
            level["region_id"] = draw(labels())
        else:
            level["columns"] = draw(st.lists(st.sampled_from(columns), min_size=1, max_size=3, unique=True))
            if draw(st.booleans()):
                column = draw(st.sampled_from(level["columns"]))
                level["absent"] = {column: draw(st.sampled_from(pools[column]))}
        found[name] = level
    return found


@st.composite
def _ages(draw: st.DrawFn) -> dict[str, Any]:
    oldest = draw(st.sampled_from([0, 1, 17, 115, 200]))
    starts = st.sets(st.integers(0, oldest), max_size=8).map(lambda some_ages: sorted({0, *some_ages}))
    every = st.just(list(range(oldest + 1)))
    lists = [draw(starts), draw(starts), draw(every if oldest < 20 else starts)]
    return {"oldest": oldest, "bins": lists[draw(st.sampled_from([0, 0, 1, 2])) :]}


@st.composite
def _level(
    draw: st.DrawFn, run: str, geography: dict[str, Any], iteration_levels: list[int], tables: int
) -> dict[str, Any]:
    spending = {"budget": draw(st.sampled_from(BUDGETS))}
    if draw(st.integers(0, 5)) == 0:
        spending = draw(st.sampled_from([{"budget": "0"}, {"moe_95": 1}, {"moe_95": 50}, {"moe_95": 10**9}]))
    thresholds = sorted(draw(st.lists(st.sampled_from(THRESHOLDS), min_size=tables, max_size=tables)))
    return {
        "run": run,
        "geography": draw(st.sampled_from(sorted(geography))),
        "iteration_level": draw(st.sampled_from(iteration_levels)),
        **spending,
        **({"thresholds": thresholds} if tables else {}),
    }


@st.composite
def _groups(
    draw: st.DrawFn, codes: list[str], iteration_levels: list[int], *, has_tongue: bool
) -> dict[str, list[list[str]]]:
    """The four files that define the groups; an iteration has some codes that no other of its kind and level has."""
    iteration_codes = iter(draw(some(12, 12)))
    race = [["ITERATION_CODE", "ITERATION_NAME", "LEVEL", "ALONE", "DETAILED_ONLY", "COARSE_ONLY"]]
    tongues = [["ITERATION_CODE", "ITERATION_NAME", "LEVEL", "DETAILED_ONLY", "COARSE_ONLY"]]
    mapping = [["ITERATION_CODE", "RACE_ETH_CODE"]]
    for level in iteration_levels:
        for alone in ("True", "False", *([""] if has_tongue else [])):
            cut = draw(st.integers(0, len(codes)))
            for members in filter(None, (codes[:cut], codes[cut:])):
                code = next(iteration_codes)
                line = [code, draw(labels()), str(level), *([alone] if alone else []), *draw(st.sampled_from(FLAGS))]
                (race if alone else tongues).append(line)
                mapping += [[code, member] for member in members]
    return {
        "params/race-and-ethnicity-codes": [["RACE_ETH_CODE", "RACE_ETH_NAME"], *([c, draw(labels())] for c in codes)],
        "params/race-characteristic-iterations": race,
        "params/ethnicity-characteristic-iterations": tongues,
        "params/race-and-ethnicity-code-to-iteration": mapping,
    }


@st.composite
def _people(
    draw: st.DrawFn, document: Mapping[str, Any], blocks: list[tuple[str, ...]], codes: list[str]
) -> list[list[str]]:
    columns, oldest = document["columns"], document.get("ages", {}).get("oldest", 0)
    most = document["max_race_codes"]
    tongue = [columns["ethnicity"]] if "ethnicity" in columns else []
    optional = [columns[key] for key in ("age", "sex") if key in columns]
    people = [[*columns["block"], *optional, *columns["race_codes"], *tongue]]
    homes = [*blocks, *draw(st.lists(st.sampled_from(blocks), max_size=6))]
    for home in homes:
        own = draw(st.lists(st.sampled_from(codes), min_size=1, max_size=most))
        people.append(
            [
                *home[: len(columns["block"])],
                *([str(draw(st.integers(0, oldest)))] if "age" in columns else []),
                *([draw(st.sampled_from(columns["sexes"]))] if "sex" in columns else []),
                *own,
                *[columns["no_code"]] * (len(columns["race_codes"]) - len(own)),
                *[draw(st.sampled_from(codes)) for _ in tongue],
            ]
        )
    return people
