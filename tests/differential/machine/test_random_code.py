"""Random code on a machine: the memo changes nothing, and every cycle is accounted for."""

from random import Random
from typing import Any

import pytest
from grids import each, sampled
from ia64_fuzz import Fuzz

from pfmon.counting.totals.record_query import DISPERSAL
from pfmon.machine._machine import Machine
from pfmon.machine.config.machine_config import load
from pfmon.machine.config.machine_figures import ITANIUMS
from pfmon.stream._stream import Pipe, Recorder

INSTRUCTIONS_EACH = 4000


def stream(seed: int) -> tuple[Fuzz, Recorder]:
    """The traced stream of a few random programs, each of which runs its loops again and again."""
    fuzz = Fuzz(Random(seed), trace=True)
    recorder = Recorder()
    fuzz.tally = recorder
    for _ in range(3):
        fuzz.new_program()
        fuzz.run(INSTRUCTIONS_EACH)
    return fuzz, recorder


def results(machine: str, fuzz: Fuzz, recorder: Recorder, memo: bool, ranges: Any = ()) -> dict[str, Any]:
    """Everything that a machine makes of a stream."""
    found = Machine(load(machine), fuzz.cpu.table, ranges, memo)
    recorder.replay(Pipe(found, threaded=False))
    found.finish()
    occurrences: dict[tuple[int | None, int, int], int] = {}
    for (block, instruction, occurrence, _), times in found.occurrences().items():
        key = (block, instruction, occurrence)
        occurrences[key] = occurrences.get(key, 0) + times
    return {
        "cycles": found.cycles,
        "retiring": sum(cycles for *_, cycles in found.records.dispersal()),
        "occurrences": occurrences,
        "levels": found.levels(),
        **{f"bubbles {kind}": sorted(map(str, found.records.bubbles(kind))) for kind in range(5)},
        "syllables": sum(syllables(left) * cycles for _, _, left, cycles in found.records.dispersal()),
        "lost": sum(cycles for *_, cycles in found.records.bubbles(0)),
    }


def syllables(left: int) -> int:
    """Those that a cycle dispersed and did not, without what was counted twice."""
    field = {name: left >> shift & mask for name, (shift, mask) in DISPERSAL.items()}
    twice = field["OVER_EXPLICIT"] + field["OVER_IMPLICIT"]
    return sum(field.values()) - 2 * twice


def check(machine: str, seed: int) -> None:
    fuzz, recorder = stream(seed)
    with_memo = results(machine, fuzz, recorder, True)
    assert with_memo["cycles"] == with_memo["retiring"] + with_memo["lost"]
    assert with_memo["syllables"] == 6 * with_memo["retiring"]
    assert with_memo == results(machine, fuzz, recorder, False)
    assert with_memo == results(machine, fuzz, recorder, True, ranges=((0, 0),))


@sampled(6)
@each("machine", ITANIUMS)
@each("seed", range(3))
def test_random_code_takes_the_same_time_with_and_without_the_memo(machine: str, seed: int) -> None:
    check(machine, seed)


@sampled(20)
@pytest.mark.slow
@each("machine", ITANIUMS)
@each("seed", range(3, 40))
def test_more_random_code_does_too(machine: str, seed: int) -> None:
    check(machine, seed)
