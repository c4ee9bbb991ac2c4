"""Programming Montecito: twelve counters of 47 bits, six duplicated (4-9) and six banked (10-15)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from pfmon.errors import RuleError
from pfmon.pmu.capture.capture_setting import IP_EAR
from pfmon.pmu.model.assignment import TOGETHER, Choice, anchors
from pfmon.pmu.model.constraints import (
    DEAR_MODES,
    PREFETCH,
    TaggedProgrammer,
    TaggedQualification,
    anchored,
    data_ear_excludes_branch_buffer,
    data_ear_mode,
    prefetch_events_use_ibr_pair_1,
)
from pfmon.pmu.model.event_table import Event
from pfmon.pmu.model.ia64_pmu import Ia64Decoder, ear_mode_must_exist, mesi_mask
from pfmon.pmu.model.programming import Monitor
from pfmon.pmu.model.request import EarRequest, EventRequest, RangeRequest
from pfmon.pmu.model.thread_counters import (
    DUPLICATED,
    banked_counters_count_active_events_only,
    counters_for_two_threads,
)
from pfmon.pmu.qualify.filters import ALL_OPCODE_BITS, EVERY_OPCODE, SLOTS, OpcodeFilter, opcode_filter
from pfmon.pmu.qualify.opcodes import wide_match
from pfmon.pmu.registers.ia64_file import MontecitoFile

CANCELS = (0xE0, 0xE2)
FETCH = (0x41, 0x46, 0x65, 0x66)
MATCH_ALL = 0xF01FFFFFFFFFF
DEAR_SECTION = "Montecito manual sections 3.3.9.2 and 3.3.9.3"
BANKS = {4: (4, 5, 8), 6: (6, 7, 9)}


class MontecitoQualification(TaggedQualification):
    """PMC32 to PMC36, PMC38 and PMC41."""

    range_register = "pmc38"
    constraint_register = "pmc41"
    head_register = "pmc32"

    def channels(self, event: Event) -> tuple[int, ...]:
        """Fetch events compare demand fetches with pair 0 and prefetches with pair 1 (section 3.3.5.2)."""
        return (0, 1) if event.code in FETCH else super().channels(event)

    def opcode_filter(self, channel: int) -> OpcodeFilter:
        """Return PMC32 and PMC33 for channels 0 and 2, PMC34 and PMC35 for 1 and 3, unless PMC36 ignores them."""
        if self.values.field("pmc36", f"ch{channel}_ig_opc"):
            return EVERY_OPCODE
        number = 32 + 2 * (channel % 2)
        fields = self.values.fields(f"pmc{number}")
        slots = "".join(letter for letter in SLOTS if fields[letter])
        match = self.values.field(f"pmc{number + 1}", "match")
        return opcode_filter(slots, match, ~fields["mask"] & ALL_OPCODE_BITS)


class MontecitoDecoder(Ia64Decoder):
    """PMC5 selects the set of L1D events, PMC4 and PMC6 those of the L2D events of their banks."""

    def umask(self, number: int, event: Event, own: int) -> int:
        """PMD5 and PMD8 share PMC4's in L2D events (Montecito manual section 4.8.4)."""
        return self.values.field("pmc4", "umask") if event.group == "L2D" and number in BANKS[4] else own

    def heads(self, number: int, event: Event) -> int | None:
        """Return PMC5 for L1D events, the head of the counter's bank for L2D events."""
        if event.group == "L2D":
            return 4 if number in BANKS[4] else 6
        return 5 if event.group == "L1D" else None

    def all_threads(self, number: int, event: Event, fields: Mapping[str, int]) -> bool:
        """Return the bit `all`, of duplicated counters only (table 3-6); those of PMC4 and PMC6 apply to the L2D events
        of their banks (section 4.8.4).
        """
        if event.group == "L2D":
            return bool(self.values.field(f"pmc{self.heads(number, event)}", "all"))
        return number in DUPLICATED and bool(fields["all"])

    def ear_setting(self, kind: str) -> tuple[str, int] | None:
        """Decode PMC37, whose ct includes the unit mask's eighth bit in cache mode (table 3-15), and PMC40."""
        fields = self.values.fields("pmc37" if kind == "iear" else "pmc40")
        if not fields["plm"]:
            return None
        if kind == "dear":
            return data_ear_mode(fields["mode"]), fields["umask"]
        if fields["ct"] & 2:
            return "cache", fields["umask"] | (fields["ct"] & 1) << 7
        return None if fields["ct"] else ("tlb", fields["umask"])


class MontecitoProgrammer(TaggedProgrammer):
    """Montecito manual chapter 3."""

    register_file = MontecitoFile
    qualification = MontecitoQualification
    decoder = MontecitoDecoder
    page_bits = 16
    range_register = "pmc38"
    constraint_register = "pmc41"
    overflow_interrupt = False

    def group_rules(self) -> None:
        """Check the rules on L1D sets, L2D sets, MESI masks and .all."""
        one_l1d_set_at_a_time(self.events)
        two_l2d_sets_at_a_time(self.events)
        one_l2d_ozq_cancels_event_at_a_time(self.events)
        for event, wanted in self.requested():
            mesi_mask_belongs_to_mesi_events(event, wanted.mesi)
            all_threads_needs_capable_event(event, wanted.all_threads)
            montecito_monitors_ia64_code(event, self.request.ism if wanted.ism is None else wanted.ism)

    def allowed(self, event: Event, wanted: EventRequest) -> list[int]:
        """Return the duplicated counters for an event of all threads: the others ignore the bit (table 3-6, all). With
        two threads, return the counters that count the event correctly.
        """
        right = counters_for_two_threads(event) if self.request.two_threads else event.counters
        return [n for n in self._any_counter(event, wanted) if n in right]

    def _any_counter(self, event: Event, wanted: EventRequest) -> list[int]:
        """Return the counters for one thread, which libpfm also uses for two."""
        return [n for n in super().allowed(event, wanted) if n in DUPLICATED or not wanted.all_threads]

    def assignment(self, allowed: Sequence[Sequence[int]]) -> list[int] | None:
        """Assign as on Itanium 2; the error names rules that apply with two threads only."""
        found = super().assignment(allowed)
        if found is None and self.request.two_threads:
            anywhere = [self._any_counter(event, wanted) for event, wanted in self.requested()]
            if super().assignment(anywhere) is not None:
                raise banked_counters_count_active_events_only(self.events)
        return found

    def choices(self, allowed: Sequence[Sequence[int]]) -> Iterator[Choice]:
        """Yield the choices of the L1D event on PMC5, and of the L2D events on PMC4 and PMC6."""
        uses = [CounterUse(e, self.table.umask_free(e), wanted.all_threads) for e, wanted in self.requested()]
        for second in l2d_events_need_pmc4_or_pmc6(uses, allowed):
            for first in l1d_events_need_pmc5(self.events, allowed):
                yield first | second

    def program_instruction_ear(self) -> None:
        """Write PMC37: in cache mode the low bit of ct is the unit mask's eighth bit (table 3-15)."""
        if ear := self.ear("iear"):
            ear_mode_must_exist(ear, ("cache", "tlb"), "the instruction event address register")
            cache = ear.mode == "cache"
            kind = 2 | ear.umask >> 7 if cache else 0
            umask = ear.umask & 0x7F if cache else ear.umask
            self.write("pmc37", self.encode("pmc37", ear.plm, ct=kind, umask=umask))
            self.pmds += self.captures.instruction.data

    def program_data_ear(self) -> EarRequest | None:
        """PMC40."""
        if ear := self.ear("dear"):
            ear_mode_must_exist(ear, tuple(DEAR_MODES), "the data event address register")
            mode = DEAR_MODES[ear.mode]
            value = self.encode("pmc40", ear.plm, mode=mode, umask=ear.umask, ism=ism_is_always_two())
            self.write("pmc40", value)
            self.pmds += self.captures.data.data
        return ear

    def code_pairs(self, ranges: RangeRequest) -> list[int]:
        """Return pair 1 for prefetch events, the range's choice for fetch events, pair 0 for others."""
        return ibr_pairs_of_fetch_events(self.events, ranges)

    def program_opcodes(self) -> None:
        """Write PMC32 to PMC35; PMC32 also controls the use of the code range."""
        first, second = self.request.opcodes
        if first or self.irange:
            mask, match = wide_match(first, self.registers, 32) if first else (MATCH_ALL, None)
            inverse = bool(self.request.irange and self.request.irange.inverse)
            head = self.registers["pmc32"]
            mask |= head.field("inv").put("pmc32", int(inverse))
            mask |= head.field("ig_ad").put("pmc32", int(not self.irange))
            self.write("pmc32", mask)
            if match is not None:
                self.write("pmc33", match)
        if second:
            mask, match = wide_match(second, self.registers, 34)
            self.write("pmc34", mask)
            self.write("pmc35", match)

    def program_branch_buffer(self, dear: EarRequest | None) -> None:
        """PMC39 and PMC42."""
        buffer = self.branch_buffer()
        trap = self.request.ip_ear
        ip_ear_excludes_trace_buffer(bool(trap), bool(buffer))
        modes = self.data_ear_modes(dear)
        if data_ear_excludes_branch_buffer(modes, bool(buffer), "PMC39", DEAR_SECTION):
            self.write("pmc39", 0)
        elif buffer:
            self.write("pmc39", self.encode("pmc39", buffer.plm, **buffer.fields))
            self.pmds += self.captures.branches.data
        if trap:
            self.write("pmc42", self.encode("pmc42", trap.plm, mode=IP_EAR, delay=trap.delay))
            self.pmds += self.captures.branches.data

    def monitor(self, event: Event, wanted: EventRequest, number: int) -> Monitor:
        """Return the setting of an event's counter, with ism always 2, .all and the MESI mask."""
        return (
            super()
            .monitor(event, wanted, number)
            ._replace(ism=ism_is_always_two(), all_threads=wanted.all_threads, mesi=mesi_mask(wanted.mesi))
        )

    def configuration(self, monitor: Monitor) -> int:
        """Return the common fields with .all and MESI."""
        register = self.registers[f"pmc{monitor.pmc}"]
        extra = register.encode(all=int(monitor.all_threads), mesi=monitor.mesi)
        return super().configuration(monitor) | extra


def ism_is_always_two() -> int:
    """PMC.ism should be 2; other values are undefined (Montecito manual table 3-5)."""
    return 2


def montecito_monitors_ia64_code(event: Event, ism: int) -> None:
    """IA-32 code cannot be singled out: ism other than 2 is undefined (Montecito manual table 3-5)."""
    if ism & 1:
        raise RuleError(
            "montecito_monitors_ia64_code",
            f"{event.name}: Montecito has no instruction set mask for IA-32 code; use both or ia64",
            "Montecito manual table 3-5",
        )


def one_l1d_set_at_a_time(events: Sequence[Event]) -> None:
    """Events of different L1D sets cannot be measured together (Montecito manual section 4.8.2)."""
    members = [event for event in events if event.group == "L1D"]
    if len({event.set for event in members}) > 1:
        names = ", ".join(f"{event.name} ({event.set})" for event in members)
        raise RuleError(
            "one_l1d_set_at_a_time",
            f"cannot be counted together: {names}. {TOGETHER}",
            "Montecito manual section 4.8.2",
        )


def two_l2d_sets_at_a_time(events: Sequence[Event]) -> None:
    """PMC4 and PMC6 select one L2D set each: two at most (Montecito manual section 4.8.4)."""
    members = [event for event in events if event.group == "L2D"]
    if len({event.set for event in members}) > 2:
        names = ", ".join(f"{event.name} ({event.set})" for event in members)
        raise RuleError(
            "two_l2d_sets_at_a_time", f"more than two sets: {names}. {TOGETHER}", "Montecito manual section 4.8.4"
        )


def one_l2d_ozq_cancels_event_at_a_time(events: Sequence[Event]) -> None:
    """The two events select the cause by unit mask in common hardware (libpfm 3.10 refuses two of them)."""
    cancels = [event.name for event in events if event.code in CANCELS]
    if len(cancels) > 1:
        raise RuleError(
            "one_l2d_ozq_cancels_event_at_a_time",
            f"cannot be counted together: {', '.join(cancels)}. {TOGETHER}",
            "Montecito manual section 4.8.4.1",
        )


def l1d_events_need_pmc5(events: Sequence[Event], allowed: Sequence[Sequence[int]]) -> Iterator[Choice]:
    """To count L1D events one of them must be on PMC5, which selects the set.

    Montecito manual sections 3.3.3 and 4.8.2.
    """
    yield from anchored(events, allowed, "L1D", 5)


class CounterUse(NamedTuple):
    """An event to be assigned; `free`: it has no variants by unit mask; `all_threads`: as requested."""

    event: Event
    free: bool
    all_threads: bool


def l2d_events_need_pmc4_or_pmc6(uses: Sequence[CounterUse], allowed: Sequence[Sequence[int]]) -> Iterator[Choice]:
    """L2D events count on PMD4, 5, 8 with one on PMC4, or on PMD6, 7, 9 with one on PMC6.

    The other counters of such a bank use the set and .all of PMC4 or PMC6; PMD5 and PMD8 also use the unit mask of
    PMC4, unless their events have no variants by unit mask (Montecito manual sections 3.3.3 and 4.8.4).
    """
    members = [number for number, use in enumerate(uses) if use.event.group == "L2D"]
    if not members:
        yield {}
        return
    heads = list(anchors(members, lambda n: (uses[n].event.set, uses[n].event.umask, *uses[n][1:])))
    for fourth in [*heads, None]:
        for sixth in [None, *members]:
            head = {4: fourth, 6: sixth}
            if (fourth is None and sixth is None) or fourth == sixth:
                continue
            choice = _banked(uses, allowed, members, head)
            if choice is not None:
                yield choice


def _banked(
    uses: Sequence[CounterUse], allowed: Sequence[Sequence[int]], members: list[int], head: dict[int, int | None]
) -> Choice | None:
    """Return the counters left to each L2D event with given heads of the two banks; None if impossible."""
    choice: Choice = {}
    for number in members:
        fit: list[int] = []
        for first, bank in BANKS.items():
            top = head[first]
            if top == number:
                fit = [first]
                break
            if top is not None and _shares(uses[top], uses[number], any_umask=first == 6):
                fit += bank[1:]
        choice[number] = [counter for counter in fit if counter in allowed[number]]
        if not choice[number]:
            return None
    return choice


def _shares(head: CounterUse, use: CounterUse, any_umask: bool) -> bool:
    """Return whether an event can be counted in the bank of another: same set and .all, and same unit mask unless it is
    free.
    """
    if head.event.set != use.event.set or head.all_threads != use.all_threads:
        return False
    return any_umask or use.free or head.event.umask == use.event.umask


def mesi_mask_belongs_to_mesi_events(event: Event, states: str) -> None:
    """MESI masks are legal only for events with MESI filtering, and these need one.

    All occurrences are captured with all four states (Montecito manual table 3-6, field MESI).
    """
    rule, section = "mesi_mask_belongs_to_mesi_events", "Montecito manual table 3-6"
    if event.mesi and not states:
        raise RuleError(rule, f"{event.name} needs states, such as {event.name}:MESI for all", section)
    if states and not event.mesi:
        raise RuleError(rule, f"{event.name} has no filter of cache line states", section)


def all_threads_needs_capable_event(event: Event, all_threads: bool) -> None:
    """.all is for floating events (Montecito manual section 4.2.1): a thread's own that happen while it is in the
    background; self-floating ones with .SELF are such. L2D events count wrong where table 4-19 does not allow it."""
    if all_threads and not event.all:
        l2d = event.group == "L2D"
        raise RuleError(
            "all_threads_needs_capable_event",
            f"{event.name} cannot be counted for all threads"
            + ("" if l2d else ": only floating events and self-floating ones of a thread itself (_SELF) can"),
            "Montecito manual section " + ("4.8.4" if l2d else "4.2.1"),
        )


def ibr_pairs_of_fetch_events(events: Sequence[Event], ranges: RangeRequest) -> list[int]:
    """Return the IBR pair that the events compare with: pair 1 for prefetch events, pair 0 for others.

    Events that count both demand fetches and prefetches compare the former with pair 0 and the latter with pair 1, as
    selected by the range's `demand_fetch` and `prefetch_match` (Montecito manual section 3.3.5.2).
    """
    pairs = [0]
    if any(event.code in FETCH for event in events):
        pairs = [pair for pair, wanted in enumerate((ranges.demand_fetch, ranges.prefetch_match)) if wanted]
        fetch_events_say_demand_or_prefetch(events, bool(pairs))
    return [1] if prefetch_events_use_ibr_pair_1(events, PREFETCH) else pairs


def fetch_events_say_demand_or_prefetch(events: Sequence[Event], said: bool) -> None:
    """Fills and fetch hits occur for demand fetches and prefetches: a range must select one or both."""
    if not said:
        names = ", ".join(event.name for event in events if event.code in FETCH)
        raise RuleError(
            "fetch_events_say_demand_or_prefetch",
            f"{names}: say whether the range holds for demand fetches (--irange-demand-fetch), prefetches "
            "(--irange-prefetch-match) or both",
            "Montecito manual section 3.3.5.2",
        )


def ip_ear_excludes_trace_buffer(ip_ear: bool, buffer: bool) -> None:
    """PMC42.mode overrides PMC39: either IP-EAR or execution trace (Montecito manual section 3.3.10)."""
    if ip_ear and buffer:
        raise RuleError(
            "ip_ear_excludes_trace_buffer",
            "the IP-EAR and the execution trace buffer use the same registers",
            "Montecito manual section 3.3.10",
        )
