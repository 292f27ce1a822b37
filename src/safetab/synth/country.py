"""Making a country: all of its files, or nothing.

In: a `Country`, which describes what to make. Out: a folder with `params` and `data`. Promise: the folder appears
complete when the last byte is on the disk; if anything goes wrong before that, nothing is left behind. The same
`Country` gives the same bytes, on any number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from safetab.params.load import Parameters, load
from safetab.synth.breakages.site import Breakage, Site
from safetab.synth.country_plan import plan_country
from safetab.synth.making import Progress, Target, write_data
from safetab.synth.new_folder import all_or_nothing, bytes_in, refuse_folder
from safetab.synth.parameters import copy_own, load_own, states_of_release, write_generated
from safetab.synth.published_sizes import own_sizes
from safetab.synth.record_form import RecordForm, written_form
from safetab.synth.shapes import Shape, StatePlan, plan_states
from safetab.synth.write_data import Format

DEFAULT_SEED = 2020
MOST_SEED = 2**63 - 1
#: The size of a block in the geography file, in either format, and of the parameters folder.
_BYTES_PER_BLOCK, BYTES_OF_PARAMETERS = 32, 1 << 20


def check_seed_and_format(seed: int, table_format: Format) -> None:
    """Refuse what no country can be made with."""
    if not isinstance(seed, int):
        raise TypeError(f"seed is {seed!r}; use a whole number")
    if not 0 <= seed <= MOST_SEED:
        raise ValueError(f"seed is {seed}; use a number from 0 to 2**63 - 1")
    if not isinstance(table_format, Format):
        raise TypeError(f"table_format is {table_format!r}; use Format.PARQUET or Format.TEXT")


@dataclass(frozen=True, slots=True)
class Country:
    """What to make: a shape, a seed, a format, and optionally the user's own parameters and a breakage."""

    shape: Shape
    seed: int = DEFAULT_SEED
    table_format: Format = Format.PARQUET
    params: str | Path | None = None
    sizes: str | Path | None = None
    breakage: Breakage | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.shape, Shape):
            raise TypeError(f"shape is {self.shape!r}; use one of SHAPES, or a Shape of your own")
        check_seed_and_format(self.seed, self.table_format)
        if self.breakage is not None and not isinstance(self.breakage, Breakage):
            raise TypeError(f"breakage is {self.breakage!r}; use find_breakage, or one of BREAKAGES")


@dataclass(frozen=True, slots=True)
class CountryFacts:
    """What was made."""

    persons: int
    states: int
    has_puerto_rico: bool
    blocks: int
    bytes: int


def make_country(
    country: Country, folder: str | Path, workers: int | None = None, on_progress: Progress = lambda _: None
) -> CountryFacts:
    """Make a country in a new folder; `on_progress` receives how many more persons have been written."""
    if workers is not None and workers < 1:
        raise ValueError(f"workers is {workers}; use 1 or more, or leave it out")
    folder = Path(folder)
    shape = country.shape
    needed = shape.persons * country.table_format.bytes_per_person + BYTES_OF_PARAMETERS
    refuse_folder(folder, needed + (shape.areas.blocks + shape.puerto_rico.blocks) * _BYTES_PER_BLOCK)
    own = None if country.params is None else load_own(Path(country.params), breaks=country.breakage is not None)
    with all_or_nothing(folder) as unfinished:
        params, data = unfinished / "params", unfinished / "data"
        params.mkdir()
        data.mkdir()
        parameters, plans = _prepare(country, own, params)
        sizes = own_sizes(country.sizes, parameters.catalogue)
        plan = plan_country(parameters, plans, country.seed, sizes)
        form, files = RecordForm.of(parameters.release), parameters.release.files
        target = Target(data, form, country.table_format, files.geography, written_form(files, "geography"))
        write_data(plan, target, workers, on_progress)
        states = tuple(plan.code for plan in plans if not plan.is_puerto_rico)
        if country.breakage is not None:
            country.breakage.apply(Site(unfinished, country.table_format, states, len(states) < len(plans)))
        size = bytes_in(unfinished)
    blocks = sum(plan.areas.blocks for plan in plans)
    return CountryFacts(shape.persons, len(states), len(states) < len(plans), blocks, size)


def _prepare(country: Country, own: Parameters | None, params: Path) -> tuple[Parameters, tuple[StatePlan, ...]]:
    """Write the parameters folder and divide the country into states."""
    shape = country.shape
    if own is None:
        states, puerto_rico = shape.states, shape.puerto_rico_share > 0
        write_generated(params, states, puerto_rico=puerto_rico)
    else:
        states, puerto_rico = states_of_release(own, shape.states)
        copy_own(own, params, states)
    return load(params), plan_states(shape, states, puerto_rico=puerto_rico)
