"""The monitors of an Itanium 2 by hand, for a system image that programs them: the processor stops behind every
instruction, and each counts by the PSR that it began with (Itanium 2 manual chapter 10; volume 2, 7.2). Nothing of
the counting path is used: neither stream nor blocks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from pathlib import Path
from typing import NamedTuple

from fake_processor import settings

from pfmon.engine.api import ExitReport
from pfmon.engine.guest_settings import GuestSettings
from pfmon.engine.ia64._ia64 import AddressSpace, SystemProcessor
from pfmon.engine.ia64.system.system_guest import SystemGuest
from pfmon.isa.ia64.disassemble import listing
from pfmon.program import system_image
from pfmon.stream._stream import BlockTable, Consumer

PSR_UP, PSR_PP, PSR_CPL = 2, 21, 32
DCR, IVA = 0, 2
TABLE = 0x8000
"""Bytes of an interruption vector table."""
COUNTERS = range(4, 8)
INST_RETIRED, NOPS_RETIRED = 0x08, 0x50
WIDTH = 1 << 47
NOP = ("nop", "hint")


class Privilege(NamedTuple):
    """What of the PSR decides whether a monitor counts an instruction."""

    level: int
    up: int
    pp: int

    @classmethod
    def of(cls, psr: int) -> Privilege:
        return cls(psr >> PSR_CPL & 3, psr >> PSR_UP & 1, psr >> PSR_PP & 1)


class Logged(NamedTuple):
    """An instruction that has retired."""

    privilege: Privilege
    is_nop: bool


class PlainMonitors:
    """The system's PMU (engine.guest_pmu.SystemPmu), and the log of its instructions."""

    def __init__(self, present: bool = True) -> None:
        """``present``: else the system has no monitors, as without --guest-pmu."""
        self.log: list[Logged] = []
        self.interruptions = 0
        self.changes: Counter[tuple[int, int]] = Counter()
        """Of the level: from, to."""
        self.overflows = 0
        numbers = COUNTERS if present else ()
        self._registers = dict.fromkeys([f"{kind}{n}" for kind in ("pmc", "pmd") for n in numbers], 0)
        if present:
            self._registers["pmc0"] = 1
        self._numbers = numbers
        self._interrupt: Callable[[], None] = lambda: None
        self._guest: SystemGuest
        self._before = (0, 0, Privilege(0, 0, 0))
        self._level = 0

    consumer = Consumer()
    pmu = None

    @property
    def running(self) -> AbstractContextManager[object]:
        return nullcontext()

    def attach(self, guest: SystemGuest) -> None:
        self._guest = guest
        self._is_nop = cache(self._is_nop_at)

    def set_interrupt(self, raise_pmi: Callable[[], None] | None) -> None:
        assert raise_pmi
        self._interrupt = raise_pmi

    def read_data(self, number: int) -> int:
        raise NotImplementedError

    def access(self, kind: str, number: int, value: int = 0, *, cpl: int = 0, secure: bool = False) -> int:
        name = f"{kind[-3:]}{number}"
        if kind.startswith("read"):
            return self._registers.get(name, 0)
        if name in self._registers:
            self._registers[name] = value % WIDTH if name.startswith("pmd") else value
        return 0

    def next_stop(self) -> int:
        processor = self._guest.processor
        self._before = (processor.retired, processor.ip, Privilege.of(processor.psr))
        self._change(self._level, processor.level)
        return processor.retired + 1

    def update_registers(self) -> None:
        processor = self._guest.processor
        retired, ip, privilege = self._before
        if processor.retired == retired:  # an access asks before its instruction retires
            return
        assert processor.retired == retired + 1
        table = processor.cr(IVA)
        if table <= processor.ip < table + TABLE and not table <= ip < table + TABLE:
            # What has retired is the first instruction of a handler, with the PSR of volume 2, table 3-2.
            ip = processor.ip & ~15
            privilege = Privilege(0, privilege.up, processor.cr(DCR) & 1)
            self.interruptions += 1
            self._change(self._level, 0)
        self.log.append(Logged(privilege, self._is_nop(ip)))
        self._count(self.log[-1])

    def _change(self, level: int, now: int) -> None:
        if level != now:
            self.changes[level, now] += 1
        self._level = now

    def _is_nop_at(self, ip: int) -> bool:
        """Whether there is a nop at an address, of any region: the image maps pages to the memory at their offsets."""
        place = ip & (1 << 61) - 1
        bundle = place & ~15
        texts = dict(listing(lambda at: self._guest.memory.space.read(at, 16), bundle, bundle + 16))
        return texts[place].split(".")[0].split(" ")[0] in NOP

    def _count(self, one: Logged) -> None:
        """Count an instruction: all monitors together, and freeze if one of them overflows that interrupts."""
        if self._registers.get("pmc0", 1) & 1:
            return
        for number in self._numbers:
            pmc, name = self._registers[f"pmc{number}"], f"pmd{number}"
            event = pmc >> 8 & 0xFF
            if not pmc >> one.privilege.level & 1 or not (one.privilege.pp if pmc >> 6 & 1 else one.privilege.up):
                continue
            self._registers[name] += event == INST_RETIRED or (event == NOPS_RETIRED and one.is_nop)
            if self._registers[name] == WIDTH:
                self._registers[name] = 0
                if pmc >> 5 & 1:
                    self._registers["pmc0"] |= 1 << number | 1
        if self._registers["pmc0"] & 1:
            self.overflows += 1
            self._interrupt()


def stepped(image: Path, output: Path, present: bool = True) -> tuple[PlainMonitors, ExitReport]:
    """A system that has run an image instruction by instruction, and printed into a file."""

    def make(memory: AddressSpace, *, max_block: int, trace: bool, table: BlockTable | None) -> SystemProcessor:
        return SystemProcessor(memory, max_block=1, trace=trace, table=table)

    monitors = PlainMonitors(present)
    with Path("/dev/null").open("rb") as nothing, output.open("wb") as target:
        guest = SystemGuest(
            system_image.load(str(image), image.read_bytes()),
            settings(guest_pmu=True),
            GuestSettings(standard_files=(nothing.fileno(), target.fileno(), 2)),
            "itanium2",
            make=make,
        )
        monitors.attach(guest)
        ending = guest.run(monitors.consumer, monitors)
    assert ending
    return monitors, ending
