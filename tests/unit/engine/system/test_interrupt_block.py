"""The processor's interrupt block (volume 2, 5.8.4)."""

import pytest
from fake_processor import FakeProcessor

from pfmon.engine.ia64._ia64 import AddressSpace
from pfmon.engine.ia64.system.devices.interrupt_block import InterruptBlock

LID = 64
PROCESSOR_2_3 = 2 << 24 | 3 << 16


@pytest.fixture
def processor() -> FakeProcessor:
    made = FakeProcessor([], AddressSpace())
    made.control[LID] = PROCESSOR_2_3
    return made


def address(id_: int, eid: int) -> int:
    return id_ << 12 | eid << 4


MESSAGES = [
    ("a vector", address(2, 3), 8, 0xEF, [0xEF]),
    ("the lowest vector", address(2, 3), 8, 16, [16]),
    ("no vector", address(2, 3), 8, 15, []),
    ("NMI, whose vector is ignored", address(2, 3), 8, 0x4EF, [2]),
    ("an external controller's", address(2, 3), 8, 0x7EF, [0]),
    ("a Platform Management Interrupt", address(2, 3), 8, 0x2EF, []),
    ("INIT", address(2, 3), 8, 0x5EF, []),
    ("another id", address(3, 3), 8, 0xEF, []),
    ("another eid", address(2, 2), 8, 0xEF, []),
    ("the redirection bit", address(2, 3) | 8, 8, 0xEF, [0xEF]),
    ("four bytes", address(2, 3), 4, 0xEF, []),
    ("the upper half", 1 << 20 | address(2, 3), 8, 0xEF, []),
    ("bits that are ignored", address(2, 3), 8, (1 << 64) - 0x1_0000 | 0x08EF, [0xEF]),
]


@pytest.mark.parametrize(
    ("offset", "size", "value", "arrived"), [row[1:] for row in MESSAGES], ids=[row[0] for row in MESSAGES]
)
def test_message_arrives_if_it_is_for_the_processor(
    processor: FakeProcessor, offset: int, size: int, value: int, arrived: list[int]
) -> None:
    InterruptBlock([processor]).write(offset, size, value)
    assert processor.interrupts == arrived


def test_task_priority_is_a_byte(processor: FakeProcessor) -> None:
    block = InterruptBlock([processor])
    block.write(0x1E0008, 1, 0x1FF)
    assert block.read(0x1E0008, 1) == 0xFF
    assert block.read(0x1E0000, 1) == 0
    assert processor.interrupts == []
