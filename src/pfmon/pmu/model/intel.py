"""Intel architectural performance monitoring: programming and decoding of its registers (Intel SDM volume 3, section
30.2; of later versions 18.2). msr_file.py and msr_v4_file.py have the register files.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from pfmon.errors import RuleError
from pfmon.pmu.model.branch_filter import check_branch_filter, select_value
from pfmon.pmu.model.event_selects import NO_CONDITION, EventSelectDecoder, EventSelectProgrammer, conditional
from pfmon.pmu.model.event_table import Event
from pfmon.pmu.model.monitors import CounterDecoder, UnknownMonitor
from pfmon.pmu.model.programming import Monitor
from pfmon.pmu.qualify.qualifier import Qualification, Unqualified
from pfmon.pmu.registers.msr_file import (
    CONTROL,
    FIXED,
    USER_LEVELS,
    MsrFile,
    control_levels,
    data_register_name,
    select_register,
    signals_overflow,
)
from pfmon.pmu.registers.msr_v4_file import MsrV4File, MsrV5File
from pfmon.pmu.registers.register_file import RegisterFile
from pfmon.pmu.registers.register_tables import RegisterSet
from pfmon.pmu.target import PEBS_RECORD
from pfmon.signals.signal_names import is_produced

COUNTER_CONTROLS = ("pc", "int")
"""Fields that a control sets for all counters; fixed-function counters have no PC."""
SECTION = "Intel SDM volume 3 sections 30.2.1.1 and 30.2.2"

EXTRA_REGISTERS = {
    "msr_offcore_rsp_0": {0xB7: "msr_offcore_rsp_0", 0xBB: "msr_offcore_rsp_1"},
    "msr_pebs_frontend": {0xC6: "msr_pebs_frontend"},
}
"""The further register that an event needs, in tables -> event code, the table's first -> the register that this code
uses. OFFCORE_RESPONSE has two of both (sections 18.9.5 and 18.13.1)."""
LOAD_LATENCY = "msr_pebs_ld_lat_threshold"
"""The register with the latency from which loads are sampled (section 18.8.1.2)."""


def condition(fields: Mapping[str, int]) -> tuple[int, bool, bool]:
    """Return CMASK, INV and E of an event select register; a fixed-function counter has none."""
    return fields.get("cmask", 0), bool(fields.get("inv", 0)), bool(fields.get("e", 0))


class IntelDecoder(EventSelectDecoder):
    """IA32_PERFEVTSELx, IA32_FIXED_CTR_CTRL and, in version 2, IA32_PERF_GLOBAL_CTRL."""

    def levels(self, number: int) -> int:
        """Return the privilege levels at which a counter counts; 0: it is disabled by its own control or by the global
        one."""
        if CONTROL in self.values.registers and not self.values[CONTROL] >> number & 1:
            return 0
        return control_levels(number, self.values.fields(select_register(number)))

    def event(self, number: int) -> Event | None:
        """Return the event of a counter: the one that a general counter selects, or that of a fixed-function
        counter."""
        if number in FIXED:
            everybody = bool(self.values.fields(select_register(number)).get(f"any{number - FIXED[0]}", 0))
            # With AnyThread it has the same event, unless another one is named so; others count on general ones, too.
            return min(
                self.events.on_counter(number),
                key=lambda one: (one.any_thread != everybody, len(one.counters)),
                default=None,
            )
        fields = self.values.fields(select_register(number))
        return self._alike(number, condition(fields)) or self._alike(number, NO_CONDITION)

    def _alike(self, number: int, wanted: tuple[int, bool, bool]) -> Event | None:
        """Return the event that a general counter selects and that is defined by this condition."""
        fields = self.values.fields(select_register(number))
        code, extras = fields["event"], {"-"}
        for name, codes in EXTRA_REGISTERS.items():
            if code in codes and name in self.values.registers:
                code, extras = next(iter(codes)), {f"{name}={self.values[codes[code]]:#x}"}
                break
        if LOAD_LATENCY in self.values.registers:
            extras.add(f"{LOAD_LATENCY}={self.values[LOAD_LATENCY]:#x}")
        chosen = fields["umask"], bool(fields.get("any", 0)), wanted
        alike = [one for one in self.events.canonical(code) if one.extra in extras]
        return next((one for one in alike if (one.umask, one.any_thread, one.condition) == chosen), None)

    def counter(self, number: int) -> Monitor | UnknownMonitor:
        """Decode one enabled counter. An event defined by a condition is counted as the one without it, in the cycles
        of the condition, where that can be counted and the event itself cannot."""
        name, event = select_register(number), self.event(number)
        fields = self.values.fields(name)
        if event and any(event.condition) and not is_produced(event.signal):
            event = self._alike(number, NO_CONDITION) or event
        if event is None:
            reason = "no event has this code and unit mask"
            return UnknownMonitor(number, fields["event"], fields["umask"], reason, name.upper(), SECTION)
        cmask, invert, edge = NO_CONDITION if any(event.condition) else condition(fields)
        return Monitor(
            event,
            number,
            number,
            self.levels(number),
            False,
            0,
            cmask,
            signals_overflow(number, fields),
            edge=edge,
            invert=invert,
            cmask=True,
        )


class IntelProgrammer(EventSelectProgrammer):
    """General counters, each with its event select register; from version 2 on also fixed-function counters and the
    global registers, if the register table has them."""

    register_file: ClassVar[type[RegisterFile]] = MsrFile
    decoder: ClassVar[type[CounterDecoder]] = IntelDecoder
    qualification: ClassVar[type[Qualification]] = Unqualified

    @classmethod
    def data_name(cls, number: int) -> str:
        """Return a data register's name: IA32_PMC0 to IA32_FIXED_CTR2, and those of last branch records."""
        return data_register_name(number).upper()

    def check(self) -> None:
        """Check the controls: PC and INT, which every counter has, and the fields of IA32_DEBUGCTL."""
        controls_are_fields(self.request.controls, self.registers)
        super().check()

    def debug_controls(self) -> dict[str, int]:
        """Return the controls that belong to no single counter; with branch filters last branch recording is on."""
        recording = {} if self.request.last_branches is None else {"lbr": 1, "freeze_lbrs_on_pmi": 1}
        return recording | {name: v for name, v in self.request.controls.items() if name not in COUNTER_CONTROLS}

    def assignment(self, allowed: Sequence[Sequence[int]]) -> list[int] | None:
        """Assign fixed-function counters first, so that general ones stay free for other events."""
        narrowed = [
            [c for c in counters if c not in FIXED or not (conditional(wanted) or self.request.controls.get("pc"))]
            for counters, wanted in zip(allowed, self.request.events, strict=True)
        ]
        preferred: list[Sequence[int]] = []
        taken: set[int] = set()
        for counters in narrowed:
            fixed = [c for c in counters if c in FIXED and c not in taken]
            taken.update(fixed)
            preferred.append(fixed or counters)
        return super().assignment(preferred) or super().assignment(narrowed)

    def program_monitor(self, monitor: Monitor) -> None:
        """Write the event select register, or the fixed-function counter's part of its control register."""
        os, user = monitor.plm & 1, bool(monitor.plm & USER_LEVELS)
        if monitor.pmd in FIXED:
            number = monitor.pmd - 32
            fields = {f"en{number}": os | user << 1, f"pmi{number}": self.request.controls.get("int", 1)}
            if monitor.event.any_thread:
                fields[f"any{number}"] = 1
            control = self.registers["ia32_fixed_ctr_ctrl"].encode(**fields)
            self.writes["ia32_fixed_ctr_ctrl"] = self.writes.get("ia32_fixed_ctr_ctrl", 0) | control
            return
        event, select = monitor.event, self.registers["ia32_perfevtsel0"]
        fields = {
            "event": self.code(event),
            "umask": event.umask,
            "usr": int(user),
            "os": os,
            "e": int(monitor.edge or event.edge),
            "pc": self.request.controls.get("pc", 0),
            "int": self.request.controls.get("int", 1),
            "any": int(event.any_thread),
            "en": 1,
            "inv": int(monitor.invert or event.invert),
            "cmask": monitor.threshold or event.cmask,
        }
        has = {field.name for field in select.fields}
        value = select.encode(**{name: field for name, field in fields.items() if name in has})
        self.writes[f"ia32_perfevtsel{monitor.pmd}"] = value
        if event.extra.startswith(LOAD_LATENCY):
            self.enable_precise_loads(monitor.pmd)

    def code(self, event: Event) -> int:
        """Return the code that selects an event; write the further register that it needs: one that has the value
        already, or a free one."""
        if event.extra == "-":
            return event.code
        name, _, value = event.extra.partition("=")
        wanted = int(value, 16)
        codes = EXTRA_REGISTERS.get(name, {event.code: name})
        there = {code: register for code, register in codes.items() if register in self.registers}
        for code, register in there.items():
            if self.writes.setdefault(register, wanted) == wanted:
                return code
        raise events_need_a_further_register(event, there.values())

    def enable_precise_loads(self, number: int) -> None:
        """Let a counter take precise samples of loads (section 18.8.1.2)."""
        enables = self.registers["ia32_pebs_enable"]
        found = enables.field("pebs_en").put(enables.name, 1 << number)
        if any(field.name == "ll_en" for field in enables.fields):
            found |= enables.field("ll_en").put(enables.name, 1 << number)
        self.writes[enables.name] = self.writes.get(enables.name, 0) | found

    def program_features(self) -> None:
        """Write IA32_DEBUGCTL, then IA32_PERF_GLOBAL_CTRL, which starts all counters at once (version 2; section
        30.2.2)."""
        if controls := self.debug_controls():
            self.writes["ia32_debugctl"] = self.registers["ia32_debugctl"].encode(**controls)
        if CONTROL in self.registers:
            self.writes[CONTROL] = sum(1 << number for number in set(self.pmds))
        if "ia32_pebs_enable" in self.writes:
            self.pmds += PEBS_RECORD
        if self.request.last_branches is not None:
            self.program_last_branches(self.request.last_branches)

    def program_last_branches(self, filters: Sequence[str]) -> None:
        """Write MSR_LBR_SELECT; the last branch records are read with the counters."""
        check_branch_filter(filters)
        layout = self.target.last_branches
        assert layout
        register = self.registers["msr_lbr_select"] if layout.has_select else None
        select = select_value(filters, layout, register, self.target.name)
        if register:
            self.writes[register.name] = select
        self.pmds += layout.registers


class IntelV4Programmer(IntelProgrammer):
    """Version 4: the same programming, other registers beside it."""

    register_file: ClassVar[type[RegisterFile]] = MsrV4File


class IntelV5Programmer(IntelProgrammer):
    """Version 5."""

    register_file: ClassVar[type[RegisterFile]] = MsrV5File


def controls_are_fields(controls: Mapping[str, int], registers: RegisterSet) -> None:
    """Controls are PC and INT of all counters, and the fields of IA32_DEBUGCTL (version 2; section 30.2.2). There is no
    PC since Sandy Bridge (section 18.2.1.1)."""
    selects = {field.name for field in registers["ia32_perfevtsel0"].fields}
    known = [name for name in COUNTER_CONTROLS if name in selects]
    if "ia32_debugctl" in registers:
        known += [field.name for field in registers["ia32_debugctl"].fields]
    for name in controls:
        if name not in known:
            raise RuleError("controls_are_fields", f"no control {name!r}; there are {', '.join(known)}", SECTION)


def events_need_a_further_register(event: Event, registers: Iterable[str]) -> RuleError:
    """Some events need a register of their own beside the select: OFFCORE_RESPONSE has two for all counters (section
    18.9.5)."""
    return RuleError(
        "events_need_a_further_register",
        f"{event.name} needs another value in {' or '.join(map(str.upper, registers))} than the events before it",
        "Intel SDM volume 3 section 18.9.5",
    )
