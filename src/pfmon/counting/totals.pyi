from pfmon.counting.increments import Increments
from pfmon.counting.sink import Sink
from pfmon.counting.tally import Tally

def add_totals(tally: Tally, increments: Increments, sink: Sink) -> None:
    """Add what the monitors counted in everything that a tally has seen."""
