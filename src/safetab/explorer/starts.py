"""Where planning starts: the user's release or a preset, and the public sizes of groups that go with it.

In: loaded parameters, or none. Out: drafts by name, and sources of sizes. The promise: presets are those of
`safetab init`, on the user's group definitions where these fit them, and otherwise on the generated ones of
`safetab synth`, which is said; no record is read, and every table of sizes says where it is from.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from safetab.errors import Finding, InputError
from safetab.explorer.draft import Draft, draft_of
from safetab.params.groups import read_groups
from safetab.params.load import RELEASE_FILE, Parameters, read_document
from safetab.params.template import TITLES, release_toml
from safetab.params.validate import validate
from safetab.planning.sizes import Sizes, national_sizes
from safetab.population.iterations import IterationCatalogue
from safetab.synth.definitions import generate
from safetab.synth.parameters import write_definitions
from safetab.synth.published_sizes import US_2020, published_sizes_of

OPENED = "opened"
#: The names of presets for people, in the order in which they are offered.
PRESETS = {"census-2020": "2020 Census, production settings", "paper": "The paper's seven levels"}
_GENERATED = "groups generated as `safetab synth` does, with the dimensions of the real ones"
assert set(PRESETS) == set(TITLES)  # noqa: S101


@dataclass(frozen=True, slots=True)
class Start:
    """A draft to start from; `words` say where its choices and its groups are from."""

    draft: Draft
    words: str


@dataclass(frozen=True, slots=True)
class SizeSource:
    """Public sizes of groups: `find` gets the sizes for a release; None where it has no such groups."""

    name: str
    words: str
    find: Callable[[Parameters], Sizes | None]
    warning: str = ""


def opened(parameters: Parameters) -> Start:
    """The user's own release."""
    return Start(draft_of(parameters), f"{parameters.folder / parameters.file}")


def preset(like: str, own: Parameters | None) -> Start:
    """A preset, on the group definitions of the user's release where they fit."""
    document: dict[str, Any] = tomllib.loads(release_toml(like), parse_float=Decimal)
    if own is not None:
        found = _on_own_groups(document, own)
        if found is not None:
            return Start(found, f"{PRESETS[like]}; groups of {own.folder}")
    with TemporaryDirectory() as folder:
        write_definitions(Path(folder), generate())
        parameters = _parameters(document, Path(folder))
    assert parameters is not None  # noqa: S101
    return Start(Draft(document, parameters), f"{PRESETS[like]}; {_GENERATED}")


def _on_own_groups(document: dict[str, Any], own: Parameters) -> Draft | None:
    # The file that is downloaded must find the user's files under their names.
    files = read_document(own.folder / own.file).get("files")
    mine = document | ({"files": files} if files else {})
    parameters = _parameters(mine, own.folder)
    return None if parameters is None else Draft(mine, parameters)


def _parameters(document: dict[str, Any], folder: Path) -> Parameters | None:
    findings: list[Finding] = []
    release = validate(document, RELEASE_FILE, findings)
    catalogue = None if release is None else read_groups(folder, release, findings)
    if release is None or catalogue is None or any(finding.is_error for finding in findings):
        return None
    return Parameters(folder, RELEASE_FILE, release, catalogue)


def us_2020() -> SizeSource:
    """The sizes published for the United States in 2020."""
    words = "published for the United States in 2020, with the noise of that release; the nation only"
    return SizeSource(US_2020, words, _us_2020)


def _us_2020(parameters: Parameters) -> Sizes | None:
    found = national_sizes(parameters, published_sizes_of(parameters.catalogue), US_2020)
    return found if found.of_level else None


class SizesOfDrafts:
    """The sizes of a source for drafts, found once for all drafts that measure the same levels."""

    def __init__(self, source: SizeSource) -> None:
        self.source = source
        # The catalogue is kept beside its sizes: an id is that of one object only while it lives.
        self._known: dict[tuple[int, tuple[tuple[str, str], ...]], tuple[IterationCatalogue, Sizes | None]] = {}

    def of(self, parameters: Parameters) -> Sizes | None:
        """The sizes of the groups of a release."""
        levels = tuple((run.name, level.name) for run in parameters.plan.runs for level in run.measured)
        key = id(parameters.catalogue), levels
        if key not in self._known:
            try:
                found = self.source.find(parameters)
            except InputError:
                # The sizes are of other groups or regions: of the release that a preset took the place of, say.
                found = None
            self._known[key] = parameters.catalogue, found
        return self._known[key][1]
