from pfmon.counting.increments import Increments
from pfmon.counting.sink import Sink
from pfmon.counting.tally import Tally

def add_totals(tally: Tally, increments: Increments, sink: Sink) -> None:
    """Adds the monitors' counts of everything in a tally."""
