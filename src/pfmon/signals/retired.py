"""Increments of the signals that architecture alone decides: weights per instruction, marks of the stream.

An instruction adds ``retired`` whenever it retires and ``executed`` once more when its condition holds: its
qualifying predicate, or for a branch that it is taken. A block's increments are then the sum over its
instructions, its runs times ``retired`` plus its executions times ``executed``.
"""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple, Protocol

from pfmon.stream.blocks import BlockRecord, Cut, InstructionRecord
from pfmon.stream.ia64 import Ia64Kind
from pfmon.stream.kinds import Kind
from pfmon.stream.marks import Mark, MarkTotals


class Weight(NamedTuple):
    """What one instruction adds to a signal."""

    retired: int = 0
    executed: int = 0


class Marks(Protocol):
    """Totals of the stream's marks (stream.tally.Tally)."""

    def marks(self, kind: int) -> MarkTotals:
        """Totals of one kind."""


NO_KIND = Kind(0)
NO_ISA_KIND = Ia64Kind(0)

NOTHING = Weight()
ALWAYS = Weight(retired=1)
EXECUTED = Weight(executed=1)

# The floating-point operations that an instruction's kinds say it executes.
FP_OPERATIONS = {Ia64Kind.FP_OPS_1: 1, Ia64Kind.FP_OPS_2: 2, Ia64Kind.FP_OPS_4: 4}


def _executed(
    wanted: Kind, unwanted: Kind = NO_KIND, isa_unwanted: Ia64Kind = NO_ISA_KIND
) -> Callable[[InstructionRecord], Weight]:
    """Counts executed instructions that have all of the wanted kinds and none of the unwanted."""

    def weigh(instruction: InstructionRecord) -> Weight:
        kind = instruction.kind
        if kind & wanted != wanted or kind & unwanted or instruction.isa_kind & isa_unwanted:
            return NOTHING
        return EXECUTED

    return weigh


def _branches(wanted: Kind, unwanted: Kind = NO_KIND) -> Callable[[InstructionRecord], Weight]:
    """Counts branches, taken or not."""

    def weigh(instruction: InstructionRecord) -> Weight:
        kind = instruction.kind
        return ALWAYS if kind & Kind.BRANCH and kind & wanted == wanted and not kind & unwanted else NOTHING

    return weigh


def _inst_retired(_: InstructionRecord) -> Weight:
    return ALWAYS


def _predicate_squashed(instruction: InstructionRecord) -> Weight:
    wanted = instruction.isa_kind & (Ia64Kind.PREDICATED | Ia64Kind.SLOT_B)
    return Weight(1, -1) if wanted == Ia64Kind.PREDICATED else NOTHING


def _data_references(instruction: InstructionRecord) -> Weight:
    return EXECUTED if instruction.kind & (Kind.LOAD | Kind.STORE | Kind.PREFETCH) else NOTHING


def _fp_ops_retired(instruction: InstructionRecord) -> Weight:
    return Weight(executed=sum(count for kind, count in FP_OPERATIONS.items() if instruction.isa_kind & kind))


def _alat_checks(unwanted: Kind, wanted: Kind) -> Callable[[InstructionRecord], Weight]:
    def weigh(instruction: InstructionRecord) -> Weight:
        kind = instruction.kind
        checks = bool(instruction.isa_kind & (Ia64Kind.LOAD_CHECK | Ia64Kind.CHECK_ALAT))
        return EXECUTED if checks and kind & wanted == wanted and not kind & unwanted else NOTHING

    return weigh


def _rse_event(instruction: InstructionRecord) -> Weight:
    return EXECUTED if instruction.isa_kind & Ia64Kind.RSE_EVENT else NOTHING


def _branch_taken(slot: int) -> Callable[[InstructionRecord], Weight]:
    def weigh(instruction: InstructionRecord) -> Weight:
        return EXECUTED if instruction.kind & Kind.BRANCH and instruction.slot == slot else NOTHING

    return weigh


def _branch_not_taken(instruction: InstructionRecord) -> Weight:
    return Weight(1, -1) if instruction.kind & Kind.BRANCH else NOTHING


def _multiway(weight: Weight) -> Callable[[InstructionRecord], Weight]:
    def weigh(instruction: InstructionRecord) -> Weight:
        return weight if instruction.kind & Kind.BRANCH and instruction.isa_kind & Ia64Kind.MULTIWAY else NOTHING

    return weigh


def _explicit_stop(instruction: InstructionRecord) -> Weight:
    return ALWAYS if instruction.isa_kind & Ia64Kind.STOP else NOTHING


def _serialization(instruction: InstructionRecord) -> Weight:
    return EXECUTED if instruction.kind & Kind.SERIALIZE else NOTHING


# Signal -> weight of an instruction. A signal may have increments from here, from MARKS, or from both.
WEIGHTS: dict[str, Callable[[InstructionRecord], Weight]] = {
    "inst_retired": _inst_retired,
    "inst_tagged.0": _inst_retired,
    "inst_tagged.1": _inst_retired,
    "inst_tagged.2": _inst_retired,
    "inst_tagged.3": _inst_retired,
    "nops_retired": _executed(Kind.NOP),
    "predicate_squashed": _predicate_squashed,
    "loads_retired": _executed(Kind.LOAD, NO_KIND, Ia64Kind.LOAD_CHECK),
    "loads_retired.integer": _executed(Kind.LOAD, Kind.FLOAT, Ia64Kind.LOAD_CHECK),
    "stores_retired": _executed(Kind.STORE),
    "data_references": _data_references,
    "fp_ops_retired": _fp_ops_retired,
    "inst_chka_ldc.all": _alat_checks(NO_KIND, NO_KIND),
    "inst_chka_ldc.int": _alat_checks(Kind.FLOAT, NO_KIND),
    "inst_chka_ldc.fp": _alat_checks(NO_KIND, Kind.FLOAT),
    "rse_event_retired": _rse_event,
    "branches.all": _branches(NO_KIND),
    "branches.iprel": _branches(Kind.RELATIVE),
    "branches.return": _branches(Kind.RETURN),
    "branches.nretind": _branches(Kind.INDIRECT, Kind.RETURN),
    "branches.nottaken": _branch_not_taken,
    "branches.taken.slot0": _branch_taken(0),
    "branches.taken.slot1": _branch_taken(1),
    "branches.taken.slot2": _branch_taken(2),
    "branches.multiway.all": _multiway(ALWAYS),
    "branches.multiway.taken": _multiway(EXECUTED),
    "branches.multiway.nottaken": _multiway(Weight(1, -1)),
    "serialization_events": _serialization,
    "stops_dispersed.explicit": _explicit_stop,
}


def _low(kind: Mark) -> Callable[[Marks], int]:
    """The sum of the marks' values (bits 0-15)."""
    return lambda totals: totals.marks(kind).low


def _valued(kind: Mark, *values: int) -> Callable[[Marks], int]:
    """How many marks have one of the values."""
    return lambda totals: sum(totals.marks(kind).by_value[value] for value in values)


def _level_changes(totals: Marks) -> int:
    """System calls, faults and signals go from level 3 to level 0 and come back."""
    return 2 * sum(totals.marks(kind).marks for kind in (Mark.SYSTEM_CALL, Mark.FAULT))


def _none(_: Marks) -> int:
    return 0


# Signal -> increments from the marks of the stream.
MARKS: dict[str, tuple[Callable[[Marks], int], ...]] = {
    "loads_retired": (_valued(Mark.ALAT_MISS, 0, 1), _low(Mark.FILL)),
    "loads_retired.integer": (_valued(Mark.ALAT_MISS, 0),),
    "stores_retired": (_low(Mark.SPILL),),
    "data_references": (_low(Mark.FILL), _low(Mark.SPILL)),
    "misaligned_loads_retired": (_low(Mark.MISALIGNED_LOAD),),
    "misaligned_stores_retired": (_low(Mark.MISALIGNED_STORE),),
    "fp_flush_to_zero.real": (_valued(Mark.FLUSH_TO_ZERO, 1),),
    "fp_flush_to_zero.possible": (_valued(Mark.FLUSH_TO_ZERO, 0, 1),),
    "inst_failed_chka_ldc.all": (_valued(Mark.ALAT_MISS, 0, 1, 2, 3),),
    "inst_failed_chka_ldc.int": (_valued(Mark.ALAT_MISS, 0, 2),),
    "inst_failed_chka_ldc.fp": (_valued(Mark.ALAT_MISS, 1, 3),),
    # The ALAT is the engine's: what leaves it for want of room is in the stream.
    "alat_capacity_miss.all": (_valued(Mark.ALAT_REPLACE, 0, 1),),
    "alat_capacity_miss.int": (_valued(Mark.ALAT_REPLACE, 0),),
    "alat_capacity_miss.fp": (_valued(Mark.ALAT_REPLACE, 1),),
    "spec_loads_natted.all": (_valued(Mark.DEFERRED, 1, 2),),
    "spec_loads_natted.nat_cnsm": (_valued(Mark.DEFERRED, 2),),
    # PSR.ed is set by an operating system that runs a load again, which none has to do here.
    "spec_loads_natted.def_psr_ed": (_none,),
    "rse_references.all": (_low(Mark.FILL), _low(Mark.SPILL)),
    "rse_references.load": (_low(Mark.FILL),),
    "rse_references.store": (_low(Mark.SPILL),),
    "cpu_cpl_changes.all": (_level_changes,),
    "cpu_cpl_changes.lvl0": (_level_changes,),
    "cpu_cpl_changes.lvl3": (_level_changes,),
    # Linux never runs at levels 1 and 2, gives user programs no uncacheable pages and no debug registers, and
    # this engine has no IA-32 instruction set: in a user program these cannot happen.
    "cpu_cpl_changes.lvl1": (_none,),
    "cpu_cpl_changes.lvl2": (_none,),
    "uc_loads_retired": (_none,),
    "uc_stores_retired": (_none,),
    "data_debug_register_fault": (_none,),
    "data_debug_register_matches": (_none,),
    "ia32_inst_retired": (_none,),
    "isa_transitions": (_none,),
}


def _failed(check: Ia64Kind, wanted: Kind = NO_KIND, unwanted: Kind = NO_KIND) -> Callable[[BlockRecord], int]:
    """1 for a block that was left by a failed check of this kind."""

    def weigh(block: BlockRecord) -> int:
        if block.cut != Cut.FAILED_CHECK:
            return 0
        last = block.instructions[-1]
        return int(bool(last.isa_kind & check) and last.kind & wanted == wanted and not last.kind & unwanted)

    return weigh


# Signal -> increments of a run of a block as a whole.
BLOCKS: dict[str, Callable[[BlockRecord], int]] = {
    "inst_failed_chks.all": _failed(Ia64Kind.CHECK_NAT),
    "inst_failed_chks.int": _failed(Ia64Kind.CHECK_NAT, unwanted=Kind.FLOAT),
    "inst_failed_chks.fp": _failed(Ia64Kind.CHECK_NAT, wanted=Kind.FLOAT),
    "fp_failed_fchkf": _failed(Ia64Kind.CHECK_FLAGS),
}


@cache
def available() -> frozenset[str]:
    """The signals that can be counted without a machine."""
    return frozenset(WEIGHTS) | frozenset(MARKS) | frozenset(BLOCKS)
