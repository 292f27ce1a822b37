"""What keys, seals and the contents of a published release must satisfy (KEY, VERIFY)."""

from __future__ import annotations

from safetab.errors import Rule

_FETCH = "Do not use this copy. Fetch the release again, and ask its publisher if this message appears again."
_FORGED = "Do not use this copy. Its hashes fit, so it was not damaged in copying. Ask the publisher of the release."

PRIVATE_KEY = Rule(
    "KEY-001",
    "this must be a PEM file with a private Ed25519 key and without a password",
    "Make one with `openssl genpkey -algorithm ed25519 -out key.pem` and keep it in the secure area.",
)
PUBLIC_KEY = Rule(
    "KEY-002",
    "this must be a PEM file with a public Ed25519 key",
    "Ask the publisher of the release for it. `openssl pkey -in key.pem -pubout` makes it from the private key.",
)
CHANGED_FILE = Rule("VERIFY-001", "the SHA-256 of this file is not the one in the ledger", _FETCH)
MISSING_FILE = Rule("VERIFY-002", "the release must have this file, and it is missing", _FETCH)
ADDED_FILE = Rule(
    "VERIFY-003",
    "this does not belong to the release: the ledger does not list it, or no run of the ledger has it",
    "Remove it, or keep it outside the release. A published release contains only what `safetab tabulate` wrote.",
)
CHANGED_LEDGER = Rule("VERIFY-004", "the SHA-256 of the ledger must be the one in ledger.sha256", _FETCH)
NO_HASHES = Rule(
    "VERIFY-005",
    "the ledger does not list the hashes of the files: an earlier version wrote it, or it was changed",
    "Tabulate with this version to get a release that can be verified.",
)
UNREADABLE = Rule("VERIFY-006", "this cannot be read as a file of a release", _FORGED)
SPENDING = Rule("VERIFY-010", "the ledger must agree with itself and with the data dictionary here", _FORGED)
DICTIONARY = Rule("VERIFY-011", "the data dictionary must describe the tables as they are", _FORGED)
NUMBER_OF_ROWS = Rule("VERIFY-012", "the number of rows must be the one in the ledger", _FORGED)
TEXT_DIFFERS = Rule("VERIFY-013", "the text file must contain the same rows as the Parquet file", _FORGED)
KEYS = Rule(
    "VERIFY-014",
    "every row must belong to a group of the release, and the rows must be in order, each one once",
    _FORGED,
)
DETAIL = Rule("VERIFY-015", "stage 1, thresholds and suppression must lead to this row", _FORGED)
CELLS = Rule("VERIFY-016", "T2 must have exactly the cells of the groups whose stat level is above 0", _FORGED)
SUMS = Rule("VERIFY-017", "a total must be the sum of the cells of its table", _FORGED)
PRECISION = Rule("VERIFY-018", "this must follow from the noise that the ledger states", _FORGED)
ESTIMATES = Rule("VERIFY-019", "estimates must follow from the published counts", _FORGED)
OTHER_PARAMETERS = Rule(
    "VERIFY-030",
    "the parameters are not those that the ledger names",
    "Name the folder that this release was tabulated with. If this is the one, the release or the folder was changed.",
)
NOT_SIGNED = Rule(
    "VERIFY-040",
    "the release has no signature, and a key was named",
    "Ask the publisher for a signed release, or leave out --key: then nothing shows who published it.",
)
BAD_SIGNATURE = Rule("VERIFY-041", "the signature must belong to this ledger", _FETCH)
OTHER_KEY = Rule(
    "VERIFY-042",
    "the release was signed with another key",
    "Do not use this copy unless you know who holds that key. Ask the publisher for the right one.",
)
