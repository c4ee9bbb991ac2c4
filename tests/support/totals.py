"""What a finished run added to signals that architecture decides."""

from collections.abc import Iterable, Sequence

from pfmon.counting._counting import CountAccumulator, Increments, MachineTotals, Tally, add_totals
from pfmon.counting.totals.record_query import RecordQuery
from pfmon.machine._machine import Machine
from pfmon.pmu.qualify.filters import FilteredSignal, InstructionFilter
from pfmon.signals.signal_terms import available
from pfmon.stream._stream import BlockTable

EVERYTHING = InstructionFilter()


def signal_totals(signals: Iterable[str], table: BlockTable, tally: Tally) -> dict[str, int]:
    """The increments of each signal in everything that the tally has seen; KeyError for one of the machine."""
    names = list(signals)
    if unknown := set(names) - available():
        raise KeyError(f"architecture does not decide {', '.join(sorted(unknown))}")
    sink = CountAccumulator(len(names), table)
    add_totals(tally, Increments([FilteredSignal(name, EVERYTHING, False) for name in names]), sink)
    return dict(zip(names, sink.totals(), strict=True))


def machine_totals(queries: Sequence[RecordQuery], table: BlockTable, machine: Machine, stack_rate: int) -> list[int]:
    """What each look, with nothing qualified, makes of everything that a machine has recorded."""
    sink = CountAccumulator(len(queries), table)
    weighed = [FilteredSignal(query.signal, EVERYTHING, query.ranged) for query in queries]
    MachineTotals(machine, queries, Increments(weighed), table, stack_rate).add(sink)
    return sink.totals()
