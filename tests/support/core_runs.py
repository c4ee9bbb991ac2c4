"""Two programs on the two hardware threads of a core."""

from collections.abc import Callable, Sequence
from threading import Thread

from ia64_assembly import BREAK, Line
from ia64_machine import BREAK as BREAK_REACHED
from ia64_machine import DATA
from ia64_machine import Machine as Assembled
from machine_code import FPSR, FRAME
from machine_runs import machine_and_guest

from pfmon.machine._machine import Machine
from pfmon.machine.config.machine_config import load
from pfmon.machine.config.machine_figures import MachineFigures
from pfmon.session.coupled.coupled_run import CoupledRun, SharedCore
from pfmon.stream._stream import BlockTable, Consumer, Pipe

Engine = tuple[BlockTable, Callable[[Consumer], object]]
"""Where an engine describes its blocks, and what runs it."""


class Both:
    """A core, or two, behind the run: ``threads`` are the machines, ``core`` what has them take turns."""

    def __init__(
        self,
        engines: Sequence[Engine],
        figures: Sequence[str] = (),
        memo: bool = True,
        kind: Callable[[MachineFigures], CoupledRun] = SharedCore,
    ) -> None:
        self.core = core = kind(load("montecito", figures))
        self.threads: list[Machine] = [
            hardware_thread.machine(table, (), memo, 1)
            for hardware_thread, (table, _) in zip(core.hardware_threads, engines, strict=True)
        ]
        workers = [Thread(target=self._feed, args=(number, run)) for number, (_, run) in enumerate(engines)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        for one in self.threads:
            one.finish()
            assert not one.failure

    def _feed(self, number: int, run: Callable[[Consumer], object]) -> None:
        with Pipe(self.threads[number], read=self.core.hardware_threads[number].read) as pipe:
            run(pipe)


def examples(
    first: str,
    second: str,
    figures: Sequence[str] = (),
    memo: bool = True,
    arguments: Sequence[list[str] | None] = (None, None),
    kind: Callable[[MachineFigures], CoupledRun] = SharedCore,
) -> Both:
    """Two example programs, at a small size or with other arguments."""
    guests = [
        machine_and_guest(name, "montecito", arguments=words)[1]
        for name, words in zip((first, second), arguments, strict=True)
    ]
    both = Both([(guest.table, guest.run) for guest in guests], figures, memo, kind)
    for guest in guests:
        guest.close()
    return both


def assembled(
    code: Sequence[Sequence[Line]],
    figures: Sequence[str] = (),
    memo: bool = True,
    kind: Callable[[MachineFigures], CoupledRun] = SharedCore,
    **registers: int,
) -> Both:
    """Assembled code for both threads, at the same addresses: of two address spaces, unless ``kind`` says otherwise."""
    engines: list[Engine] = []
    for lines in code:
        guest = Assembled([*lines, BREAK], trace=True, frame=FRAME)
        guest.set({20: DATA, 21: DATA + 64, 22: DATA}, fpsr=FPSR, **registers)
        guest.put(DATA, DATA)

        def run(consumer: Consumer, guest: Assembled = guest) -> None:
            assert guest.cpu.run(consumer) == BREAK_REACHED

        engines.append((guest.cpu.table, run))
    return Both(engines, figures, memo, kind)
