"""A program's stream of turns, spread over the rings of two hardware threads: what each gets of it."""

import random

from grids import each
from tables import record, some_words

from pfmon.stream._stream import BlockTable, InstructionSet, Recorder, Ring, RingPair, ThreadDemux
from pfmon.stream.marks import Mark

LENGTHS = (1, 3, 4)
TURNS = 6  # fewer than fill a ring, as nobody reads


def mark(kind: Mark, value: int) -> int:
    return 1 << 63 | kind << 56 | value


def spread(words: list[int], table: BlockTable) -> tuple[ThreadDemux, list[list[int]]]:
    """What each hardware thread gets."""
    pair, rings, readers = RingPair(), [Ring(), Ring()], [Recorder(), Recorder()]
    for number, ring in enumerate(rings):
        ring.join_pair(pair, number)
    demux, whole = ThreadDemux(table, readers, rings, traced=True), Recorder()
    whole.load(words)
    whole.replay(demux)
    return demux, [reader.words() for reader in readers]


def table_of_blocks() -> BlockTable:
    table = BlockTable(InstructionSet.IA64, 4)
    for length in LENGTHS:
        table.enter(record(length))
    return table


@each("seed", range(40))
def test_turns_go_to_the_hardware_thread_of_their_number(seed: int) -> None:
    """In order and whole; who comes on a hardware thread is told there, if it is not who was there last."""
    pick = random.Random(seed)
    blocks = [record(length) for length in LENGTHS]
    stream: list[int] = []
    wanted: list[list[int]] = [[], []]
    last: list[int | None] = [0, None]
    place = 0
    for _ in range(TURNS):
        part = some_words(blocks, pick, pick.randrange(1, 6))
        if pick.random() < 0.5:
            part.append(mark(Mark.SYSTEM_CALL, 1024))
        stream += part
        wanted[place % 2] += part
        place = pick.choice([one for one in range(5) if one != place])
        stream.append(mark(Mark.THREAD, place))
        if last[place % 2] not in (None, place):
            wanted[place % 2].append(mark(Mark.THREAD, place))
        last[place % 2] = place
    part = some_words(blocks, pick, 3)
    demux, found = spread([*stream, *part], table_of_blocks())
    wanted[place % 2] += part
    assert found == wanted
    assert demux.retired_on(0) + demux.retired_on(1) == demux.retired


def test_turns_are_known_by_their_hardware_threads_instructions() -> None:
    """Blocks 0, 1 and 2 have 1, 3 and 4 instructions, the first of each a load."""
    first, second, third = [0, 64], [1, 64], [2, 64, 72]
    turn = [mark(Mark.THREAD, place) for place in range(4)]
    words = [*first, turn[1], *second, *third, turn[2], *first, turn[1], *first, turn[3], *first, turn[0], *second]
    demux, _ = spread(words, table_of_blocks())
    assert demux.thread_turns(0) == [(0, 0), (1, 2), (2, 0)]
    assert demux.thread_turns(1) == [(0, 1), (8, 3)]
    assert [demux.retired_on(one) for one in (0, 1)] == [5, 9]
