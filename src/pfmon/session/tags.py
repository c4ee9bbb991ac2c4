"""Which instructions a programmed PMU counts: its qualification, resolved once for each instruction."""

from pfmon.pmu.event import Event
from pfmon.pmu.qualify import Qualifier
from pfmon.stream.blocks import InstructionRecord

LONG = "X"
LONG_SLOT = "i"
"""The matchers see the instructions of L and X slots as I-type (Montecito manual table 3-11)."""

NOWHERE = -1
"""A bundle address that is in no range: where something happened that no retired instruction caused."""


class Tags:
    """The tags of figure 3-5 of the Montecito manual: address ranges and opcodes, by channel.

    The program runs at privilege level 3; what an event does not support does not constrain it.
    """

    def __init__(self, qualifier: Qualifier) -> None:
        self._qualifier = qualifier
        self._ranges: dict[tuple[int, int], bool] = {}
        self._opcodes: dict[tuple[int, str, int], bool] = {}
        self._open: dict[int, bool] = {}

    def passes(self, event: Event, instruction: InstructionRecord | None) -> bool:
        """Whether a monitor of the event counts what the instruction did; None: no instruction that retired."""
        channel = self._qualifier.channel(event)
        bundle = instruction.address & ~15 if instruction else NOWHERE
        if event.iar and not self._in_range(channel, bundle):
            return False
        return not event.opc or self._matches(channel, instruction)

    def _in_range(self, channel: int, bundle: int) -> bool:
        key = (channel, bundle)
        if key not in self._ranges:
            self._ranges[key] = self._qualifier.in_code_range(channel, bundle)
        return self._ranges[key]

    def _matches(self, channel: int, instruction: InstructionRecord | None) -> bool:
        if instruction is None:
            if channel not in self._open:
                self._open[channel] = self._qualifier.any_opcode_matches(channel)
            return self._open[channel]
        key = (channel, instruction.unit, instruction.encoding)
        if key not in self._opcodes:
            slot = LONG_SLOT if instruction.unit == LONG else instruction.unit.lower()
            self._opcodes[key] = self._qualifier.opcode_matches(channel, slot, instruction.encoding)
        return self._opcodes[key]
