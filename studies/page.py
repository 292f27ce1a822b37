"""docs/studies/granularity.md: the page of the granularity study, written from its file of figures.

In: a `Study`. Out: Markdown. The promise: every figure of the page comes from the study; the words around them hold
for any figures.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from textwrap import fill
from typing import Any

from studies.finding import Finding, markdown_table, significant

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "studies"
PAGE, JSON = FOLDER / "granularity.md", FOLDER / "granularity.json"
#: Figures are printed with four digits, so a figure computed again may differ by half a unit of the fourth.
RELATIVE_ERROR = 0.0005


@dataclass(frozen=True, slots=True)
class Spread:
    """A figure of the page, its range over other seeds, and its value with the Bureau's group definitions."""

    value: float
    low: float
    high: float
    with_bureau: float | None


@dataclass(frozen=True, slots=True)
class Study:
    """Everything that the page shows."""

    findings: tuple[Finding, ...]
    spreads: Mapping[int, Mapping[str, Spread]]
    published: tuple[tuple[str, ...], ...]

    def as_json(self) -> dict[str, Any]:
        return {
            "findings": [finding.as_json() for finding in self.findings],
            "spreads": {
                str(number): {name: asdict(spread) for name, spread in spreads.items()}
                for number, spreads in self.spreads.items()
            },
            "published": [list(row) for row in self.published],
        }

    @classmethod
    def of_json(cls, found: Mapping[str, Any]) -> Study:
        """What `as_json` wrote."""
        return cls(
            tuple(map(Finding.of_json, found["findings"])),
            {
                int(number): {name: Spread(**spread) for name, spread in spreads.items()}
                for number, spreads in found["spreads"].items()
            },
            tuple(map(tuple, found["published"])),
        )


def page(study: Study) -> str:
    """The page."""
    summary = [
        (f"[{finding.number}](#{finding.anchor})", finding.title, f"`{finding.command}`") for finding in study.findings
    ]
    published = markdown_table(
        ("the release of 2020", "published", "synthetic, the Bureau's groups", "synthetic, generated groups"),
        study.published,
    )
    return _TEXT.format(
        others=len(study.findings) - 1,
        summary=markdown_table(("finding", "what it says", "reproduce it"), summary, words=3),
        sections="\n\n".join(_section(finding, study.spreads[finding.number]) for finding in study.findings),
        published=published,
    )


def _section(finding: Finding, spreads: Mapping[str, Spread]) -> str:
    rows = [
        (name, _figure(spread.value), f"{_figure(spread.low)} to {_figure(spread.high)}", _optional(spread.with_bureau))
        for name, spread in spreads.items()
    ]
    parts = [
        f"## {finding.heading}",
        f"**{finding.title}.**",
        _wrapped(finding.answer),
        _wrapped(f"*What to do.* {finding.action}"),
        f"![{finding.alt}]({finding.slug}.svg)",
        markdown_table(finding.columns, finding.rows),
        _wrapped(f"*What was compared.* {finding.held}"),
        markdown_table(("figure", "here", "other seeds", "the Bureau's groups"), rows),
        f"Reproduce it: `{finding.command}`",
    ]
    return "\n\n".join(parts)


def _figure(value: float) -> str:
    """Four digits, without an exponent."""
    rounded = significant(value)
    return f"{rounded:,.0f}" if abs(rounded) >= 1000 else f"{rounded:.4g}"


def _optional(value: float | None) -> str:
    return "not computed" if value is None else _figure(value)


def _wrapped(text: str) -> str:
    return fill(text, 118, break_long_words=False, break_on_hyphens=False)


_TEXT = """# How much detail does a budget buy?

*For people who choose the budgets, thresholds and stages of a release.*

<!-- Written by `make study`. Do not edit: change studies/page.py or the findings. -->

The paper behind SafeTab leaves open how fine the published tables are under different noise. This study answers that,
and {others} more questions, with a synthetic nation of 331 million people and the release of 2020. `make study`
computes every figure again and writes this page. It takes some minutes on two cores.

## The findings

{summary}

## How it was done

- **People.** The nation of `safetab synth --like nation`, seed 2020, without Puerto Rico. Its groups have the sizes
  that were [published for the nation](../explanation/synthetic-countries.md), and live where a model puts them. Group
  definitions are the generated ones, so that everybody can repeat the study. From it come the true sizes of all
  groups, about 260 million of them, of the nation, the states, counties, tracts and places.
- **Release.** Budgets, thresholds, stage 1 share (0.1) and suppression (0.9999) of 2020. Each finding says what it
  changes. *Detailed groups* are level 2, *regional groups* level 1.
- **Exact.** Nothing is simulated. An expected number is the sum of the exact probabilities of all groups
  (`safetab.planning`), so it is the average over all releases that a plan can make. Epsilon is always at delta 1e-10,
  by the tightest certified analysis.
- **Approximate.** People with several codes have the average of those with the same rarest code, and the people of a
  neighbourhood are divided among places in proportion. Both are rounded to whole persons.
- **Stated error.** With the same versions of the software a command gives the same digits. On another kind of
  processor a figure may differ by one unit in its fourth digit. How much depends on the country that was drawn is
  shown under each finding: the same figure with seeds 1 and 7, and with the Bureau's own group definitions.

{sections}

## Beside what was published

{published}

Pairs and groups per county are of race groups and without the District of Columbia; the row of the nation counts the
groups whose total was published. The generated groups are the Bureau's in number, and partly in name and size, but not
one by one. So ratios between plans can be trusted more than numbers of groups. Published numbers of sex by
age tables below the nation were not at hand.

## What synthetic people cannot show

- **How many groups of a real place get a table.** Counties and tracts are invented. Which group lives where is drawn
  around a few rules, which were fitted to numbers of published pairs of counties and groups. Numbers for tracts and
  places were fitted to nothing.
- **How useful a table is.** All detailed groups of a major group have the same ages here, so the study measures the
  noise of an average cell, not what a reader can learn from it. Real tables have cells far smaller than the average.
- **Groups that the model does not know**, such as a people that lives in a few blocks, or a new group that nobody has
  counted before. Their sizes are near thresholds or near suppression, where plans differ most.
- **Errors of the census itself.** True sizes are taken as true. Wrong answers and missing people are not noise, and no
  budget makes them smaller.
- **What people need.** Which margin a state, a tribe or a city can work with is a question to them. The objectives of
  findings 4, 5 and 7 count cells and totals, all alike. Another objective may give another order.
- **Other releases.** With other age bins, other numbers of groups per person or far fewer groups the figures change.
  `safetab detail` and `safetab account` compute them for your own plan:
  [plan a release](../how-to/plan-a-release.md).
"""
