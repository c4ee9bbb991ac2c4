"""The ring between two processes: the same words, in the same order, whoever waits for whom."""

import os
import random
from collections.abc import Callable

import pytest
from grids import first_quick
from guests import SMALL, guest, quiet
from tables import record, some_words

from pfmon.counting._counting import Tally
from pfmon.stream._stream import BlockTable, Consumer, Failure, Pipe, Recorder, Ring, RingWriter

SLOT_WORDS = 1 << 15


def in_a_child(act: Callable[[], None]) -> int:
    """The process that does it; it ends with status 0 when nothing was raised."""
    pid = os.fork()
    if not pid:
        status = 1
        try:
            act()
            status = 0
        finally:
            os._exit(status)
    return pid


def pieces(words: list[int], pick: random.Random, most: int) -> list[Recorder]:
    """The words in pieces of random lengths."""
    found = []
    at = 0
    while at < len(words):
        length = pick.choice((1, pick.randrange(1, most + 1), most))
        found.append(Recorder())
        found[-1].load(words[at : at + length])
        at += length
    return found


@pytest.mark.parametrize("most", first_quick([1, 100, SLOT_WORDS]))
def test_a_reader_gets_what_another_process_writes(most: int) -> None:
    pick = random.Random(most)
    words = [pick.getrandbits(64) for _ in range(3000 if most == 1 else 20 * SLOT_WORDS)]
    parts = pieces(words, pick, most)
    ring = Ring()

    def write() -> None:
        attached = Ring(ring.descriptor)
        writer = RingWriter(attached)
        for number, part in enumerate(parts):
            part.replay(writer)
            if number % 50 == 7:
                attached.drain()
        attached.finish()

    child = in_a_child(write)
    found = Recorder()
    ring.read_into(found)
    assert os.waitpid(child, 0)[1] == 0
    assert found.words() == words
    assert ring.failure == Failure.NO_FAILURE


def test_a_program_runs_in_another_process_and_is_counted_in_this_one() -> None:
    ring, program = Ring(), guest("sort", SMALL["sort"])
    table, kept = program.table, BlockTable(attach=program.table.descriptor)

    def write() -> None:
        with quiet():
            program.run(RingWriter(ring))
        ring.finish()

    child = in_a_child(write)
    tally = Tally(kept)
    ring.read_into(tally)
    assert os.waitpid(child, 0)[1] == 0
    here = Tally(table)
    with quiet():
        program.run(here)
    program.close()
    assert tally.instructions() == here.instructions() == program.retired
    assert by_code(tally, kept) == by_code(here, table)


def by_code(tally: Tally, table: BlockTable) -> list[tuple[object, ...]]:
    """The marks by the code of their block: each process gives its blocks numbers of their own."""
    found: list[tuple[object, ...]] = []
    for site in tally.sites_of_marks():
        block = None if site.block is None else table.block(site.block)
        found.append((block and (block.ip, block.cut, len(block.instructions)), *site[1:]))
    return sorted(found, key=repr)


def test_an_empty_stream_ends() -> None:
    ring = Ring()
    ring.finish()
    found = Recorder()
    ring.read_into(found)
    assert found.words() == []


@pytest.mark.parametrize("threaded", [False, True])
def test_a_piece_larger_than_a_slot_is_a_failure_of_the_ring(threaded: bool) -> None:
    table = BlockTable(payload_bytes=4)
    table.enter(record(2))
    fits, too_large = Recorder(), Recorder()
    fits.load([0] * SLOT_WORDS)
    too_large.load([0] * (SLOT_WORDS + 1))
    tally = Tally(table)
    with Pipe(tally, threaded=threaded) as pipe:
        fits.replay(pipe)
        assert pipe.failure == Failure.NO_FAILURE
        too_large.replay(pipe)
        fits.replay(pipe)
    # Without a ring there is nothing that it does not fit into.
    assert pipe.failure == (Failure.TOO_MANY_WORDS if threaded else Failure.NO_FAILURE)
    assert tally.instructions() == 2 * (2 * SLOT_WORDS + (0 if threaded else SLOT_WORDS + 1))


def test_a_failure_of_the_writer_is_seen_by_the_reader() -> None:
    ring = Ring()
    other = Ring(ring.descriptor)
    too_large = Recorder()
    too_large.load([0] * (SLOT_WORDS + 1))
    writer = RingWriter(ring)
    too_large.replay(writer)
    assert writer.failure == ring.failure == other.failure == Failure.TOO_MANY_WORDS


def test_descriptors_of_other_things_are_refused() -> None:
    name = os.memfd_create("nothing")
    with pytest.raises(ValueError, match="no ring"):
        Ring(name)
    ring, table = Ring(), BlockTable()
    os.ftruncate(name, os.fstat(ring.descriptor).st_size)  # of its size, and empty
    with pytest.raises(ValueError, match="no ring"):
        Ring(name)
    with pytest.raises(ValueError, match="no ring"):
        Ring(table.descriptor)
    with pytest.raises(OSError):
        Ring(10_000)
    assert os.fstat(name).st_size  # it stays the caller's
    os.close(name)


def test_the_base_of_all_readers_takes_everything() -> None:
    words = Recorder()
    words.load(some_words([record(3)], random.Random(1), 100))
    nobody = Consumer()
    words.replay(nobody)
    assert nobody.failure == Failure.NO_FAILURE
