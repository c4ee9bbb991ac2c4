"""A processor with a little memory that runs assembled code: what tests of the engine's core share."""

from collections.abc import Iterable
from typing import Protocol

from enumerated import members
from ia64_assembly import CODE, Line, assemble

from pfmon.counting._counting import Tally
from pfmon.engine.ia64._ia64 import BREAK, FAULT, STOP, AddressSpace, Processor
from pfmon.isa.ia64._encodings import Fault
from pfmon.stream._stream import Consumer

__all__ = ["BREAK", "FAULT", "STOP"]

PAGE = 16384
DATA = 0x200000  # four pages to read and write, none before or after
DATA_PAGES = 4
READ_ONLY = 0x300000  # a page
STORE = 0x600000  # the backing store: 16 pages
STORE_PAGES = 16
UNMAPPED = 0x900000
MASK = 2**64 - 1

ILLEGAL_OPERATION, PRIVILEGED_OPERATION, PRIVILEGED_REGISTER, RESERVED_REGISTER_FIELD = members(
    Fault, "FAULT", "ILLEGAL_OPERATION PRIVILEGED_OPERATION PRIVILEGED_REGISTER RESERVED_REGISTER_FIELD"
)
REGISTER_NAT_CONSUMPTION, UNALIGNED, NOT_PRESENT, ACCESS_RIGHTS = members(
    Fault, "FAULT", "REGISTER_NAT_CONSUMPTION UNALIGNED_REFERENCE DATA_PAGE_NOT_PRESENT DATA_ACCESS_RIGHTS"
)
INST_NOT_PRESENT, INST_ACCESS_RIGHTS, FP_FAULT, BACKING_STORE = members(
    Fault, "FAULT", "INST_PAGE_NOT_PRESENT INST_ACCESS_RIGHTS FP_FAULT BACKING_STORE"
)
UM_BE, UM_UP, UM_AC, UM_MFL, UM_MFH = 1 << 1, 1 << 2, 1 << 3, 1 << 4, 1 << 5


class Machine:
    """``lines`` are assembled to ``base``, where execution begins; ``frame`` is the current frame marker."""

    def __init__(
        self,
        lines: Iterable[Line],
        *,
        max_block: int = 96,
        trace: bool = False,
        frame: int = 0,
        base: int = CODE,
    ) -> None:
        self.memory = AddressSpace()
        code = assemble(lines, base)
        start = base // PAGE * PAGE
        self.memory.map(start, base + len(code) - start + 64, 7)
        self.memory.write_initial(base, code)
        self.memory.map(DATA, DATA_PAGES * PAGE, 3)
        self.memory.map(READ_ONLY, PAGE, 1)
        self.memory.map(STORE, STORE_PAGES * PAGE, 3)
        self.cpu = Processor(self.memory, max_block=max_block, trace=trace)
        self.cpu.set_ar("bspstore", STORE)
        self.cpu.set_ar("rsc", 0xC)
        self.cpu.set_cfm(frame)
        self.cpu.set_ip(base)
        self.tally = Tally(self.cpu.table, trace)

    def set(self, gr: dict[int, int] | None = None, **application: int) -> "Machine":
        """Set general registers, and application registers, pr or um by name."""
        for number, value in (gr or {}).items():
            self.cpu.set_gr(number, value & MASK)
        for name, value in application.items():
            if name == "pr":
                self.cpu.set_pr(value)
            elif name == "um":
                self.cpu.set_um(value)
            else:
                self.cpu.set_ar(name, value)
        return self

    def run(self) -> int:
        """Run to a break, fault or stop, counting into ``tally``."""
        return self.cpu.run(self.tally)

    def step(self, consumer: Consumer | None = None) -> int:
        """Run one block, instruction by instruction."""
        return self.cpu.step(consumer or self.tally)

    def until_break(self) -> "Machine":
        """Run; anything but a break fails the test."""
        why = self.run()
        assert why == BREAK, (why, self.cpu.fault, hex(self.cpu.ip), hex(self.cpu.fault_address))
        return self

    def until_fault(self, number: int) -> "Machine":
        """Run; anything but this fault fails the test."""
        why = self.run()
        assert (why, self.cpu.fault) == (FAULT, number), (why, self.cpu.fault, hex(self.cpu.ip))
        return self

    def word(self, address: int, size: int = 8) -> int:
        """Little-endian bytes of memory as an integer."""
        return int.from_bytes(self.memory.read(address, size), "little")

    def put(self, address: int, value: int, size: int = 8) -> None:
        """Write an integer to memory, little-endian."""
        self.memory.write_initial(address, value.to_bytes(size, "little"))

    def fr(self, number: int) -> tuple[int, int, int]:
        """Sign, exponent and significand of a floating-point register."""
        data = self.cpu.fr_spill(number)
        high = int.from_bytes(data[8:], "little")
        return high >> 17 & 1, high & 0x1FFFF, int.from_bytes(data[:8], "little")

    def set_fr(self, number: int, sign: int, exponent: int, significand: int) -> None:
        """Set a floating-point register."""
        high = sign << 17 | exponent
        self.cpu.set_fr_spill(number, significand.to_bytes(8, "little") + high.to_bytes(8, "little"))

    def retired(self) -> int:
        """Instructions that retired, by the stream's tally and the blocks' lengths."""
        lengths = (len(self.cpu.block(n).instructions) for n in range(self.cpu.block_count()))
        return sum(length * self.tally.runs(n) for n, length in enumerate(lengths))


class Ran(Protocol):
    """What a program ran on, with what was tallied."""

    cpu: Processor
    tally: Tally


def executions(m: Ran) -> dict[int, int]:
    """How often the instruction at each address retired, and (negative address) how often it executed."""
    counts: dict[int, int] = {}
    for number in range(m.cpu.block_count()):
        runs, held = m.tally.runs(number), m.tally.executed(number)
        for ins in m.cpu.block(number).instructions:
            counts[ins.address] = counts.get(ins.address, 0) + runs
            if ins.condition is not None:
                counts[-ins.address] = counts.get(-ins.address, 0) + held[ins.condition]
    return {address: count for address, count in counts.items() if count}
