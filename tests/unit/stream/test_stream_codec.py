"""The stream as bytes and back: the same words; what is damaged is refused, and never does harm."""

import random
import struct
from collections.abc import Sequence
from functools import cache
from itertools import count

import pytest
from example_counts import examples
from grids import each
from guests import SMALL, guest, quiet
from hypothesis import given
from hypothesis import strategies as st
from tables import PARTS_BANK, accesses, blocks, record, some_words
from totals import signal_totals

from pfmon.counting._counting import Gate, Tally
from pfmon.signals.signal_terms import available
from pfmon.stream._stream import BlockTable, Consumer, Decoder, Encoder, Failure, Recorder, blocks_from, enter_blocks
from pfmon.stream.recording.block_records import BlockRecord

Chunks = list[tuple[bytes, bytes]]
"""Blocks that are new, and words that name them."""

BIG = {"lz": ["20000"], "sort": ["4000"], "nbody": ["100"]}


@cache
def recorded(name: str, trace: bool) -> tuple[Recorder, BlockTable]:
    """An example's stream."""
    program = guest(name, BIG.get(name, SMALL[name]), trace=trace)
    recorder = Recorder()
    with quiet():
        program.run(recorder)
    program.close()
    return recorder, program.table


def encoded(stream: Sequence[Recorder], table: BlockTable, traced: bool) -> Chunks:
    chunks: Chunks = []
    encoder = Encoder(table, traced, lambda new, words: chunks.append((new, words)))
    for piece in stream:
        piece.replay(encoder)
    encoder.finish()
    assert encoder.error is None and encoder.failure == Failure.NO_FAILURE
    # Addresses are no words of their own.
    assert encoder.words == sum(struct.unpack_from("<Q", words)[0] for _, words in chunks)
    return chunks


def decoded(
    chunks: Chunks,
    traced: bool,
    addresses: bool,
    consumer: Consumer,
    payload_bytes: int,
    table: BlockTable | None = None,
) -> BlockTable:
    """The table that chunks come with; their words go to a consumer."""
    if table is None:
        table = BlockTable(payload_bytes=payload_bytes)
    decoder = Decoder(table, traced, addresses)
    for new, words in chunks:
        enter_blocks(table, new)
        decoder.decode(words, consumer)
    return table


def without_addresses(words: Sequence[int], table: Sequence[BlockRecord]) -> list[int]:
    """A traced stream as it were without addresses."""
    found: list[int] = []
    rest = iter(words)
    for word in rest:
        if word >> 63:
            if word >> 56 & 0x7F != 13:
                found.append(word)
            continue
        found.append(word)
        for _ in range(accesses(table[word & 0xFFFFFFFF], word >> 32)):
            next(rest)
    return found


def payload_of(table: BlockTable) -> int:
    return len(table.block(0).instructions[0].payload)


@pytest.mark.slow
@each("name", SMALL)
@each("trace", [False, True])
def test_examples_come_back_as_they_were(name: str, trace: bool) -> None:
    recorder, table = recorded(name, trace)
    chunks = encoded([recorder], table, trace)
    again = Recorder()
    copy = decoded(chunks, trace, trace, again, payload_of(table))
    assert again.words() == recorder.words()
    assert [copy.block(number) for number in copy.numbers()] == [table.block(number) for number in range(len(table))]
    if trace:
        plain = Recorder()
        decoded(chunks, True, False, plain, payload_of(table))
        records = [table.block(number) for number in range(len(table))]
        assert plain.words() == without_addresses(recorder.words(), records)
    small = sum(len(new) + len(words) for new, words in chunks)
    assert small < 8 * len(recorder.words()) / 2 + len(blocks_from(table, 0))


def test_blocks_stand_before_the_chunk_that_names_them_first() -> None:
    program = guest("hashmap", ["30000"], trace=True)
    chunks: Chunks = []
    encoder = Encoder(program.table, True, lambda new, words: chunks.append((new, words)))
    with quiet():
        program.run(encoder)
    encoder.finish()
    program.close()
    assert len(chunks) > 2 and len(chunks[0][0]) > 1000
    tally = Tally(program.table, True)
    copy = decoded(chunks, True, True, tally, payload_of(program.table))
    assert tally.instructions() == program.retired
    assert len(copy) == len(program.table)


@pytest.mark.slow
@examples(60)
@given(st.lists(blocks(), min_size=1, max_size=8), st.integers(0, 2**32), st.booleans(), st.integers(1, 400))
def test_random_streams_come_back_as_they_were(made: list[BlockRecord], seed: int, traced: bool, runs: int) -> None:
    table = BlockTable(payload_bytes=4)
    for one in made:
        table.enter(one)
    pick = random.Random(seed)
    words = some_words(made, pick, runs, traced=traced)
    stream, again = Recorder(), Recorder()
    stream.load(words)
    chunks = encoded([stream], table, traced)
    decoded(chunks, traced, traced, again, 4)
    assert again.words() == words
    if traced:
        plain = Recorder()
        decoded(chunks, True, False, plain, 4)
        assert plain.words() == without_addresses(words, made)


def long_stream(runs: int) -> tuple[BlockTable, list[int]]:
    """Hard to guess, with marks and addresses: chunks end because they are full."""
    pick = random.Random(5)
    table = BlockTable(payload_bytes=4)
    made = [record(length) for length in (1, 3, 200, 255)]
    for one in made:
        table.enter(one)
    words: list[int] = []
    for _ in range(runs):
        number = pick.randrange(4)
        words.append(number)
        words += [pick.getrandbits(64) for _ in range(accesses(made[number], 0))]
        for _ in range(pick.choice((0, 3, 500))):
            words.append(
                1 << 63 | 8 << 56 | pick.randrange(len(made[number].instructions)) << 32 | pick.getrandbits(32)
            )
    return table, words


@pytest.mark.slow
def test_marks_stay_in_the_chunk_and_the_piece_of_their_block() -> None:
    """A reader that splits needs them together."""
    table, words = long_stream(800)
    stream = Recorder()
    stream.load(words)
    chunks = encoded([stream], table, True)
    assert len(chunks) > 3
    again, parts = Recorder(), Recorder()
    copy = BlockTable(payload_bytes=4)
    gate = Gate(copy, [parts], traced=True, due=1, on_due=count(3, 2).__next__)
    decoded(chunks, True, True, again, 4)
    assert again.words() == words
    decoded(chunks, True, True, gate, 4, copy)
    # Parts of two instructions each; every mark behind the part that its instruction is in, under its number there.
    length = 0
    for word in without_addresses_of_parts(parts.words(), copy):
        if word >> 63:
            assert word >> 32 & 0xFF < length
        else:
            length = len(copy.block(word & 0xFFFFFFFF).instructions)
            assert length <= 2


def without_addresses_of_parts(words: Sequence[int], table: BlockTable) -> list[int]:
    known: dict[int, BlockRecord] = {}
    found: list[int] = []
    rest = iter(words)
    for word in rest:
        found.append(word)
        if not word >> 63:
            number = word & 0xFFFFFFFF
            known.setdefault(number, table.block(number))
            for _ in range(accesses(known[number], word >> 32)):
                next(rest)
    return found


def test_many_marks_in_a_row_fit_nowhere_and_still_come_back() -> None:
    table = BlockTable(payload_bytes=4)
    table.enter(record(4))
    pick = random.Random(3)
    words = [0, 1, 2, *(1 << 63 | 1 << 56 | 255 << 32 | pick.getrandbits(32) for _ in range(60_000))]
    stream, again = Recorder(), Recorder()
    stream.load(words)
    decoded(encoded([stream], table, True), True, True, again, 4)
    assert again.words() == words


def test_an_error_of_who_takes_chunks_is_kept_and_ends_the_writing() -> None:
    def full(new: bytes, words: bytes) -> None:
        raise OSError(28, "No space left on device")

    recorder, table = recorded("fib", True)
    encoder = Encoder(table, True, full)
    recorder.replay(encoder)
    encoder.finish()
    assert isinstance(encoder.error, OSError) and encoder.failure == Failure.CANNOT_WRITE
    words = encoder.words
    recorder.replay(encoder)
    encoder.finish()
    assert encoder.words == words and encoder.failure == Failure.CANNOT_WRITE


# --- damage


def try_all(new: bytes, words: bytes, payload: int) -> bool:
    """Decode and count damaged bytes; whether they were refused."""
    table = BlockTable(payload_bytes=payload, capacity=1 << 12)
    for addresses in (True, False):
        tally = Tally(table, addresses)
        stops = count(14, 7)
        gate = Gate(table, [tally], traced=addresses, due=7, on_due=stops.__next__)
        try:
            if not len(table):
                enter_blocks(table, new)
            Decoder(table, True, addresses).decode(words, gate)
        except ValueError:
            return True
        # What was not refused names blocks that are there.
        signal_totals(sorted(available()), table, tally)
        assert all(number >= PARTS_BANK or number < len(table) for number in table.numbers())
    return False


def damaged(data: bytes, pick: random.Random) -> bytes:
    """Some bytes changed, cut off, taken out or put in."""
    found = bytearray(data)
    for _ in range(pick.choice((1, 1, 2, 8))):
        at = pick.choice((pick.randrange(len(found)), pick.randrange(min(64, len(found)))))
        match pick.randrange(5):
            case 0:
                found[at] ^= 1 << pick.randrange(8)
            case 1:
                found[at] = pick.choice((0, 1, 127, 128, 255))
            case 2:
                del found[at:]
            case 3:
                del found[at : at + pick.randrange(1, 16)]
            case _:
                found[at:at] = pick.randbytes(pick.randrange(1, 16))
        if not found:
            break
    return bytes(found)


def fuzz(seed: int, cases: int) -> None:
    recorder, table = recorded("epic", True)
    (new, words), *_ = encoded([recorder], table, True)
    pick = random.Random(seed)
    assert not try_all(new, words, payload_of(table))
    refused = 0
    for case in range(cases):
        if case % 2:
            refused += try_all(damaged(new, pick), words, payload_of(table))
        else:
            refused += try_all(new, damaged(words, pick), payload_of(table))
    assert refused > cases // 4


def test_damaged_bytes_do_no_harm() -> None:
    fuzz(1, 150)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 8))
def test_many_damaged_bytes_do_no_harm(seed: int) -> None:
    fuzz(seed, 500)


@pytest.mark.slow
def test_every_cut_is_refused() -> None:
    recorder, table = recorded("noploop", True)
    (new, words), *_ = encoded([recorder], table, True)
    lengths = [*range(200), *range(200, len(words), 1 + len(words) // 200)]
    for length in lengths:
        if length < len(words):
            with pytest.raises(ValueError, match="chunk"):
                decoded([(new, words[:length])], True, True, Consumer(), payload_of(table))
    for length in range(1, 3000, 7):
        if length < len(new):
            copy = BlockTable(payload_bytes=payload_of(table))
            try:
                enter_blocks(copy, new[:length])
            except ValueError:
                continue
            assert new.startswith(blocks_from(copy, 0)) and len(blocks_from(copy, 0)) == length


def test_blocks_that_are_none_are_refused() -> None:
    table = BlockTable(payload_bytes=4)
    table.enter(record(3))
    data = blocks_from(table, 0)
    head = 16  # ip, length, cut; then address 8, kinds 4 and 4, size 2, length 1, condition, access, branch, privilege
    lengths, privileges = [(8, 0), (8, 2), (8, 4), (11, 1)], [(head + 22, 16), (head + 22, 4)]
    for place, value in (*lengths, *privileges, (head + 19, 31), (head + 19, 1), (head + 20, 5), (head + 21, 6)):
        wrong = bytearray(data)
        wrong[place] = value
        with pytest.raises(ValueError, match="blocks"):
            enter_blocks(BlockTable(payload_bytes=4), bytes(wrong))
    enter_blocks(BlockTable(payload_bytes=4), data)


def test_more_blocks_than_a_table_takes_are_an_error() -> None:
    table = BlockTable(payload_bytes=4)
    for _ in range(10):
        table.enter(record(2))
    small = BlockTable(payload_bytes=4, capacity=6)
    with pytest.raises(MemoryError):
        enter_blocks(small, blocks_from(table, 0))
    assert small.failure == Failure.TOO_MANY_BLOCKS
