"""A reader in a thread of its own sees the stream as one in the engine's thread does."""

import pytest
from guests import SMALL, guest, quiet

from pfmon.counting.tally import Tally
from pfmon.stream.failure import Failure
from pfmon.stream.recorder import Recorder
from pfmon.stream.ring import Pipe


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


def test_a_pipe_ends_when_the_program_fails_to_start() -> None:
    program = guest("sort", SMALL["sort"])
    with pytest.raises(RuntimeError), Pipe(Recorder()):
        raise RuntimeError
    program.close()
