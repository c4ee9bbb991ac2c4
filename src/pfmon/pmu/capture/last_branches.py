"""Last branch records: their registers, what MSR_LBR_SELECT lets through, and decoding (Intel SDM volume 3, sections
17.4.8, 17.5, 17.7 and 17.9; AMD APM volume 2, section 13.1.1.9, LbrExtV2, whose LBR_SELECT has the same bits)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from pfmon.pmu.capture.branch_captures import CapturedEdge
from pfmon.pmu.model.pmu_model import PmuModel
from pfmon.pmu.registers.register_tables import RegisterValues
from pfmon.pmu.target import LAST_BRANCH_TOS, LastBranchRegisters

MISPRED = 1 << 63
"""Of a source (Nehalem, AMD), or of MSR_LBR_INFO_x (from Skylake on)."""
VALID = 1 << 63
"""Of a target (AMD): there is an entry."""
CYCLES = 0xFFFF
"""CYC_CNT of MSR_LBR_INFO_x."""
EVERY_KIND = 0b111111100
"""The bits of MSR_LBR_SELECT that leave out a kind of branch: JCC to FAR_BRANCH."""
NOT_AT_LEVEL_3 = 1 << 1
"""CPL_NEQ_0: no branch at levels 1 to 3 is recorded."""


class LastBranchSetting(NamedTuple):
    """``recorded``: bits of MSR_LBR_SELECT of the kinds that are recorded; ``call_stack``: a return removes the record
    written last; ``registers``: those of the processor."""

    registers: LastBranchRegisters
    recorded: int
    call_stack: bool


def last_branch_setting(model: PmuModel, contents: Mapping[str, int]) -> LastBranchSetting | None:
    """Return what register contents let a processor record at level 3; None: it records no branches."""
    layout = model.target.last_branches
    values = RegisterValues(model.registers, contents)
    if layout is None or not values.field(*layout.enable):
        return None
    select = values[layout.select] if layout.has_select else 0
    recorded = 0 if select & NOT_AT_LEVEL_3 else EVERY_KIND & ~select
    call_stack = layout.has_call_stack and values.field(layout.select, "en_callstack") == 1
    return LastBranchSetting(layout, recorded, call_stack)


class LastBranch(NamedTuple):
    """An entry: its number, and a taken branch. ``mispredicted``: by the machine, False where none ran; ``cycles``: of
    the machine since the branch recorded before it, None: the processor does not record them."""

    number: int
    source: int
    target: int
    mispredicted: bool
    cycles: int | None


class LastBranchStack:
    """The registers of last branch records."""

    def __init__(self, setting: LastBranchSetting) -> None:
        self._layout = setting.registers
        self.registers = self._layout.registers
        self.name = "LAST_BRANCH_STACK" if self._layout.shifts else "MSR_LASTBRANCH"
        """The entries' name in the manuals, without their number."""
        self.has_predictions = self._layout.has_predictions
        """Whether entries say what was mispredicted."""
        self.has_call_stack = setting.call_stack
        """Whether entries are the calls that the program is in."""
        self.recorded = setting.recorded
        """Bits of MSR_LBR_SELECT of the kinds that are recorded."""
        self.has_all = setting.recorded == EVERY_KIND
        """Whether every taken branch is recorded."""

    def entries(self, pmds: Mapping[int, int]) -> list[LastBranch]:
        """Decode registers with these values: the entries that were written, the oldest first."""
        layout = self._layout
        top = -1 if layout.shifts else pmds[LAST_BRANCH_TOS]
        order = [(top + 1 + place) % layout.depth for place in range(layout.depth)]
        if layout.shifts:
            order.reverse()
        return [self._entry(number, pmds) for number in order if pmds[layout.sources + layout.stride * number]]

    def _entry(self, number: int, pmds: Mapping[int, int]) -> LastBranch:
        layout = self._layout
        source, target = (pmds[first + layout.stride * number] for first in (layout.sources, layout.targets))
        info = pmds[layout.infos + number] if layout.infos else source
        cycles = info & CYCLES if layout.infos else None
        return LastBranch(number, source & ~MISPRED, target & ~VALID, bool(info & MISPRED), cycles)

    def edges(self, pmds: Mapping[int, int]) -> list[CapturedEdge]:
        """Return the branches in the registers, the oldest first."""
        return [CapturedEdge(one.source, one.target, one.mispredicted) for one in self.entries(pmds)]
