"""Collection of the data of reports on the whole machine during a run.

Of the cycle breakdown, and of an HTML report: cycles by cause, function, line, instruction and call path, and memory
areas in which loads missed. All of it is exact: nothing is sampled.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from pfmon.counting._counting import BranchEdges, CallTree, DataMisses, Gate, Increments, RecordCounts, Tally
from pfmon.counting.totals.counting_unit import stack_rate
from pfmon.engine.api import Engine
from pfmon.machine.config.machine_figures import MachineFigures
from pfmon.pmu.capture.last_branches import EVERY_KIND
from pfmon.program.loaded_objects import LoadedObjects
from pfmon.session.coupled.coupled_run import HardwareThread
from pfmon.session.profile.annotated_code import AnnotatedCode, places
from pfmon.session.profile.call_graph import CallGraph, call_graph
from pfmon.session.profile.call_rows import CallRow, ExactCalls, call_rows
from pfmon.session.profile.code_profile import Function, FunctionNames, Source
from pfmon.session.profile.cpi_stack import NOTHING, CpiStack, FunctionRow, breakdown, counted, part_queries
from pfmon.session.profile.data_areas import Area, areas
from pfmon.session.profile.finding import Finding, finding
from pfmon.session.profile.kept_timelines import WantedTimelines, hottest, keep_timelines
from pfmon.session.profile.timeline import BlockTimeline
from pfmon.session.run.controls import Controls
from pfmon.session.run.machine_run import MachineRun, beside
from pfmon.session.run.monitoring import nothing_is_lost
from pfmon.session.run.programmed_pmu import RunData
from pfmon.session.run.run_plan import RunPlan
from pfmon.session.triggers.trigger_gate import gate, unreached
from pfmon.stream._stream import BlockTable, Consumer, Failure, Tee

if TYPE_CHECKING:
    from pfmon.session.profile.largest_causes import LargestCause


COUNTED = 0
"""The event set of a machine's records of what is counted."""


class LateLoads(NamedTuple):
    """Loads of an instruction that L1D did not serve: its address, function and source line (None: not known), their
    number by the level that served them (L2, L3, memory), and the sum of their latencies in cycles."""

    address: int
    function: Function
    source: Source | None
    misses: tuple[int, int, int]
    cycles: int


class DataView(NamedTuple):
    """Loads that L1D did not serve, or that do not read it: by area of memory, the one with the largest latency first,
    by instruction, and the number of loads with each latency (cycles; the last one includes longer ones). ``l3``,
    ``memory``: the minimum latency of a miss served by L3, by memory; ``piece``: the resolution of areas in bytes."""

    areas: Sequence[Area]
    instructions: Sequence[LateLoads]
    latencies: Sequence[int]
    l3: int
    memory: int
    piece: int


OF_PAGE, PAGE_TIMELINES = WantedTimelines(iterations=6, rows=64), 3
"""Of a page: timelines end when they have so many iterations, or instructions; their number."""


class CollectedReport(NamedTuple):
    """The collected data, on a machine with these figures. ``causes``: the largest causes of stalls;
    ``threads``: the number of each thread, its cycles by part, then its instructions; ``timelines``: of the blocks with
    most cycles, if the machine has times of single instructions."""

    figures: MachineFigures
    cpi: CpiStack
    calls: Sequence[CallRow]
    places: AnnotatedCode
    data: DataView
    graph: CallGraph
    causes: Sequence[LargestCause]
    threads: Sequence[tuple[int, tuple[int, ...]]]
    timelines: Sequence[BlockTimeline]


def call_tree(figures: MachineFigures, table: BlockTable, running: MachineRun) -> CallTree:
    """Return what counts the cycles of a machine by part, and instructions, by call path."""
    queries = part_queries()
    nothing = Increments([NOTHING for _ in queries])
    cycles = RecordCounts(queries, nothing, table, running.machine.records, stack_rate(figures))
    tree = CallTree(table, nothing, cycles)
    running.machine.set_observer(tree)
    return tree


def _gate_of(parts: Controls | None, table: BlockTable, reader: Consumer, running: MachineRun) -> Gate | None:
    """Return what lets a reader, and the first event set of a machine, have these parts alone; None: they have all."""
    return gate(parts, table, True, [reader], machine=running.machine) if parts else None


def python_functions(calls: CallTree, engine: Engine) -> Sequence[FunctionRow]:
    """Return the Python functions of a run; none if it has called none."""
    if not engine.functions:
        return ()
    from pfmon.session.profile.python_profile import python_rows

    return python_rows(calls.nodes(), calls.python_lines(), engine.functions)


class ReportCollector:
    """Collects the data of a run; the program runs within `running`."""

    def __init__(
        self,
        figures: MachineFigures,
        engine: Engine,
        threaded: bool = True,
        edges: bool = False,
        parts: Controls | None = None,
    ) -> None:
        """``edges``: count taken branches by source and target, too; ``parts``: of the run that count,
        None: all (Controls.parts_alone)."""
        self._figures = figures
        self._controls = parts
        table = engine.table
        self._tally = Tally(table, traced=True)
        event_sets = 2 if parts else 1
        threaded = threaded and not engine.capabilities.apart
        self.running = MachineRun(figures, table, event_sets=event_sets, threaded=threaded)
        self.running.count_slots()
        machine = self.running.machine
        self._calls = call_tree(figures, table, self.running)
        self._timelines = keep_timelines(machine, figures, table, OF_PAGE, self._calls)
        self._misses = DataMisses(table, *self._latencies())
        machine.listen(self._misses)
        self._edges = BranchEdges(table, True, EVERY_KIND) if edges else None
        counted = Tee(self._tally, self._edges) if self._edges else self._tally
        self._gate = _gate_of(parts, table, counted, self.running)
        if self._gate:
            self._consumer: Consumer = self.running.feed(self._gate)
        else:
            feed = self.running.feed(beside=self._tally)
            self._consumer = Tee(self._edges, feed) if self._edges else feed

    def beside(self, reader: Consumer) -> Consumer:
        """Return a consumer that passes the stream to a reader and to this object."""
        return beside(reader, self._consumer)

    def calls(self, engine: Engine) -> ExactCalls:
        """End the run and return its calls. LostError: data was lost."""
        counts = counted(self._seen(engine), part_queries(), by_place=True).by_address()
        return ExactCalls(self._calls.nodes(), counts, self._edges.counts() if self._edges else {})

    def _seen(self, engine: Engine) -> RunData:
        lost = self._calls.lost or self._misses.out_of_memory
        failures = [engine.table.failure, self._tally.failure, *self.running.failures]
        failures += [one.failure for one in (self._edges, self._gate) if one]
        nothing_is_lost([*failures, *([Failure.OUT_OF_MEMORY] if lost else [])])
        return RunData(engine.table, self._tally, self.running.records([COUNTED]))

    def notes(self) -> list[str]:
        """Notes on the regions that count."""
        return unreached(self._controls, self._gate) if self._controls else []

    def finish(self, engine: Engine, objects: LoadedObjects, demangle: bool) -> CollectedReport:
        """End the run and return the data. LostError: data was lost."""
        seen = self._seen(engine)
        from pfmon.session.profile.largest_causes import largest_causes

        cpi = breakdown(self._figures, seen, objects, demangle)
        cpi = cpi._replace(python=python_functions(self._calls, engine))
        names = FunctionNames(objects, demangle, engine.table.instruction_set, lambda: engine.functions)
        sink = counted(seen, part_queries(), by_place=True)
        nodes = self._calls.nodes()
        return CollectedReport(
            self._figures,
            cpi,
            call_rows(nodes, names),
            places(sink.by_address(), cpi.functions, names, engine),
            self._data_view(objects, names),
            call_graph(nodes, names),
            largest_causes(cpi, seen, names),
            self._calls.threads(),
            hottest(self._timelines, names, engine, PAGE_TIMELINES) if self._timelines else (),
        )

    def _latencies(self) -> tuple[int, int]:
        """Return the minimum latencies of a load served by L3 (without one: by memory) and by memory."""
        memory = int(self._figures["memory.latency"])
        return int(self._figures.get("l3.latency", memory)), memory

    def _data_view(self, objects: LoadedObjects, names: FunctionNames) -> DataView:
        misses = self._misses
        return DataView(
            areas(misses.by_piece(), misses.piece_bytes, objects),
            _late_loads(misses.by_instruction(), names),
            misses.histogram(),
            *(*self._latencies(), misses.piece_bytes),
        )


def _late_loads(found: Iterable[tuple[int, tuple[int, int, int], int]], names: FunctionNames) -> list[LateLoads]:
    """Return one row for each address, though it is in several blocks; in order of address."""
    sums: dict[int, list[int]] = {}
    for address, misses, cycles in found:
        known = sums.setdefault(address, [0, 0, 0, 0])
        sums[address] = [a + b for a, b in zip(known, (*misses, cycles), strict=True)]
    return [
        LateLoads(address, names.function(address), names.source(address), (second, third, memory), cycles)
        for address, (second, third, memory, cycles) in sorted(sums.items())
    ]


class ObservedRun:
    """A run on a machine without a PMU, for a report on the whole machine."""

    def __init__(
        self,
        figures: MachineFigures,
        engine: Engine,
        threaded: bool = True,
        hardware_thread: HardwareThread | None = None,
        python: bool = False,
        parts: Controls | None = None,
    ) -> None:
        """``python``: break the cycles of Python functions down, too; ``parts``: of the run that count,
        None: all (Controls.parts_alone)."""
        self._figures, self._engine, self._controls = figures, engine, parts
        self._tally = Tally(engine.table, traced=True)
        threaded = threaded and not engine.capabilities.apart
        self.running = MachineRun(
            *(figures, engine.table),
            event_sets=2 if parts else 1,
            threaded=threaded,
            hardware_thread=hardware_thread,
        )
        self.running.forget_levels()
        self.running.count_slots()
        self._calls = call_tree(figures, engine.table, self.running) if python else None
        self._gate = _gate_of(parts, engine.table, self._tally, self.running)
        self.consumer = self.running.feed(self._gate) if self._gate else self.running.feed(beside=self._tally)

    def notes(self) -> list[str]:
        """Notes on the regions that count."""
        return unreached(self._controls, self._gate) if self._controls else []

    def breakdown(self, plan: RunPlan, objects: LoadedObjects) -> CpiStack:
        """Return the cycle breakdown; ``objects``: the object files of the code."""
        found = breakdown(self._figures, self._seen(), objects, plan.demangle, plan.lines)
        return found._replace(python=python_functions(self._calls, self._engine)) if self._calls else found

    def finding(self, plan: RunPlan, objects: LoadedObjects) -> Finding | None:
        """Return the largest cause of stalls, if it is large."""
        return finding(self._seen(), objects, plan.demangle)

    def _seen(self) -> RunData:
        lost = [Failure.OUT_OF_MEMORY] if self._calls and self._calls.lost else []
        nothing_is_lost([self._engine.table.failure, self._tally.failure, *self.running.failures, *lost])
        return RunData(self._engine.table, self._tally, self.running.records([COUNTED]))
