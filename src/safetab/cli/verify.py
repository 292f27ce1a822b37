"""`safetab verify`: is a published release what it says?"""

from __future__ import annotations

from pathlib import Path

import click

from safetab.cli.terminal import console, facts, number, plural, print_findings, print_report
from safetab.errors import InputError
from safetab.verifying.verify import VerifyReport, verify


@click.command("verify")
@click.argument("out", type=click.Path(path_type=Path))
@click.option(
    "--params",
    type=click.Path(path_type=Path),
    help="The parameters folder: is it the one that the release was tabulated with?",
)
@click.option(
    "--key",
    type=click.Path(path_type=Path),
    help="A PEM file with the public Ed25519 key of the publisher: was the release signed with it?",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(out: Path, params: Path | None, key: Path | None, as_json: bool) -> int:
    """Check that the release in OUT is complete, unchanged and consistent.

    Every file is compared with its hash, and the ledger, the data dictionary, the tables and their estimates with each
    other. Exit status 0: nothing is wrong. No record is read.
    """
    report = verify(out, params=params, key=key)
    print_findings(report.findings)
    if as_json:
        print_report("verify", report.as_json())
    elif report.is_sound:
        console().print(facts(_lines(report)))
    return 0 if report.is_sound else InputError.exit_status


def _lines(report: VerifyReport) -> list[tuple[str, str]]:
    lines = [
        ("Files", f"{plural(report.files, 'file')}, every one as the ledger lists it; no other"),
        ("Tables", f"{number(report.rows)} rows agree with the ledger, the data dictionary and each other"),
        ("Estimates", "every one follows from the published counts"),
        ("Signature", _signature(report)),
    ]
    if report.parameters_compared:
        lines.append(("Parameters", "the folder is the one that the ledger names"))
    return lines


def _signature(report: VerifyReport) -> str:
    if report.signing_key is None:
        return "none; nothing shows who published this release"
    if report.key_compared:
        return f"made with the key you named, {report.signing_key}"
    return f"made with the key {report.signing_key}; add --key to check whose that is"
