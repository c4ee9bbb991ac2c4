"""Programming Itanium (Merced): four counters of 32 bits, no event groups."""

from pfmon.pmu.ia64 import Ia64Programmer, ear_mode_must_exist
from pfmon.pmu.opcodes import narrow_match
from pfmon.pmu.ranges import coarse

IEAR_PMDS = (0, 1)
DEAR_PMDS = (2, 3, 17)
BUFFER_PMDS = tuple(range(8, 17))


class ItaniumProgrammer(Ia64Programmer):
    """Itanium manual chapter 6; events that add more than three a cycle count on PMD4 and PMD5 only."""

    pmu = "itanium"
    counters = (4, 5, 6, 7)
    width = 32
    counter_source = "Itanium manual section 6.2"
    deciding_ear_event = -1

    def program_features(self) -> None:
        """Event address registers, opcode matchers, ranges, branch trace buffer."""
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
            self.pmds += IEAR_PMDS

    def program_instruction_range(self) -> None:
        """IBRs and PMC13: tag all is switched off (Itanium manual section 6.2.4, table 6-3)."""
        if ranges := self.request.irange:
            self.irange = coarse(ranges, self.request.plm)
            self.write("pmc13", self.registers["pmc13"].encode(ta=0))

    def program_data_ear_and_range(self) -> None:
        """PMC11 holds both: the data EAR, and pt = 0 when the DBRs qualify (Itanium manual table 6-3)."""
        ear = self.ear("dear")
        constrained = self.request.drange is not None
        if self.request.drange:
            self.drange = coarse(self.request.drange, self.request.plm)
        if ear:
            ear_mode_must_exist(ear, ("cache", "tlb", "alat"), "the data event address register")
            tlb = int(ear.mode == "tlb")
            value = self.encode("pmc11", ear.plm, tlb=tlb, umask=ear.umask, ism=ear.ism, pt=int(not constrained))
            self.write("pmc11", value)
            self.pmds += DEAR_PMDS
        elif constrained:
            self.write("pmc11", self.registers["pmc11"].encode(plm=self.request.plm, pt=0))

    def program_branch_buffer(self) -> None:
        """PMC12."""
        if buffer := self.branch_buffer():
            fields = {"tar": 1, "tac": 1, "bac": 1, **buffer.fields}
            self.write("pmc12", self.encode("pmc12", buffer.plm, **fields))
            self.pmds += BUFFER_PMDS
