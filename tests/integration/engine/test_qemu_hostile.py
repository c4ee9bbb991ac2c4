"""A program under qemu can write to what its reader reads: it gets no counts then, and pfmon goes on."""

import os
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from grids import each, few, sampled
from hostile_memory import AT_ONCE, offsets
from qemu_guests import ASSEMBLER, EXAMPLES, QEMU, guest

from pfmon.counting._counting import Tally
from pfmon.engine.qemu.qemu_guest import QemuGuest
from pfmon.errors import LostError, PfmonError
from pfmon.stream._stream import BlockTable, Failure, Ring

pytestmark = [QEMU, ASSEMBLER]

SCRIPT = Path(__file__).resolve().parents[2] / "support" / "hostile_memory.py"


def disturbed(first: int, beyond: int) -> None:
    """Runs that are disturbed in a process of their own: a signal would be its end."""
    words = [sys.executable, SCRIPT, str(first), str(beyond), "qemu"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    assert "refused" in done.stdout


@pytest.mark.slow
def test_words_that_a_program_writes_are_no_harm() -> None:
    disturbed(0, 12)


@pytest.mark.slow
@pytest.mark.parametrize("words", [3_000, pytest.param(10_000, marks=pytest.mark.exhaustive)])
def test_thousands_of_words_are_no_harm(words: int) -> None:
    disturbed(100, 100 + words // AT_ONCE)


def program(totals: bool = False) -> QemuGuest:
    files = (0, os.open(os.devnull, os.O_WRONLY), 2)
    return guest([EXAMPLES / "x86_64" / "fib", "20"], files=files, totals=totals)


def shared(one: QemuGuest) -> tuple[int, int]:
    return one._reader.ring_file, one._reader.area_file


@pytest.mark.parametrize("size", [0, 4096, 1 << 34])
def test_files_in_memory_keep_their_size(size: int) -> None:
    one = program()
    table, ring = BlockTable(), Ring()
    assert table.descriptor is not None and ring.descriptor is not None
    for file in (*shared(one), one.table.descriptor, table.descriptor, ring.descriptor):
        with pytest.raises(PermissionError):
            os.ftruncate(file, size)
    one.close()


def written(one: QemuGuest, place: Callable[[int], int], word: int, name: str = "area") -> Tally:
    """Run a program; a word stands in a place of the shared memory when all has ended but the reader."""
    reader, finish = one._reader, one._reader.finish
    kept = os.dup(shared(one)[name == "area"])

    class Late:
        """The reader, whose memory is written to before it looks at it a last time."""

        def __getattr__(self, wanted: str) -> object:
            return getattr(reader, wanted)

        def finish(self, *words: object) -> None:
            os.pwrite(kept, word.to_bytes(8, "little"), place(kept))
            finish(*words)  # type: ignore[arg-type]

    one._reader = Late()  # type: ignore[assignment]
    tally = Tally(one.table)
    try:
        one.run(tally)
    finally:
        os.close(kept)
        one.close()
    return tally


@sampled(11)
@each("word", [1 << 15, 1 << 22, (1 << 30) + 8, 1 << 31, 1 << 48, (1 << 64) - 1])
@each("member", ["count", "announced", "threads[0].last", "base", "message_length", "trouble"])
def test_last_look_is_careful(member: str, word: int) -> None:
    one = program()
    try:
        tally = written(one, lambda _: offsets()["area"][member], word)
    except PfmonError:
        return
    assert len(one._reader.message) <= 4000
    assert tally.failure or tally.instructions() > 0


@pytest.mark.parametrize("word", [1 << 33, 1 << 62, (1 << 64) - 1])
def test_more_words_than_a_buffer_has_are_none(word: int) -> None:
    with pytest.raises(LostError, match="written into pfmon's memory"):
        written(program(), lambda _: offsets()["area"]["count"], word)


def first_counter(file: int) -> int:
    """Where the first counter of the first block is: behind its announcement, sizes and code (layout.h)."""
    start = offsets()["area"]["bytes"]
    code, length = struct.unpack("=IH", os.pread(file, 6, start + offsets()["announcement"]["bytes"]))
    return start + (offsets()["announcement"]["all"] + length + code + 7) // 8 * 8


@pytest.mark.parametrize("word", [(1 << 48) + 1, 1 << 63])
def test_counter_that_cannot_be_is_refused(word: int) -> None:
    assert written(program(totals=True), first_counter, word).failure == Failure.BAD_STREAM
    assert written(program(totals=True), first_counter, 5).failure == Failure.NO_FAILURE


@each("word", [0, 8, 0x4141414141414141])
@each("totals", [False, True])
def test_last_block_that_was_not_announced_is_refused(totals: bool, word: int) -> None:
    with pytest.raises(LostError, match="written into pfmon's memory"):
        written(program(totals=totals), lambda _: offsets()["area"]["threads[0].last"], word)


def test_end_without_a_call_of_exit_is_refused() -> None:
    with pytest.raises(LostError, match="qemu ended with exit status 0 while the program ran"):
        written(program(), lambda _: offsets()["area"]["status"], 0)


def test_end_that_pfmon_did_not_request_is_refused() -> None:
    """The plugin ends the program at the next buffer, as at the end of a run."""
    one = program()
    os.pwrite(shared(one)[1], (1).to_bytes(4, "little"), offsets()["area"]["stopping"])
    with pytest.raises(LostError, match="written into pfmon's memory"):
        one.run(Tally(one.table))
    one.close()


def test_counters_in_a_stream_are_refused() -> None:
    """The plugin makes none there: the runs of their blocks would be missing from the counts."""
    one = program()
    os.pwrite(shared(one)[1], (1).to_bytes(4, "little"), offsets()["area"]["totals"])
    with pytest.raises(LostError, match="written into pfmon's memory"):
        one.run(Tally(one.table))
    one.close()


OVERWRITES = """
import ctypes, signal, sys
if "handles" in sys.argv:
    signal.signal(signal.SIGSEGV, lambda *_: None)
with open("/proc/thread-self/maps") as maps:  # qemu shows the program another /proc/self/maps
    start = next(int(line.split("-")[0], 16) for line in maps if "pfmon announcements" in line and "rw-s" in line)
ctypes.c_uint64.from_address(start + int(sys.argv[1])).value = int(sys.argv[2])
print("goes on")
"""


HANDLES, STREAM = ("handles",), ("--long-smpl-periods=1000000", "--smpl-outfile=/dev/null")


@pytest.mark.slow
@pytest.mark.parametrize(("handles", "sampled"), few([((), ()), (HANDLES, ()), ((), STREAM), (HANDLES, STREAM)], 2))
def test_program_that_overwrites_its_last_block_has_no_counts(
    handles: tuple[str, ...], sampled: tuple[str, ...]
) -> None:
    place = str(offsets()["area"]["threads[0].last"])
    program = [sys.executable, "-S", "-c", OVERWRITES, place, "8", *handles]
    words = [sys.executable, "-m", "pfmon", "--engine=qemu", "-e", "INSTRUCTIONS_RETIRED", *sampled, *program]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (125, "")
    assert done.stderr == f"pfmon: {sys.executable}: cannot be counted: it has written into pfmon's memory\n"


def test_undisturbed_run_is_counted() -> None:
    one = program()
    tally = Tally(one.table)
    assert one.run(tally) is not None
    assert not tally.failure and not one._reader.damaged and tally.instructions() == one.retired > 0
    one.close()
