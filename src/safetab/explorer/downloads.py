"""What people take away from the page: a one-page summary for sign-off, and every figure as CSV.

In: a draft and its figures. Out: text of files. The promise: both are made from the same figures as the page, and
`safetab account` of the downloaded release.toml, at the same delta, reports the same ones.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from html import escape

from safetab import __version__
from safetab.accounting.privacy_loss import PrivacyLoss
from safetab.explorer.draft import Draft
from safetab.explorer.tables import Table, expected_table, level_table, loss_table
from safetab.params.exact import decimal_text
from safetab.planning.comparison import LevelFigures, PlanFigures
from safetab.planning.shown import at_most

CSV_COLUMNS = ("run", "level", "figure", "stat_level", "value")

_STYLE = """
@page { size: A4; margin: 12mm; }
body { font: 10.5pt/1.35 sans-serif; color: #1b1b1b; max-width: 190mm; margin: 1rem auto; padding: 0 0.5rem; }
h1 { font-size: 14pt; margin: 0 0 2mm; } p { margin: 1mm 0; }
table { border-collapse: collapse; width: 100%; font-size: 8.5pt; font-variant-numeric: tabular-nums; margin: 2mm 0; }
caption { text-align: left; font-weight: bold; padding: 1mm 0; }
th, td { border-bottom: 0.3pt solid #8a8a8a; padding: 0.4mm 1.2mm; text-align: right; }
th[scope=row] { text-align: left; white-space: nowrap; } .scroll { overflow-x: auto; }
.sign { display: flex; gap: 8mm; margin-top: 10mm; } .sign p { flex: 1; border-top: 0.6pt solid #1b1b1b; }
@media print { body { font-size: 9pt; margin: 0; padding: 0; } table { font-size: 7pt; } caption { font-size: 8pt; } }
"""


def html_table(table: Table) -> str:
    """A table as HTML."""
    head = "".join(f'<th scope="col">{escape(cell)}</th>' if cell else "<td></td>" for cell in table.head)
    body = "".join(
        f'<tr><th scope="row">{escape(row[0])}</th>' + "".join(f"<td>{escape(cell)}</td>" for cell in row[1:]) + "</tr>"
        for row in table.rows
    )
    caption = f"<caption>{escape(table.caption)}</caption>"
    return f'<div class="scroll"><table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def summary_html(draft: Draft, plan: PlanFigures, sizes: str | None, one_person: Iterable[str]) -> str:
    """A page to print and sign; `sizes` says where sizes are from, None where none are used."""
    release, total = draft.parameters.release, plan.loss.total
    guarantee = f"({at_most(total.epsilon)}, {draft.delta_text})-differential privacy"
    exact = f"{at_most(total.rho)}-zCDP" if total.pure_epsilon is None else f"{at_most(total.pure_epsilon)}-DP"
    title = escape(release.title or "Untitled release")
    suppression = release.zero_suppression_chance
    choices = (
        f"Noise: {release.privacy.noise_name}; budgets are {release.privacy.budget_symbol}. Stage 1 fraction "
        f"{decimal_text(release.stage_1_fraction)}. Empty local groups are suppressed with probability "
        f"{'0' if suppression is None else decimal_text(suppression)}."
    )
    parts = [
        f"<h1>{title}</h1>",
        f"<p>Plan of a release, for sign-off. No record was read to make this page.</p>"
        f"<p><strong>Guarantee:</strong> {escape(exact)} and {escape(guarantee)}, for every person.</p>"
        f"<p>{escape(choices)}</p>",
        html_table(loss_table(plan.loss, draft.delta_text)),
        html_table(level_table(draft, plan)),
    ]
    if sizes is not None:
        parts += [html_table(expected_table(release, plan)), f"<p>Sizes are public input: {escape(sizes)}.</p>"]
    parts += [f"<p>{escape(sentence)}</p>" for sentence in one_person]
    signs = "".join(f"<p>{word}</p>" for word in ("Name", "Date", "Signature"))
    parts += [f'<div class="sign">{signs}</div>', f"<p>SafeTab {__version__}. Each epsilon is an upper bound.</p>"]
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}: summary</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{_STYLE}</style></head>'
        f"<body><main>{''.join(parts)}</main></body></html>\n"
    )


def figures_csv(draft: Draft, plan: PlanFigures) -> str:
    """Every figure of the plan, one in a line, with all digits."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    writer.writerow(("", "", "delta", "", draft.delta_text))
    for name, value in _loss(plan.loss.total):
        writer.writerow(("", "", name, "", value))
    for run in plan.loss.runs:
        for name, value in _loss(run.total):
            writer.writerow((run.total.name, "", name, "", value))
        for loss in run.levels:
            for name, value in _loss(loss):
                writer.writerow((run.total.name, loss.name, name, "", value))
            for figure, stat_level, number in _level(plan.levels[run.total.name, loss.name]):
                writer.writerow((run.total.name, loss.name, figure, stat_level, number))
    return out.getvalue()


def _loss(loss: PrivacyLoss) -> Iterator[tuple[str, str]]:
    for name, value in loss.as_json().items():
        yield name, "" if value is None else str(value)


def _level(figures: LevelFigures) -> Iterator[tuple[str, str, str]]:
    yield "stability", "", str(figures.stability)
    if figures.total_only_moe_95 is not None:
        yield "total_only_moe_95", "", str(figures.total_only_moe_95)
    for number, threshold in enumerate(figures.thresholds, start=1):
        yield "threshold", str(number), str(threshold)
    for total in figures.totals:
        yield "estimate_moe_95", str(total.stat_level), str(total.estimate_moe_95)
        yield "sum_moe_95", str(total.stat_level), str(total.sum_moe_95)
    for number, size in enumerate(figures.sizes_with_detail, start=1):
        yield "size_with_detail_95", str(number), str(size)
    if figures.expected is not None:
        yield "groups_with_size", "", str(figures.expected.groups)
        yield "expected_published", "", repr(figures.expected.published)
        for number, value in enumerate(figures.expected.stat_levels):
            yield "expected_groups", str(number), repr(value)
