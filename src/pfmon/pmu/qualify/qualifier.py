"""Qualification of instructions and data accesses by a programmed PMU: the tags of the Itaniums, read from registers.

Instruction addresses and opcodes make one tag for each of four channels (Montecito manual section 3.2.3.1 and figure
3-5; two channels on Itanium, table 6-3 and figure 6-5 of its manual). Channel 0 qualifies all events, except that
tagged instructions are counted by channel and prefetch events use channel 1. Each processor's `Qualification` names its
registers, in `targets/NAME/programmer.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING

from pfmon.pmu.model.event_table import Event
from pfmon.pmu.qualify.filters import EVERY_BUNDLE, EVERY_OPCODE, CodeFilter, OpcodeFilter, in_blocks
from pfmon.pmu.registers.register_tables import RegisterValues

if TYPE_CHECKING:
    from pfmon.pmu.model.pmu_model import PmuModel

PAIRS = 4
LOW_56 = (1 << 56) - 1
PROGRAM_LEVEL = 3
Blocks = tuple[tuple[int, int], ...]


class Qualification(ABC):
    """The qualification of events by one processor's registers."""

    def __init__(self, values: RegisterValues) -> None:
        self.values = values

    @abstractmethod
    def channel(self, event: Event) -> int:
        """The tag channel that qualifies an event."""

    def channels(self, event: Event) -> tuple[int, ...]:
        """Return the tag channels of an event; several if it counts several kinds of occurrences."""
        return (self.channel(event),)

    @abstractmethod
    def code_filter(self, channel: int, cpl: int) -> CodeFilter:
        """Return the code range of a channel at a privilege level."""

    @abstractmethod
    def opcode_filter(self, channel: int) -> OpcodeFilter:
        """Return the opcode matcher of a channel."""

    @abstractmethod
    def data_ranges(self) -> Blocks | None:
        """Return the data ranges in force; None: all addresses count."""

    def pair_block(self, pair: int, cpl: int) -> Blocks:
        """Return the block that an instruction breakpoint pair matches: equal where the mask has ones.

        A pair that belongs to a debugger, and one whose plm excludes the level, matches nothing there (IA-64 manual
        volume 2 table 7-1).
        """
        control = self.values[f"ibr{2 * pair + 1}"]
        if self.is_debuggers(pair) or not control >> 56 + cpl & 1:
            return ()
        return ((self.values[f"ibr{2 * pair}"], control & LOW_56),)

    def is_debuggers(self, pair: int) -> bool:
        """Whether an instruction breakpoint pair has its x bit set: it is a debugger's."""
        return bool(self.values[f"ibr{2 * pair + 1}"] >> 63)

    def data_pair(self, pair: int) -> tuple[int, int]:
        """Return the block that a data breakpoint pair matches, independent of its levels (Montecito manual section
        3.3.7)."""
        return self.values[f"dbr{2 * pair}"], self.values[f"dbr{2 * pair + 1}"] & LOW_56


class Unqualified(Qualification):
    """The qualification of a PMU without such registers: everything counts (Intel's architectural monitoring, the
    PowerPC's)."""

    def channel(self, event: Event) -> int:
        """Return the only channel."""
        return 0

    def code_filter(self, channel: int, cpl: int) -> CodeFilter:
        """Return a filter that passes every address."""
        return EVERY_BUNDLE

    def opcode_filter(self, channel: int) -> OpcodeFilter:
        """Return a filter that passes every instruction."""
        return EVERY_OPCODE

    def data_ranges(self) -> Blocks | None:
        """Return None: all addresses count."""
        return None


class Qualifier:
    """The qualification set in register values; registers that are not given are in the reset state.

    Addresses are bundle addresses for code, byte addresses for data; `slot` is the slot type (m, i, f, b), i
    for the long instructions of an L and X slot; `opcode` the 41 bits of the slot; `cpl` the privilege level.
    """

    def __init__(self, model: PmuModel, values: Mapping[str, int]) -> None:
        self._reading: Qualification = model.programmer.qualification(RegisterValues(model.registers, values))
        self._code: dict[tuple[int, int], CodeFilter] = {}
        self._opcodes: dict[int, OpcodeFilter] = {}

    def channel(self, event: Event) -> int:
        """The tag channel that qualifies an event."""
        return self._reading.channel(event)

    def channels(self, event: Event) -> tuple[int, ...]:
        """Return the tag channels of an event: those of Montecito's fetch events are 0 for demand fetches and 1 for
        prefetches (Montecito manual section 3.3.5.2).
        """
        return self._reading.channels(event)

    def code_filter(self, channel: int, cpl: int = PROGRAM_LEVEL) -> CodeFilter:
        """Return the code range of a channel as data; it applies to events that support code ranges (`Event.iar`)."""
        if (channel, cpl) not in self._code:
            self._code[channel, cpl] = self._reading.code_filter(channel, cpl)
        return self._code[channel, cpl]

    def opcode_filter(self, channel: int) -> OpcodeFilter:
        """Return the opcode matcher of a channel as data; it applies to events that support matchers (`Event.opc`)."""
        if channel not in self._opcodes:
            self._opcodes[channel] = self._reading.opcode_filter(channel)
        return self._opcodes[channel]

    def data_ranges(self) -> Blocks | None:
        """Return the data ranges as (address, mask), None if there are none; they apply to events with `Event.dar`.

        An access counts when it matches one of them (Montecito manual section 3.3.7).
        """
        return self._reading.data_ranges()

    def counts_instruction(self, event: Event, address: int, slot: str, opcode: int, cpl: int = PROGRAM_LEVEL) -> bool:
        """Return whether an instruction's contribution to an event passes the code ranges and opcode matchers.

        A qualification that an event does not support does not constrain it (pfmon on Itanium 2, section 4.5).
        """
        channel = self.channel(event)
        if event.iar and not self.in_code_range(channel, address, cpl):
            return False
        return not event.opc or self.opcode_matches(channel, slot, opcode)

    def in_code_range(self, channel: int, address: int, cpl: int = PROGRAM_LEVEL) -> bool:
        """Return whether a bundle is in the code range of a channel."""
        return self.code_filter(channel, cpl).passes(address)

    def opcode_matches(self, channel: int, slot: str, opcode: int) -> bool:
        """Return whether an instruction matches the matcher of a channel."""
        return self.opcode_filter(channel).passes(slot, opcode)

    def counts_data(self, event: Event, address: int) -> bool:
        """Return whether a data access passes the data ranges, for an event that supports them."""
        ranges = self.data_ranges() if event.dar else None
        return ranges is None or in_blocks(ranges, address)
