"""The block table: what is entered is read back, in this process and in others; what does not fit is said."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from example_counts import examples
from guests import guest, quiet
from hypothesis import given
from hypothesis import strategies as st
from tables import PARTS_BANK, blocks, record

from pfmon.stream._stream import AccessKind, BlockTable, Consumer, Cut, Failure, InstructionSet, Ring
from pfmon.stream.recording.block_records import BlockRecord, InstructionRecord


@pytest.mark.slow
@examples(30)
@given(st.lists(blocks(), min_size=1, max_size=20), st.sampled_from(list(InstructionSet)))
def test_blocks_are_read_back_as_they_were_entered(entered: Sequence[BlockRecord], instruction_set: int) -> None:
    table = BlockTable(instruction_set, payload_bytes=4)
    assert table.instruction_set == instruction_set and len(table) == 0
    for number, one in enumerate(entered):
        assert table.enter(one) == number
        assert table.block(number) == one._replace(number=number, whole=number)
    # None of them moved or changed when others came.
    assert [table.block(number) for number in table.numbers()] == [
        one._replace(number=number, whole=number) for number, one in enumerate(entered)
    ]
    assert len(table) == len(entered) and table.failure == Failure.NO_FAILURE


@pytest.mark.slow
@examples(20)
@given(st.lists(st.tuples(blocks(), st.booleans()), min_size=1, max_size=20))
def test_parts_that_a_reader_makes_have_numbers_of_their_own(entered: Sequence[tuple[BlockRecord, bool]]) -> None:
    table = BlockTable(payload_bytes=4)
    expected: dict[int, BlockRecord] = {}
    for one, is_part in entered:
        before = sum((number >= PARTS_BANK) == is_part for number in expected)
        number = table.enter(one, int(is_part))
        assert number == before + PARTS_BANK * is_part
        expected[number] = one._replace(number=number, whole=number)
    assert table.numbers() == sorted(expected)
    assert {number: table.block(number) for number in table.numbers()} == expected
    assert len(table) == sum(not is_part for _, is_part in entered)


def test_numbers_that_no_block_has_are_refused() -> None:
    table = BlockTable(payload_bytes=4)
    table.enter(record(3))
    for number in (1, PARTS_BANK - 1, PARTS_BANK, 2 * PARTS_BANK, 2**32 - 1, 2**64 - 1):
        with pytest.raises(IndexError, match=f"no block {number}"):
            table.block(number)
    for bank in (2, 1000):
        with pytest.raises(IndexError, match=f"no bank {bank}"):
            table.enter(record(3), bank)
    with pytest.raises(ValueError, match="4 bytes"):
        table.enter(record(2, payload=b"12345"))
    assert len(table) == 1


@pytest.mark.parametrize("bank", [0, 1])
def test_a_table_that_is_full_says_so(bank: int) -> None:
    table = BlockTable(payload_bytes=4, capacity=5)
    for _ in range(5):
        table.enter(record(1), bank)
    with pytest.raises(MemoryError, match="TOO_MANY_BLOCKS"):
        table.enter(record(1), bank)
    assert table.failure == Failure.TOO_MANY_BLOCKS
    # The failure stays, though the other bank has room.
    assert table.enter(record(1), 1 - bank) == PARTS_BANK * (1 - bank)
    assert table.failure == Failure.TOO_MANY_BLOCKS
    assert len(table.numbers()) == 6


def test_room_for_instructions_ends_too() -> None:
    table = BlockTable(capacity=4)
    for _ in range(2):
        table.enter(record(16, payload=b""))
    with pytest.raises(MemoryError, match="TOO_MANY_BLOCKS"):
        table.enter(record(1, payload=b""))
    assert table.failure == Failure.TOO_MANY_BLOCKS and len(table) == 2


def gather(accesses: int) -> InstructionRecord:
    """An instruction with as many read accesses, at least two."""
    second = AccessKind.READ | accesses - 2 << 3
    return InstructionRecord(0x4000, 0, 0, 8, 16, None, AccessKind.READ, 0, 3, b"\1\2\3\4", second)


def test_instruction_makes_up_to_sixteen_accesses() -> None:
    table = BlockTable(payload_bytes=4)
    for number, accesses in enumerate((2, 3, 16)):
        entered = BlockRecord(number, 0x4000, (gather(accesses), gather(2)), Cut.WHOLE, number, 0)
        assert table.enter(entered) == number
        assert table.block(number) == entered


def test_block_makes_240_accesses_beyond_two_an_instruction() -> None:
    table = BlockTable(payload_bytes=4)
    most = tuple(gather(16) for _ in range(17))
    assert table.enter(BlockRecord(0, 0x4000, (*most, gather(4)), Cut.WHOLE, 0, 0)) == 0
    with pytest.raises(ValueError, match="accesses"):
        table.enter(BlockRecord(0, 0x4000, (*most, gather(5)), Cut.WHOLE, 0, 0))


def test_blocks_longer_than_their_instructions_can_be_named_are_refused() -> None:
    table = BlockTable(payload_bytes=4)
    for length in (0, 256):
        with pytest.raises(ValueError, match="1 to 255 instructions"):
            table.enter(record(length))
    assert table.enter(record(255)) == 0


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]), int(sys.argv[1])))
from pfmon.stream._stream import BlockTable
from tables import record
try:
    table = BlockTable(payload_bytes=4)
except MemoryError as error:
    print(error)
else:
    print([table.enter(record(5)) for _ in range(3)], table.enter(record(1), 1))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("gibibytes", "said"),
    [(3, "[0, 1, 2] 8388608"), (1.75, "[0, 1, 2] 8388608"), (0.5, "[0, 1, 2] 8388608")],
)
def test_a_table_takes_what_address_space_there_is(gibibytes: float, said: str) -> None:
    code, paths = LIMITED, ":".join(path for path in sys.path if path)
    words = [sys.executable, "-c", code, str(int(gibibytes * 2**30))]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False, env={"PYTHONPATH": paths})
    assert done.stdout.startswith(said), done.stderr


# --- other processes

CHILD = """
import sys
from pfmon.stream._stream import BlockTable
table = BlockTable(attach=int(sys.argv[1]))
print(int(table.instruction_set))
for number in table.numbers():
    print(table.block(number))
"""


def child(code: str, descriptor: int) -> "subprocess.CompletedProcess[str]":
    """What another Python makes of a descriptor."""
    words = [sys.executable, "-c", code, str(descriptor)]
    return subprocess.run(words, pass_fds=[descriptor], capture_output=True, text=True, timeout=60, check=False)


def test_another_process_reads_the_same_blocks() -> None:
    program = guest("fib", ["5"])
    with quiet():
        program.run(Consumer())
    program.close()
    table = program.table
    table.enter(table.block(3)._replace(cut=Cut.PART), 1)
    done = child(CHILD, table.descriptor)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["1", *(str(table.block(number)) for number in table.numbers())]
    assert len(table) > 20


def test_a_reader_sees_blocks_that_come_after_it_attached() -> None:
    table = BlockTable(payload_bytes=4)
    reader = BlockTable(attach=table.descriptor)
    for number in range(3000):
        table.enter(record(1 + number % 7))
        assert reader.block(number) == table.block(number)
    assert reader.numbers() == table.numbers()


def test_a_writer_in_another_process_fills_the_table() -> None:
    table = BlockTable(payload_bytes=4)
    kept = table.descriptor
    pid = os.fork()
    if not pid:
        other = BlockTable(attach=kept)
        for length in range(1, 100):
            other.enter(record(length))
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    for number in range(99):
        assert table.block(number) == record(number + 1)._replace(number=number, whole=number)


def refusals(tmp_path: Path) -> list[tuple[int, type[Exception]]]:
    """Descriptors of other things, and what they are refused with."""
    table, ring = BlockTable(payload_bytes=4), Ring()
    head = os.pread(table.descriptor, 4096, 0)
    found: list[tuple[int, type[Exception]]] = [
        (10_000, OSError),
        (os.pipe()[0], OSError),
        (os.dup(ring.descriptor), ValueError),
    ]
    contents = {
        "empty": b"",
        "short": head[:40],
        "other": b"x" * 5000,
        "version": head[:8] + b"\xff" + head[9:],
        "nothing behind the header": head,
        "capacity": head[:24] + b"\xff" * 8 + head[32:],
        "payload": head[:16] + b"\xff" * 4 + head[20:],
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
        found.append((os.open(tmp_path / name, os.O_RDWR), ValueError))
    return found


def test_descriptors_of_other_things_are_refused(tmp_path: Path) -> None:
    cases = refusals(tmp_path)
    before = sorted(path.name for path in Path("/proc/self/fd").iterdir())
    for descriptor, error in cases:
        with pytest.raises(error):
            BlockTable(attach=descriptor)
    # The caller's stay open, those of the tables do not.
    assert sorted(path.name for path in Path("/proc/self/fd").iterdir()) == before
    assert (tmp_path / "short").stat().st_size == 40, "a file that is refused is left as it is"
