"""A program in a process of its own as its perf events see it (linux/perf/monitored_process.py)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pfmon.engine.guest_pmu import CountedProgram, ProgramPmu

FIXED = 32
"""The number of the first fixed-function counter (pmu/registers/msr_file.py)."""
RDPMC_FIXED = 1 << 30
"""The bit of rdpmc's operand that selects the fixed-function counters (Intel SDM volume 2, RDPMC)."""
CONTROL, FIXED_CONTROL, SELECT = "ia32_perf_global_ctrl", "ia32_fixed_ctr_ctrl", "ia32_perfevtsel"
SELECT_ENABLE = 1 << 22
MASK = (1 << 64) - 1


class ProgramTask:
    """The program. A retired instruction takes a nanosecond, as its clocks have it."""

    def __init__(self, pmu: ProgramPmu, program: CountedProgram) -> None:
        self.pmu: ProgramPmu | None = pmu
        self._pmu, self._program = pmu, program
        self._before = 0
        self.task = 0, 0
        """The numbers of process and thread, as the program sees them."""
        self._waited = 0
        self._stands = False
        self._reports: list[Callable[[], object]] = []

    def leave(self) -> None:
        """It executes nothing more, or another program."""
        self._before += self._program.retired
        self.pmu = None

    def take(self, pmu: ProgramPmu, program: CountedProgram) -> None:
        """It executes another program."""
        self.pmu = self._pmu = pmu
        self._program = program

    # --- between requests

    def stands(self, clock_offset: int) -> None:
        """It waits for an answer; ``clock_offset``: nanoseconds between its instructions and its clock. It is told what
        there is to tell."""
        self._waited = clock_offset
        self._stands = True
        reports, self._reports = self._reports, []
        for tell in reports:
            tell()

    def goes_on(self) -> None:
        """It gets its answer."""
        self._stands = False

    def stop_at(self, poll: int | None) -> int:
        """The number of instructions at which it has to ask again; 0: it need not."""
        return 0 if poll is None else max(poll, self._program.retired + 1)

    def read_counter(self, index: int) -> int:
        """The count that rdpmc reads with an operand. OSError: there is no such counter."""
        place = index & ~RDPMC_FIXED
        number = FIXED + place if index & RDPMC_FIXED else place
        if number not in self._pmu.counters or place >= FIXED:
            raise PermissionError
        return self._pmu.read_data(number)

    # --- for its events

    def used(self) -> int:
        """Its processor time."""
        return self._before + (self._program.retired if self.pmu else 0)

    def now(self) -> int:
        """The time of its clock."""
        return self._program.retired + self._waited & MASK

    @property
    def clock(self) -> int | None:
        """The time-stamp counter counts instructions."""
        return self._program.retired

    def time_since(self, retired: int) -> int:
        """The processor time since that many instructions had retired."""
        return self._program.retired - retired

    def instructions_until(self, used: int) -> int:
        """How many instructions have retired when it has used that processor time."""
        return used - self._before

    def all_registers(self, values: Mapping[str, int]) -> dict[str, int]:
        """All configuration registers: unused ones are 0."""
        general = {f"{SELECT}{number}": 0 for number in self._pmu.counters if number < FIXED}
        fixed = {FIXED_CONTROL: 0} if any(number >= FIXED for number in self._pmu.counters) else {}
        return general | fixed | dict(values)

    def stop_counter(self, counter: int) -> None:
        """Clear its bit in IA32_PERF_GLOBAL_CTRL; version 1 has its own enable alone."""
        if self._pmu.identity.leaf[0] & 0xFF > 1:
            self._pmu.write(CONTROL, self._pmu.read(CONTROL) & ~(1 << counter))
        else:
            name = f"{SELECT}{counter}"
            self._pmu.write(name, self._pmu.read(name) & ~SELECT_ENABLE)

    def read_index(self, counter: int) -> int:
        """The operand with which rdpmc reads it."""
        return RDPMC_FIXED | counter - FIXED if counter >= FIXED else counter

    def allow_reads(self, allowed: bool) -> None:
        """That follows from mappings (ProgramEvents)."""

    def report(self, tell: Callable[[], object]) -> None:
        """Tell the program when it waits next."""
        if self._stands:
            tell()
        else:
            self._reports.append(tell)
