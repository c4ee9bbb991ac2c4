"""Programming Itanium 2: four counters of 47 bits, event sets through PMC4 and PMC5."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pfmon.errors import RuleError
from pfmon.pmu.model.assignment import TOGETHER, Choice
from pfmon.pmu.model.constraints import (
    DEAR_MODES,
    INST_RETIRED,
    PREFETCH,
    TaggedProgrammer,
    TaggedQualification,
    anchored,
    data_ear_excludes_branch_buffer,
    data_ear_mode,
    lower_pairs,
    prefetch_events_use_ibr_pair_1,
    tag_channels,
)
from pfmon.pmu.model.event_table import Event
from pfmon.pmu.model.ia64_pmu import Ia64Decoder, ear_mode_must_exist
from pfmon.pmu.model.programming import Monitor
from pfmon.pmu.model.request import EarRequest, OpcodeMatch, RangeRequest
from pfmon.pmu.qualify.breakpoint_ranges import PAIRS
from pfmon.pmu.qualify.filters import EVERY_OPCODE, OpcodeFilter
from pfmon.pmu.qualify.opcodes import narrow_filter, narrow_match, opcode_channels

EVENTS = "Itanium 2 manual, event sets"
STATE = "Itanium 2 manual, performance monitor state"
MATCH_ALL = 0xFFFFFFFF3FFFFFFF
UMASK_SETS = ("L2:0", "L2:3", "L2:4")
CANCELS = (0xA0, 0xA8, 0xAC)


class Itanium2Qualification(TaggedQualification):
    """PMC8, PMC9 and PMC13 to PMC15."""

    range_register = "pmc14"
    constraint_register = "pmc13"
    head_register = "pmc8"

    def opcode_filter(self, channel: int) -> OpcodeFilter:
        """Return PMC8 for channels 0 and 2, PMC9 for 1 and 3, unless PMC15 ignores them."""
        matcher = f"pmc{8 + channel % 2}"
        ignored = self.values.field("pmc15", f"ibrp{channel}_{matcher}")
        return EVERY_OPCODE if ignored else narrow_filter(self.values.fields(matcher))


class Itanium2Decoder(Ia64Decoder):
    """PMC5 selects the set of L1 events, PMC4 set and unit mask of L2 events."""

    def umask(self, number: int, event: Event, own: int) -> int:
        """Return PMC4's unit mask in sets that share it, except for events without one (Itanium 2 manual, L2
        events)."""
        if number == 4 or event.group != "L2" or not own:
            return own
        head = self.event(4)
        return head.umask if head and head.set in UMASK_SETS else own

    def heads(self, number: int, event: Event) -> int | None:
        """Return PMC5 for L1 events, PMC4 for L2 events."""
        return {"L1D": 5, "L2": 4}.get(event.group)

    def ear_setting(self, kind: str) -> tuple[str, int] | None:
        """PMC10 and PMC11."""
        fields = self.values.fields("pmc10" if kind == "iear" else "pmc11")
        mode = ("cache" if fields["ct"] else "tlb") if kind == "iear" else data_ear_mode(fields["mode"])
        return (mode, fields["umask"]) if fields["plm"] else None


class Itanium2Programmer(TaggedProgrammer):
    """Itanium 2 manual, chapter on performance monitoring."""

    qualification = Itanium2Qualification
    decoder = Itanium2Decoder
    page_bits = 12
    range_register = "pmc14"
    constraint_register = "pmc13"

    def group_rules(self) -> None:
        """One set of each group at a time."""
        one_set_at_a_time(self.events, "L1D")
        one_set_at_a_time(self.events, "L2")
        one_l2_ozq_cancels_event_at_a_time(self.events)
        if self.request.opcodes[1]:
            pmc9_excludes_code_ranges(self.request.irange)
            pmc9_constrains_tagged_instructions_only(
                [event for event, wanted in self.requested() if event.opc or wanted.check_qualifiers]
            )

    def choices(self, allowed: Sequence[Sequence[int]]) -> Iterator[Choice]:
        """Yield the choices of the L1 event that selects its set through PMC5, and of the L2 event on PMC4."""
        for first in l1_events_need_pmc5(self.events, allowed):
            for second in l2_events_need_pmc4(self.events, allowed):
                if l2_events_share_the_umask_of_pmc4(self.events, second):
                    yield first | second

    def program_instruction_ear(self) -> None:
        """PMC10."""
        if ear := self.ear("iear"):
            ear_mode_must_exist(ear, ("cache", "tlb"), "the instruction event address register")
            cache = int(ear.mode == "cache")
            self.write("pmc10", self.encode("pmc10", ear.plm, ct=cache, umask=ear.umask, ism=ear.ism))
            self.pmds += self.captures.instruction.data

    def program_data_ear(self) -> EarRequest | None:
        """PMC11."""
        if ear := self.ear("dear"):
            ear_mode_must_exist(ear, tuple(DEAR_MODES), "the data event address register")
            mode = DEAR_MODES[ear.mode]
            self.write("pmc11", self.encode("pmc11", ear.plm, mode=mode, umask=ear.umask, ism=ear.ism))
            self.pmds += self.captures.data.data
        return ear

    def code_pairs(self, ranges: RangeRequest) -> list[int]:
        """Pair 1 for prefetch events, pair 0 for others."""
        return [1 if prefetch_events_use_ibr_pair_1(self.events, PREFETCH) else 0]

    def program_opcodes(self) -> None:
        """Write PMC8, PMC9 and PMC15; PMC8 also controls the use of the code range.

        PMC15 is always written, so that no earlier matcher stays in force.
        """
        first, second = self.request.opcodes
        if first:
            pmc8_excludes_several_code_channels(lower_pairs(self.irange))
        if first or self.irange:
            inverse = bool(self.request.irange and self.request.irange.inverse)
            self.write("pmc8", self.matcher("pmc8", first, ignore=not self.irange, inverse=inverse))
        if second:
            self.write("pmc9", self.matcher("pmc9", second, ignore=True, inverse=False))
        channels = opcode_channels(self.request.opcodes, tag_channels(self.events))
        ignored = {f"ibrp{n}_pmc{8 + n % 2}": int(n not in channels) for n in range(PAIRS)}
        self.write("pmc15", self.registers["pmc15"].encode(**ignored))

    def matcher(self, name: str, wanted: OpcodeMatch | None, ignore: bool, inverse: bool) -> int:
        """Return PMC8 or PMC9: opcode bits, ig_ad and inv; bit 2 must be one."""
        value = narrow_match(wanted, self.registers, name) if wanted else MATCH_ALL
        return value & ~7 | 4 | inverse << 1 | int(ignore)

    def program_branch_buffer(self, dear: EarRequest | None) -> None:
        """PMC12."""
        buffer = self.branch_buffer()
        modes = self.data_ear_modes(dear)
        if data_ear_excludes_branch_buffer(modes, bool(buffer), "PMC12", STATE):
            self.write("pmc12", 0)
        elif buffer:
            self.write("pmc12", self.encode("pmc12", buffer.plm, **buffer.fields))
            self.pmds += self.captures.branches.data

    def cleared(self, monitor: Monitor) -> int:
        """Return PMC4.enable, which is not part of an event's configuration: PAL sets it once."""
        return self.registers["pmc4"].field("enable").mask if monitor.pmc == 4 else 0


def l1_events_need_pmc5(events: Sequence[Event], allowed: Sequence[Sequence[int]]) -> Iterator[Choice]:
    """To count L1 cache events one of them must be on PMC5, which selects the set.

    Itanium 2 manual, L1 data cache events; the same text in the Montecito manual section 4.8.2.
    """
    yield from anchored(events, allowed, "L1D", 5)


def l2_events_need_pmc4(events: Sequence[Event], allowed: Sequence[Sequence[int]]) -> Iterator[Choice]:
    """To count L2 cache events one of them must be on PMC4, which selects the set.

    Itanium 2 manual, L2 unified cache events.
    """
    yield from anchored(events, allowed, "L2", 4)


def l2_events_share_the_umask_of_pmc4(events: Sequence[Event], choice: Choice) -> bool:
    """In L2 sets 0, 3 and 4 the unit mask of PMC4 applies to all counters.

    Events with a unit mask of zero are exempt. Itanium 2 manual, L2 unified cache events.
    """
    for head in choice:
        if events[head].set in UMASK_SETS:
            return all(event.umask in (0, events[head].umask) for event in events if event.group == "L2")
    return True


def one_set_at_a_time(events: Sequence[Event], group: str) -> None:
    """Events of different sets of a group cannot be counted together.

    Itanium 2 manual, L1 data cache and L2 unified cache events; Montecito manual section 4.8.2.
    """
    sets = sorted({event.set for event in events if event.group == group})
    if len(sets) > 1:
        names = ", ".join(f"{event.name} ({event.set})" for event in events if event.group == group)
        raise RuleError("one_set_at_a_time", f"events of {group} sets cannot be mixed: {names}. {TOGETHER}", EVENTS)


def one_l2_ozq_cancels_event_at_a_time(events: Sequence[Event]) -> None:
    """The L2_OZQ_CANCELS events share their unit mask: one at a time (Itanium 2 manual, L2 cache set 0)."""
    cancels = [event.name for event in events if event.group == "L2" and event.code in CANCELS]
    if len(cancels) > 1:
        raise RuleError(
            "one_l2_ozq_cancels_event_at_a_time",
            f"cannot be counted together: {', '.join(cancels)}. {TOGETHER}",
            EVENTS,
        )


def pmc8_excludes_several_code_channels(pairs: set[int]) -> None:
    """PMC8 matches for channels 0 and 2 only (Itanium 2 manual, opcode match registers)."""
    if len(pairs) > 1:
        raise RuleError(
            "pmc8_excludes_several_code_channels",
            f"the code ranges need IBR pairs {', '.join(map(str, sorted(pairs)))}; with PMC8 one pair works",
            STATE,
        )


def pmc9_excludes_code_ranges(ranges: RangeRequest | None) -> None:
    """A code range qualifies the channels of PMC8 (Itanium 2 manual, opcode match registers)."""
    if ranges:
        raise RuleError("pmc9_excludes_code_ranges", f"{ranges.option} works with PMC8, not with PMC9", STATE)


def pmc9_constrains_tagged_instructions_only(events: Sequence[Event]) -> None:
    """PMC9 constrains tag channels 1 and 3, which only retired-instruction events count.

    Itanium 2 manual, opcode match registers; PMC8 qualifies all events (channel 0).
    """
    others = [event.name for event in events if event.code != INST_RETIRED]
    if others:
        raise RuleError("pmc9_constrains_tagged_instructions_only", f"PMC9 cannot constrain {', '.join(others)}", STATE)
