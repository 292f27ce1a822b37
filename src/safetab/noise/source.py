"""Where random bits come from; no other module of the program draws any.

In: a number of words and their width. Out: that many independent uniform words. The promise of `SystemSource`: the
bits are AES-256 in counter mode under keys from the operating system's entropy, no two threads and no two processes
ever share a key, forked or not, and no setting and no argument can seed it. `BitSource` is the interface that tests
implement with bits of their own. `SeededSourceNotPrivate` is what its name says.

The paper assumes perfect randomness in its base mechanisms (`sec:base-mechansisms`); this module comes as close to it
as a cipher can. See EXACTNESS.md for what remains.
"""

from __future__ import annotations

import hashlib
import os
import threading
from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes
from numpy.typing import NDArray

from safetab.arguments import whole_number
from safetab.errors import Finding, MachineError
from safetab.rules.noise_rules import ENTROPY_IS_HEALTHY

Words = NDArray[np.unsignedinteger[Any]]

KEY_BYTES = 32
NONCE_BYTES = 16
#: A fresh key after this many bytes: 2^24 blocks, which no test tells from random with a gain above 2^-81.
BYTES_PER_KEY = 1 << 28
_PIECE = 1 << 20
_ZEROS = np.zeros(_PIECE, np.uint8)

_forks = 0


def _note_fork() -> None:
    global _forks
    _forks += 1


if hasattr(os, "register_at_fork"):  # there is no fork on Windows
    os.register_at_fork(after_in_child=_note_fork)


class BitSource(ABC):
    """A supply of uniform random bits. `is_private` says whether an outsider can know them."""

    is_private: ClassVar[bool]

    @abstractmethod
    def bits(self, count: int, width: int) -> Words:
        """`count` independent words of `width` uniform bits, 1 <= width <= 64, as unsigned integers."""


class _CipherStream:
    """The key stream of AES-256-CTR: the encryption of zeros."""

    def __init__(self, key: bytes, nonce: bytes) -> None:
        self._encryptor: CipherContext = Cipher(algorithms.AES256(key), modes.CTR(nonce)).encryptor()

    def read(self, size: int) -> NDArray[np.uint8]:
        out = np.empty(size, np.uint8)
        for start in range(0, size, _PIECE):
            piece = out[start : start + _PIECE]
            self._encryptor.update_into(_ZEROS[: piece.size].data, piece.data)
        return out


def _words(raw: NDArray[np.uint8], width: int) -> Words:
    """Bytes as words; the surplus low bits of each word are dropped, so what is left is uniform and fresh."""
    size = _word_bytes(width)
    words: Words = raw.view(f"<u{size}")
    return words if width == 8 * size else words >> np.uint64(8 * size - width).astype(words.dtype)


def _word_bytes(width: int) -> int:
    return next(size for size in (1, 2, 4, 8) if width <= 8 * size)


class SystemSource(BitSource):
    """Operating-system entropy stretched by AES-256-CTR. *Claim*: two readers never see the same stream.

    Each thread has a key of its own, drawn when it first reads. A stream remembers the process it was made in and how
    many forks came before; if either has changed, it is thrown away unread, so a child never continues its parent's
    stream. Keys are replaced after `BYTES_PER_KEY`. Argued in EXACTNESS.md.
    """

    is_private: ClassVar[bool] = True

    def __init__(self) -> None:
        check_health()
        self._local = threading.local()

    def bits(self, count: int, width: int) -> Words:
        size = count * _word_bytes(width)
        return _words(self._stream(size).read(size), width)

    def _stream(self, size: int) -> _CipherStream:
        local = self._local
        home = (os.getpid(), _forks)
        if getattr(local, "home", None) != home or local.left < size:
            material = entropy(KEY_BYTES + NONCE_BYTES)
            # Only a digest is kept to compare the next key with: the key itself stays inside the cipher.
            digest = hashlib.sha256(material).digest()
            if digest == getattr(local, "digest", None):
                raise _unhealthy("the operating system gave the same key twice")
            local.stream = _CipherStream(material[:KEY_BYTES], material[KEY_BYTES:])
            local.digest, local.home, local.left = digest, home, max(BYTES_PER_KEY, size)
        local.left -= size
        stream: _CipherStream = local.stream
        return stream


class SeededSourceNotPrivate(BitSource):
    """Reproducible words for tests and rehearsals. Whoever knows the seed can subtract the noise: NOT PRIVATE."""

    is_private: ClassVar[bool] = False

    def __init__(self, seed: object) -> None:
        number = whole_number(seed, "seed", 0)
        key = hashlib.sha256(b"safetab, not private, seed " + str(number).encode()).digest()
        self._stream = _CipherStream(key, bytes(NONCE_BYTES))
        self._lock = threading.Lock()

    def bits(self, count: int, width: int) -> Words:
        with self._lock:
            return _words(self._stream.read(count * _word_bytes(width)), width)


def entropy(size: int) -> bytes:
    """Bytes from the operating system, refused when they are clearly not random."""
    try:
        drawn = os.urandom(size)
    except (OSError, NotImplementedError) as failure:
        raise _unhealthy("the operating system's entropy cannot be read") from failure
    if len(drawn) != size or len(set(drawn)) < size // 4:
        raise _unhealthy("the operating system's entropy is short or repeats itself")
    return drawn


def check_health() -> None:
    """Raise unless the cipher computes what its standard prints and entropy and stream look alive.

    The known answer is CTR-AES256 of NIST SP 800-38A, F.5.5, first block. The other two checks find a dead device, not
    a clever adversary: two draws of entropy differ, and neighbouring blocks of a fresh stream differ and are not zero.
    """
    key = bytes.fromhex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4")
    plain = bytes.fromhex("6bc1bee22e409f96e93d7e117393172a")
    stream = _CipherStream(key, bytes(range(0xF0, 0x100))).read(16)
    if bytes(stream ^ np.frombuffer(plain, np.uint8)) != bytes.fromhex("601ec313775789a5b7a7f504bbf3d228"):
        raise _unhealthy("AES-256-CTR does not give the answer of its standard")
    material = entropy(KEY_BYTES + NONCE_BYTES)
    if material == entropy(KEY_BYTES + NONCE_BYTES):
        raise _unhealthy("the operating system gave the same key twice")
    one, two = _CipherStream(material[:KEY_BYTES], material[KEY_BYTES:]).read(32).reshape(2, 16)
    if not one.any() or not two.any() or (one == two).all():
        raise _unhealthy("the cipher stream repeats itself")


def _unhealthy(seen: str) -> MachineError:
    return MachineError(Finding(ENTROPY_IS_HEALTHY, "random source", seen=seen), state="No noise was drawn.")
