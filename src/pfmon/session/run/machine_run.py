"""A run on a machine, which runs beside the engine, in its own thread where that is faster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from types import TracebackType
from typing import TYPE_CHECKING

from pfmon.counting._counting import Gate, Tally
from pfmon.counting.totals.counting_unit import CountingUnit, MachineRecords
from pfmon.debug_log import ENABLED, log
from pfmon.errors import PfmonError
from pfmon.machine._machine import CycleListener
from pfmon.machine.config.machine_figures import IN_ORDER, OUT_OF_ORDER, MachineFigures
from pfmon.session.coupled.coupled_run import HardwareThread
from pfmon.session.run.programmed_pmu import RunData
from pfmon.stream._stream import BlockTable, Consumer, Failure, InstructionSet, Pipe, SecondThread, Tee

if TYPE_CHECKING:
    from pfmon.machine._machine import IntervalCores, IntervalMachine, Machine, MissMachine


def machine_of(
    figures: MachineFigures,
    table: BlockTable,
    ranges: Sequence[tuple[int, int]],
    memo: bool,
    event_sets: int,
    timed: bool = True,
) -> Machine | IntervalMachine | IntervalCores | MissMachine:
    """Return the machine with these figures; ``timed``: events depend on time, if it may know none otherwise.
    PfmonError: this kind of machine does not run such programs."""
    runs = IN_ORDER if table.instruction_set == InstructionSet.IA64 else OUT_OF_ORDER
    if figures.core != runs:
        raise PfmonError(f"{figures['machine.name']} does not run programs of this instruction set")
    if figures.core == OUT_OF_ORDER:
        from pfmon.machine._machine import IntervalMachine, MissMachine

        cores = cores_of(figures)
        if not timed and cores == 1:
            return MissMachine(figures, table)
        timings = None
        if figures["core.instructions"] != "none":
            from pfmon.machine.config.core_timings import PAYLOAD_BYTES, CoreTimings

            if table.payload_bytes < PAYLOAD_BYTES:
                raise PfmonError("this recording does not say what its instructions are: it has to be made again")
            timings = CoreTimings(figures, table.instruction_names or names_of_instructions())
        if cores > 1:
            from pfmon.machine._machine import IntervalCores

            return IntervalCores(figures, table, event_sets, timings, memo, cores)
        return IntervalMachine(figures, table, event_sets, timings, memo)
    from pfmon.machine._machine import Machine

    return Machine(figures, table, ranges, memo, event_sets)


def beside(reader: Consumer, consumer: Consumer) -> Consumer:
    """Return a consumer that passes the stream to a reader, unless that ignores it, and to another consumer."""
    return consumer if type(reader) is Consumer else Tee(reader, consumer)


def cores_of(figures: MachineFigures) -> int:
    """Return the number of cores on which the threads of a program run."""
    return int(figures.get("machine.cores", 1))


def _add_runs_of_cores(cores: IntervalCores, tally: Tally) -> None:
    from pfmon.counting._counting import add_runs

    for one in cores.machines:
        add_runs(tally, one)


def names_of_instructions() -> list[str]:
    """capstone's names of x86 instructions by its numbers less one, for a table that has none: that of a recording."""
    import capstone

    disassembler = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
    return [disassembler.insn_name(number) for number in range(1, capstone.x86.X86_INS_ENDING)]


class MachineRun:
    """The machine of one run. `feed` returns the engine's consumer; the engine runs between enter and exit."""

    def __init__(
        self,
        figures: MachineFigures,
        table: BlockTable,
        ranges: Sequence[tuple[int, int]] = (),
        memo: bool = True,
        event_sets: int = 1,
        threaded: bool = True,
        hardware_thread: HardwareThread | None = None,
        timed: bool = True,
    ) -> None:
        """``memo``: replay memoized executions of blocks (machine.pyx) instead of simulating all. ``event_sets``: the
        number of sets whose records are kept apart. ``threaded``: use a thread of its own, where that is faster.
        ``hardware_thread``: the hardware thread of a core shared with another run. ``timed``: events depend on time."""
        self._threaded = threaded
        self._hardware_thread = hardware_thread
        self._machine: Machine | IntervalMachine | IntervalCores | MissMachine = (
            hardware_thread.machine(table, ranges, memo, event_sets)
            if hardware_thread
            else machine_of(figures, table, ranges, memo, event_sets, timed)
        )
        self.timed = timed or figures.core == IN_ORDER or cores_of(figures) > 1
        self._figures = figures
        self._pipe: Pipe | None = None
        self._second: SecondThread | None = None
        self._counted: Tally | None = None
        self._add_runs: Callable[[Tally], None] | None = None
        """Adds the machine's execution counts of blocks to a tally, if it is the machine that counts them."""

    @property
    def machine(self) -> Machine | IntervalMachine | IntervalCores:
        """The machine of a run with time."""
        from pfmon.machine._machine import MissMachine

        assert not isinstance(self._machine, MissMachine)
        return self._machine

    @property
    def figures(self) -> MachineFigures:
        """The machine's figures."""
        return self._figures

    def listen_to_cycles(self, watches: Sequence[CycleListener], event_set: int) -> None:
        """Report every cycle to these watches while an event set is in force. PfmonError: the cycles of several cores
        are in no order."""
        if watches and cores_of(self._figures) > 1:
            raise PfmonError("--cores: conditions on single cycles (CMASK, INV, E) are counted on one core alone")
        for watch, following in pairwise(watches):
            watch.following = following
        tell = getattr(self._machine, "listen_to_cycles", None)  # only out-of-order machines have it
        if watches and tell:
            tell(watches[0], event_set)

    def record_for(self, units: Sequence[CountingUnit]) -> None:
        """Record what these counting units need besides. PfmonError: the machine does not count an event."""
        for unit in units:
            unit.check_machine(self._figures)
        if any(unit.counts_core for unit in units):
            executions = any(unit.counts_executions for unit in units)
            self.record_events(executions, any(unit.counts_sources for unit in units))

    def record_events(self, executions: bool, sources: bool) -> None:
        """Record an out-of-order core's events besides misses, too; ``executions``: those that follow from executions,
        such as micro-operations and loads that hit, ``sources``: those of where micro-operations come from."""
        from pfmon.machine._machine import IntervalCores, IntervalMachine

        if isinstance(self._machine, IntervalMachine | IntervalCores):
            self._machine.record_events(executions, sources)

    def count_slots(self) -> None:
        """Count what the slots of an out-of-order core went to, too."""
        from pfmon.machine._machine import IntervalMachine

        if isinstance(self._machine, IntervalMachine):
            self._machine.count_slots()

    def forget_levels(self) -> None:
        """Stop recording levels, as no monitor counts them: two threads on a core then switch faster."""
        if self._hardware_thread:
            self._in_order.forget_levels()

    @property
    def _in_order(self) -> Machine:
        from pfmon.machine._machine import Machine

        assert isinstance(self._machine, Machine)
        return self._machine

    def feed(self, reader: Consumer | None = None, beside: Consumer | None = None) -> Consumer:
        """Return the pipe to ``reader``, which passes the stream on to the machine; None: to the machine itself.
        ``beside`` reads the stream in the engine's thread. A machine that reads the stream itself reports the execution
        counts of blocks to a tally: an out-of-order machine at the end, others at each `update_records`. A machine
        without time needs no thread of its own; it takes words of paths from the engine, and so does an out-of-order
        machine in the engine's thread that nothing reads beside."""
        if reader is None and type(beside) is Tally and not self._hardware_thread:
            if self._figures.core == OUT_OF_ORDER:
                self._counted, self._add_runs = beside, self._adder_of_runs()
            else:
                self._in_order.count_runs(beside)
            beside = None
        if not self.timed and reader is None:
            return Tee(beside, self._machine) if beside else self._machine
        if reader is None and beside is None and not self._threaded and self._figures.core == OUT_OF_ORDER:
            return self._machine
        read, second = (self._hardware_thread.read, None) if self._hardware_thread else (None, SecondThread())
        self._pipe = Pipe(reader or self._machine, beside, self._threaded, read, second)
        self._second = second
        return self._pipe

    def _adder_of_runs(self) -> Callable[[Tally], None]:
        from pfmon.counting._counting import add_runs, add_word_runs
        from pfmon.machine._machine import IntervalCores, IntervalMachine, MissMachine

        machine = self._machine
        if isinstance(machine, MissMachine):
            return lambda tally: add_word_runs(tally, machine)
        if isinstance(machine, IntervalCores):
            return partial(_add_runs_of_cores, machine)
        assert isinstance(machine, IntervalMachine)
        return lambda tally: add_runs(tally, machine)

    def __enter__(self) -> MachineRun:
        if self._pipe:
            self._pipe.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error and self._hardware_thread:
            self._hardware_thread.core.on_failure()
        if self._pipe:
            self._pipe.__exit__(kind, error, trace)
        self._machine.finish()
        if ENABLED:
            self._log()
        if self._add_runs is not None and self._counted is not None:
            self._add_runs(self._counted)
            self._counted = self._add_runs = None

    def _log(self) -> None:
        """Log the threads and the memo."""
        if not self.timed:
            log("threads", "the machine runs in the engine's thread: no event depends on time")
        elif self._second is None:
            log("threads", "the machine is one of a core that two programs share: each has a thread of its own")
        elif not self._threaded:
            log("threads", "the machine runs in the engine's thread")
        else:
            place = "a second thread" if self._second.on else "the engine's thread"
            log("threads", "the machine ran in %s at the end; trials during the run decide", place)
        if self._figures.core == IN_ORDER:
            machine = self._in_order
            states, nodes = machine.memo.sizes()
            text = "blocks replayed (hits) %d, simulated (misses) %d; %d states and %d nodes; emptied %d times"
            log("memo", text, machine.repeated, machine.simulated, states, nodes, machine.memo.flushes)
        elif (core := getattr(self._machine, "core", None)) is not None:
            log("memo", "parts of blocks run by their graphs %d, executed %d", core.from_graphs, core.executed)

    @property
    def failures(self) -> list[Failure]:
        """The failures that may have lost records."""
        found = [self._machine.failure, self._pipe.failure if self._pipe else Failure.NO_FAILURE]
        return (
            [*found, Failure.TOO_MANY_ENTRIES] if self._hardware_thread and self._hardware_thread.core.lost else found
        )

    def notes(self) -> list[str]:
        """Return when the last of several cores ended, and their cycles."""
        from pfmon.machine._machine import IntervalCores

        if not isinstance(self._machine, IntervalCores):
            return []
        cores = self._machine.cycles_of_cores()
        elapsed = max(cycles + idle for cycles, idle in cores)
        each = ", ".join(f"{cycles} on core {number}" for number, (cycles, _) in enumerate(cores) if cycles)
        return [f"--cores: {elapsed} cycles until the last core ended; executed: {each}"]

    def drain(self) -> None:
        """Wait until the machine has read everything so far."""
        if self._pipe:
            self._pipe.drain()

    def set_ranges(self, ranges: Sequence[tuple[int, int]]) -> None:
        """Set the data ranges from the next instruction on, after `update_records`. Only the machines of Itaniums use
        them."""
        if set_ranges := getattr(self._machine, "set_ranges", None):
            set_ranges(ranges)

    def change_ranges(self, before: Sequence[tuple[int, int]], after: Sequence[tuple[int, int]], gate: Gate) -> None:
        """Another event set counts from the instruction on that the gate stands before: its data ranges are in force
        then."""
        if list(before) != list(after):
            self.update_records(gate.next_address)
            self.set_ranges(after)

    def update_records(self, address: int) -> None:
        """Bring the records up to the next instruction, which is at ``address``."""
        self._machine.update_records(address)

    def cycles_before(self, address: int) -> int:
        """Return the cycles until the instruction at ``address``, which is the next one. Of a machine of Itaniums that
        runs in the engine's thread."""
        return self._in_order.cycles_before(address)

    def so_far(self, seen: RunData) -> RunData:
        """Return the data to count during the run, without affecting it. Called by the stream's writer between two
        buffers."""
        self.drain()
        self._machine.show_records()
        if self._add_runs is None:
            return seen
        tally = Tally(seen.table)
        self._add_runs(tally)
        return seen._replace(tally=tally)

    def records(self, event_sets: Sequence[int] | None = None) -> MachineRecords:
        """Return the machine's records of some event sets, None: of all; as of `update_records` or the end."""
        return MachineRecords(self._machine, self._figures, event_sets)
