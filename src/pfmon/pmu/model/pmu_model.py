"""The public interface of a PMU: events, registers, and `program`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from pfmon.errors import RuleError
from pfmon.pmu.model.event_table import load_events
from pfmon.pmu.model.request import Request, event_requests, instruction_set_mask, privilege_mask
from pfmon.pmu.registers.register_file import CounterBank
from pfmon.pmu.registers.register_tables import load_registers
from pfmon.pmu.targets import named, names, of_architecture

if TYPE_CHECKING:
    from pfmon.pmu.model.event_table import EventTable
    from pfmon.pmu.model.programmer import Programmer
    from pfmon.pmu.model.programming import Programming
    from pfmon.pmu.model.request import (
        BranchBufferRequest,
        EarRequest,
        EventRequest,
        IpEarRequest,
        OpcodeMatch,
        RangeRequest,
    )
    from pfmon.pmu.registers.register_file import RegisterFile
    from pfmon.pmu.registers.register_tables import RegisterSet
    from pfmon.pmu.target import Target

__all__ = ["IA64", "PmuModel", "get", "names"]

IA64 = of_architecture("ia64")


class PmuModel:
    """One PMU: `target` describes it, `events` and `registers` are its tables, `program` converts events to register
    values."""

    def __init__(self, target: Target) -> None:
        module, _, programmer = target.programmer.rpartition(".")
        self.target = target
        self.name = target.name
        self.programmer: type[Programmer] = getattr(import_module(module), programmer)
        self.bank = CounterBank(target.counters, target.width)

    @property
    def architecture(self) -> str:
        """The instruction set of the processors with this PMU: `ia64`, `x86`, `ppc`."""
        return self.target.architecture

    @property
    def events(self) -> EventTable:
        """The event table."""
        return load_events(self.name)

    @property
    def registers(self) -> RegisterSet:
        """The register table."""
        return load_registers(self.name)

    @property
    def data_registers(self) -> list[int]:
        """The numbers of the data registers: PMDs of the Itaniums in their order, or the counters."""
        numbers = [register.number for name, register in self.registers.items() if name.startswith("pmd")]
        return numbers or list(self.bank.numbers)

    def data_name(self, number: int) -> str:
        """Return a data register's name in the manuals: PMD4, IA32_PMC0, IA32_FIXED_CTR0, PERF_CTR0, PMC1."""
        return self.programmer.data_name(number)

    def register_file(self) -> RegisterFile:
        """Return a new register file of the PMU's class in the reset state."""
        return self.programmer.register_file(self.registers, self.bank)

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
        controls: Mapping[str, int] | None = None,
        check_ears: bool = True,
        preload: Mapping[str, int] | None = None,
        two_threads: bool = False,
        last_branches: Sequence[str] | None = None,
    ) -> Programming:
        """Return the register values that count the events. PfmonError, naming the rule: they cannot be counted.

        `events` are names or `EventRequest`s; `plm` and `ism` are the defaults for all of them;
        `system_wide` makes the monitors privileged (pm). `unavailable` are numbers of PMCs not to be used.
        `check_qualifiers` False accepts events that a range or opcode matcher does not constrain,
        `check_thresholds` False any threshold that fits its field, `check_ears` False events that stand for different
        settings of one event address register. `controls` are further fields of control
        registers, by name (Intel: `pc`, `int`, `freeze_perfmon_on_pmi`; AMD: `int`, `host_only`; PowerPC:
        `pmctrigger`, `discount`, ...); `preload`: initial values of counters, by name (PowerPC: `pmc1`, ...).
        `two_threads`: both hardware threads of a core run, and events use only counters that are correct then
        (Montecito). `last_branches`: perf's names of the branches that last branch records let through (Intel).

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
            controls or {},
            check_ears,
            preload or {},
            two_threads=two_threads,
            last_branches=None if last_branches is None else tuple(last_branches),
        )
        return self.fulfil(request)

    def fulfil(self, request: Request) -> Programming:
        """Program a complete request, as `program` does."""
        try:
            return self.programmer(self.target, request, self.events, self.registers).run()
        except RuleError as error:
            raise self.cited(error) from None

    def cited(self, error: RuleError) -> RuleError:
        """Return an error with the section of this PMU's manual."""
        section = self.target.citations.get(error.rule)
        return error if section is None or section == error.section else error.cited(section)


@cache
def get(name: str) -> PmuModel:
    """Return the model of a PMU by name, ignoring case. UnknownNameError: there is none of that name."""
    target = named(name)
    return PmuModel(target) if name == target.name else get(target.name)
