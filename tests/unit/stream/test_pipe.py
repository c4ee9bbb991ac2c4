"""A reader in a thread of its own sees the stream as one in the engine's thread does."""

from pathlib import Path

import pytest
from grids import each, first_quick
from guests import SMALL, guest, quiet

from pfmon.counting._counting import Tally
from pfmon.stream._stream import Failure, Pipe, Recorder, SecondThread, pays

LOOK = 1 << 16
"""Words between two looks at the clock (second_thread.pyx)."""
LARGEST = 1 << 15
"""Words that a ring takes at a time (ring.pxd)."""


def threads_now() -> int:
    """How many this process has, as the host says."""
    return len(list(Path("/proc/self/task").iterdir()))


def words_of(name: str, *, threaded: bool, piped: bool = True, trace: bool = False) -> list[int]:
    """The stream of an example."""
    program = guest(name, SMALL[name], trace=trace)
    recorder = Recorder()
    with quiet():
        if piped:
            with Pipe(recorder, threaded=threaded) as pipe:
                program.run(pipe)
            assert pipe.failure == Failure.NO_FAILURE
        else:
            program.run(recorder)
    program.close()
    return recorder.words()


@pytest.mark.parametrize("name", ["noploop", "epic", "fib", "sort", "strings"])
def test_the_reader_gets_every_word_in_order(name: str) -> None:
    direct = words_of(name, threaded=False, piped=False)
    assert words_of(name, threaded=True) == direct
    assert words_of(name, threaded=False) == direct


def test_addresses_pass_through() -> None:
    assert words_of("sort", threaded=True, trace=True) == words_of("sort", threaded=True, piped=False, trace=True)


def test_a_second_reader_stands_beside() -> None:
    program = guest("sort", SMALL["sort"])
    recorder, tally = Recorder(), Tally(program.processor.table)
    with quiet(), Pipe(recorder, tally) as pipe:
        program.run(pipe)
    blocks = [word & 0xFFFFFFFF for word in recorder.words() if not word >> 63]
    for number in set(blocks):
        assert tally.runs(number) == blocks.count(number)
    program.close()


def test_drain_waits_for_the_reader() -> None:
    program = guest("sort", SMALL["sort"])
    recorder = Recorder()
    with quiet(), Pipe(recorder) as pipe:
        program.run(pipe)
        pipe.drain()
        seen = len(recorder.words())
        pipe.drain()
    assert seen == len(recorder.words()) > 0
    program.close()


@pytest.mark.parametrize("name", first_quick(["sort", "strings"]))
def test_a_pipe_that_tries_a_second_thread_loses_nothing(name: str) -> None:
    piece = words_of(name, threaded=False, piped=False)[:LARGEST]
    recorder, second = Recorder(), SecondThread(trial_after=0, turn_seconds=0, holds=0)
    once = Recorder()
    once.load(piece)
    ways = []
    with Pipe(recorder, second=second) as pipe:
        for _ in range(20 * LOOK // len(piece)):
            once.replay(pipe)
            ways.append(second.on)
    assert pipe.failure == Failure.NO_FAILURE
    assert set(ways) == {False, True}
    assert recorder.words() == piece * len(ways)


def test_a_short_run_has_one_thread() -> None:
    program = guest("sort", SMALL["sort"])
    recorder, second = Recorder(), SecondThread()
    before = threads_now()
    with quiet(), Pipe(recorder, second=second) as pipe:
        program.run(pipe)
        assert threads_now() == before and not second.on
    program.close()
    assert recorder.words() == words_of("sort", threaded=False, piped=False)


@each(
    ("alone", "beside", "expected"),
    [
        ((1.0, 100), (1.0, 100), True),  # the same
        ((1.0, 100), (1.05, 100), True),  # as turns differ
        ((1.0, 100), (1.2, 100), False),  # dearer
        ((1.0, 100), (0.5, 40), False),  # fewer words
        ((1.0, 100), (0.5, 60), True),
        ((1.0, 100), (0.0, 0), False),  # nothing came
    ],
)
def test_the_second_thread_stays_where_a_word_costs_no_more(
    alone: tuple[float, int], beside: tuple[float, int], expected: bool
) -> None:
    assert pays(*alone, *beside) is expected


def test_a_pipe_ends_when_the_program_fails_to_start() -> None:
    program = guest("sort", SMALL["sort"])
    with pytest.raises(RuntimeError), Pipe(Recorder()):
        raise RuntimeError
    program.close()
