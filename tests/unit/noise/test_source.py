"""The random source: fresh under fork and threads, unseedable, and loud when the machine is broken."""

from __future__ import annotations

import ast
import copy
import inspect
import os
import pickle
import threading
from typing import Any
from unittest import mock

import numpy as np
import pytest

from safetab.errors import MachineError
from safetab.noise import source
from safetab.noise.source import SeededSourceNotPrivate, SystemSource

WIDTHS = [1, 2, 3, 8, 13, 16, 17, 32, 33, 48, 63, 64]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("made", [SystemSource(), SeededSourceNotPrivate(5)], ids=["system", "seeded"])
def test_words_have_their_width_and_use_all_of_it(made: source.BitSource, width: int) -> None:
    """4,000 words: a bit that never moves would have a chance of 2^-3999."""
    words = made.bits(4000, width).astype(np.uint64)
    assert words.shape == (4000,)
    assert int(words.max()) < 2**width
    assert int(np.bitwise_or.reduce(words)) == 2**width - 1
    assert int(np.bitwise_and.reduce(words)) == 0


def test_no_words_are_no_trouble() -> None:
    assert SystemSource().bits(0, 16).size == 0


def test_a_long_read_is_one_stream() -> None:
    """Reads longer than the internal piece do not repeat it."""
    words = SystemSource().bits(1 << 19, 64)
    assert np.unique(words).size == words.size


def read_in_child(made: SystemSource) -> bytes:
    """64 bytes that a forked child reads from `made`."""
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(send, made.bits(8, 64).tobytes())
        os._exit(0)
    os.waitpid(child, 0)
    got = os.read(receive, 64)
    os.close(receive)
    os.close(send)
    return got


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_parent_and_children_have_streams_of_their_own() -> None:
    made = SystemSource()
    made.bits(1, 64)
    reads = [read_in_child(made) for _ in range(3)]
    reads += [made.bits(8, 64).tobytes() for _ in range(2)]
    words = np.frombuffer(b"".join(reads), np.uint64)
    assert np.unique(words).size == words.size == 40


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_the_process_number_alone_protects_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the fork hook had not run: the child's number differs from the one its stream was made under."""
    made = SystemSource()
    made.bits(1, 64)
    monkeypatch.setattr(source, "_note_fork", lambda: None)
    stream = made._local.stream
    monkeypatch.setattr(os, "getpid", lambda: -1)
    made.bits(1, 64)
    assert made._local.stream is not stream


def test_the_fork_count_alone_protects_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a grandchild had been given its grandparent's process number."""
    made = SystemSource()
    made.bits(1, 64)
    stream = made._local.stream
    monkeypatch.setattr(source, "_forks", source._forks + 1)
    made.bits(1, 64)
    assert made._local.stream is not stream


def test_threads_have_streams_of_their_own() -> None:
    made = SystemSource()
    reads: list[bytes] = []

    def work() -> None:
        for _ in range(50):
            reads.append(made.bits(64, 64).tobytes())  # noqa: PERF401 - the reads are meant to interleave

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    words = np.frombuffer(b"".join(reads), np.uint64)
    assert np.unique(words).size == words.size == 8 * 50 * 64


def test_two_sources_and_a_copy_share_nothing() -> None:
    one = SystemSource()
    reads = [part.bits(64, 64) for part in (one, SystemSource(), one, copy.copy(one))]
    assert np.unique(np.concatenate(reads)).size == 256
    with pytest.raises(TypeError):
        pickle.dumps(one)


def test_a_key_serves_a_bounded_number_of_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "BYTES_PER_KEY", 1024)
    made = SystemSource()
    made.bits(64, 64)
    first = made._local.stream
    made.bits(64, 64)
    assert made._local.stream is first
    made.bits(1, 8)
    assert made._local.stream is not first
    made.bits(4096, 8)  # longer than a key's due: a key of its own
    assert made._local.left == 0


def test_nothing_can_seed_the_system_source() -> None:
    assert list(inspect.signature(SystemSource).parameters) == []
    reads_settings = {"environ", "getenv"}
    names = {node.attr for node in ast.walk(ast.parse(inspect.getsource(source))) if isinstance(node, ast.Attribute)}
    assert not names & reads_settings


def test_what_is_private_says_so() -> None:
    assert SystemSource.is_private
    assert not SeededSourceNotPrivate.is_private


def test_a_seed_repeats_and_another_does_not() -> None:
    one, two, other = (SeededSourceNotPrivate(seed).bits(100, 64) for seed in (7, 7, 8))
    assert (one == two).all()
    assert not (one == other).any()
    assert list(SeededSourceNotPrivate(0).bits(2, 16)) == [15718, 29030]


@pytest.mark.parametrize("bad", [0.5, "7", None, True])
def test_a_seed_is_a_whole_number(bad: Any) -> None:
    with pytest.raises(TypeError, match=r"^seed is .*: pass a whole number \(an int\), 0 or more"):
        SeededSourceNotPrivate(bad)
    with pytest.raises(ValueError, match=r"^seed is -1: pass a whole number"):
        SeededSourceNotPrivate(-1)


def test_the_stream_is_the_cipher_of_its_standard() -> None:
    """NIST SP 800-38A, F.5.5, all four blocks."""
    key = bytes.fromhex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4")
    plain = bytes.fromhex(
        "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
        "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710"
    )
    expected = (
        "601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5"
        "2b0930daa23de94ce87017ba2d84988ddfc9c58db67aada613c2dd08457941a6"
    )
    stream = source._CipherStream(key, bytes(range(0xF0, 0x100))).read(64)
    assert bytes(a ^ b for a, b in zip(stream.tobytes(), plain, strict=True)).hex() == expected


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(lambda size: bytes(size), id="zeros"),
        pytest.param(lambda size: bytes(range(size)), id="the same twice"),
        pytest.param(lambda size: bytes(range(size // 2)), id="short"),
        pytest.param(mock.Mock(side_effect=OSError), id="unreadable"),
        pytest.param(mock.Mock(side_effect=NotImplementedError), id="absent"),
    ],
)
def test_a_broken_device_is_noticed_at_the_start(broken: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "urandom", broken)
    with pytest.raises(MachineError, match="NOISE-005"):
        SystemSource()


def test_a_device_that_breaks_later_is_noticed_at_the_next_key(monkeypatch: pytest.MonkeyPatch) -> None:
    made = SystemSource()
    monkeypatch.setattr(source, "BYTES_PER_KEY", 16)
    monkeypatch.setattr(os, "urandom", lambda size: bytes(range(size)))
    made.bits(2, 64)
    with pytest.raises(MachineError, match="same key twice"):
        made.bits(2, 64)


def test_a_broken_cipher_is_noticed_at_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source._CipherStream, "read", lambda _self, size: np.zeros(size, np.uint8))
    with pytest.raises(MachineError, match="does not give the answer"):
        SystemSource()
