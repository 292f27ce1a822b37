"""The glossary has every word of the field that users meet as a column, a key or a term, once and in a short line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from safetab.pipeline.columns import MEANING

ROOT = Path(__file__).resolve().parents[2]
GLOSSARY = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
ENTRIES = re.findall(r"^\| \*\*(.+?)\*\*(.*?) \| (.+) \|$", GLOSSARY, re.MULTILINE)

#: The word behind each column of the published tables.
COLUMNS = {
    "REGION_ID": "region",
    "REGION_TYPE": "geography level",
    "ITERATION_CODE": "characteristic iteration",
    "AGESTART": "age bin",
    "AGEEND": "age bin",
    "SEX": "record",
    "COUNT": "noisy count",
    "STAT_LEVEL": "stat level",
    "NOISE": "noise law",
    "VARIANCE": "variance",
    "MOE_95": "margin of error",
    "ESTIMATE": "estimate",
    "LOW_95": "95 % interval",
    "HIGH_95": "95 % interval",
    "STAGE_1_COUNT": "stage 1",
}
#: Keys of JSON outputs and of release.toml that are words of the field.
KEYS = (
    ("block_sets", "block set"),
    ("budget", "budget"),
    ("delta", "delta"),
    ("engine", "engine"),
    ("epsilon", "epsilon"),
    ("findings", "finding"),
    ("geography", "geography level"),
    ("groups", "population group"),
    ("iteration_level", "iteration level"),
    ("level", "population group level"),
    ("measurements", "measurement"),
    ("moe_95", "margin of error"),
    ("neighbours", "neighbours"),
    ("regions", "region"),
    ("rho", "rho"),
    ("rule", "rule"),
    ("runs", "run"),
    ("stability", "stability"),
    ("stage", "stage 1"),
    ("suppressed_rows", "suppression"),
    ("thresholds", "threshold"),
    ("total_only", "total only"),
)


def words() -> list[str]:
    return [word.strip() for entry in ENTRIES for word in entry[0].split(",")]


def test_every_word_has_one_entry() -> None:
    assert len(ENTRIES) == GLOSSARY.count("\n| **")
    assert len(set(words())) == len(words())


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry[0])
def test_an_entry_is_short(entry: tuple[str, str, str]) -> None:
    assert len(entry[2].split()) <= 40
    assert entry[2].endswith((".", ").", "`."))


def test_columns_have_an_entry() -> None:
    assert set(COLUMNS) == set(MEANING)
    assert set(COLUMNS.values()) <= set(words())


def test_keys_have_an_entry() -> None:
    page = (ROOT / "docs" / "reference" / "json.md").read_text(encoding="utf-8")
    keys = {
        key.rstrip("[]")
        for key in re.findall(r"[a-z0-9_]+(?:\[\])?", " ".join(re.findall(r"^\| `(.+?)` ", page, re.M)))
    }
    for key, word in KEYS:
        assert key in keys
        assert word in words()


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"])
def test_pages_link_to_it(page: str) -> None:
    assert "docs/glossary.md" in (ROOT / page).read_text(encoding="utf-8")
