"""People for a user's own release and geography file: a rehearsal of the whole release before a record is touched.

In: an `OwnCountry`. Out: a folder with `params` and `data` that can be checked and tabulated at once. Promise: the
release, the group definitions and the geography file are copied as they are; the records have the columns, codes, ages
and sexes that the release reads. Nothing is read but these files, and no record is among them.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from safetab.errors import Finding, InputError
from safetab.files.compressed import compression_of
from safetab.files.parquet import is_parquet
from safetab.params.load import Parameters, load
from safetab.population.geography_file import geography_of_run, read_block_table
from safetab.synth.country import BYTES_OF_PARAMETERS, DEFAULT_SEED, CountryFacts, check_seed_and_format
from safetab.synth.country_plan import plan_country
from safetab.synth.making import Progress, Target, write_data
from safetab.synth.new_folder import all_or_nothing, bytes_in, refuse_folder
from safetab.synth.own_land import OwnLand, blocks_taken, settle_blocks, usual_persons
from safetab.synth.parameters import copy_own
from safetab.synth.published_sizes import own_sizes
from safetab.synth.record_form import RecordForm
from safetab.synth.shapes import LEAST_PERSONS, MOST_PERSONS
from safetab.synth.write_data import Format, table_path


@dataclass(frozen=True, slots=True)
class OwnCountry:
    """What to make: people for a release and a geography file, as many as asked for or as is usual."""

    params: str | Path
    geography: str | Path
    persons: int | None = None
    seed: int = DEFAULT_SEED
    table_format: Format = Format.PARQUET
    sizes: str | Path | None = None

    def __post_init__(self) -> None:
        if self.persons is not None and not isinstance(self.persons, int):
            raise TypeError(f"persons is {self.persons!r}; use a whole number, or leave it out")
        if self.persons is not None and not LEAST_PERSONS <= self.persons <= MOST_PERSONS:
            raise ValueError(f"persons is {self.persons}; use a number from {LEAST_PERSONS} to {MOST_PERSONS:,}")
        check_seed_and_format(self.seed, self.table_format)


@dataclass(frozen=True, slots=True, eq=False)
class PreparedCountry:
    """A country whose files have been read and found sound, and whose blocks have their populations."""

    country: OwnCountry
    parameters: Parameters
    sizes: Mapping[str, int] | None
    blocks: pa.Table
    land: OwnLand

    @property
    def persons(self) -> int:
        return self.land.persons


def prepare_own_country(country: OwnCountry) -> PreparedCountry:
    """Read and judge the release, the geography file and the sizes; raises with every fault of the first bad one."""
    parameters = load(Path(country.params))
    blocks = _read_geography(parameters, Path(country.geography))
    sizes = own_sizes(country.sizes, parameters.catalogue)
    taken = blocks_taken(blocks, parameters.release)
    persons = usual_persons(taken.num_rows) if country.persons is None else country.persons
    land = settle_blocks(taken, parameters.release, persons, country.seed)
    return PreparedCountry(country, parameters, sizes, blocks, land)


def _read_geography(parameters: Parameters, path: Path) -> pa.Table:
    """The blocks of the geography file, judged as `check` does."""
    release, findings = parameters.release, list[Finding]()
    columns = release.columns
    levels = list({level.name: level for run in release.runs for level in run.geography_levels}.values())
    told = release.files.told("geography")
    table = read_block_table(path, columns.block, levels, columns.widths, findings, told)
    if table is not None:
        for run in release.runs:
            geography_of_run(table, run.name, run.only, columns.block, run.geography_levels, findings)
    errors = [finding for finding in findings if finding.is_error]
    if table is None or errors:
        raise InputError(errors)
    return table.columns


def make_own_country(
    prepared: PreparedCountry, folder: str | Path, workers: int | None = None, on_progress: Progress = lambda _: None
) -> CountryFacts:
    """Make a prepared country in a new folder; `on_progress` receives how many more persons have been written."""
    folder, country, parameters = Path(folder), prepared.country, prepared.parameters
    form = RecordForm.of(parameters.release)
    table_format = country.table_format if form.is_text_name else Format.PARQUET
    source = Path(country.geography)
    needed = prepared.persons * table_format.bytes_per_person + BYTES_OF_PARAMETERS
    refuse_folder(folder, needed + (bytes_in(source) if source.is_dir() else source.stat().st_size))
    land = prepared.land
    with all_or_nothing(folder) as unfinished:
        params, data = unfinished / "params", unfinished / "data"
        params.mkdir()
        data.mkdir()
        copy_own(parameters, params)
        _copy_geography(source, prepared.blocks, data, parameters.release.files.geography)
        plan = plan_country(parameters, land.states, country.seed, prepared.sizes, land.lands)
        write_data(plan, Target(data, form, table_format), workers, on_progress)
        size = bytes_in(unfinished)
    return CountryFacts(prepared.persons, len(land.states), False, land.blocks, size)


def _copy_geography(source: Path, blocks: pa.Table, data: Path, name: str) -> None:
    """Copy the geography file as it is, to a name under which the release finds it."""
    if source.is_dir():
        shutil.copytree(source, table_path(data, name, Format.PARQUET))
    elif is_parquet(source):
        shutil.copyfile(source, table_path(data, name, Format.PARQUET))
    elif compression_of(source) == compression_of(Path(name)):
        shutil.copyfile(source, data / name)
    elif compression_of(Path(name)) is None:
        shutil.copyfile(source, data / (name + source.suffix))
    else:
        # The release expects compressed text, and this is plain.
        pq.write_table(blocks, table_path(data, name, Format.PARQUET))
