"""Options of one event set, with their values: those that belong to the last -e before them.

HP's pfmon has one code range and one data range for all sets; here each has its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pfmon.library.options.option import OF_SET
from pfmon.library.options.option_record import OptionRecord
from pfmon.library.options.table import rows


class SetOptions(OptionRecord):
    """One event set. Values are texts where the command line's are parsed late."""

    part = OF_SET

    events: Sequence[str]

    # One value an event, as texts: how many events there are is known when the PMU is programmed.
    event_thresholds: str
    priv_levels: str
    insn_sets: str
    invert: str
    edge: str

    # For all of its events.
    irange: str
    drange: str
    checkpoint_func: str
    inverse_irange: bool
    irange_demand_fetch: bool
    irange_prefetch_match: bool
    opcode_matches: Mapping[str, str]
    """Option name -> [mifb]:match:mask."""
    branch_filters: Sequence[str]
    """Options --btb-... and --etb-... by name."""
    branch_filter: Sequence[str]
    """The branches that last branch records let through, by perf's names."""
    ip_ear: int | None
    """The delay of Montecito's IP-EAR."""
    interrupts: Sequence[str]
    """Options that say which interrupts' execution counts, by name."""

    # One value an event, as texts.
    long_smpl_periods: str
    short_smpl_periods: str
    smpl_periods_random: str
    # Of all its samples.
    extra_smpl_pmds: str
    reset_non_smpl_periods: str | None
    """The registers that begin at 0 again with every sample, "" for all without a period; None: none."""

    def __init__(self) -> None:
        super().__init__()
        self.events = []

    @property
    def sampled(self) -> bool:
        """Whether samples are taken of it."""
        return bool(self.long_smpl_periods or self.short_smpl_periods)

    @property
    def code_range(self) -> bool:
        """Whether there is a range of code."""
        return bool(self.irange or self.checkpoint_func)

    def gives(self, *fields: str) -> bool:
        """Whether an option that has its value in one of these fields is given."""
        return any(one.is_given(self) for one in rows(OF_SET) if one.attribute in fields)
