"""The outcome of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from pfmon.engine.api import ExitReport
from pfmon.session.run.programmed_pmu import Count, ThreadCounts

if TYPE_CHECKING:
    from pfmon.program.source_texts import SourceFile
    from pfmon.session.profile.call_rows import ExactCalls
    from pfmon.session.profile.code_profile import Profile
    from pfmon.session.profile.cpi_stack import CpiStack
    from pfmon.session.profile.finding import Finding
    from pfmon.session.profile.python_profile import PythonProfile
    from pfmon.session.profile.shared_lines import SharedLinesReport
    from pfmon.session.profile.timeline import BlockTimeline
    from pfmon.session.run.followed_tasks import TaskCounts
    from pfmon.session.run.report_collector import CollectedReport
    from pfmon.session.run.system_task_counts import SystemTaskCounts
    from pfmon.session.triggers.regions import RegionCounts


class Times(NamedTuple):
    """The host's seconds of a run."""

    real: float
    user: float
    system: float


class RunOutcome(NamedTuple):
    """The outcome of a run. ``status``: exit status for the shell; ``death``: the signal that killed it; ``stopped``:
    the cause that ended it from outside: timeout, or the argument of Session.stop. ``notes`` concern the counts,
    ``notices`` the program during its run. ``exact``: true counts of a sampled event by instruction, ``exact_edges``:
    of taken branches by source and target; ``tasks``: by task, if children are followed; ``threads``: by thread,
    ``system_tasks``: by task or processor of a system, ``regions``: by region, if counted separately; the counts are
    then sums; ``listing``: the instructions to be annotated, or the source file; ``surveyed``: the data of an HTML
    report; ``finding``: the largest cause of stalls, if it was looked for and is large; ``sources``: the texts of
    source files by path, of a recording that keeps them; ``calls``: all of them, if they were kept; ``shared``: lines
    of memory that threads share, if they were looked for; ``timeline``: that of a block, if it was wanted; ``python``:
    the counts by Python function and line, if the program has any and the counts were split."""

    status: int
    counts: list[Count]
    times: Times
    retired: int
    death: ExitReport | None = None
    stopped: str = ""
    profile: Profile | None = None
    listing: Sequence[tuple[int, str]] | SourceFile = ()
    notes: Sequence[str] = ()
    cpi: CpiStack | None = None
    notices: Sequence[str] = ()
    exact: Mapping[int, int] | None = None
    exact_edges: Mapping[tuple[int, int], int] | None = None
    tasks: Sequence[TaskCounts] | None = None
    threads: Sequence[ThreadCounts] | None = None
    system_tasks: Sequence[SystemTaskCounts] | None = None
    regions: Sequence[RegionCounts] | None = None
    surveyed: CollectedReport | None = None
    finding: Finding | None = None
    calls: ExactCalls | None = None
    shared: SharedLinesReport | None = None
    timeline: BlockTimeline | None = None
    sources: Mapping[str, str] = {}
    python: PythonProfile | None = None
