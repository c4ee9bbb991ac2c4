"""Programming common to Itanium, Itanium 2 and Montecito: the order of its steps and their checks, and the decoding of
counters.

A processor's own module (`targets/NAME/programmer.py`) defines the rules and register layouts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from pfmon.errors import BadValueError, RuleError
from pfmon.pmu.model.event_table import Event
from pfmon.pmu.model.monitors import CounterDecoder, MonitorReading, UnknownMonitor
from pfmon.pmu.model.programmer import Programmer, default_plm_must_not_be_zero
from pfmon.pmu.model.programming import Monitor, Programming
from pfmon.pmu.model.request import BranchBufferRequest, EarRequest, EventRequest, Request
from pfmon.pmu.qualify.breakpoint_ranges import (
    code_ranges_are_bundle_aligned,
    range_filters_exist,
    range_start_is_below_end,
)
from pfmon.pmu.registers.ia64_file import Ia64File
from pfmon.pmu.registers.register_file import RegisterFile
from pfmon.pmu.registers.register_tables import RegisterValues
from pfmon.pmu.target import CaptureUnits

IA32_ONLY = 1
MESI_BITS = {"I": 1, "S": 2, "E": 4, "M": 8}


class Ia64Decoder(CounterDecoder):
    """Decodes the events of one Itanium's counters; a processor's class overrides the differences."""

    # Overridden by processors.

    def umask(self, number: int, event: Event, own: int) -> int:
        """Return the unit mask in force for a counter; ``event``: one with the counter's code."""
        return own

    def heads(self, number: int, event: Event) -> int | None:
        """Return the counter whose event selects the set of the event's group; None: the event belongs to no set."""
        return None

    def all_threads(self, number: int, event: Event, fields: Mapping[str, int]) -> bool:
        """Return whether a counter with these fields counts for both threads."""
        return False

    def ear_setting(self, kind: str) -> tuple[str, int] | None:
        """Return mode and unit mask of an event address register (`iear`, `dear`); None: it captures nothing."""
        return None

    # Common to all.

    def read(self) -> MonitorReading:
        """Decode all counters."""
        found = [self._counter(number) for number in self.counters if self.values.field(f"pmc{number}", "plm")]
        return MonitorReading(
            tuple(one for one in found if isinstance(one, Monitor)),
            tuple(one for one in found if isinstance(one, UnknownMonitor)),
        )

    def _counter(self, number: int) -> Monitor | UnknownMonitor:
        """Decode one enabled counter."""
        event = self.event(number)
        fields = self.values.fields(f"pmc{number}")
        reason = self._contradiction(number, event) if event else "no event has this code and unit mask"
        if event is None or reason:
            return UnknownMonitor(
                number, fields["es"], fields["umask"], reason, f"PMC{number}", "Montecito manual table 3-6"
            )
        return Monitor(
            event,
            number,
            number,
            fields["plm"],
            bool(fields["pm"]),
            fields["ism"],
            fields["threshold"],
            bool(fields["oi"]),
            self.all_threads(number, event, fields),
            fields.get("mesi", 0) if event.mesi else 0,
            bool(fields["ev"]),
        )

    def event(self, number: int) -> Event | None:
        """Return the event of a counter, the canonical one of several names; None if there is none."""
        fields = self.values.fields(f"pmc{number}")
        alike = self.events.canonical(fields["es"])
        if not alike:
            return None
        if kind := self.events.ear_kind(fields["es"]):
            return self._ear_event(kind, fields["es"])
        if len(alike) == 1 and not alike[0].umask:
            return alike[0]
        umask = self.umask(number, alike[0], fields["umask"])
        return next((event for event in alike if event.umask == umask), None)

    def _ear_event(self, kind: str, code: int) -> Event | None:
        """Return the event that counts an event address register's captures: that of its mode and unit mask, if there
        is one. The counter's own unit mask is ignored."""
        setting = self.ear_setting(kind)
        captures = f"{kind}_{setting[0]}" if setting else "-"
        umask = setting[1] if setting else 0
        members = self.events.with_code(code)
        for wanted in ((captures, umask), ("-", 0)):
            for event in members:
                if (event.ear, event.umask) == wanted:
                    return event
        return None

    def _contradiction(self, number: int, event: Event) -> str:
        """Return why a counter cannot count its event, or ""."""
        if number not in event.counters:
            return f"{event.name} cannot be counted on PMD{number}"
        head = self.heads(number, event)
        if head is None or head == number:
            return ""
        selecting = self.event(head)
        if selecting is None or selecting.set != event.set:
            return f"{event.name} is of set {event.set}, which PMC{head} does not select"
        return ""


class Ia64Programmer(Programmer):
    """The steps of the three Itaniums; a processor's class sets the attributes and adds its rules."""

    decoder: ClassVar[type[Ia64Decoder]]
    register_file: ClassVar[type[RegisterFile]] = Ia64File
    overflow_interrupt = True
    deciding_ear_event = 0

    def run(self) -> Programming:
        """Run all steps; the monitors are decoded from the registers, with the requested names."""
        made = super().run()
        values = RegisterValues(self.registers, made.writes)
        found = {one.pmd: one for one in self.decoder(self.table, self.target.counters, values).read().monitors}
        return made._replace(monitors=tuple(found[one.pmd]._replace(event=one.event) for one in made.monitors))

    @property
    def captures(self) -> CaptureUnits:
        """The event address registers and the branch buffer, which every Itanium has."""
        assert self.target.captures
        return self.target.captures

    def write(self, name: str, value: int) -> None:
        """Record a register value. RuleError: the register is not available."""
        register = self.registers[name]
        if name.startswith("pmc"):
            pmc_must_be_available(register.number, self.request.unavailable)
        self.writes[name] = value

    def check(self) -> None:
        """Check qualifiers and ranges, then the rules of any PMU."""
        default_plm_must_not_be_zero(self.request.plm)
        if self.request.ism == IA32_ONLY:
            ia32_only_excludes_ia64_features(self.request, self.branch_buffer() is not None)
        for event, wanted in self.requested():
            if self.request.check_qualifiers and wanted.check_qualifiers:
                self.check_qualifiers(event)
        if self.request.irange or self.request.drange:
            for event, wanted in self.requested():
                range_allows_default_plm_only(event, wanted.plm, self.request.plm)
        self.check_ranges()
        if self.request.check_ears:
            for kind in ("iear", "dear"):
                events_agree_on_an_address_register(self.ear_events(kind), getattr(self.request, kind))
        super().check()

    def check_ranges(self) -> None:
        """Check the form of the ranges."""
        if self.request.irange:
            range_start_is_below_end(self.request.irange.limits, self.request.irange.option)
            code_ranges_are_bundle_aligned(self.request.irange)
            range_filters_exist(self.request.irange, self.target.range_filters, f"{self.target.name}'s code ranges")
        if self.request.drange:
            range_start_is_below_end(self.request.drange.limits, "--drange")
            range_filters_exist(self.request.drange, (), "data ranges")

    def check_qualifiers(self, event: Event) -> None:
        """Check that an event supports every requested qualification."""
        if self.request.irange:
            event_must_support_instruction_ranges(event, self.request.irange.option)
        if self.request.drange:
            event_must_support_data_ranges(event)
        if any(self.request.opcodes):
            event_must_support_opcode_matching(event)

    def program_monitor(self, monitor: Monitor) -> None:
        """Write the counter's configuration register."""
        self.write(f"pmc{monitor.pmc}", self.configuration(monitor))

    def monitor(self, event: Event, wanted: EventRequest, number: int) -> Monitor:
        """Return the setting of an event's counter."""
        return Monitor(
            event,
            number,
            number,
            self.plm(wanted.plm),
            self.request.system_wide,
            self.request.ism if wanted.ism is None else wanted.ism,
            wanted.threshold,
            self.overflow_interrupt,
        )

    def ear(self, kind: str) -> EarRequest | None:
        """Return the setting of an event address register (`iear`, `dear`): the requested one, or that of an event.

        An event such as DATA_EAR_CACHE_LAT8 selects a mode and a unit mask. Of several such events one sets the
        register, and all count its captures.
        """
        requested: EarRequest | None = getattr(self.request, kind)
        meant = self.ear_events(kind)
        if requested or not meant:
            return requested
        event = meant[self.deciding_ear_event]
        return EarRequest(event.ear.partition("_")[2], event.umask)

    def ear_events(self, kind: str) -> list[Event]:
        """Return the events that select a mode of an event address register."""
        return [event for event in self.events if event.ear.startswith(kind)]

    def branch_buffer(self) -> BranchBufferRequest | None:
        """Return the branch buffer's setting; an event that counts its captures enables it for all branches."""
        if self.request.branch_buffer or not any(event.branch_buffer for event in self.events):
            return self.request.branch_buffer
        return BranchBufferRequest({"tm": 3, "ptm": 3, "ppm": 3})

    def encode(self, name: str, plm: int, **fields: int) -> int:
        """Return a register value from fields, with the request's levels and pm."""
        return self.registers[name].encode(plm=self.plm(plm), pm=int(self.request.system_wide), **fields)

    def configuration(self, monitor: Monitor) -> int:
        """Return the value of a counter's configuration register.

        An unchecked threshold is written unchanged: hardware drops excess bits.
        """
        threshold = self.registers["pmc4"].field("threshold")
        register = self.registers[f"pmc{monitor.pmc}"]
        value = register.encode(
            plm=monitor.plm,
            oi=int(monitor.overflow_interrupt),
            pm=int(monitor.pm),
            es=monitor.event.code,
            umask=0 if monitor.event.ear != "-" else monitor.event.umask,
            ism=monitor.ism,
        )
        return (value | threshold.put(register.name, monitor.threshold)) & ~self.cleared(monitor)

    def cleared(self, monitor: Monitor) -> int:
        """Return the bits of a configuration register that programming leaves at zero although they reset to one."""
        return 0


def pmc_must_be_available(number: int, unavailable: frozenset[int]) -> None:
    """Registers in use by others are not written (perfmon interface: unavailable PMCs)."""
    if number in unavailable:
        raise RuleError("pmc_must_be_available", f"PMC{number} is not available")


def ia32_only_excludes_ia64_features(request: Request, branch_buffer: bool) -> None:
    """Ranges, opcode matchers and the branch buffer apply to IA-64 code only.

    Pfmon on Itanium 2, section 7.1; Itanium manual section 6.1.3.3.
    """
    used = [request.irange.option] if request.irange else []
    used += ["--drange"] if request.drange else []
    used += ["opcode matching"] * any(request.opcodes) + ["branch buffer"] * branch_buffer
    if used:
        raise RuleError(
            "ia32_only_excludes_ia64_features",
            f"{', '.join(used)}: not available when IA-32 code alone is monitored (--ia32)",
            "pfmon on Itanium 2, section 7.1",
        )


def ear_mode_must_exist(ear: EarRequest, modes: Sequence[str], what: str) -> None:
    """An event address register has the modes that its configuration register encodes."""
    if ear.mode not in modes:
        raise BadValueError(f"{what} has no mode {ear.mode!r}: legal are {', '.join(modes)}", "ear_mode_must_exist")


def events_agree_on_an_address_register(events: Sequence[Event], requested: EarRequest | None) -> None:
    """An event address register has one mode and one latency or level for all events that count its captures (Montecito
    manual sections 3.3.8 and 3.3.9; pfmon on Itanium 2, section 5).
    """
    settings = {(event.ear.partition("_")[2], event.umask) for event in events}
    if requested and settings:
        settings.add((requested.mode, requested.umask))
    if len(settings) > 1:
        raise RuleError(
            "events_agree_on_an_address_register",
            f"{', '.join(event.name for event in events)}: one register captures for all of them, with one mode and "
            "latency; count them in different event sets, or with --unlimited",
            "Montecito manual sections 3.3.8 and 3.3.9",
        )


def event_must_support_instruction_ranges(event: Event, option: str) -> None:
    """The column IAR of the event tables (Montecito manual section 4.2)."""
    if not event.iar:
        raise RuleError(
            "event_must_support_instruction_ranges",
            f"{event.name} cannot be constrained by {option}; drop it or use --no-qual-check",
            "Montecito manual section 4.2, column IAR",
        )


def event_must_support_data_ranges(event: Event) -> None:
    """The column DAR of the event tables (Montecito manual section 4.2)."""
    if not event.dar:
        raise RuleError(
            "event_must_support_data_ranges",
            f"{event.name} cannot be constrained by --drange; drop it or use --no-qual-check",
            "Montecito manual section 4.2, column DAR",
        )


def event_must_support_opcode_matching(event: Event) -> None:
    """The column OPC of the event tables (Montecito manual section 4.2)."""
    if not event.opc:
        raise RuleError(
            "event_must_support_opcode_matching",
            f"{event.name} cannot be constrained by an opcode matcher; drop it or use --no-qual-check",
            "Montecito manual section 4.2, column OPC",
        )


def range_allows_default_plm_only(event: Event, plm: int | None, default: int) -> None:
    """A range carries one privilege mask for all events (pfmon's page for Itanium 2, section 8.3)."""
    if plm and plm != default:
        raise RuleError(
            "range_allows_default_plm_only",
            f"{event.name} has its own privilege levels; with a range all events take the default ones",
            "pfmon on Itanium 2, section 8.3",
        )


def mesi_mask(states: str) -> int:
    """Return the MESI field (bit 0 I, 1 S, 2 E, 3 M) of a string of letters."""
    unknown = set(states) - set(MESI_BITS)
    if unknown:
        raise BadValueError(
            f"unknown cache line state in {states!r}: use M, E, S, I", "line_states_are_letters_of_mesi"
        )
    mask = 0
    for state in states:
        mask |= MESI_BITS[state]
    return mask
