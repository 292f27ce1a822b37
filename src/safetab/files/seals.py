"""Seals: what shows that the files of a folder are the ones that were written.

In: a finished folder with a ledger, perhaps a key. Out: the hash of every file for the ledger to list, a file with the
hash of the ledger itself, and a file with its signature. The promise: the ledger covers every other file and the seals
cover the ledger, so that a changed byte, an added file and a missing one can all be found. Common tools can check both
seals: `sha256sum -c ledger.sha256` and `openssl pkeyutl -verify`.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import file_digest, sha256
from pathlib import Path
from typing import TYPE_CHECKING

from safetab.errors import Finding, UsageError
from safetab.rules import seal_rules

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

LEDGER_FILE = "ledger.json"
DIGEST_FILE = "ledger.sha256"
SIGNATURE_FILE = "ledger.sig"
#: What the ledger cannot list: itself, and what is made from it.
SEALS = (LEDGER_FILE, DIGEST_FILE, SIGNATURE_FILE)


@dataclass(frozen=True, slots=True, eq=False)
class SigningKey:
    """A private Ed25519 key. It is never shown or written."""

    _key: Ed25519PrivateKey

    def __repr__(self) -> str:
        return f"SigningKey(public={self.public!r})"

    @property
    def public(self) -> str:
        """The public key that belongs to it: 32 bytes as hexadecimal text."""
        return self._key.public_key().public_bytes_raw().hex()

    def sign(self, content: bytes) -> bytes:
        return self._key.sign(content)


def read_signing_key(path: Path) -> SigningKey:
    """The private key in a PEM file."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(path.read_bytes(), password=None)
    except (OSError, ValueError, TypeError, UnsupportedAlgorithm):
        # The words of the library may say something of the key.
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise UsageError(Finding(seal_rules.PRIVATE_KEY, str(path)))
    return SigningKey(key)


def read_public_key(path: Path) -> str:
    """The public key in a PEM file, as hexadecimal text."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        key = load_pem_public_key(path.read_bytes())
    except (OSError, ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PublicKey):
        raise UsageError(Finding(seal_rules.PUBLIC_KEY, str(path)), "")
    return key.public_bytes_raw().hex()


def is_signed_by(public: str, signature: bytes, content: bytes) -> bool:
    """Whether a signature of some content was made with the private half of a public key."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(public)).verify(signature, content)
    except (InvalidSignature, ValueError):
        return False
    return True


def hash_file(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def hash_files(folder: Path) -> dict[str, str]:
    """The SHA-256 of every file below a folder but the seals, by path."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    named = ((path.relative_to(folder).as_posix(), path) for path in files)
    return {name: hash_file(path) for name, path in named if name not in SEALS}


def digest_line(ledger: bytes) -> bytes:
    """The content of the digest file, in the form that sha256sum writes and checks."""
    return f"{sha256(ledger).hexdigest()}  {LEDGER_FILE}\n".encode()


def seal(folder: Path, key: SigningKey | None) -> None:
    """Seal the ledger of a folder: its hash and, with a key, its signature."""
    content = (folder / LEDGER_FILE).read_bytes()
    (folder / DIGEST_FILE).write_bytes(digest_line(content))
    if key is not None:
        (folder / SIGNATURE_FILE).write_bytes(key.sign(content))
