"""The threads of one program on the two hardware threads of a core, or on two cores: one engine for two sessions, each
with its own PMU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Event

from pfmon.engine.api import Capabilities, Engine, ExitReport, TimedSystem
from pfmon.engine.guest_pmu import PerformanceData
from pfmon.machine._machine import CoupledMachines
from pfmon.machine.config.machine_figures import MachineFigures
from pfmon.program.guest_functions import GuestFunction
from pfmon.program.mapped_files import MappedFile
from pfmon.session.coupled.coupled_run import THREADS, CoupledRun, SharedCore, TwoCores
from pfmon.stream._stream import BlockTable, Consumer, InstructionSet, Ring, RingPair, ThreadDemux


class ThreadedProgram(CoupledRun):
    """Hardware threads, or cores, that run the threads of one program: thread n runs on n modulo 2."""

    def __init__(self, figures: MachineFigures, flows: CoupledMachines) -> None:
        """As for Together."""
        super().__init__(figures, flows)
        self._pair = RingPair()
        self._engine: Engine | None = None
        self._open_halves = 0
        self._consumers: list[Consumer | None] = [None] * THREADS
        self._waiting = Event()
        self._over = Event()
        self._ending: ExitReport | None = None
        self._error: BaseException | None = None
        self.demux: ThreadDemux | None = None
        """Splits the stream between the halves; None before they run."""

    def open(self, number: int, start: Callable[[], Engine]) -> Engine:
        """Return one half of the program; the first half starts it."""
        if self._engine is None:
            self._engine = start()
            if self._engine.capabilities.system:
                self._pair.write_on_demand()
        self._open_halves += 1
        return ThreadSession(self, self._engine, number)

    def begin(self, number: int, ring: Ring, reader: Consumer) -> None:
        """Begin a half's stream; both rings have the same writer."""
        ring.join_pair(self._pair, number)
        super().begin(number, ring, reader)

    def release(self) -> None:
        """Release the resources of ended runs and of the program."""
        super().release()
        self._consumers = [None] * THREADS
        self.demux = self._engine = None

    def abandon(self, number: int) -> None:
        """Mark a half as failed, so that the other waits neither for the program's beginning nor for its end."""
        super().abandon(number)
        self._waiting.set()
        self._over.set()

    def run(self, number: int, consumer: Consumer, data: PerformanceData | None) -> ExitReport | None:
        """Run the program once both halves have called; return its ending to both."""
        assert self._engine
        self._consumers[number] = consumer
        if number:
            self._waiting.set()
            self._over.wait()
            if self._error:
                raise self._error
            return self._ending
        self._waiting.wait()
        try:
            readers = [one for one in self._consumers if one]
            rings = [one[0] for one in self._readers if one]
            if len(readers) == THREADS and len(rings) == THREADS:
                self.demux = ThreadDemux(self._engine.table, readers, rings, traced=self._engine.traced)
                if self._pair.on_demand:
                    self._execute_on_demand(self._engine)
                self._ending = self._engine.run(self.demux, data)
            return self._ending
        except BaseException as error:  # raised by both
            self._error = error
            raise
        finally:
            self._over.set()

    def _execute_on_demand(self, engine: Engine) -> None:
        """Let the machines decide which processor of a system executes."""
        assert isinstance(engine, TimedSystem)
        engine.execute_on_demand(self)

    # For the engine (engine.api.StreamDemand):

    @property
    def shares_core(self) -> bool:
        """Whether both halves are hardware threads of one core."""
        return isinstance(self, SharedCore)

    def wait(self) -> tuple[int, int]:
        """Wait until everything has been read; return which half's stream is needed, and its machine's cycle."""
        return self._pair.wait_for_demand()

    def end_part(self, next_ip: int, sleeps: bool, wakes_other: bool, interrupts_other: bool) -> None:
        """Hand over what one half has executed, up to the instruction at ``next_ip``."""
        assert self.demux
        self.demux.end_part(next_ip, sleeps, wakes_other, interrupts_other)

    def close(self) -> None:
        """Close a half; close the program when both halves are closed."""
        self._open_halves -= 1
        if self._open_halves == 0 and self._engine:
            self._engine.close()


class ThreadedProgramOnCore(SharedCore, ThreadedProgram):
    """The threads of one program on the two hardware threads of a core."""

    def __init__(self, figures: MachineFigures) -> None:
        """``figures``: of the machine."""
        super().__init__(figures, same_program=True)
        self._switch.begin_with_one()


class ThreadedProgramOnTwoCores(TwoCores, ThreadedProgram):
    """The threads of one program on two cores of one bus, which keep their caches coherent."""

    def __init__(self, figures: MachineFigures) -> None:
        """``figures``: of the machine of both cores."""
        super().__init__(figures, same_program=True)
        self._arbiter.begin_with_one()


class ThreadSession:
    """One session's view of the program: the whole program, and the stream of its hardware thread."""

    def __init__(self, whole: ThreadedProgram, engine: Engine, number: int) -> None:
        self._whole, self._engine, self._number = whole, engine, number
        self._closed = False

    @property
    def instruction_set(self) -> InstructionSet:
        """The program's instruction set."""
        return self._engine.instruction_set

    @property
    def capabilities(self) -> Capabilities:
        """The engine's capabilities."""
        return self._engine.capabilities

    @property
    def table(self) -> BlockTable:
        """The blocks of all threads."""
        return self._engine.table

    @property
    def traced(self) -> bool:
        """Whether the stream contains the addresses of memory accesses."""
        return self._engine.traced

    @property
    def mapped(self) -> Sequence[MappedFile]:
        """The files mapped executable so far."""
        return self._engine.mapped

    functions: Sequence[GuestFunction] = ()
    """No Python functions are marked."""

    @property
    def threads(self) -> Sequence[tuple[int, int]]:
        """The turns of its threads, in instructions of this hardware thread."""
        numbers = list(dict.fromkeys(number for _, number in self._engine.threads))
        turns = self._whole.demux.thread_turns(self._number) if self._whole.demux else []
        return [(retired, numbers[place]) for retired, place in turns if place < len(numbers)]

    @property
    def retired(self) -> int:
        """Instructions retired so far on this hardware thread."""
        demux = self._whole.demux
        return demux.retired_on(self._number) if demux else 0

    @property
    def ip(self) -> int:
        """The address of the next instruction of any thread."""
        return self._engine.ip

    def set_monitoring(self, on: bool, locked: bool) -> None:
        """Set the program's initial monitoring, which is the same for both halves."""
        self._engine.set_monitoring(on, locked)

    def run(self, consumer: Consumer, performance_data: PerformanceData | None = None) -> ExitReport | None:
        """Run the program, passing this half's stream to a consumer; return its ending."""
        return self._whole.run(self._number, consumer, performance_data)

    def stop(self) -> None:
        """End the program."""
        self._engine.stop()

    def listing(self, first: int, beyond: int) -> list[tuple[int, str]]:
        """Return address and text of the instructions in a range of code."""
        return self._engine.listing(first, beyond)

    def close(self) -> None:
        """Close this half."""
        if not self._closed:
            self._closed = True
            self._whole.close()
