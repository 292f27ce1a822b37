"""The registry: an append-only history of what has been released from one set of confidential data.

In: what a release will spend. Out: a line in a file, on disk before any noise is drawn. The promise: the registry never
counts too little. A tabulation that fails after its entry was written still counts, because nobody can be sure that
none of its numbers were seen. The file holds a secret key for fingerprints of the records and belongs in the secure
area.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from hashlib import blake2b
from pathlib import Path
from typing import IO, Any

from filelock import FileLock

from safetab.errors import UNSPENT, Finding, InputError
from safetab.files.durable import append_line, sync
from safetab.files.memory import ReadColumns, add_to_digest
from safetab.files.parts import list_parts
from safetab.noise.source import entropy
from safetab.params.exact import decimal_text
from safetab.params.release import PrivacyDefinition
from safetab.pipeline.process import uninterrupted
from safetab.rules import output_rules

_FORMAT = "safetab registry 1"


@dataclass(frozen=True, slots=True)
class Spending:
    """What one release spends of the privacy of the people in the records."""

    privacy: PrivacyDefinition
    budget: Fraction


def composed(spendings: Sequence[Spending]) -> str:
    """What several releases spend together, in words: epsilons add, rhos add, an epsilon counts as rho epsilon^2/2."""
    kinds = {spending.privacy for spending in spendings}
    if kinds == {PrivacyDefinition.PURE_DP}:
        return f"epsilon {decimal_text(sum((s.budget for s in spendings), Fraction(0)))}"
    rho = sum((s.budget if s.privacy is PrivacyDefinition.ZCDP else s.budget**2 / 2 for s in spendings), Fraction(0))
    return f"rho {decimal_text(rho)}"


class Registry:
    """The registry file, locked while it is in use."""

    def __init__(self, path: Path) -> None:
        self.path = path
        #: Whether the release of this tabulation is in it; an entry that could not be written whole is not.
        self.has_entered = False

    def enter(
        self, spending: Spending, details: dict[str, Any], data: Path | ReadColumns | None, *, spend_again: bool
    ) -> str | None:
        """Write down a release before it happens; returns the keyed fingerprint of its records, if they are at hand."""
        with self._locked() as file:
            key, entries = self._read(file)
            before = [_spending_of(entry) for entry in entries]
            if before and not spend_again:
                total = composed([*before, spending])
                seen = f"{len(before)} earlier release{'s' if len(before) > 1 else ''}; with this one {total} in total"
                raise InputError(
                    Finding(output_rules.ALREADY_SPENT, self.path.name, seen=seen),
                    state=UNSPENT,
                )
            print_of_records = None if data is None else fingerprint(data, key)
            entry = {
                "at": datetime.now(UTC).isoformat(timespec="seconds"),
                "privacy": spending.privacy.value,
                "budget": decimal_text(spending.budget),
                "records": print_of_records,
            } | details
            with uninterrupted():
                _append(file, entry)
                self.has_entered = True
            return print_of_records

    @contextmanager
    def _locked(self) -> Iterator[IO[str]]:
        # A file of its own beside the registry: a lock may empty its file, and on Windows nobody could read it.
        with FileLock(self.path.with_name(f"{self.path.name}.lock"), mode=0o600):
            is_new = not self.path.exists()
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
            with os.fdopen(descriptor, "r+", encoding="utf-8") as file:
                if is_new:
                    sync(self.path.absolute().parent)
                yield file

    def _read(self, file: IO[str]) -> tuple[bytes, list[dict[str, Any]]]:
        """The secret key and the entries; a new registry gets its key here."""
        file.seek(0)
        lines = file.read().splitlines()
        if not lines:
            key = entropy(32)
            _append(file, {"registry": _FORMAT, "key": key.hex()})
            return key, []
        try:
            head, *entries = [json.loads(line) for line in lines]
            if head["registry"] != _FORMAT:
                raise ValueError
            for entry in entries:
                _spending_of(entry)
            return bytes.fromhex(head["key"]), entries
        except (ValueError, KeyError, TypeError):
            raise InputError(Finding(output_rules.REGISTRY_DAMAGED, self.path.name), state=UNSPENT) from None


def fingerprint(data: Path | ReadColumns, key: bytes) -> str:
    """A keyed hash of the records file, of its parts, or of columns in memory.

    Without the key it tells nothing, not even by guessing.
    """
    digest = blake2b(key=key, digest_size=32)
    if isinstance(data, ReadColumns):
        add_to_digest(data.table, digest)
        return digest.hexdigest()
    for part in list_parts(data)[0]:
        # The name includes the folders, which may say something of the records.
        digest.update(part.name.encode() + b"\0" + str(part.path.stat().st_size).encode() + b"\0")
        with part.path.open("rb") as file:
            while block := file.read(1 << 22):
                digest.update(block)
    return digest.hexdigest()


def _spending_of(entry: dict[str, Any]) -> Spending:
    return Spending(PrivacyDefinition(entry["privacy"]), Fraction(entry["budget"]))


def _append(file: IO[str], entry: dict[str, Any]) -> None:
    append_line(file, json.dumps(entry, ensure_ascii=False))
