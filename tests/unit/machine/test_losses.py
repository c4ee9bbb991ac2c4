"""What a machine cannot hold is said: no count is shown that misses something."""

from collections.abc import Callable

import pytest
from grids import each
from ia64_assembly import BREAK
from ia64_machine import Machine as Guest
from machine_code import loop, run_code
from machine_runs import machine_and_guest, run_machine

from pfmon.machine._machine import Machine, Occurrence
from pfmon.machine.config.machine_config import load
from pfmon.machine.config.machine_figures import ITANIUMS
from pfmon.stream._stream import BlockTable, Failure, Pipe, Recorder
from pfmon.stream.recording.block_records import BlockRecord

LONGEST = 128
STATE_LIMITS = range(1, 40)
LINE = 128


def with_limit(program: str, lower: Callable[[Machine], None]) -> Machine:
    """A machine after a run in which something could hold less than usual."""
    machine, guest = machine_and_guest(program, "itanium2")
    lower(machine)
    with Pipe(machine, threaded=False) as pipe:
        guest.run(pipe)
    machine.finish()
    return machine


@each("machine", ITANIUMS)
@each("program", ["lz", "fib", "epic"])
def test_a_run_loses_nothing(program: str, machine: str) -> None:
    assert run_machine(program, machine).failure == Failure.NO_FAILURE


@pytest.mark.parametrize("most", [2, 40, 200])
def test_records_without_room_are_a_failure(most: int) -> None:
    def lower(machine: Machine) -> None:
        machine.records.max_records = most

    assert with_limit("lz", lower).failure == Failure.OUT_OF_MEMORY


@pytest.mark.slow
def test_a_state_of_the_memo_that_cannot_be_gone_on_from_is_a_failure() -> None:
    """Whether it can depends on which state is the first without room: then nothing is lost."""
    usual = with_limit("fib", lambda machine: None)
    found = [
        with_limit("fib", lambda machine, most=most: setattr(machine.memo, "max_states", most)) for most in STATE_LIMITS
    ]
    assert {machine.failure for machine in found} == {Failure.NO_FAILURE, Failure.OUT_OF_MEMORY}
    assert {machine.cycles for machine in found if not machine.failure} == {usual.cycles}


def test_a_memo_that_learns_no_more_loses_nothing() -> None:
    """Where no registers are renamed the pipeline itself goes on."""

    def lower(machine: Machine) -> None:
        machine.memo.max_states = 0

    found, usual = with_limit("noploop", lower), with_limit("noploop", lambda machine: None)
    assert found.failure == Failure.NO_FAILURE
    assert found.repeated == 0 < usual.repeated
    assert found.cycles == usual.cycles
    assert found.occurrences() == usual.occurrences()


def test_more_of_one_thing_than_a_note_holds_takes_several_notes() -> None:
    """Lines come one after the other: a load of the last one looks for it in more than 65,535 cycles. With half the
    latency it does so half as often, in one note."""
    misses = [f"ld8 r40=[r20],{LINE}"] * 7
    code = [*misses, f"adds r21={-LINE},r20", "ld8 r41=[r21]"]

    def looks(latency: int) -> int:
        """How often a load looked again, in the longest of its notes' occurrences."""
        found = run_code(loop(code, 2), "itanium2", [f"memory.latency={latency}", "l2.look=1", "l2.fills=1"])
        assert found.failure == Failure.NO_FAILURE
        return sum(times for (_, _, what, _), times in found.occurrences().items() if what == Occurrence.L2_LOOK_AGAIN)

    once, twice = looks(5000), looks(10000)
    assert once > 30_000 and twice > 65_535 and twice > 1.9 * once


def ran(table: BlockTable, blocks: list[BlockRecord], machine: Machine) -> Machine:
    """The machine after each block ran once; addresses of accesses are 0."""
    recorder = Recorder()
    numbers = [table.enter(block) for block in blocks]
    recorder.load([word for number, block in zip(numbers, blocks, strict=True)
                   for word in [number, *(0 for one in block.instructions if one.access)]])  # fmt: skip
    recorder.replay(Pipe(machine, threaded=False))
    machine.finish()
    return machine


@pytest.mark.parametrize(("length", "failure"), [(LONGEST, Failure.NO_FAILURE), (LONGEST + 1, Failure.BLOCK_TOO_LONG)])
@pytest.mark.parametrize("body", ["nop.m 0", "ld8 r8=[r9]"])
def test_a_block_beyond_what_the_machine_takes_is_a_failure(body: str, length: int, failure: Failure) -> None:
    guest = Guest([body, BREAK], trace=True)
    guest.set({9: 0})
    guest.cpu.run(Recorder())
    first = guest.cpu.table.block(guest.cpu.table.numbers()[0])
    long = first._replace(instructions=(first.instructions[0],) * length)
    machine = Machine(load("itanium2"), guest.cpu.table)
    assert ran(guest.cpu.table, [long], machine).failure == failure


def test_more_data_ranges_than_registers_are_refused() -> None:
    with pytest.raises(ValueError, match="5 data ranges"):
        Machine(load("itanium2"), Guest([BREAK]).cpu.table, [(0, 0)] * 5)


def function(name: str, registers: int, deepest: str) -> list[str]:
    """Calls itself, r9 times in all, with a frame of so many registers; the last call goes to ``deepest``."""
    return [
        f"{name}:",
        f"alloc r32=ar.pfs,{registers},{registers},0",
        "mov r33=b0",
        "adds r9=-1,r9",
        "cmp.eq p6,p7=r0,r9",
        f"(p6) br.cond.sptk.few {deepest}",
        f"br.call.sptk.few b0={name}",
        f"up{name}:",
        "mov b0=r33",
        "mov.i ar.pfs=r32",
        "br.ret.sptk.few b0",
    ]


def cycles_by_frame(calls: int) -> list[int]:
    """Cycles with frames of two and of three registers, of so many nested calls with either."""
    lines = [
        f"addl r9={calls},r0",
        "br.call.sptk.few b0=outer",
        "break.i 0",
        *function("outer", 2, "turn"),
        "turn:",
        f"addl r9={calls},r0",
        "br.call.sptk.few b0=inner",
        "br.cond.sptk.few upouter",
        *function("inner", 3, "upinner"),
    ]
    found = run_code(lines, "itanium2")
    assert found.failure == Failure.NO_FAILURE
    return found.levels()["RSE_CURRENT_REGS"][2:4]


def test_frames_are_known_however_deep_calls_are() -> None:
    """Three times as many nested calls take three times as long, those with either frame."""
    few, many = cycles_by_frame(1000), cycles_by_frame(3000)
    assert many == [pytest.approx(3 * cycles, rel=0.1) for cycles in few]
