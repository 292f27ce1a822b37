"""The files of a release against their hashes, and the ledger against its seals.

In: a folder, perhaps a public key. Out: findings. The promise: one changed byte in any file, an added file and a
missing one are all found; of the signature too, without a key, because the ledger names the key that made it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from safetab.errors import Finding
from safetab.files.seals import DIGEST_FILE, LEDGER_FILE, SEALS, SIGNATURE_FILE, digest_line, hash_file, is_signed_by
from safetab.rules import seal_rules


def read_ledger(folder: Path, findings: list[Finding]) -> dict[str, Any] | None:
    """The ledger, if its digest is right and it lists the other files."""
    content = (folder / LEDGER_FILE).read_bytes()
    if not (folder / DIGEST_FILE).is_file():
        rule = seal_rules.MISSING_FILE if _lists_files(_parsed(content)) else seal_rules.NO_HASHES
        findings.append(Finding(rule, DIGEST_FILE if rule is seal_rules.MISSING_FILE else LEDGER_FILE))
        return None
    if (folder / DIGEST_FILE).read_bytes() != digest_line(content):
        findings.append(Finding(seal_rules.CHANGED_LEDGER, LEDGER_FILE))
        return None
    ledger = _parsed(content)
    if not _lists_files(ledger):
        findings.append(Finding(seal_rules.NO_HASHES, LEDGER_FILE))
        return None
    return ledger


def _parsed(content: bytes) -> dict[str, Any]:
    try:
        found = json.loads(content, object_pairs_hook=_each_once)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Programs differ in which of two values they take."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key appears twice")
    return found


def _lists_files(ledger: Mapping[str, Any]) -> bool:
    listed = ledger.get("outputs")
    return isinstance(listed, dict) and bool(listed) and "signing_key" in ledger


def check_files(folder: Path, ledger: Mapping[str, Any]) -> Iterator[Finding]:
    """Every file is listed and has its hash, and nothing else is there."""
    listed: dict[str, str] = ledger["outputs"]
    seals = {LEDGER_FILE, DIGEST_FILE} | ({SIGNATURE_FILE} if ledger["signing_key"] else set())
    folders = {parent.as_posix() for name in listed for parent in Path(name).parents}
    for name in sorted({*listed, *seals}):
        if not (folder / name).is_file():
            yield Finding(seal_rules.MISSING_FILE, name)
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        # A link may show another file to everybody who looks.
        is_ours = name in listed or name in seals or (path.is_dir() and name in folders)
        if path.is_symlink() or not is_ours:
            yield Finding(seal_rules.ADDED_FILE, name)
        elif not path.is_file():
            # A folder, or a pipe in place of a file, which is missing; whoever opens a pipe waits for ever.
            continue
        elif name in listed and (name in SEALS or hash_file(path) != listed[name]):
            yield Finding(seal_rules.CHANGED_FILE, name)


def check_signature(folder: Path, ledger: Mapping[str, Any], key: str | None) -> Iterator[Finding]:
    """The signature is one of the ledger by the key that it names, which is the key that was asked for."""
    signer = ledger["signing_key"]
    if not signer:
        if key is not None:
            yield Finding(seal_rules.NOT_SIGNED, LEDGER_FILE)
        return
    if key is not None and key != signer:
        yield Finding(seal_rules.OTHER_KEY, SIGNATURE_FILE, seen=f"public key {signer}")
    file = folder / SIGNATURE_FILE
    content = (folder / LEDGER_FILE).read_bytes()
    if file.is_file() and not is_signed_by(str(signer), file.read_bytes(), content):
        yield Finding(seal_rules.BAD_SIGNATURE, SIGNATURE_FILE)
