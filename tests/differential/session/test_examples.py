"""Every example program: what it prints, how it exits, and that both ways of execution count the same."""

import pytest
from command import example, pfmon
from grids import each, sampled
from guests import SMALL, expected, guest, quiet
from totals import signal_totals

from pfmon.counting._counting import Tally
from pfmon.signals import signal_terms


@sampled(6)
@each("name", expected())
def test_example_gives_expected_output_and_status(name: str) -> None:
    status, output = expected()[name]
    done = pfmon("-e", "none", example(name))
    assert (done.returncode, done.stdout.rstrip("\n"), done.stderr) == (status, output, "")


def totals(name: str, *, slow: bool, trace: bool) -> dict[str, int]:
    """Every signal's increments over a run of an example."""
    program = guest(name, SMALL[name], slow=slow, trace=trace)
    tally = Tally(program.processor.table, program.processor.traced)
    with quiet():
        end = program.run(tally)
    program.close()
    assert end is not None and end.status == 0
    return signal_totals(sorted(signal_terms.available()), program.table, tally)


@each("name", SMALL)
def test_slow_path_counts_every_signal_as_the_fast_path(name: str) -> None:
    fast = totals(name, slow=False, trace=False)
    assert fast == totals(name, slow=True, trace=False)
    assert fast["inst_retired"] > 1000


@pytest.mark.parametrize("name", ["epic", "lz", "nbody"])
def test_tracing_addresses_changes_no_count(name: str) -> None:
    assert totals(name, slow=False, trace=True) == totals(name, slow=False, trace=False)


@pytest.mark.parametrize("name", ["fib", "hashmap"])
def test_two_runs_count_the_same(name: str) -> None:
    assert totals(name, slow=False, trace=False) == totals(name, slow=False, trace=False)


def test_processor_and_tally_agree_on_retired_instructions() -> None:
    program = guest("sort", SMALL["sort"])
    tally = Tally(program.processor.table)
    with quiet():
        program.run(tally)
    counted = signal_totals(["inst_retired"], program.table, tally)
    program.close()
    assert counted["inst_retired"] == program.processor.retired
