"""`safetab schema`: the JSON schema of `release.toml`, for editors."""

from __future__ import annotations

import click

from safetab.cli.terminal import print_json
from safetab.params.document import json_schema


@click.command("schema")
def command() -> int:
    """Print the JSON schema of release.toml.

    Editors use it to complete and check the file while you type.
    """
    print_json(json_schema())
    return 0
