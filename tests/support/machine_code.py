"""Assembled loops on a machine: what a pass costs, once everything is in the caches and learned."""

from collections import Counter
from collections.abc import Sequence
from functools import cache

from ia64_assembly import BREAK, NUMBERS, Line, assemble, instruction, join
from ia64_machine import BREAK as BREAK_REACHED
from ia64_machine import DATA
from ia64_machine import Machine as Guest

from pfmon.machine._machine import Cause, Machine
from pfmon.machine.config.machine_config import load
from pfmon.stream._stream import Pipe

NOP = {"M": "nop.m 0", "I": "nop.i 0", "F": "nop.f 0", "B": "nop.b 0"}
FRAME = 96 | 32 << 7  # all registers, 32 of them local
FPSR = 0x9804C0270033F  # Linux's: no traps
FEW, MANY = 300, 1300


def run_code(
    lines: Sequence[Line], machine: str, overrides: Sequence[str] = (), memo: bool = True, **registers: int
) -> Machine:
    """The machine after it has seen the program; it ends with a break."""
    guest = Guest([*lines, BREAK], trace=True, frame=FRAME)
    guest.set({20: DATA, 21: DATA + 64, 22: DATA}, fpsr=FPSR, **registers)
    guest.put(DATA, DATA)
    found = Machine(load(machine, overrides), guest.cpu.table, (), memo)
    with Pipe(found, threaded=False) as pipe:
        assert guest.cpu.run(pipe) == BREAK_REACHED
    found.finish()
    return found


def loop(body: Sequence[Line], times: int) -> list[Line]:
    """The body, so many times."""
    return [f"addl r9={times - 1},r0", "mov.i ar.lc=r9", "loop:", *body, "br.cloop.sptk.few loop"]


def per_pass(body: Sequence[Line], machine: str, overrides: Sequence[str] = ()) -> tuple[float, Counter[str]]:
    """Cycles of a pass of a loop with this body, and its back-end bubbles by cause."""
    cycles, bubbles = _per_pass(tuple(body), machine, tuple(overrides))
    return cycles, Counter(bubbles)


@cache
def _per_pass(body: tuple[Line, ...], machine: str, overrides: tuple[str, ...]) -> tuple[float, Counter[str]]:
    few, many = (run_code(loop(body, times), machine, overrides) for times in (FEW, MANY))
    bubbles = bubbles_of(many)
    bubbles.subtract(bubbles_of(few))
    passes = MANY - FEW
    return (many.cycles - few.cycles) / passes, Counter({cause: n / passes for cause, n in bubbles.items() if n})


def bubbles_of(machine: Machine) -> Counter[str]:
    """Back-end bubbles by cause."""
    found: Counter[str] = Counter()
    for _, _, cause, cycles in machine.bubbles():
        found[Cause(cause).name] += cycles
    return found


def open_bundle(units: str, *texts: str) -> bytes:
    """A bundle without a stop behind it; an empty text is a nop."""
    slots = [instruction(text or NOP[unit])[1] for text, unit in zip(texts, units, strict=True)]
    return join(NUMBERS[units] - 1, slots)


__all__ = ["Cause", "assemble", "loop", "open_bundle", "per_pass", "run_code"]
