"""The initial stack, read back as a program's start-up code reads it."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pfmon.errors import PfmonError
from pfmon.program import initial_stack

TOP = 0x60000FFFFFFFC000
strings = st.lists(st.binary(max_size=30).map(lambda s: s.replace(b"\0", b"?")), max_size=8)
words = st.lists(st.tuples(st.integers(32, 1 << 40), st.integers(0, (1 << 64) - 1)), max_size=20)


def word(s: initial_stack.InitialStack, address: int) -> int:
    return int(struct.unpack_from("<Q", s.data, address - s.address)[0])


def string(s: initial_stack.InitialStack, address: int) -> bytes:
    start = address - s.address
    return s.data[start : s.data.index(b"\0", start)]


@pytest.mark.slow
@given(strings, strings, words)
def test_program_finds_arguments_environment_and_auxiliary_vector(
    arguments: list[bytes], environment: list[bytes], auxiliary: list[tuple[int, int]]
) -> None:
    s = initial_stack.build(TOP, arguments, environment, auxiliary, b"./program", b"0123456789abcdef")
    assert s.pointer % 16 == 0
    assert s.address == s.pointer + 16  # 16 bytes of scratch area belong to whoever is called
    assert s.address + len(s.data) == TOP
    at = s.address
    argc = word(s, at)
    at += 8
    assert argc == len(arguments)
    assert [string(s, word(s, at + 8 * i)) for i in range(argc)] == arguments
    at += 8 * argc
    assert word(s, at) == 0
    at += 8
    found = []
    while word(s, at):
        found.append(string(s, word(s, at)))
        at += 8
    assert found == environment
    at += 8
    vector = []
    while word(s, at) != initial_stack.AT_NULL:
        vector.append((word(s, at), word(s, at + 8)))
        at += 16
    assert vector[: len(auxiliary)] == auxiliary
    extra = dict(vector[len(auxiliary) :])
    assert string(s, extra[initial_stack.AT_EXECFN]) == b"./program"
    random = extra[initial_stack.AT_RANDOM] - s.address
    assert s.data[random : random + 16] == b"0123456789abcdef"
    assert extra[initial_stack.AT_RANDOM] % 16 == 0


def test_too_many_arguments_are_refused() -> None:
    with pytest.raises(PfmonError, match="larger than 2 MB"):
        initial_stack.build(TOP, [b"x" * (1 << 21)], [], [], b"p", bytes(16))
