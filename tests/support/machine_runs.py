"""Example programs run on a machine, at a small size."""

from pathlib import Path

from pfmon.engine.ia64.guest import Guest
from pfmon.engine.ia64.instruction_set import INSTRUCTIONS
from pfmon.engine.ia64.linux.settings import Settings
from pfmon.machine.config import load
from pfmon.machine.machine import Machine
from pfmon.program import image
from pfmon.retirement.pipe import Pipe

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


def run_machine(program: str, machine: str, *, memo: bool = True, overrides: list[str] | None = None) -> Machine:
    """The machine after it has seen the whole program."""
    guest = Guest(
        image.load(str(EXAMPLES / program), None),
        [program.encode(), *(argument.encode() for argument in PROGRAMS[program])],
        [],
        Settings(),
        memory_limit=1 << 33,
        processor=machine,
        trace=True,
    )
    found = Machine(load(machine, overrides or []), INSTRUCTIONS, (), memo)
    with Pipe(guest.processor.shapes, found, threaded=False) as pipe:
        guest.run(pipe)
    found.finish()
    return found
