"""Faults of the group definitions: the code list, the iterations and the mapping between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from safetab.params import rules
from safetab.params.document import FilesPart
from safetab.synth.faults.site import Fault, Site

_FILES = FilesPart()
_NOWHERE = "0000"


def _append(name: str, line: Callable[[Sequence[str]], str]) -> Callable[[Site], None]:
    """Add a line to a file; it may be made from those that are there, the header first."""

    def make(site: Site) -> None:
        lines = site.lines(name)
        site.write_lines(name, [*lines, line(lines)])

    return make


def _race_iteration(level: str, change: Callable[[dict[str, str]], object]) -> Callable[[Site], None]:
    """Change every race iteration of a level, or only the first of it."""

    def make(site: Site) -> None:
        name = _FILES.race_iterations
        header, *lines = site.lines(name)
        names = header.split("|")
        number = next(n for n, line in enumerate(lines) if _fields(names, line)["LEVEL"] == level)
        fields = _fields(names, lines[number])
        change(fields)
        lines[number] = "|".join(fields.values())
        site.write_lines(name, [header, *lines])

    return make


def _fields(names: Sequence[str], line: str) -> dict[str, str]:
    return dict(zip(names, line.split("|"), strict=True))


def _short_code(site: Site) -> None:
    lines = site.lines(_FILES.codes)
    site.write_lines(_FILES.codes, [*lines, "999|Three digits"])


def _overlap(site: Site) -> None:
    """Put a code of the first detailed iteration into the second one as well."""
    name = _FILES.race_iterations
    header, *lines = site.lines(name)
    names = header.split("|")
    rows = [_fields(names, line) for line in lines]
    detailed = [
        row["ITERATION_CODE"]
        for row in rows
        if row["LEVEL"] == "2" and row["ALONE"] == "True" and row["DETAILED_ONLY"] == row["COARSE_ONLY"] == "False"
    ]
    mapping = site.lines(_FILES.code_to_iteration)
    columns = mapping[0].split("|")
    pairs = [_fields(columns, line) for line in mapping[1:]]
    code = next(pair["RACE_ETH_CODE"] for pair in pairs if pair["ITERATION_CODE"] == detailed[0])
    added = {"ITERATION_CODE": detailed[1], "RACE_ETH_CODE": code}
    site.write_lines(_FILES.code_to_iteration, [*mapping, "|".join(added[column] for column in columns)])


def _empty_level(site: Site) -> None:
    """Leave level 1 without iterations: all become level 0."""
    for name in (_FILES.race_iterations, _FILES.ethnicity_iterations):
        header, *lines = site.lines(name)
        names = header.split("|")
        rows = [_fields(names, line) for line in lines]
        for row in rows:
            if row["LEVEL"] == "1":
                row |= {"LEVEL": "0", "DETAILED_ONLY": "Null", "COARSE_ONLY": "Null"}
        site.write_lines(name, [header, *("|".join(row.values()) for row in rows)])


FAULTS = (
    Fault("repeated-code", rules.REPEATED_CODE, "a code defined twice", _append(_FILES.codes, lambda ls: ls[1])),
    Fault("code-width", rules.CODE_WIDTH, "a code of three digits", _short_code),
    Fault(
        "repeated-iteration",
        rules.REPEATED_ITERATION,
        "an iteration defined twice",
        _append(_FILES.race_iterations, lambda lines: lines[1]),
    ),
    Fault(
        "iteration-without-codes",
        rules.ITERATION_WITHOUT_CODES,
        "an iteration that no code is mapped to",
        _race_iteration("2", lambda row: row.update(ITERATION_CODE="9999")),
    ),
    Fault(
        "unmapped-code",
        rules.UNKNOWN_CODE,
        "the mapping has a code that is not defined",
        _append(_FILES.code_to_iteration, lambda lines: f"{lines[1].split('|')[0]}|{_NOWHERE}"),
    ),
    Fault(
        "unknown-iteration",
        rules.UNKNOWN_ITERATION,
        "the mapping has an iteration that is not defined",
        _append(_FILES.code_to_iteration, lambda lines: f"{_NOWHERE}|{lines[1].split('|')[1]}"),
    ),
    Fault(
        "repeated-mapping",
        rules.REPEATED_MAPPING,
        "a line of the mapping twice",
        _append(_FILES.code_to_iteration, lambda lines: lines[1]),
    ),
    Fault(
        "both-flags",
        rules.BOTH_FLAGS,
        "an iteration detailed only and coarse only",
        _race_iteration("2", lambda row: row.update(DETAILED_ONLY="True", COARSE_ONLY="True")),
    ),
    Fault(
        "level-0-flags",
        rules.LEVEL_0_FLAGS,
        "a level 0 iteration with flags",
        _race_iteration("0", lambda row: row.update(DETAILED_ONLY="False", COARSE_ONLY="False")),
    ),
    Fault(
        "flag", rules.FLAG, "a flag in lower case", _race_iteration("2", lambda row: row.update(COARSE_ONLY="false"))
    ),
    Fault(
        "iteration-level",
        rules.ITERATION_LEVEL,
        "an iteration of level 7",
        _race_iteration("2", lambda r: r.update(LEVEL="7")),
    ),
    Fault("overlap", rules.OVERLAP, "a code in two detailed iterations", _overlap),
    Fault("empty-level", rules.EMPTY_LEVEL, "no iterations of level 1", _empty_level),
)
