"""Releases with a changed content and fresh hashes, as a forger would write them; keys to sign with.

Hashes are made here with hashlib alone, so that they do not follow a mistake of the code that is tested.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

Row = dict[str, Any]


def write_keys(folder: Path, seed: bytes = b"k") -> tuple[Path, Path]:
    """A private and a public key of a seed, as PEM files."""
    key = Ed25519PrivateKey.from_private_bytes(sha256(seed).digest())
    private, public = folder / f"{seed.decode()}-private.pem", folder / f"{seed.decode()}-public.pem"
    private.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    public.write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    return private, public


def reseal(out: Path, ledger: Row | None = None) -> None:
    """Make every hash fit again; the signature cannot be made without the key."""
    content = read_ledger(out) if ledger is None else ledger
    seals = {"ledger.json", "ledger.sha256", "ledger.sig"}
    files = sorted(path for path in out.rglob("*") if path.is_file() and path.name not in seals)
    content["outputs"] = {path.relative_to(out).as_posix(): sha256(path.read_bytes()).hexdigest() for path in files}
    (out / "ledger.json").write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    digest = sha256((out / "ledger.json").read_bytes()).hexdigest()
    (out / "ledger.sha256").write_text(f"{digest}  ledger.json\n")


def read_ledger(out: Path) -> Row:
    found: Row = json.loads((out / "ledger.json").read_text(encoding="utf-8"))
    return found


def change_ledger(out: Path, change: Callable[[Row], object]) -> None:
    content = read_ledger(out)
    change(content)
    reseal(out, content)


def change_dictionary(out: Path, change: Callable[[Row], object]) -> None:
    file = out / "data-dictionary.json"
    content = json.loads(file.read_text(encoding="utf-8"))
    change(content)
    file.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    reseal(out)


def change_table(out: Path, name: str, change: Callable[[list[Row]], object], *, with_rows: bool = True) -> None:
    """Change the rows of a table of the first run in both of its files, their number in the ledger, and the hashes."""
    ledger = read_ledger(out)
    stem = ledger["runs"][0]["name"] + ("" if ledger["is_private"] else ".NOT-PRIVATE")
    parquet, text = out / "parquet" / name / f"{stem}.parquet", out / name / f"{stem}.csv"
    schema = pq.read_schema(parquet)
    rows = pq.read_table(parquet).to_pylist()
    change(rows)
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), parquet, compression="zstd")
    columns = text.read_text(encoding="utf-8").split("\n", 1)[0].split("|")
    lines = ["|".join("" if row[column] is None else str(row[column]) for column in columns) for row in rows]
    text.write_text("".join(line + "\n" for line in ["|".join(columns), *lines]), encoding="utf-8")
    if with_rows:
        ledger["runs"][0]["rows"][name] = len(rows)
    reseal(out, ledger)
