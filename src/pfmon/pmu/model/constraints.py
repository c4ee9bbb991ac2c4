"""Programming common to Itanium 2 and Montecito: code ranges on tag channels, and memory pipeline constraints.

PMC14 and PMC13 of Itanium 2 are PMC38 and PMC41 of Montecito, with the same fields.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence

from pfmon.errors import RuleError
from pfmon.pmu.model.assignment import Choice, anchors, assign
from pfmon.pmu.model.event_table import Event
from pfmon.pmu.model.ia64_pmu import Ia64Programmer
from pfmon.pmu.model.programming import RangeProgramming
from pfmon.pmu.model.request import EarRequest, RangeRequest
from pfmon.pmu.qualify.breakpoint_ranges import (
    BUNDLE,
    PAIRS,
    coarse,
    fine,
    fine_mode_has_two_ranges,
    fits_fine_mode,
    ibr_pairs_in_use_have_their_event,
    one_range_unless_retired_instructions_only,
    same_block_on_every_pair,
)
from pfmon.pmu.qualify.filters import EVERY_BUNDLE, CodeFilter
from pfmon.pmu.qualify.qualifier import Blocks, Qualification
from pfmon.pmu.registers.register_tables import Register

INST_RETIRED = 0x08
PREFETCH = (0x44, 0x45, 0x5F)
"""Codes of the events that count instruction prefetches."""
TAGGED = "IA64_TAGGED_INST_RETIRED"
DEAR_MODES = {"cache": 0, "tlb": 1, "alat": 2}
"""Modes of the data EAR in its configuration register."""


def data_ear_mode(field: int) -> str:
    """Return the data EAR's mode from its field: 2 and 3 are ALAT misses (Montecito manual table 3-20)."""
    return ("cache", "tlb", "alat", "alat")[field]


def anchored(events: Sequence[Event], allowed: Sequence[Sequence[int]], group: str, counter: int) -> Iterator[Choice]:
    """Yield the choices that put one event of the group on the counter; one empty choice without such events."""
    members = [number for number, event in enumerate(events) if event.group == group]
    if not members:
        yield {}
    for number in anchors(members, lambda n: (tuple(allowed[n]), events[n].code, events[n].umask)):
        if counter in allowed[number]:
            yield {number: (counter,)}


def tag_channels(events: Sequence[Event]) -> set[int]:
    """Return the tag channels that IA64_TAGGED_INST_RETIRED events count."""
    return {event.umask for event in events if event.name.startswith(TAGGED)}


def retired_channels(events: Sequence[Event]) -> set[int] | None:
    """Return the counted tag channels if all events count retired instructions, else None."""
    if all(event.code == INST_RETIRED for event in events):
        return {event.umask for event in events}
    return None


def prefetch_events_use_ibr_pair_1(events: Sequence[Event], codes: Sequence[int]) -> bool:
    """Prefetch events compare the prefetched address, by IBR pair 1 (Montecito manual section 3.3.5.2)."""
    return any(event.code in codes for event in events)


def program_code_ranges(
    ranges: RangeRequest, events: Sequence[Event], plm: int, pairs: Sequence[int], page_bits: int
) -> RangeProgramming:
    """Return the IBR values of code ranges: fine mode if it fits, otherwise blocks.

    `pairs` are the IBR pairs that the events need when they do not all count retired instructions.
    """
    channels = retired_channels(events)
    if ranges.fine and fits_fine_mode(ranges.limits, page_bits):
        fine_mode_has_two_ranges(ranges.limits, channels is not None)
        return fine(ranges, plm, page_bits, [0, 1] if len(ranges.limits) == 2 else pairs)
    if channels is None:
        one_range_unless_retired_instructions_only(ranges.limits)
        return same_block_on_every_pair(ranges, plm, pairs)
    programmed = coarse(ranges, plm)
    ibr_pairs_in_use_have_their_event(pairs_of(programmed), channels)
    return programmed


def pairs_of(programmed: RangeProgramming | None) -> list[int]:
    """Return the breakpoint pairs in use, in order."""
    return [index // 2 for index, _ in programmed.registers[::2]] if programmed else []


def range_configuration(register: Register, programmed: RangeProgramming) -> int:
    """Return PMC14 or PMC38, which enables the pairs in use, and fine mode (Montecito manual table 3-10)."""
    fields = {f"ig_ibrp{pair}": 0 for pair in pairs_of(programmed)}
    return register.encode(**fields, fine=int(programmed.fine))


def lower_pairs(programmed: RangeProgramming | None) -> set[int]:
    """Return the pairs whose constraint is enabled: in fine mode only the lower limit's (table 3-14)."""
    used = set(pairs_of(programmed))
    return {pair for pair in used if pair < 2} if programmed and programmed.fine else used


def memory_constraints(register: Register, code: set[int], data: set[int], opcodes: set[int]) -> int:
    """Return PMC13 or PMC41, which selects the pairs that constrain by instruction or opcode, and by data address.

    cfgdtag bit 1 is clear for an instruction or opcode constraint, bit 0 for a data address constraint
    (Montecito manual table 3-14). A pair is in force when a range uses it.
    """
    fields = {}
    for pair in range(PAIRS):
        by_code = pair in code or (pair in opcodes and pair in data)
        fields[f"cfgdtag{pair}"] = 3 - 2 * by_code - (pair in data)
        fields[f"en_dbrp{pair}"] = int(pair in code | data)
    return register.encode(**fields)


def data_ear_excludes_branch_buffer(modes: Sequence[str], buffer: bool, register: str, section: str) -> bool:
    """In TLB and ALAT mode the data EAR needs the branch buffer's configuration to be zero.

    Otherwise the instruction address of a miss right after a mispredicted branch is wrong. Returns whether it must be
    written as zero (Montecito manual sections 3.3.9.2 and 3.3.9.3).
    """
    others = [mode for mode in modes if mode != "cache"]
    if not others:
        return False
    if buffer:
        raise RuleError(
            "data_ear_excludes_branch_buffer",
            f"the data event address register in {others[0]} mode needs {register} to be 0: no branch buffer",
            section,
        )
    return True


class TaggedQualification(Qualification):
    """Four tag channels, an IBR pair each (Montecito manual sections 3.2.3.1 and 3.3.5; the same on Itanium 2)."""

    range_register = ""
    constraint_register = ""
    head_register = ""

    def channel(self, event: Event) -> int:
        """Return channel 0, for tagged instructions that of the unit mask, for prefetches 1 (Montecito manual sections
        3.3.5.2, 3.3.5.3)."""
        if event.code == INST_RETIRED:
            return event.umask & 3
        return 1 if event.code in PREFETCH else 0

    def code_filter(self, channel: int, cpl: int) -> CodeFilter:
        """The channel's IBR pair, or in fine mode two of them; channel 0 may be switched off or inverted. A pair that
        is a debugger's does not constrain, as one that is switched off does not (Montecito manual section 3.3.5.1).
        """
        head = self.values.fields(self.head_register)
        ranges = self.values.fields(self.range_register)
        if ranges[f"ig_ibrp{channel}"] or (channel == 0 and head["ig_ad"]):
            return EVERY_BUNDLE
        pairs = (channel % 2, channel % 2 + 2) if ranges["fine"] else (channel,)
        if any(self.is_debuggers(pair) for pair in pairs):
            return EVERY_BUNDLE
        inverse = channel == 0 and bool(head["inv"])
        if ranges["fine"]:
            return CodeFilter(False, inverse, intervals=self._limits(channel % 2, cpl))
        return CodeFilter(False, inverse, self.pair_block(channel, cpl))

    def _limits(self, pair: int, cpl: int) -> Blocks:
        """Fine mode: from the lower limit to the bundle of the upper one, two pairs on (Montecito table 3-10)."""
        if not (self.pair_block(pair, cpl) and self.pair_block(pair + 2, cpl)):
            return ()
        return ((self.values[f"ibr{2 * pair}"], self.values[f"ibr{2 * pair + 4}"] + BUNDLE - 1),)

    def data_ranges(self) -> Blocks | None:
        """Return the DBR pairs whose cfgdtag, if in force, constrains by data address (Montecito table 3-14)."""
        fields = self.values.fields(self.constraint_register)
        used = [n for n in range(PAIRS) if fields[f"en_dbrp{n}"] and not fields[f"cfgdtag{n}"] & 1]
        return tuple(self.data_pair(pair) for pair in used) or None


class TaggedProgrammer(Ia64Programmer):
    """The steps that Itanium 2 and Montecito share; a processor's class names its registers."""

    page_bits = 0
    range_register = ""
    constraint_register = ""

    @abstractmethod
    def code_pairs(self, ranges: RangeRequest) -> list[int]:
        """Return the IBR pairs that the events compare with if not all count retired instructions."""

    def assignment(self, allowed: Sequence[Sequence[int]]) -> list[int] | None:
        """A matching under the rules that tie events to counters."""
        return assign(allowed, self.choices(allowed))

    @abstractmethod
    def choices(self, allowed: Sequence[Sequence[int]]) -> Iterator[Choice]:
        """Yield the choices of events on the counters that select sets."""

    def program_features(self) -> None:
        """Program event address registers, ranges, opcode matchers and the branch buffer."""
        self.program_instruction_ear()
        dear = self.program_data_ear()
        self.program_ranges()
        self.program_opcodes()
        self.program_branch_buffer(dear)

    @abstractmethod
    def program_instruction_ear(self) -> None:
        """Program the instruction event address register."""

    @abstractmethod
    def program_data_ear(self) -> EarRequest | None:
        """Program the data event address register; return its setting."""

    @abstractmethod
    def program_opcodes(self) -> None:
        """Program the opcode matchers, whose registers also control the use of the code range."""

    @abstractmethod
    def program_branch_buffer(self, dear: EarRequest | None) -> None:
        """Program the branch buffer; `dear`: the setting of the data event address register."""

    def program_ranges(self) -> None:
        """Program IBRs with the range register, DBRs, and the constraint register of both."""
        plm = self.request.plm
        if ranges := self.request.irange:
            pairs = self.code_pairs(ranges)
            made = program_code_ranges(ranges, self.events, plm, pairs, self.page_bits)
            self.irange = made._replace(inverse=ranges.inverse)
            register = self.registers[self.range_register]
            self.write(register.name, range_configuration(register, self.irange))
        if self.request.drange:
            self.drange = coarse(self.request.drange, plm)
        if self.irange or self.drange:
            opcodes = {n + 2 * k for n, matcher in enumerate(self.request.opcodes) if matcher for k in (0, 1)}
            register = self.registers[self.constraint_register]
            code, data = lower_pairs(self.irange), lower_pairs(self.drange)
            self.write(register.name, memory_constraints(register, code, data, opcodes))

    def data_ear_modes(self, dear: EarRequest | None) -> list[str]:
        """Return the modes of the data EAR that events and request select."""
        modes = [event.ear.partition("_")[2] for event in self.ear_events("dear")]
        return [*modes, dear.mode] if dear else modes
