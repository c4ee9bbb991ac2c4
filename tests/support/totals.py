"""What a finished run added to signals that architecture decides."""

from collections.abc import Iterable, Sequence

from pfmon.counting.increments import Increments
from pfmon.counting.looks import Look
from pfmon.counting.machine_totals import MachineTotals
from pfmon.counting.sink import Sink
from pfmon.counting.tally import Tally
from pfmon.counting.totals import add_totals
from pfmon.counting.weighed import Filter, Weighed
from pfmon.machine.machine import Machine
from pfmon.signals.terms import available
from pfmon.stream.table import BlockTable

EVERYTHING = Filter()


def signal_totals(signals: Iterable[str], table: BlockTable, tally: Tally) -> dict[str, int]:
    """The increments of each signal in everything that the tally has seen; KeyError for one of the machine."""
    names = list(signals)
    if unknown := set(names) - available():
        raise KeyError(f"architecture does not decide {', '.join(sorted(unknown))}")
    sink = Sink(len(names), table)
    add_totals(tally, Increments([Weighed(name, EVERYTHING, False) for name in names]), sink)
    return dict(zip(names, sink.totals(), strict=True))


def machine_totals(looks: Sequence[Look], table: BlockTable, machine: Machine, stack_rate: int) -> list[int]:
    """What each look, with nothing qualified, makes of everything that a machine has recorded."""
    sink = Sink(len(looks), table)
    weighed = [Weighed(look.signal, EVERYTHING, look.ranged) for look in looks]
    MachineTotals(machine, looks, Increments(weighed), table, stack_rate).add(sink)
    return sink.totals()
