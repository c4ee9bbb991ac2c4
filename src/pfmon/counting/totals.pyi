from pfmon.counting.count_accumulator import CountAccumulator
from pfmon.counting.increments import Increments
from pfmon.counting.tally import Tally

def add_totals(tally: Tally, increments: Increments, sink: CountAccumulator) -> None:
    """Adds the monitors' counts of everything in a tally."""
