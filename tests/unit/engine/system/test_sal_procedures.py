"""SAL's procedures (SAL specification, chapter 9)."""

import pytest
from firmware_callers import Memory, called

from pfmon.engine.ia64.system.firmware.sal_procedures import Handler, Sal

FIRST = 0x0100_0000
SET_VECTORS = FIRST
BUFFER = 0x1000


@pytest.fixture
def sal() -> Sal:
    return Sal(400)


def call(sal: Sal, index: int, *arguments: int) -> tuple[int, ...]:
    memory = Memory()
    results = called(sal.call([index, *arguments, *[0] * (7 - len(arguments))]), memory)
    assert not memory.accesses
    return results


CALLS = [
    ("GET_STATE_INFO of machine checks", 1, (0, 0, BUFFER), (-5,)),
    ("GET_STATE_INFO of what is no event", 1, (4, 0, BUFFER), (-2,)),
    ("GET_STATE_INFO_SIZE", 2, (2,), (0, 1024)),
    ("GET_STATE_INFO_SIZE of what is no event", 2, (4,), (-2,)),
    ("CLEAR_STATE_INFO", 3, (1,), (-5,)),
    ("CLEAR_STATE_INFO of what is no event", 3, (9,), (-2,)),
    ("MC_RENDEZ", 4, (), (-3,)),
    ("MC_SET_PARAMS of the rendezvous", 5, (1, 1, 0xE8, 1000), (0,)),
    ("MC_SET_PARAMS of nothing", 5, (0,), (-2,)),
    ("REGISTER_PHYSICAL_ADDR of PAL", 6, (0, 1 << 20), (0,)),
    ("REGISTER_PHYSICAL_ADDR of nothing", 6, (1, 1 << 20), (-2,)),
    ("CACHE_FLUSH of all", 8, (3,), (0,)),
    ("CACHE_FLUSH of none", 8, (0,), (-2,)),
    ("CACHE_INIT", 9, (), (0,)),
    ("PCI_CONFIG_READ of a byte", 0x10, (0, 1), (0, 0xFF)),
    ("PCI_CONFIG_READ of four bytes", 0x10, (0, 4), (0, 0xFFFF_FFFF)),
    ("PCI_CONFIG_READ of eight bytes", 0x10, (0, 8), (-2,)),
    ("PCI_CONFIG_WRITE", 0x11, (0, 2, 0), (0,)),
    ("PCI_CONFIG_WRITE of three bytes", 0x11, (0, 3, 0), (-2,)),
    ("FREQ_BASE of the platform", 0x12, (0,), (0, 400_000_000, 0)),
    ("FREQ_BASE of the clock", 0x12, (2,), (-1,)),
    ("FREQ_BASE of nothing", 0x12, (3,), (-2,)),
    ("UPDATE_PAL", 0x20, (BUFFER,), (-3, 0, 0)),
    ("PHYSICAL_ID_INFO", 0x13, (), (-1,)),
    ("no procedure", 0xFFFF, (), (-1,)),
]


@pytest.mark.parametrize(("index", "arguments", "results"), [row[1:] for row in CALLS], ids=[row[0] for row in CALLS])
def test_procedure_answers(sal: Sal, index: int, arguments: tuple[int, ...], results: tuple[int, ...]) -> None:
    assert call(sal, FIRST + index, *arguments) == results


def test_rendezvous_is_kept(sal: Sal) -> None:
    assert sal.rendezvous is None
    assert call(sal, SET_VECTORS, 2, 0x400_0000, 0x500_0000, 0) == (0,)
    assert sal.rendezvous == Handler(0x400_0000, 0x500_0000)
    assert call(sal, SET_VECTORS, 2, 0, 0, 0) == (0,)
    assert sal.rendezvous is None


@pytest.mark.parametrize("arguments", [(3, 0x400_0000), (2, 0x400_0001)])
def test_bad_vector_is_refused(sal: Sal, arguments: tuple[int, int]) -> None:
    assert call(sal, SET_VECTORS, *arguments) == (-2,)
    assert not sal.handlers
