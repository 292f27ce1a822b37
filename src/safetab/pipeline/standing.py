"""Where a tabulation stands with its budget, for the message about a failure.

In: what the tabulation has done so far. Out: a state that every error out of the block reports. Promise: before the
spending is entered an error says that nothing was spent; from then on it says that the spending counts, and why.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from safetab.errors import COUNTED, NOT_COUNTED, PUBLISHED, UNCOUNTED, UNSPENT, tell_state
from safetab.pipeline.registry import Registry
from safetab.pipeline.workspace import Workspace


class Standing:
    """How far a tabulation has come, as far as its budget is concerned."""

    def __init__(self, registry: Registry | None, *, is_private: bool) -> None:
        self.registry, self._is_private = registry, is_private
        self.may_draw = False
        self.space: Workspace | None = None

    @property
    def state(self) -> str:
        """What an error that comes now has to say."""
        if self.space is not None and self.space.is_published:
            return PUBLISHED
        if self.registry is not None:
            return COUNTED if self.registry.has_entered else UNSPENT
        if not self.may_draw:
            return UNSPENT
        return UNCOUNTED if self._is_private else NOT_COUNTED

    @contextmanager
    def told_by_errors(self) -> Iterator[None]:
        """Every error that leaves this block says the state."""
        try:
            yield
        except BaseException as error:
            tell_state(error, self.state)
            raise
