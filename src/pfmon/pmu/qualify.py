"""Which instructions and data accesses a programmed PMU counts: the tags of the Itaniums, read from
registers.

Instruction addresses and opcodes make one tag for each of four channels (Montecito manual section 3.2.3.1 and
figure 3-5; two channels on Itanium, tables 6-3 and figure 6-5). Channel 0 qualifies all events, except that
tagged instructions are counted by channel and prefetch events use channel 1.
"""

from collections.abc import Mapping

from pfmon.errors import PfmonError
from pfmon.pmu.constraints import INST_RETIRED
from pfmon.pmu.event import Event
from pfmon.pmu.model import IA64, PmuModel
from pfmon.pmu.opcodes import SLOTS

PREFETCH = (0x44, 0x45, 0x5F)
LOW_56 = (1 << 56) - 1
BUNDLE_TOP = 15
WIDE = (1 << 41) - 1


class Qualifier:
    """The qualification that register values stand for; registers that are not given are in the reset state.

    Addresses are bundle addresses for code, byte addresses for data; `slot` is the slot type (m, i, f, b), i
    for the long instructions of an L and X slot; `opcode` the 41 bits of the slot; `cpl` the privilege level.
    """

    def __init__(self, model: PmuModel, values: Mapping[str, int]) -> None:
        if model.name not in IA64:
            raise PfmonError(f"{model.name} does not qualify events by address or opcode")
        self.model = model
        self._values = {name: register.reset for name, register in model.registers.items()}
        self._values.update({model.registers[name].name: value for name, value in values.items()})

    def field(self, register: str, name: str) -> int:
        """One field of a register."""
        return self.model.registers[register].field(name).get(self._values[register])

    def counts_instruction(self, event: Event, address: int, slot: str, opcode: int, cpl: int = 3) -> bool:
        """Whether an instruction's contribution to an event passes the code ranges and opcode matchers.

        What an event does not support does not constrain it (pfmon on Itanium 2, section 4.5).
        """
        channel = self.channel(event)
        if event.iar and not self.in_code_range(channel, address, cpl):
            return False
        return not event.opc or self.opcode_matches(channel, slot, opcode)

    def channel(self, event: Event) -> int:
        """The tag channel that qualifies an event."""
        if event.code == INST_RETIRED and self.model.name != "itanium":
            return event.umask & 3
        if self.model.name == "itanium":
            return 1 if event.signal == "inst_tagged.1" else 0
        return 1 if event.code in PREFETCH else 0

    def in_code_range(self, channel: int, address: int, cpl: int = 3) -> bool:
        """Whether a bundle is in the code range of a channel."""
        if self.model.name == "itanium":
            used = [pair for pair in range(4) if self._values[f"ibr{2 * pair + 1}"]]
            return bool(self.field("pmc13", "ta")) or any(self._pair(n, address, cpl) for n in used)
        config, head = ("pmc14", "pmc8") if self.model.name == "itanium2" else ("pmc38", "pmc32")
        if self.field(config, f"ig_ibrp{channel}"):
            return True
        if channel == 0 and self.field(head, "ig_ad"):
            return True
        fine = self.field(config, "fine")
        inside = self._between(channel % 2, address) if fine else self._pair(channel, address, cpl)
        return inside != (channel == 0 and bool(self.field(head, "inv")))

    def _pair(self, pair: int, address: int, cpl: int) -> bool:
        """Whether an instruction breakpoint pair matches: equal where the mask has ones."""
        control = self._values[f"ibr{2 * pair + 1}"]
        if control >> 63 or not control >> 56 + cpl & 1:
            return False
        return not (self._values[f"ibr{2 * pair}"] ^ address) & control & LOW_56

    def _between(self, pair: int, address: int) -> bool:
        """Fine mode: between the limits of two pairs, whose upper bits are equal (table 3-10)."""
        return self._values[f"ibr{2 * pair}"] <= address <= self._values[f"ibr{2 * pair + 4}"] + BUNDLE_TOP

    def opcode_matches(self, channel: int, slot: str, opcode: int) -> bool:
        """Whether an instruction matches the matcher of a channel (0 and 2: first, 1 and 3: second)."""
        matcher = channel % 2
        if self.model.name == "montecito":
            if self.field("pmc36", f"ch{channel}_ig_opc"):
                return True
            mask, match = f"pmc{32 + 2 * matcher}", f"pmc{33 + 2 * matcher}"
            different = (opcode ^ self.field(match, "match")) & ~self.field(mask, "mask") & WIDE
            return bool(self.field(mask, slot)) and not different
        name = f"pmc{8 + matcher}"
        if self.model.name == "itanium2" and self.field("pmc15", f"ibrp{channel}_{name}"):
            return True
        squeezed = (opcode >> 27) << 13 | (opcode & 0x1FFF)
        different = (squeezed ^ self.field(name, "match")) & ~self.field(name, "mask")
        return bool(self.field(name, slot)) and not different

    def any_opcode_matches(self, channel: int) -> bool:
        """Whether a channel's matcher lets every instruction pass."""
        return all(self.opcode_matches(channel, slot, opcode) for slot in SLOTS for opcode in (0, WIDE))

    def counts_data(self, event: Event, address: int) -> bool:
        """Whether a data access passes the data ranges, for an event that supports them.

        Several pairs in force add up (Montecito manual section 3.3.7).
        """
        ranges = self.data_blocks() if event.dar else None
        return ranges is None or any(not (first ^ address) & mask for first, mask in ranges)

    def data_blocks(self) -> list[tuple[int, int]] | None:
        """The data ranges in force, as (address, mask) of their breakpoint pairs; None: all addresses count.

        Data breakpoints ignore their privilege mask for monitoring (Montecito manual section 3.3.7).
        """
        if self.model.name == "itanium":
            if self.field("pmc11", "pt"):
                return None
            used = [pair for pair in range(4) if self._values[f"dbr{2 * pair + 1}"]]
        else:
            config = "pmc13" if self.model.name == "itanium2" else "pmc41"
            used = [
                pair
                for pair in range(4)
                if self.field(config, f"en_dbrp{pair}") and not self.field(config, f"cfgdtag{pair}") & 1
            ]
            if not used:
                return None
        return [(self._values[f"dbr{2 * n}"], self._values[f"dbr{2 * n + 1}"] & LOW_56) for n in used]
