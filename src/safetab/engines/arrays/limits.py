"""How much array counting holds at a time.

In: nothing. Out: a frozen `Limits`. Promise: counts do not depend on the limits; memory and time do.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes that bound memory, whatever the size of the country."""

    #: People who are sorted and folded together.
    people_of_piece: int = 4_000_000
    #: People of all parts who wait to be folded: eight bytes each.
    people_waiting: int = 24_000_000
    #: Blocks of one part, roughly: a part is some neighbouring block sets, so about as many people as a piece.
    blocks_of_part: int = 100_000
    #: Bytes of kept arrays in memory; what comes on top of that is in files.
    bytes_in_memory: int = 400 << 20
    #: Entries of a dense table of eight bytes each.
    table_entries: int = 4_000_000
    #: Folded rows that are put into iterations at a time.
    rows_at_a_time: int = 200_000
