"""`safetab tabulate`: the main job, from records to T1 and T2."""

from __future__ import annotations

import time
from collections import Counter
from decimal import ROUND_UP, Decimal
from pathlib import Path
from typing import Any

import click
import pyarrow.compute as pc

from safetab.cli.terminal import alarm, console, facts, number, plural, print_findings, print_json
from safetab.engines.choice import EngineChoice, Spark, chosen_engine
from safetab.errors import Finding, UsageError
from safetab.pipeline.process import peak_memory
from safetab.pipeline.progress_report import ProgressReport
from safetab.pipeline.publish import NOT_PRIVATE_MARK, read_dictionary, tables_of_runs
from safetab.pipeline.tabulate import TabulatedRelease, tabulate
from safetab.rules.output_rules import FOR_SPARK


@click.command("tabulate")
@click.argument("params", type=click.Path(path_type=Path))
@click.argument("data", type=click.Path(path_type=Path))
@click.argument("out", type=click.Path(path_type=Path))
@click.option(
    "--engine",
    type=click.Choice(["duckdb", "spark"]),
    default="duckdb",
    show_default=True,
    help="What counts the records: duckdb on this machine, or spark on this machine or a cluster.",
)
@click.option(
    "--master",
    metavar="URL",
    help="Where Spark runs. The default is Spark's own setting, or this machine if there is none.",
)
@click.option(
    "--records",
    type=click.Path(),
    metavar="PLACE",
    help="Where the records are, if they are not in DATA: a path or, with spark, an address such as s3a://bucket/records.",
)
@click.option("--overwrite", is_flag=True, help="Replace an earlier release in OUT in one step.")
@click.option(
    "--registry",
    type=click.Path(path_type=Path),
    help="A file that records every release from these confidential data. Keep it in the secure area.",
)
@click.option("--spend-again", is_flag=True, help="Release again although the registry contains an earlier release.")
@click.option(
    "--sign",
    type=click.Path(path_type=Path),
    metavar="KEY",
    help="A PEM file with a private Ed25519 key that signs the ledger. `safetab verify --key` checks the signature.",
)
@click.option(
    "--noise", type=click.Choice(["on", "off"]), default="on", help="off: publish true counts. For tests only."
)
@click.option("--not-private", is_flag=True, help="Required with --noise off: the output protects nobody.")
@click.option("--json", "as_json", is_flag=True, help="Print the ledger as JSON at the end.")
def command(
    params: Path,
    data: Path,
    out: Path,
    engine: str,
    master: str | None,
    records: str | None,
    overwrite: bool,
    registry: Path | None,
    spend_again: bool,
    sign: Path | None,
    noise: str,
    not_private: bool,
    as_json: bool,
) -> int:
    """Tabulate records and write the tables to the new folder OUT.

    PARAMS is the folder of the release, DATA the folder with the geography file and the records. OUT appears complete
    or not at all. It contains the text files in t1/ and t2/, the Parquet files in parquet/t1/ and parquet/t2/,
    data-dictionary.json, ledger.json and ledger.sha256. `safetab verify OUT` checks all of it.
    """
    start = time.monotonic()
    with ProgressReport(print_warnings=print_findings) as watcher:
        release = tabulate(
            params,
            data,
            out,
            engine=_engine(engine, master),
            records=records,
            overwrite=overwrite,
            registry=registry,
            spend_again=spend_again,
            sign=sign,
            noise=noise == "on",
            not_private=not_private,
            watcher=watcher,
        )
    if as_json:
        print_json(release.ledger)
    else:
        _summarise(release, time.monotonic() - start)
    return 0


def _engine(name: str, master: str | None) -> EngineChoice:
    if master is None:
        return chosen_engine(name)
    if name != "spark":
        raise UsageError(Finding(FOR_SPARK, f"engine {name}"))
    return Spark(master=master)


def _summarise(release: TabulatedRelease, seconds: float) -> None:
    content = release.ledger
    levels = [level for run in content["runs"] for level in run["levels"]]
    drawn = sum(measured["counts"] for level in levels for measured in level["measurements"])
    rows = {name: sum(run["rows"][name] for run in content["runs"]) for name in ("t1", "t2")}
    suppressed = sum(run["suppressed_rows"] for run in content["runs"])
    peak = peak_memory()
    memory = "" if peak is None else f", at most {peak / 2**20:,.0f} MiB of memory"
    dictionary = read_dictionary(release.folder)
    out = console()
    out.print(
        facts(
            [
                ("Release", f"{content['title'] or 'untitled'}, in {release.folder}"),
                ("Groups", number(sum(level["groups"] for level in levels))),
                ("Counts", f"{number(drawn)} noisy counts" if content["is_private"] else f"{number(drawn)} counts"),
                ("Rows", f"T1 {number(rows['t1'])}, T2 {number(rows['t2'])}; {plural(suppressed, 'row')} suppressed"),
                ("Detail", _detail(release.folder, dictionary)),
                ("Numbers", _numbers(dictionary)),
                ("Guarantee", _guarantee(content)),
                ("Resources", f"{seconds:.1f} seconds{memory}"),
            ]
        )
    )
    if not content["is_private"]:
        print_mark = (
            f"This release is {NOT_PRIVATE_MARK.replace('-', ' ')}: it protects nobody and must not be published."
        )
        out.print(alarm(print_mark))


def _detail(out: Path, dictionary: dict[str, Any]) -> str:
    """How many groups got a total alone, and how many a table of which stat level."""
    groups: Counter[int] = Counter()
    for rows in tables_of_runs(out, "t1", columns=["STAT_LEVEL"]).values():
        for found in pc.value_counts(rows["STAT_LEVEL"]).to_pylist():
            groups[found["values"]] += found["counts"]
    # Stat levels that nobody got are listed too, so that releases can be compared.
    levels = sorted(map(int, dictionary.get("age_starts", ())))
    tables = [f"{number(groups[level])} {'a table ' * (level == 1)}of stat level {level}" for level in levels]
    return ", ".join([f"{plural(groups[0], 'group')} got a total", *tables])


def _numbers(dictionary: dict[str, Any]) -> str:
    estimates = "ESTIMATE is the best single number, and the true one is from LOW_95 to HIGH_95 (95 %)"
    in_text = {column["name"]: column["in_text_file"] for column in dictionary["t1"]["columns"]}
    if in_text["ESTIMATE"]:
        return estimates
    return f"COUNT, in the Bureau's columns; in the Parquet files {estimates}"


def _guarantee(content: dict[str, Any]) -> str:
    if not content["is_private"]:
        return "none"
    kind = "zero-concentrated differential privacy" if content["privacy"] == "zcdp" else "pure differential privacy"
    bound = content["analyses"]
    return (
        f"{content['budget_symbol']} {content['total_budget']} of {kind}, and epsilon "
        f"{_upwards(bound['epsilon'])} at delta {bound['delta']}: adding or removing any one person can change the "
        "probability of any result by no more than that"
    )


def _upwards(bound: float) -> Decimal:
    """An upper bound to two places, never rounded down."""
    return Decimal(bound).quantize(Decimal("0.01"), rounding=ROUND_UP)
