"""The same noise in every run of the quick profile, so that a change is green or red because of the change.

In: the name of a test or of a fixture that several tests share. Out: `os.urandom` gives bytes that follow from that
name, in the process of the tests alone. Commands that tests start, children that they fork, and the whole long profile
draw from the operating system: they must work with every noise there is.
"""

from __future__ import annotations

import os
import random
import threading


class SteadyEntropy:
    """Stands in place of `os.urandom` and starts again at each test."""

    def __init__(self) -> None:
        self._home = os.getpid()
        self._real = os.urandom
        self._lock = threading.Lock()
        self._stream = random.Random("before the first test")

    def start(self, name: str) -> None:
        """From now on the bytes follow from this name."""
        with self._lock:
            self._stream = random.Random(name)

    def __call__(self, size: int, /) -> bytes:
        # A forked child must not repeat what its parent drew.
        if os.getpid() != self._home:
            return self._real(size)
        with self._lock:
            return self._stream.randbytes(size)
