"""What a PMU can be programmed to do and a run cannot honour yet: refused, never ignored."""

from __future__ import annotations

from pfmon.errors import PfmonError
from pfmon.pmu.model import IA64
from pfmon.pmu.request import PLM_USER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pfmon.pmu.model import PmuModel
    from pfmon.pmu.request import Request

PROGRAMS = {"x86": "x86", "ppc": "PowerPC"}
"""What the processors run that have the PMUs of other architectures."""


def check_runs_here(model: PmuModel) -> None:
    """PfmonError for a PMU of processors that cannot run IA-64 programs."""
    if model.architecture != "ia64":
        raise PfmonError(
            f"--pmu={model.name}: its processors run {PROGRAMS[model.architecture]} programs, and this version "
            f"runs IA-64 programs only; PMUs for them: {', '.join(IA64)}"
        )


def check_supported(request: Request) -> None:
    """PfmonError for what the counting path does not honour."""
    for option, used in {
        "a privilege mask without level 3 (programs run at level 3 alone)": not all(
            level & PLM_USER for level in _levels(request)
        ),
        "--system-wide": request.system_wide,
        "--btb-ds (what is captured instead of targets is not documented)": _captures_details(request),
    }.items():
        if used:
            raise PfmonError(f"{option}: runs do not honour it in this version; --check-events-only programs it")


def _captures_details(request: Request) -> bool:
    """Whether the branch buffer is to capture something else than targets."""
    return request.branch_buffer is not None and bool(request.branch_buffer.fields.get("ds"))


def _levels(request: Request) -> set[int]:
    """The privilege masks of the events."""
    return {event.plm or request.plm for event in request.events}


def check_machine_counts(slow: bool) -> None:
    """PfmonError for a run that the machine cannot time."""
    if slow:
        raise PfmonError("--slow: the machine times whole blocks, which --slow takes apart; with it only exact events")
