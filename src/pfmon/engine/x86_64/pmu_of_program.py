"""The PMU of a program that the runtime executes: its events, and what the program finds out about it."""

from __future__ import annotations

from tempfile import TemporaryDirectory

from pfmon.engine.api import StartRequest
from pfmon.engine.guest_pmu import CountedProgram, ProgramPmu
from pfmon.engine.x86_64.pmu_files import write_pmu_files
from pfmon.engine.x86_64.program_events import ProgramEvents
from pfmon.errors import LostError

SERVER = "x86-64-v4"
"""The model whose signature is that of a server with AVX-512, which it keeps."""


class PmuOfProgram:
    """It exists as long as the program. Raises LostError."""

    def __init__(self, pmu: ProgramPmu, program: CountedProgram, wanted: StartRequest) -> None:
        self._identity = pmu.identity
        self._keeps_signature = wanted.settings.cpu == SERVER
        self.events = ProgramEvents(pmu, program, wanted.settings.process_id, wanted.on_notice)
        try:
            self._files = TemporaryDirectory(prefix="pfmon-pmu-")
            write_pmu_files(self._identity, self._files.name)
        except OSError as error:
            raise LostError(f"--guest-pmu: the files of /sys that describe the PMU cannot be made: {error}") from None

    @property
    def arguments(self) -> tuple[str, str, str, str, str]:
        """The runtime's arguments from PMU_SIGNATURE to PMU_FILES (runtime/arguments.h)."""
        eax, ebx, _, edx = self._identity.leaf
        signature = 0 if self._keeps_signature else self._identity.signature
        return str(signature), str(eax), str(ebx), str(edx), self._files.name

    def close(self) -> None:
        """The program has ended."""
        self.events.close()
        self._files.cleanup()
