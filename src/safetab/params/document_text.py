"""A release document as a commented `release.toml`.

In: a document, nested dicts and lists as TOML or the Bureau's file gives them. Out: text. Promise: the text parses back
into the same document; every number that must keep its digits is written as decimal text; the comments are the
descriptions of the keys.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from pydantic import BaseModel

from safetab.params.document import (
    AgesSection,
    ColumnsSection,
    GeographySection,
    LevelSection,
    OutputSection,
    ReleaseDocument,
    RunSection,
)
from safetab.params.files_section import FilesSection

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_WIDEST = 110
_HEADING = (
    "A SafeTab release: everything you choose before any record is read.",
    "Numbers in quotes are used exactly as you write them. `safetab schema` describes every key, for you and for",
    "editors; `safetab check` reports what is wrong.",
)
_SECTIONS: dict[str, type[BaseModel]] = {
    "ages": AgesSection,
    "files": FilesSection,
    "output": OutputSection,
    "columns": ColumnsSection,
}


def document_toml(document: Mapping[str, Any], advice: Sequence[str] = ()) -> str:
    """The document as TOML; `advice` is comments before the population group levels."""
    lines = [
        *_comment(" ".join(_HEADING)),
        "",
        *_settings(document),
        *(line for name, model in _SECTIONS.items() if name in document for line in _table(name, document, model)),
        "",
        *_comment(f"Geography levels. {_about(GeographySection, 'columns')}"),
        *_comment(f"absent: {_about(GeographySection, 'absent')}"),
        *_comment(f"name_column: {_about(GeographySection, 'name_column')}"),
        *_comment(f"local: {_about(GeographySection, 'local')}"),
        *(line for name, part in document["geography"].items() for line in ("", *_geography(name, part))),
        "",
        *_comment(f"Runs. {RunSection.__doc__}"),
        *(line for run in document["run"] for line in ("", *_run(run))),
        "",
        *_comment(f"Population group levels. budget: {_about(LevelSection, 'budget')}"),
        *_comment(f"moe_95: {_about(LevelSection, 'moe_95')}"),
        *_comment(f"thresholds: {_about(LevelSection, 'thresholds')}"),
        *_comment(" ".join(advice)),
        *(line for level in document["level"] for line in ("", "[[level]]", *_pairs(level))),
    ]
    return "\n".join(lines) + "\n"


def _about(model: type[BaseModel], key: str) -> str:
    return model.model_fields[key].description or ""


def _comment(text: str) -> list[str]:
    """Lines of a comment, none without text."""
    return textwrap.wrap(text, _WIDEST, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False)


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _value(name)


def _value(value: Any) -> str:
    """A value as TOML writes it; for text, numbers, lists and switches that is what JSON writes."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(key)} = {_value(item)}" for key, item in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False, default=_decimal_text)


def _decimal_text(value: Decimal) -> str:
    # As a TOML number it would lose no digit here, but an editor might round it.
    return str(value)


def _pair(key: str, value: Any) -> list[str]:
    """A key and its value; a list over several lines where one would be too long."""
    line = f"{key} = {_value(value)}"
    if len(line) <= _WIDEST or not isinstance(value, list):
        return [line]
    per_line = 1 if isinstance(value[0], list) else 12
    rows = [value[start : start + per_line] for start in range(0, len(value), per_line)]
    return [f"{key} = [", *(f"  {_value(row)[1:-1]}," for row in rows), "]"]


def _pairs(values: Mapping[str, Any]) -> Iterator[str]:
    for key, value in values.items():
        yield from _pair(_key(key), value)


def _settings(document: Mapping[str, Any]) -> Iterator[str]:
    for key in ReleaseDocument.model_fields:
        if key in document and _about(ReleaseDocument, key) and not isinstance(document[key], list | dict):
            yield from _comment(_about(ReleaseDocument, key))
            # A number that is not whole is written as text, so that every digit is kept.
            yield from _pair(key, document[key])


def _table(name: str, document: Mapping[str, Any], model: type[BaseModel]) -> Iterator[str]:
    yield from ("", f"[{name}]")
    for key, value in document[name].items():
        yield from _comment(_about(model, key))
        yield from _pair(key, value)


def _geography(name: str, part: Mapping[str, Any]) -> Iterator[str]:
    yield f"[geography.{_key(name)}]"
    yield from _pairs(part)


def _run(run: Mapping[str, Any]) -> Iterator[str]:
    yield "[[run]]"
    for key, value in run.items():
        if isinstance(value, Mapping):
            for inner, item in value.items():
                yield from _pair(f"{_key(key)}.{_key(inner)}", item)
        else:
            yield from _pair(_key(key), value)
