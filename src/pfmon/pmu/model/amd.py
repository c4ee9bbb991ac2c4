"""AMD's core performance counters: programming and decoding of their registers (AMD APM volume 2, section 13.2; PPR of
Family 19h Model 21h, section 2.1.17). amd_file.py has the register file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from typing import ClassVar

from pfmon.errors import RuleError
from pfmon.pmu.model.assignment import Choice, assign
from pfmon.pmu.model.branch_filter import check_branch_filter, select_value
from pfmon.pmu.model.event_selects import EventSelectDecoder, EventSelectProgrammer, conditional
from pfmon.pmu.model.event_table import Event
from pfmon.pmu.model.monitors import CounterDecoder, UnknownMonitor
from pfmon.pmu.model.programming import Monitor
from pfmon.pmu.model.request import EventRequest
from pfmon.pmu.qualify.qualifier import Qualification, Unqualified
from pfmon.pmu.registers.amd_file import (
    CONTROL,
    MERGE,
    OP_SAMPLING,
    SAMPLING,
    AmdFile,
    AmdV2File,
    amd_counter_name,
    amd_select_register,
    present_name,
)
from pfmon.pmu.registers.msr_file import USER_LEVELS, control_levels, signals_overflow
from pfmon.pmu.registers.register_file import RegisterFile
from pfmon.pmu.registers.register_tables import Register, RegisterSet
from pfmon.pmu.target import IBS_RECORD

COUNTER_CONTROLS = ("int", "guest_only", "host_only")
"""Fields of an event select register that a control sets for all counters."""
SECTION = "AMD APM volume 2 section 13.2.1"
MERGE_SECTION = "PPR of Family 19h Model 21h section 2.1.17.3"
IBS_SECTION = "PPR of Family 19h Model 21h section 2.1.13.5"
LARGEST_STEP = 15
"""The most that one counter adds in a cycle, without a second one that extends it."""


def event_code(fields: Mapping[str, int]) -> int:
    """Return the event code of an event select register: EventSelect 11:8 is in bits 35:32."""
    return fields["event"] | fields["event_high"] << 8


def condition(fields: Mapping[str, int]) -> tuple[int, bool, bool]:
    """Return CntMask, Inv and Edge of an event select register."""
    return fields["cmask"], bool(fields["inv"]), bool(fields["edge"])


def takes_two_counters(event: Event) -> bool:
    """Return whether an event's increments in a cycle exceed those of one counter."""
    return event.max_increment > LARGEST_STEP


class AmdDecoder(EventSelectDecoder):
    """PERF_CTL0 to 5."""

    def fields(self, number: int) -> dict[str, int]:
        """Return the fields of a counter's event select register."""
        return self.values.fields(amd_select_register(number))

    def levels(self, number: int) -> int:
        """Return the privilege levels at which a counter counts; 0: it is disabled, or extends another one. Sampling is
        at all levels."""
        if number in SAMPLING:
            return (USER_LEVELS | 1) * self.values.field(*SAMPLING[number])
        return 0 if self.extends(number) else control_levels(number, self.fields(number))

    def extends(self, number: int) -> bool:
        """Return whether a counter extends the one before it."""
        if number in SAMPLING:
            return False
        fields = self.fields(number)
        return bool(number % 2 and fields["en"] and event_code(fields) == MERGE)

    def event(self, number: int) -> Event | None:
        """Return the event that a counter selects; None: there is none of its code and unit mask."""
        if number in SAMPLING:
            register = self.values.registers[amd_select_register(number)]
            held = self.values[register.name] & sampling_bits(register)
            return next((one for one in self.events.on_counter(number) if one.extra.endswith(f"={held:#x}")), None)
        fields = self.fields(number)
        alike = self.events.canonical(event_code(fields))
        return next((one for one in alike if one.umask == fields["umask"]), None)

    def counter(self, number: int) -> Monitor | UnknownMonitor:
        """Decode one enabled counter."""
        event, fields = self.event(number), self.fields(number)
        if event is None:
            return self.unknown(number, "no event has this code and unit mask")
        if number in SAMPLING:
            return Monitor(event, number, number, self.levels(number), False, 0, 0, True, cmask=True)
        if takes_two_counters(event) and (number % 2 or not self.extends(number + 1)):
            return self.unknown(number, f"{event.name} needs the counter behind an even one, with event {MERGE:#x}")
        cmask, invert, edge = condition(fields)
        return Monitor(
            *(event, number, number, self.levels(number), False, 0, cmask, signals_overflow(number, fields)),
            edge=edge,
            invert=invert,
            cmask=True,
        )

    def unknown(self, number: int, reason: str) -> UnknownMonitor:
        """Return a counter that counts no event that there is."""
        name, fields = amd_select_register(number), self.fields(number)
        code, umask = (0, 0) if number in SAMPLING else (event_code(fields), fields["umask"])
        return UnknownMonitor(number, code, umask, reason, name.upper(), SECTION)


class AmdProgrammer(EventSelectProgrammer):
    """Six counters, each with its event select register, without global control."""

    register_file: ClassVar[type[RegisterFile]] = AmdFile
    decoder: ClassVar[type[CounterDecoder]] = AmdDecoder
    qualification: ClassVar[type[Qualification]] = Unqualified

    @classmethod
    def data_name(cls, number: int) -> str:
        """Return the name of a counter, PERF_CTR0 to 5, or of a register of sampled ops."""
        return amd_counter_name(number).upper()

    def check(self) -> None:
        """Check the controls, which every counter has."""
        controls_are_fields(self.request.controls, self.registers)
        super().check()
        for event, wanted in self.requested():
            sampling_has_no_conditions(event, wanted)

    def assignment(self, allowed: Sequence[Sequence[int]]) -> list[int] | None:
        """Assign events; those that need two counters get an even one, and the one behind it."""
        large = [number for number, event in enumerate(self.events) if takes_two_counters(event)]
        return assign(allowed, pairs_of_counters(large, allowed, self.request.unavailable))

    def program_monitor(self, monitor: Monitor) -> None:
        """Write the event select register, and that of the counter which extends it."""
        event, controls = monitor.event, self.request.controls
        if monitor.pmd in SAMPLING:
            name, _, value = event.extra.partition("=")
            self.writes[name] = int(value, 16)
            self.pmds += IBS_RECORD if monitor.pmd == OP_SAMPLING else ()
            return
        select = self.registers[amd_select_register(monitor.pmd)]
        self.writes[select.name] = select.encode(
            event=event.code & 0xFF,
            event_high=event.code >> 8,
            umask=event.umask,
            usr=int(bool(monitor.plm & USER_LEVELS)),
            os=monitor.plm & 1,
            edge=int(monitor.edge),
            int=controls.get("int", 1),
            en=1,
            inv=int(monitor.invert),
            cmask=monitor.threshold,
            guest_only=controls.get("guest_only", 0),
            host_only=controls.get("host_only", 0),
        )
        if takes_two_counters(event):
            merge = select.encode(event=MERGE & 0xFF, event_high=MERGE >> 8, en=1)
            self.writes[amd_select_register(monitor.pmd + 1)] = merge


def pairs_of_counters(
    large: Sequence[int], allowed: Sequence[Sequence[int]], unavailable: Sequence[int] | frozenset[int]
) -> Iterator[Choice]:
    """Yield the counters that remain for each event when the large ones, by their place in a request, have some even
    counters; the counter behind each is no other event's."""
    wanted = sorted({counter for number in large for counter in allowed[number]})
    even = [counter for counter in wanted if counter % 2 == 0 and counter + 1 not in unavailable]
    for places in permutations(even, len(large)):
        taken = {number for place in places for number in (place, place + 1)}
        left: Choice = {
            number: [one for one in counters if one not in taken]
            for number, counters in enumerate(allowed)
            if number not in large
        }
        yield left | {number: [place] for number, place in zip(large, places, strict=True)}


def sampling_bits(register: Register) -> int:
    """Return the bits of a control register of sampling that say what is sampled: its enable, and what is counted up to
    the period (CntCtl)."""
    return sum(field.mask for field in register.fields if field.name in ("op_en", "cnt_ctl", "fetch_en"))


def sampling_has_no_conditions(event: Event, wanted: EventRequest) -> None:
    """IBS_OP_CTL and IBS_FETCH_CTL have no CntMask, Inv and Edge."""
    if event.extra != "-" and conditional(wanted):
        raise RuleError(
            "sampling_has_no_conditions", f"{event.name} takes no threshold, no invert and no edge", IBS_SECTION
        )


def controls_are_fields(controls: Mapping[str, int], registers: RegisterSet) -> None:
    """Controls are fields of all event select registers (AMD APM volume 2 section 13.2.1)."""
    for name, value in controls.items():
        if name not in COUNTER_CONTROLS:
            raise RuleError(
                "controls_are_fields", f"no control {name!r}; there are {', '.join(COUNTER_CONTROLS)}", SECTION
            )
        registers[amd_select_register(0)].field(name).put("PERF_CTL", value)


def counter_values(values: Mapping[str, int]) -> dict[str, int]:
    """Return register values by name, those of older addresses under the present names."""
    return {present_name(name): value for name, value in values.items()}


class AmdV2Decoder(AmdDecoder):
    """With global control."""

    def levels(self, number: int) -> int:
        """Return the privilege levels at which a counter counts; 0: it is disabled by its own control or the global
        one."""
        if number not in SAMPLING and not self.values[CONTROL] >> number & 1:
            return 0
        return super().levels(number)


class AmdV2Programmer(AmdProgrammer):
    """PerfMonV2: the same counters with global control, and last branch records (LbrExtV2)."""

    register_file: ClassVar[type[RegisterFile]] = AmdV2File
    decoder: ClassVar[type[CounterDecoder]] = AmdV2Decoder

    def program_features(self) -> None:
        """Write LBR_SELECT and DBG_EXTN_CFG, then the global control, which starts all counters at once."""
        if self.request.last_branches is not None:
            self.program_last_branches(self.request.last_branches)
        selects = [name for name in self.writes if name.startswith("perf_ctl")]
        if selects:
            self.writes[CONTROL] = sum(1 << self.registers[name].number for name in selects)

    def program_last_branches(self, filters: Sequence[str]) -> None:
        """Let branches through; the last branch records are read with the counters."""
        check_branch_filter(filters)
        layout = self.target.last_branches
        assert layout
        select = self.registers[layout.select]
        self.writes[select.name] = select_value(filters, layout, select, self.target.name)
        register, field = layout.enable
        self.writes[register] = self.registers[register].encode(**{field: 1})
        self.pmds += layout.registers
