"""Example programs run on a machine, at a small size."""

from pathlib import Path

from pfmon.engine.guest_settings import GuestSettings
from pfmon.engine.ia64.ia64_guest import Ia64Guest
from pfmon.machine._machine import Machine
from pfmon.machine.config.machine_config import load
from pfmon.program import image
from pfmon.program.symbols import SymbolTable
from pfmon.stream._stream import Pipe

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples" / "ia64"
PROGRAMS = {
    "arrays": ["20"],
    "branchy": ["20000"],
    "chase": ["64", "20000"],
    "dispatch": ["500"],
    "epic": [],
    "fib": ["15"],
    "hashmap": ["2000"],
    "lz": ["2000"],
    "matmul": ["20"],
    "nbody": ["100"],
    "noploop": ["20000"],
    "queens": ["6"],
    "sha256": ["20"],
    "sort": ["1000"],
    "stream": ["64", "4"],
    "strings": ["2000"],
}


def run_machine(
    program: str,
    machine: str,
    *,
    arguments: list[str] | None = None,
    memo: bool = True,
    overrides: list[str] | None = None,
) -> Machine:
    """The machine after it has seen the whole program."""
    found, _ = run_with_guest(program, machine, arguments=arguments, memo=memo, overrides=overrides)
    return found


def run_with_guest(
    program: str,
    machine: str,
    *,
    arguments: list[str] | None = None,
    memo: bool = True,
    overrides: list[str] | None = None,
) -> tuple[Machine, Ia64Guest]:
    """The same, and what ran the program."""
    found, guest = machine_and_guest(program, machine, arguments=arguments, memo=memo, overrides=overrides)
    with Pipe(found, threaded=False) as pipe:
        guest.run(pipe)
    found.finish()
    guest.close()
    return found, guest


def machine_and_guest(
    program: str,
    machine: str,
    *,
    arguments: list[str] | None = None,
    memo: bool = True,
    overrides: list[str] | None = None,
    event_sets: int = 1,
    trace: bool = True,
) -> tuple[Machine, Ia64Guest]:
    """A machine, and what is to run the program."""
    words = PROGRAMS[program] if arguments is None else arguments
    guest = Ia64Guest(
        image.load(str(EXAMPLES / program), None),
        [program.encode(), *(word.encode() for word in words)],
        [],
        GuestSettings(),
        memory_limit=1 << 33,
        processor=machine,
        trace=trace,
    )
    return Machine(load(machine, overrides or []), guest.table, (), memo, event_sets), guest


def cycles_by_function(found: Machine, guest: Ia64Guest, program: str) -> dict[str, int]:
    """Cycles of each function of a program: those in which it issued, and the bubbles before."""
    functions = [s for s in SymbolTable((EXAMPLES / program).read_bytes()).symbols() if s.size]
    ends: dict[int, str] = {}
    totals: dict[str, int] = {}

    def add(block: int | None, cycles: int) -> None:
        if block is None:
            return
        if block not in ends:
            ip = guest.processor.block(block).ip
            ends[block] = next((s.name for s in functions if s.address <= ip < s.address + s.size), "?")
        totals[ends[block]] = totals.get(ends[block], 0) + cycles

    for parts, count in found.groups():
        if parts[-1][1] <= parts[-1][2]:
            add(parts[-1][0], count)
    for block, _, _, cycles in found.bubbles():
        add(block, cycles)
    return totals
