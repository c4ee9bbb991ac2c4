"""An engine that gives words which were made up, or recorded, instead of running a program."""

from collections.abc import Iterable, Sequence

from pfmon.engine.api import Capabilities, ExitReport
from pfmon.engine.guest_pmu import PerformanceData
from pfmon.program.mapped_files import MappedFile
from pfmon.stream._stream import BlockTable, Consumer, InstructionSet, Recorder


class FedEngine:
    """Gives each of ``pieces`` at once; ``traced``: there are addresses in them."""

    capabilities = Capabilities(addresses=True, performance_data=False)
    ip = 0
    mapped: Sequence[MappedFile] = ()
    threads: Sequence[tuple[int, int]] = ()
    functions = None

    def __init__(self, table: BlockTable, pieces: Iterable[Sequence[int]], traced: bool) -> None:
        self.table, self.traced = table, traced
        self.retired = 0
        self._pieces: list[Recorder] = []
        for piece in pieces:
            self._pieces.append(Recorder())
            self._pieces[-1].load(piece)

    @property
    def instruction_set(self) -> InstructionSet:
        return self.table.instruction_set

    def set_monitoring(self, on: bool, locked: bool) -> None:
        """There is no program that could see it."""

    def run(self, consumer: Consumer, performance_data: PerformanceData | None = None) -> ExitReport | None:
        for piece in self._pieces:
            piece.replay(consumer)
        return ExitReport(0)

    def stop(self) -> None:
        """It ends soon in any case."""

    def listing(self, first: int, beyond: int) -> list[tuple[int, str]]:
        return []

    def close(self) -> None:
        """It holds nothing."""
