"""Signals of what compiled programs rarely do, counted on a program that does each a known number of times."""

from pathlib import Path

import pytest
from guests import GuestSettings, image
from totals import signal_totals

from pfmon.counting._counting import Tally
from pfmon.engine.ia64.ia64_guest import Ia64Guest

PROGRAM = Path(__file__).parents[2] / "data" / "session" / "signals.elf"

# From reading data/signals.s.
EXPECTED = {
    "branches.all": 4,
    "branches.iprel": 3,
    "branches.return": 1,
    "branches.nretind": 0,
    "branches.nottaken": 2,
    "branches.taken.slot2": 2,
    "branches.multiway.all": 2,
    "branches.multiway.taken": 1,
    "branches.multiway.nottaken": 1,
    "predicate_squashed": 3,
    "loads_retired": 4 + 2 + 1 + 3,
    "loads_retired.integer": 3 + 1 + 1 + 3,
    "stores_retired": 3 + 24,
    "data_references": 11 + 3 + 24,
    "misaligned_loads_retired": 3,
    "misaligned_stores_retired": 1,
    "inst_failed_chks.all": 3,
    "inst_failed_chks.int": 2,
    "inst_failed_chks.fp": 1,
    "inst_chka_ldc.all": 4,
    "inst_chka_ldc.int": 3,
    "inst_chka_ldc.fp": 1,
    "inst_failed_chka_ldc.all": 2,
    "inst_failed_chka_ldc.int": 1,
    "inst_failed_chka_ldc.fp": 1,
    "fp_flush_to_zero.real": 2,
    "fp_flush_to_zero.possible": 3,
    "fp_failed_fchkf": 1,
    # three products, fma, fpma of ones (which only adds or multiplies), fadd, fcmp, fcvt
    "fp_ops_retired": 3 * 1 + 2 + 2 + 1 + 1 + 1,
    # alloc, br.call, br.ret, flushrs
    "rse_event_retired": 4,
    "rse_references.store": 24,
    "rse_references.load": 0,
    "serialization_events": 2,
    "spec_loads_natted.all": 3,
    "spec_loads_natted.nat_cnsm": 0,
    "spec_loads_natted.def_psr_ed": 3,  # their page does not exist
    "spec_loads_natted.def_tlb_fault": 0,
}


@pytest.mark.parametrize("slow", [False, True])
def test_each_rare_happening_is_counted(slow: bool) -> None:
    program = Ia64Guest(image.load(str(PROGRAM)), [b"signals"], [], GuestSettings(), memory_limit=1 << 30, slow=slow)
    tally = Tally(program.processor.table)
    end = program.run(tally)
    program.close()
    assert end is not None and end.status == 3
    assert signal_totals(list(EXPECTED), program.table, tally) == EXPECTED
