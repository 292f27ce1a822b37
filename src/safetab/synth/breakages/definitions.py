"""Breakages of the group definitions: the code list, the iterations, and the mapping between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from safetab.params.files_section import FilesSection
from safetab.rules import group_rules
from safetab.synth.breakages.site import Breakage, Site

_FILES = FilesSection()
_NOWHERE = "0000"


def _append(name: str, line: Callable[[Sequence[str]], str]) -> Callable[[Site], None]:
    """Add a line to a file; `line` receives the lines of the file, the header first."""

    def apply(site: Site) -> None:
        lines = site.lines(name)
        site.write_lines(name, [*lines, line(lines)])

    return apply


def _race_iteration(level: str, change: Callable[[dict[str, str]], object]) -> Callable[[Site], None]:
    """Change the first race iteration of a level."""

    def apply(site: Site) -> None:
        columns, rows = site.rows(_FILES.race_iterations)
        change(next(row for row in rows if row["LEVEL"] == level))
        site.write_rows(_FILES.race_iterations, columns, rows)

    return apply


def _overlap(site: Site) -> None:
    """Put a code of the first detailed iteration into the second one too."""
    _, rows = site.rows(_FILES.race_iterations)
    detailed = [
        row["ITERATION_CODE"]
        for row in rows
        if row["LEVEL"] == "2" and row["ALONE"] == "True" and row["DETAILED_ONLY"] == row["COARSE_ONLY"] == "False"
    ]
    columns, pairs = site.rows(_FILES.code_to_iteration)
    code = next(pair["RACE_ETH_CODE"] for pair in pairs if pair["ITERATION_CODE"] == detailed[0])
    added = {"ITERATION_CODE": detailed[1], "RACE_ETH_CODE": code}
    site.write_rows(_FILES.code_to_iteration, columns, [*pairs, added])


def _empty_level(site: Site) -> None:
    """Move all iterations of level 1 to level 0."""
    for name in (_FILES.race_iterations, _FILES.ethnicity_iterations):
        columns, rows = site.rows(name)
        for row in rows:
            if row["LEVEL"] == "1":
                row |= {"LEVEL": "0", "DETAILED_ONLY": "Null", "COARSE_ONLY": "Null"}
        site.write_rows(name, columns, rows)


BREAKAGES = (
    Breakage(
        "repeated-code", group_rules.REPEATED_CODE, "a code defined twice", _append(_FILES.codes, lambda ls: ls[1])
    ),
    Breakage(
        "code-width",
        group_rules.CODE_WIDTH,
        "a code of three digits",
        _append(_FILES.codes, lambda _: "999|Three digits"),
    ),
    Breakage(
        "repeated-iteration",
        group_rules.REPEATED_ITERATION,
        "an iteration defined twice",
        _append(_FILES.race_iterations, lambda lines: lines[1]),
    ),
    Breakage(
        "iteration-without-codes",
        group_rules.ITERATION_WITHOUT_CODES,
        "an iteration that no code is mapped to",
        _race_iteration("2", lambda row: row.update(ITERATION_CODE="9999")),
    ),
    Breakage(
        "unmapped-code",
        group_rules.UNKNOWN_CODE,
        "a code in the mapping that is not defined",
        _append(_FILES.code_to_iteration, lambda lines: f"{lines[1].split('|')[0]}|{_NOWHERE}"),
    ),
    Breakage(
        "unknown-iteration",
        group_rules.UNKNOWN_ITERATION,
        "an iteration in the mapping that is not defined",
        _append(_FILES.code_to_iteration, lambda lines: f"{_NOWHERE}|{lines[1].split('|')[1]}"),
    ),
    Breakage(
        "repeated-mapping",
        group_rules.REPEATED_MAPPING,
        "a line of the mapping that appears twice",
        _append(_FILES.code_to_iteration, lambda lines: lines[1]),
    ),
    Breakage(
        "both-flags",
        group_rules.BOTH_FLAGS,
        "an iteration that is both detailed only and coarse only",
        _race_iteration("2", lambda row: row.update(DETAILED_ONLY="True", COARSE_ONLY="True")),
    ),
    Breakage(
        "level-0-flags",
        group_rules.LEVEL_0_FLAGS,
        "a level 0 iteration with flags",
        _race_iteration("0", lambda row: row.update(DETAILED_ONLY="False", COARSE_ONLY="False")),
    ),
    Breakage(
        "flag",
        group_rules.FLAG,
        "a flag in lower case",
        _race_iteration("2", lambda row: row.update(COARSE_ONLY="false")),
    ),
    Breakage(
        "iteration-level",
        group_rules.ITERATION_LEVEL,
        "an iteration of level 7",
        _race_iteration("2", lambda r: r.update(LEVEL="7")),
    ),
    Breakage("overlap", group_rules.OVERLAP, "a code in two detailed iterations", _overlap),
    Breakage(
        "code-label",
        group_rules.CODE_LABEL,
        "a code with a quotation mark",
        _append(_FILES.codes, lambda _: '"999|In a quotation mark'),
    ),
    Breakage(
        "no-code-is-a-code",
        group_rules.NO_CODE_IS_A_CODE,
        "the value that means no code, as a code",
        _append(_FILES.codes, lambda _: "Null|Nobody"),
    ),
    Breakage(
        "too-many-groups",
        group_rules.TOO_MANY_GROUPS,
        "32,768 more codes",
        _append(_FILES.codes, lambda _: "\n".join(f"x{number:05}|One more" for number in range(32_768))),
    ),
    Breakage("empty-level", group_rules.EMPTY_LEVEL, "no iterations of level 1", _empty_level),
)
