"""The PMU of a program that the runtime executes: its events, and its description for the program."""

from __future__ import annotations

from collections.abc import Callable
from tempfile import TemporaryDirectory

from pfmon.engine.api import StartRequest
from pfmon.engine.guest_pmu import CountedProgram, PmuIdentity, ProgramPmu
from pfmon.engine.x86_64.pmu_files import write_pmu_files
from pfmon.engine.x86_64.program_events import ProgramEvents, RunEvents
from pfmon.errors import LostError

SERVER = "x86-64-v4"
"""The model whose signature is that of a server with AVX-512, which it keeps."""


def directory_of(pmu: PmuIdentity) -> TemporaryDirectory[str]:
    """A directory with the files of a PMU. LostError: it cannot be made."""
    try:
        made = TemporaryDirectory(prefix="pfmon-pmu-")
        write_pmu_files(pmu, made.name)
    except OSError as error:
        raise LostError(f"--guest-pmu: the files of /sys that describe the PMU cannot be made: {error}") from None
    return made


class PmuOfProgram:
    """It exists as long as the program. Raises LostError."""

    def __init__(
        self,
        pmu: ProgramPmu,
        program: CountedProgram,
        wanted: StartRequest,
        is_settled: Callable[[], bool],
    ) -> None:
        """``is_settled``: all that it has written is read."""
        self._identity = pmu.identity
        self._keeps_signature = wanted.settings.cpu == SERVER
        self.run = RunEvents()
        self.events = ProgramEvents(pmu, program, wanted.on_notice, self.run, is_settled)
        self._files = directory_of(self._identity)

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
