"""Programming Itanium (Merced): four counters of 32 bits, no event groups."""

from __future__ import annotations

from pfmon.pmu.model.event_table import Event
from pfmon.pmu.model.ia64_pmu import Ia64Decoder, Ia64Programmer, ear_mode_must_exist
from pfmon.pmu.qualify.breakpoint_ranges import coarse
from pfmon.pmu.qualify.filters import EVERY_BUNDLE, CodeFilter, OpcodeFilter
from pfmon.pmu.qualify.opcodes import narrow_filter, narrow_match
from pfmon.pmu.qualify.qualifier import PAIRS, Blocks, Qualification

TAGGED_BY_PMC9 = (0x08, 0x2)


class ItaniumQualification(Qualification):
    """One range tag from all IBR pairs, which PMC8 and PMC9 combine with their opcodes (Itanium manual section
    6.1.3.1, figure 6-5, table 6-3).
    """

    def channel(self, event: Event) -> int:
        """Return the tag: Tag(PMC8) qualifies all events; Tag(PMC9) is only counted as retired instructions."""
        return 1 if (event.code, event.umask) == TAGGED_BY_PMC9 else 0

    def code_filter(self, channel: int, cpl: int) -> CodeFilter:
        """Return the filter of the code range: PMC13.ta tags all; otherwise any pair in use tags."""
        if self.values.field("pmc13", "ta"):
            return EVERY_BUNDLE
        used = [pair for pair in range(PAIRS) if self.values[f"ibr{2 * pair + 1}"]]
        return CodeFilter(False, blocks=tuple(block for pair in used for block in self.pair_block(pair, cpl)))

    def opcode_filter(self, channel: int) -> OpcodeFilter:
        """PMC8 or PMC9."""
        return narrow_filter(self.values.fields(f"pmc{8 + channel % 2}"))

    def data_ranges(self) -> Blocks | None:
        """Return the pairs in use, unless PMC11.pt passes all tags."""
        if self.values.field("pmc11", "pt"):
            return None
        return tuple(self.data_pair(pair) for pair in range(PAIRS) if self.values[f"dbr{2 * pair + 1}"])


class ItaniumDecoder(Ia64Decoder):
    """Itanium has no event sets; its event address registers have one mode bit."""

    def ear_setting(self, kind: str) -> tuple[str, int] | None:
        """PMC10 and PMC11."""
        fields = self.values.fields("pmc10" if kind == "iear" else "pmc11")
        return ("tlb" if fields["tlb"] else "cache", fields["umask"]) if fields["plm"] else None


class ItaniumProgrammer(Ia64Programmer):
    """Itanium manual chapter 6; events with increments above three per cycle count on PMD4 and PMD5 only."""

    qualification = ItaniumQualification
    decoder = ItaniumDecoder
    deciding_ear_event = -1

    def program_features(self) -> None:
        """Program event address registers, opcode matchers, ranges and the branch trace buffer."""
        self.program_instruction_ear()
        for name, matcher in zip(("pmc8", "pmc9"), self.request.opcodes, strict=True):
            if matcher:
                self.write(name, narrow_match(matcher, self.registers, name))
        self.program_instruction_range()
        self.program_data_ear_and_range()
        self.program_branch_buffer()

    def program_instruction_ear(self) -> None:
        """PMC10."""
        if ear := self.ear("iear"):
            ear_mode_must_exist(ear, ("cache", "tlb", "alat"), "the instruction event address register")
            tlb = int(ear.mode == "tlb")
            self.write("pmc10", self.encode("pmc10", ear.plm, tlb=tlb, umask=ear.umask, ism=ear.ism))
            self.pmds += self.captures.instruction.data

    def program_instruction_range(self) -> None:
        """Write IBRs and PMC13, with tag all cleared (Itanium manual section 6.2.4, table 6-3)."""
        if ranges := self.request.irange:
            self.irange = coarse(ranges, self.request.plm)
            self.write("pmc13", self.registers["pmc13"].encode(ta=0))

    def program_data_ear_and_range(self) -> None:
        """Write PMC11, which holds the data EAR's setting, and pt = 0 when the DBRs qualify (Itanium manual table
        6-3)."""
        ear = self.ear("dear")
        constrained = self.request.drange is not None
        if self.request.drange:
            self.drange = coarse(self.request.drange, self.request.plm)
        if ear:
            ear_mode_must_exist(ear, ("cache", "tlb", "alat"), "the data event address register")
            tlb = int(ear.mode == "tlb")
            value = self.encode("pmc11", ear.plm, tlb=tlb, umask=ear.umask, ism=ear.ism, pt=int(not constrained))
            self.write("pmc11", value)
            self.pmds += self.captures.data.data
        elif constrained:
            self.write("pmc11", self.registers["pmc11"].encode(plm=self.request.plm, pt=0))

    def program_branch_buffer(self) -> None:
        """PMC12."""
        if buffer := self.branch_buffer():
            fields = {"tar": 1, "tac": 1, "bac": 1, **buffer.fields}
            self.write("pmc12", self.encode("pmc12", buffer.plm, **fields))
            self.pmds += self.captures.branches.data
