from pfmon.counting.tally import Tally
from pfmon.machine.interval.interval_machine import IntervalMachine

def add_runs(tally: Tally, machine: IntervalMachine) -> None:
    """Counts all blocks that have run on a machine."""
