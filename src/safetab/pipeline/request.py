"""What a caller asks of a tabulation, judged before any file is read.

In: the arguments of `tabulate`. Out: a frozen `Request`. Promise: a request that has no meaning, that would protect
nobody without saying so, or that would overwrite or publish an input, is refused here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from safetab.engines.choice import EngineChoice
from safetab.engines.layout import is_address
from safetab.errors import Finding, UsageError
from safetab.files.memory import MemoryTable
from safetab.files.seals import SigningKey
from safetab.noise.source import BitSource, SystemSource
from safetab.pipeline.measure import Gate
from safetab.pipeline.sources import DataSources
from safetab.pipeline.workspace import refuse_output
from safetab.rules import output_rules

#: Makes the gate of one run, given the source of randomness; None means that noise is off.
MakeGate = Callable[[BitSource | None], Gate]


@dataclass(frozen=True, slots=True)
class Request:
    """One tabulation that may begin."""

    params: Path
    data: DataSources
    out: Path
    engine: EngineChoice
    overwrite: bool
    registry: Path | None
    spend_again: bool
    #: None: noise is off.
    source: BitSource | None
    make_gate: MakeGate
    #: Where the key is that signs the ledger, and the key; None: the release is not signed.
    sign: Path | None = None
    signing_key: SigningKey | None = None

    def __post_init__(self) -> None:
        if self.registry is not None and not self.is_private:
            raise UsageError(Finding(output_rules.NOT_PRIVATE_IN_REGISTRY, str(self.registry)))
        if isinstance(self.data.records, str) and is_address(self.data.records) and not self.engine.reads_addresses:
            raise UsageError(Finding(output_rules.FOR_SPARK, "engine duckdb"))
        if isinstance(self.data.records, MemoryTable) and not self.engine.reads_memory:
            raise UsageError(Finding(output_rules.NOT_FOR_SPARK, self.data.records.name))
        refuse_output(self.out, overwrite=self.overwrite)
        self._refuse_inputs_in_output((self.params, *self.data.places(), self.registry, self.sign))

    @property
    def is_private(self) -> bool:
        """Whether the output protects people: fresh noise of the system's, through the gate itself."""
        return self.source is not None and self.source.is_private and self.make_gate is Gate

    def _refuse_inputs_in_output(self, places: Iterable[str | Path | None]) -> None:
        """Raise where what must stay is in the folder that is replaced and published."""
        out = self.out.resolve()
        for place in places:
            if place is not None and not is_address(str(place)) and Path(place).resolve().is_relative_to(out):
                raise UsageError(Finding(output_rules.OUTPUT_HOLDS_INPUT, str(self.out)))


def source_of_noise(*, noise: bool, source: object, make_gate: MakeGate, not_private: bool) -> BitSource | None:
    """The source of randomness; None where noise is off. Anything but private noise must be asked for by name."""
    if not isinstance(source, BitSource | None):
        raise TypeError(f"source is of type {type(source).__name__}: it must be a BitSource.")
    if not callable(make_gate):
        raise TypeError(f"gate is of type {type(make_gate).__name__}: it must be a function that makes a Gate.")
    is_private = noise and (source is None or source.is_private) and make_gate is Gate
    if not is_private and not not_private:
        raise UsageError(Finding(output_rules.NOT_PRIVATE, "tabulate"))
    if not noise:
        return None
    return SystemSource() if source is None else source
