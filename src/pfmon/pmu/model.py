"""A PMU as the rest of the system sees it: events, registers, and `program`."""

from collections.abc import Collection, Iterable
from functools import cache
from importlib import import_module

from pfmon.errors import UnknownNameError
from pfmon.pmu.event import EventTable, load_events
from pfmon.pmu.file import CounterBank, RegisterFile
from pfmon.pmu.ia64 import Programmer
from pfmon.pmu.programming import Programming
from pfmon.pmu.register import RegisterSet, load_registers
from pfmon.pmu.request import (
    BranchBufferRequest,
    EarRequest,
    EventRequest,
    IpEarRequest,
    OpcodeMatch,
    RangeRequest,
    Request,
    event_requests,
    instruction_set_mask,
    privilege_mask,
)

IA64 = {
    "itanium": ("ItaniumProgrammer", 32),
    "itanium2": ("Itanium2Programmer", 47),
    "montecito": ("MontecitoProgrammer", 47),
}


class PmuModel:
    """One PMU: `events` and `registers` are its tables, `program` turns events into register values."""

    def __init__(self, name: str) -> None:
        programmer, width = IA64[name]
        self.name = name
        self.programmer: type[Programmer] = getattr(import_module(f"pfmon.pmu.{name}"), programmer)
        self.bank = CounterBank(self.programmer.counters, width)

    @property
    def events(self) -> EventTable:
        """The event table."""
        return load_events(self.name)

    @property
    def registers(self) -> RegisterSet:
        """The register table."""
        return load_registers(self.name)

    def register_file(self) -> RegisterFile:
        """A fresh register file in the reset state."""
        return RegisterFile(self.registers, self.bank)

    def program(
        self,
        events: Iterable[str | EventRequest] = (),
        *,
        plm: int | str = "u",
        ism: int | str = "both",
        system_wide: bool = False,
        unavailable: Collection[int] = (),
        check_qualifiers: bool = True,
        check_thresholds: bool = True,
        irange: RangeRequest | None = None,
        drange: RangeRequest | None = None,
        opcodes: tuple[OpcodeMatch | None, OpcodeMatch | None] = (None, None),
        iear: EarRequest | None = None,
        dear: EarRequest | None = None,
        branch_buffer: BranchBufferRequest | None = None,
        ip_ear: IpEarRequest | None = None,
    ) -> Programming:
        """Register values that count the events; PfmonError, naming the rule, when that cannot be.

        `events` are names or `EventRequest`s; `plm` and `ism` are the defaults for all of them;
        `system_wide` makes the monitors privileged (pm). `unavailable` are numbers of PMCs not to be used.
        `check_qualifiers` False accepts events that a range or opcode matcher does not constrain,
        `check_thresholds` False any threshold that fits its field.

        >>> from pfmon.pmu import get
        >>> made = get("montecito").program(["IA64_INST_RETIRED", "LOADS_RETIRED"])
        >>> made.counters, {name: hex(value) for name, value in made.writes.items()}
        ((4, 5), {'pmc4': '0x2000808', 'pmc5': '0x200cd08'})
        """
        request = Request(
            event_requests(events),
            privilege_mask(plm),
            instruction_set_mask(ism),
            system_wide,
            frozenset(unavailable),
            check_qualifiers,
            check_thresholds,
            irange,
            drange,
            opcodes,
            iear,
            dear,
            branch_buffer,
            ip_ear,
        )
        return self.programmer(request, self.events, self.registers).run()


def names() -> list[str]:
    """The PMUs that there are."""
    return list(IA64)


@cache
def get(name: str) -> PmuModel:
    """The model of a PMU by name, whatever the case."""
    if name.lower() not in IA64:
        raise UnknownNameError("PMU", name, names())
    return PmuModel(name.lower())
