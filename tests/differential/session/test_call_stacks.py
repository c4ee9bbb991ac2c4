"""The calls that a sample carries are those of an independent log of the program's calls and returns."""

import pytest
from call_log import PROGRAMS, log
from grids import diagonal, each
from guests import EXAMPLES
from ia64_assembly import BREAK, CODE
from ia64_machine import BREAK as BREAK_REASON
from ia64_machine import Machine

import pfmon
from pfmon.counting._counting import CallStack
from pfmon.counting.live.live_unit import LiveUnit, Overflow
from pfmon.pmu.model.request import EventRequest, Request
from pfmon.session.run.programmed_pmu import ProgrammedPmu


def sampled(name: str, events: str, period: int, **options: object) -> pfmon.Run:
    command = [str(EXAMPLES / "ia64" / name), *PROGRAMS[name]]
    return pfmon.run(
        command, events=events, long_smpl_periods=period, smpl_stacks=True, stdout=pfmon.DEVNULL, **options
    )


@diagonal
@each("name", PROGRAMS)
@each("period", [1, 7, 100])
def test_calls_are_those_of_the_log(name: str, period: int) -> None:
    samples = sampled(name, "ia64_inst_retired", period).samples
    assert samples is not None
    expected = log(name)
    assert len(samples) == len(expected) // period
    for number, sample in enumerate(samples, 1):
        assert (sample.iip, sample.calls) == expected[number * period - 1]


@diagonal
@pytest.mark.parametrize("name", ["fib", "queens", "hashmap"])
@pytest.mark.parametrize("memo", ["cpu_cycles"])
def test_calls_of_samples_of_cycles_are_some_that_the_instruction_has(name: str, memo: str) -> None:
    samples = sampled(name, memo, 50).samples
    assert samples is not None and len(samples) > 50
    places = set(log(name))
    assert sum((sample.iip, sample.calls) in places for sample in samples) > 0.95 * len(samples)


def test_addresses_in_the_stream_change_nothing() -> None:
    plain = sampled("queens", "loads_retired", 3).samples
    traced = sampled("queens", "loads_retired", 3, drange=(0, 1 << 63)).samples
    assert plain is not None and traced is not None
    assert [(sample.iip, sample.calls) for sample in plain] == [(sample.iip, sample.calls) for sample in traced]


def test_without_the_option_there_are_no_calls() -> None:
    run = pfmon.run(
        [str(EXAMPLES / "ia64" / "fib"), "8"], events="ia64_inst_retired", long_smpl_periods=100, stdout=pfmon.DEVNULL
    )
    assert run.samples is not None and all(sample.calls == () for sample in run.samples)


def followed(lines: list[str]) -> list[tuple[int, tuple[int, ...]]]:
    """Bundles (numbers) of the instructions that retired in a piece of code, and of the calls that it was in then."""
    m = Machine(lines)
    counting = ProgrammedPmu(pfmon.pmu.get("itanium2"), Request((EventRequest("ia64_inst_retired"),)))
    found: list[Overflow] = []
    registers = counting.counters.registers

    def take(overflow: Overflow) -> None:
        found.append(overflow)
        registers.take_overflows()
        registers.write("pmd4", (1 << 47) - 1)

    registers.write("pmd4", (1 << 47) - 1)
    calls = CallStack(m.cpu.table, False)
    unit = LiveUnit(pfmon.pmu.get("itanium2"), registers, m.cpu.table, False, take, None, calls)
    assert m.cpu.run(unit.consumer) == BREAK_REASON
    unit.finish()

    def bundle(address: int) -> int:
        return (address - CODE) // 16

    return [(bundle(one.address), tuple(map(bundle, one.calls))) for one in found if one.address & 3 == 2]


def test_calls_that_are_left_by_a_jump_go_when_a_function_below_returns() -> None:
    lines = [
        "br.call.sptk.few b2=main",  # 0
        "adds r8=1,r0",  # 1
        BREAK,  # 2
        "main:",
        "br.call.sptk.few b0=f",  # 3
        "back:",
        "br.call.sptk.few b0=h",  # 4
        "br.ret.sptk.few b2",  # 5
        "f:",
        "br.call.sptk.few b1=g",  # 6
        BREAK,  # 7
        "g:",
        "br.cond.sptk.few back",  # 8: as longjmp does
        "h:",
        "br.ret.sptk.few b0",  # 9
    ]
    assert followed(lines) == [
        (0, ()),
        (3, (0,)),
        (6, (3, 0)),
        (8, (6, 3, 0)),
        (4, (6, 3, 0)),
        (9, (4, 6, 3, 0)),
        (5, (6, 3, 0)),
        (1, ()),
    ]


def test_a_return_that_is_a_jump_changes_nothing() -> None:
    lines = [
        "mov r9=ip",  # 0
        "adds r9=96,r9",  # 1
        "mov.sptk b6=r9,there",  # 2
        "br.call.sptk.few b0=f",  # 3
        BREAK,  # 4
        "f:",
        "br.ret.sptk.few b6",  # 5: to `there`, where nothing was called from
        "there:",
        "br.ret.sptk.few b0",  # 6
    ]
    assert [one for one in followed(lines) if one[0] >= 3] == [(3, ()), (5, (3,)), (6, (3,))]
