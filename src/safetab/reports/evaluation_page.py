"""The page of an evaluation: how far a release's numbers are from the truth, over many trials.

In: the figures of an evaluation. Out: one HTML file, marked NOT PRIVATE on every page. The promise: it shows the
figures that it is given, which are sums over population groups, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from safetab.reports import charts, markup

WARNING = "NOT PRIVATE: made from true counts without noise. It must not leave the secure area."
_STAT_LEVELS = ("STAT_LEVEL_0", "STAT_LEVEL_1", "STAT_LEVEL_2", "STAT_LEVEL_3")
Figures = Mapping[str, Any]


def write_evaluation_page(file: Path, title: str, trials: int, figures: pa.Table) -> None:
    """Write the page; its owner alone can read it."""
    charts.altair()
    markup.write_page(file, [_page(title, trials, figures.to_pylist())], for_everybody=False)


def _page(title: str, trials: int, rows: Sequence[Figures]) -> str:
    t1, t2, sums = (_of_kind(rows, kind) for kind in ("T1", "T2", "sums"))
    has_runs = len({row["RUN"] for row in rows}) > 1
    sections = [
        markup.Section("about", "What this is", (markup.items(_about(trials)),)),
        _by_level("totals", "Errors of totals (T1)", t1, has_runs=has_runs),
        _by_size(t1, has_runs=has_runs),
        _coverage(t1, has_runs=has_runs),
        _detail(t1, trials, has_runs=has_runs),
        _left_out(t1, has_runs=has_runs),
        _by_level("cells", "Errors of tables (T2)", t2, has_runs=has_runs),
        _sums(sums, has_runs=has_runs),
    ]
    return markup.page(
        title,
        "Evaluation of a release, NOT PRIVATE",
        f"{trials} trials on the same records.",
        [markup.glance(_glance(trials, t1))],
        sections,
        "All figures are in `evaluation.NOT-PRIVATE.parquet` too. This page is one file: it needs no network.",
        WARNING,
    )


def _of_kind(rows: Sequence[Figures], kind: str) -> list[Figures]:
    return [row for row in rows if row["KIND"] == kind]


def _of_all_sizes(rows: Iterable[Figures]) -> list[Figures]:
    return [row for row in rows if row["SIZE_FROM"] is None]


def _about(trials: int) -> Iterator[str]:
    yield (
        f"The records were counted once, and the noise of the release was drawn {trials} times. Each trial is what "
        "`safetab tabulate` would publish. Nothing was published and no budget was spent."
    )
    yield (
        "**It is confidential.** The figures compare noisy numbers with true ones. They are sums over groups, but they "
        "have no noise of their own. Plans that are chosen because of them depend on the records."
    )
    yield (
        "**Bias** is the mean of published minus true, **MAE** the mean of its size, **RMSE** the root of the mean of "
        "its square, over all published rows of all trials. Rows that were left out have no error."
    )
    yield (
        "**Coverage** is the share of rows whose true number is from LOW_95 to HIGH_95. After ± is its standard error, "
        "from how much the trials differ."
    )
    yield "**Size** is the true number of people in the group."


def _glance(trials: int, t1: Sequence[Figures]) -> Iterator[tuple[str, str, str]]:
    whole = _of_all_sizes(t1)
    rows = sum(row["ROWS"] for row in whole)
    covered = sum(row["COVERAGE"] * row["ROWS"] for row in whole if row["ROWS"])
    yield "Trials", f"{trials:,}", "noise drawn afresh"
    yield "Population groups", f"{sum(row['GROUPS'] for row in whole):,}", "every region times every group"
    yield "Published totals", f"{rows:,.1f}", "on average over the trials"
    if rows:
        yield "Coverage of totals", f"{100 * covered / rows:.2f} %", "95 % or more is promised"


def _level(row: Figures, *, has_runs: bool) -> str:
    name = f"({row['GEOGRAPHY']}, {row['ITERATION_LEVEL']})"
    return f"{row['RUN']} {name}" if has_runs else name


def size_words(row: Figures) -> str:
    """The class of size of a row, in words."""
    if row["SIZE_FROM"] is None:
        return "all"
    if row["SIZE_TO"] is None:
        return f"{row['SIZE_FROM']:,} or more"
    return (
        f"{row['SIZE_FROM']:,}" if row["SIZE_FROM"] == row["SIZE_TO"] else f"{row['SIZE_FROM']:,} to {row['SIZE_TO']:,}"
    )


def _figure(value: float | None, form: str = ",.2f") -> str:
    return "-" if value is None else format(value, form)


def _share(value: float | None) -> str:
    if value is None:
        return "-"
    return "<0.01 %" if 0 < value < 0.0001 else f"{value:.2%}".replace("%", " %")


def _coverage_words(row: Figures) -> str:
    if row["COVERAGE"] is None:
        return "-"
    error = "" if row["COVERAGE_ERROR"] is None else f" ± {100 * row['COVERAGE_ERROR']:.2f}"
    return f"{100 * row['COVERAGE']:.2f}{error} %"


_ERRORS = tuple(f"{number}_{error}" for number in ("COUNT", "ESTIMATE") for error in ("BIAS", "MAE", "RMSE"))
_ERROR_COLUMNS = ("COUNT: bias", "MAE", "RMSE", "ESTIMATE: bias", "MAE", "RMSE", "Coverage")


def _errors(row: Figures) -> list[str]:
    return [*(_figure(row[name]) for name in _ERRORS), _coverage_words(row)]


def _by_level(table_id: str, title: str, rows: Sequence[Figures], *, has_runs: bool) -> markup.Section:
    lines = [
        [_level(row, has_runs=has_runs), _figure(row["ROWS"], ",.1f"), *_errors(row)] for row in _of_all_sizes(rows)
    ]
    if not lines:
        return markup.Section(table_id, title, (markup.paragraph("No rows were published in any trial."),))
    table = markup.table(f"{table_id}-by-level", ("Level", "Rows a trial", *_ERROR_COLUMNS), lines)
    return markup.Section(table_id, title, (table,))


def _by_size(rows: Sequence[Figures], *, has_runs: bool) -> markup.Section:
    sized = [row for row in rows if row["SIZE_FROM"] is not None]
    lines = [
        [
            _level(row, has_runs=has_runs),
            size_words(row),
            f"{row['GROUPS']:,}",
            _figure(row["ROWS"], ",.1f"),
            *_errors(row),
        ]
        for row in sized
    ]
    columns = ("Level", "Size", "Groups", "Rows a trial", *_ERROR_COLUMNS)
    parts = [markup.table("totals-by-size", columns, lines, left=2)]
    points = _points(sized, "ESTIMATE_RMSE", has_runs=has_runs, least=1e-9)
    if points:
        worst = max(points, key=lambda point: float(point["ESTIMATE_RMSE"]))
        picture = _lines_by_size(
            points,
            "ESTIMATE_RMSE",
            "RMSE of ESTIMATE, people",
            alt="Lines, one for each level: the root mean square error of ESTIMATE by true size. The largest is "
            f"{worst['ESTIMATE_RMSE']:,.1f} ({worst['level']}).",
            caption="The error of ESTIMATE by true size. It steps up where groups get finer tables.",
            is_percent=False,
        )
        parts.insert(0, markup.figure(picture))
    return markup.Section("by-size", "Errors by size of group", tuple(parts))


def _points(rows: Iterable[Figures], column: str, *, has_runs: bool, least: float = 0) -> list[dict[str, Any]]:
    """Points of a picture; groups without people have no place on a logarithmic axis."""
    return [
        {"level": _level(row, has_runs=has_runs), "size": row["SIZE_FROM"], column: row[column]}
        for row in rows
        if row["SIZE_FROM"] and row[column] is not None and row[column] >= least
    ]


def _lines_by_size(points: Sequence[Figures], column: str, title: str, **words: Any) -> charts.Picture:
    """A line for each level over the true sizes of groups."""
    titles = ("true size of the group (lower end of its class)", title)
    return charts.lines(points, "size", column, "level", titles=titles, **words)


def _coverage(rows: Sequence[Figures], *, has_runs: bool) -> markup.Section:
    enough = [row for row in rows if row["SIZE_FROM"] is not None and row["ROWS"] * row["TRIALS"] >= 100]
    points = _points(enough, "COVERAGE", has_runs=has_runs)
    if not points:
        return markup.Section("coverage", "Coverage by size", (markup.paragraph("Too few rows for a picture."),))
    lowest = min(points, key=lambda point: float(point["COVERAGE"]))
    picture = _lines_by_size(
        points,
        "COVERAGE",
        "coverage",
        alt=f"Lines, one for each level: coverage of the intervals by true size, around 95 %. The lowest is "
        f"{100 * lowest['COVERAGE']:.1f} % ({lowest['level']}).",
        caption="The share of intervals that hold, where there were at least 100 rows in all trials. The dashed line "
        "is the 95 % that is promised. The table above has the figures and their errors.",
        is_log=False,
        rule=0.95,
    )
    return markup.Section("coverage", "Coverage by size", (markup.figure(picture),))


def _detail(rows: Sequence[Figures], trials: int, *, has_runs: bool) -> markup.Section:
    columns = ("Level", "Size", "Not published", *(f"Stat level {level}" for level in range(4)), "Changes")
    lines = [
        [
            _level(row, has_runs=has_runs),
            size_words(row),
            *(_share(row[name]) for name in ("NOT_PUBLISHED", *_STAT_LEVELS, "CHANGES")),
        ]
        for row in rows
    ]
    words = (
        "The share of groups at each stat level, on average over the trials. The last column says how often it "
        "changes: the share of pairs of trials in which a group got different detail."
    )
    parts = [markup.paragraph(words), markup.table("detail", columns, lines, left=2)]
    points = _points(rows, "CHANGES", has_runs=has_runs) if trials > 1 else []
    if points:
        most = max(points, key=lambda point: float(point["CHANGES"]))
        picture = _lines_by_size(
            points,
            "CHANGES",
            "pairs of trials with different detail",
            alt="Lines, one for each level: how often the detail of a group changes between trials, by true size. It "
            f"changes most in {most['level']}: {100 * most['CHANGES']:.1f} %.",
            caption="Detail changes where the true size is near a threshold, or near what is suppressed.",
            is_log=False,
        )
        parts.insert(1, markup.figure(picture))
    return markup.Section("detail-of-groups", "How much detail groups get, and how often it changes", tuple(parts))


def _left_out(rows: Sequence[Figures], *, has_runs: bool) -> markup.Section:
    lines = []
    for whole in _of_all_sizes(rows):
        sizes = [row for row in rows if row["SIZE_FROM"] is not None and _key(row) == _key(whole)]
        with_people, empty = (
            [row for row in sizes if (row["SIZE_FROM"] == 0) == is_empty] for is_empty in (False, True)
        )
        suppressed = sum(row["NOT_PUBLISHED"] * row["GROUPS"] for row in with_people)
        spurious = sum(row["ROWS"] for row in empty)
        of_people, of_empty = (sum(row["GROUPS"] for row in some) for some in (with_people, empty))
        lines.append(
            [
                _level(whole, has_runs=has_runs),
                *(f"{of_people:,}", _figure(suppressed, ",.1f"), _share(suppressed / of_people if of_people else None)),
                *(f"{of_empty:,}", _figure(spurious, ",.1f"), _share(spurious / of_empty if of_empty else None)),
            ]
        )
    columns = ("Level", "Groups with people", "suppressed", "share", "Empty groups", "published", "share")
    words = (
        "On average over the trials: groups that have people and were left out, and groups without anybody that were "
        "published all the same. Above the local levels every group is published."
    )
    table = markup.table("left-out", columns, lines)
    return markup.Section(
        "left-out-groups", "Suppressed and spuriously published groups", (markup.paragraph(words), table)
    )


def _key(row: Figures) -> tuple[Any, ...]:
    return row["RUN"], row["GEOGRAPHY"], row["ITERATION_LEVEL"]


def _sums(rows: Sequence[Figures], *, has_runs: bool) -> markup.Section:
    title = "Sums over regions against the region that they fill"
    if not rows:
        words = "No level is made up of the regions of a finer one."
        return markup.Section("sums-of-regions", title, (markup.paragraph(words),))
    lines = [
        [
            _level(row, has_runs=has_runs),
            row["SUM_OVER"],
            f"{row['GROUPS']:,}",
            *(_figure(row[name]) for name in (*_ERRORS, "OWN_COUNT_RMSE", "OWN_ESTIMATE_RMSE")),
        ]
        for row in rows
    ]
    columns = ("Level", "Sum over", "Groups", *_ERROR_COLUMNS[:-1], "Own COUNT: RMSE", "Own ESTIMATE: RMSE")
    words = (
        "What a reader gets who adds up the published rows of all finer regions, such as the counties of a state, and "
        "what the row of the region itself gives. A row that was left out counts as 0, whether it is a part of the sum "
        "or the row of the region itself. This makes sums too small. Groups that have people."
    )
    return markup.Section(
        "sums-of-regions", title, (markup.paragraph(words), markup.table("sums", columns, lines, left=2))
    )
