"""Programming that the PMU accepts but a run does not support: refused, never ignored."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from pfmon.engine.api import Engine
from pfmon.errors import PfmonError, refuse
from pfmon.pmu.model.pmu_model import PmuModel
from pfmon.pmu.model.request import PLM_KERNEL, PLM_USER, Request
from pfmon.pmu.targets import default_of, of_architecture
from pfmon.session.run.controls import Controls
from pfmon.signals.machine_signals import counts_all_cycles
from pfmon.stream._stream import InstructionSet

if TYPE_CHECKING:
    from pfmon.machine.config.machine_figures import MachineFigures
    from pfmon.pmu.model.programming import Monitor


class Processors(NamedTuple):
    """The processors of an instruction set: its name in `Target.machines`, the description of its programs, the
    architecture of the PMUs."""

    instruction_set: str
    program: str
    architecture: str

    @property
    def pmu(self) -> str:
        """The default PMU."""
        return default_of(self.instruction_set)


PROCESSORS = {
    InstructionSet.IA64: Processors("ia64", "an IA-64 program", "ia64"),
    InstructionSet.X86_64: Processors("x86_64", "an x86-64 program", "x86"),
    InstructionSet.I386: Processors("i386", "an i386 program", "x86"),
    InstructionSet.PPC64: Processors("ppc64", "a PowerPC program", "ppc"),
    InstructionSet.PPC: Processors("ppc", "a PowerPC program", "ppc"),
    InstructionSet.PPC64LE: Processors("ppc64le", "a PowerPC program", "ppc"),
}
"""By instruction set."""

PROGRAMS = {"ia64": "IA-64", "x86": "x86", "ppc": "PowerPC"}
"""The programs that the processors of an architecture run."""


IDLE = ("dis", "du", "dmr")
"""The PowerPC's controls that disable counting in user state with MSR.pm clear, in which programs run."""


ONE_CORE = ("machine_clears.memory_ordering", "l2_request.unshared_reads_hit")
"""Signals that depend on what other cores write, and that the machine decides of one core alone."""


def check_cores(machine: Callable[[], MachineFigures] | None, monitors: Iterable[Monitor]) -> None:
    """Raise PfmonError for an event that is not counted on several cores. ``machine`` reads the figures."""
    for monitor in monitors:
        if monitor.signal in ONE_CORE and machine and machine().get("machine.cores", 1) != 1:
            raise PfmonError(f"--cores: {monitor.event.name} is counted on one core alone").about("--cores", "--events")


def check_fits(model: PmuModel, instruction_set: InstructionSet) -> None:
    """Raise PfmonError for a PMU whose processors do not run such programs."""
    processors = PROCESSORS[instruction_set]
    if processors.instruction_set not in model.target.machines:
        raise PfmonError(
            f"--pmu={model.name}: its processors run {PROGRAMS[model.architecture]} programs, and this is "
            f"{processors.program}; PMUs for it: {', '.join(of_architecture(processors.architecture))}"
        )


def check_addresses(wanted: bool, engine: Engine) -> None:
    """Raise PfmonError for options that need addresses of memory accesses, if the stream has none."""
    if wanted and not engine.traced:
        raise PfmonError(
            "data triggers, data ranges and machines want the addresses of memory accesses, and this is "
            f"{PROCESSORS[engine.instruction_set].program} whose accesses have none here"
        )


def check_follows(wanted: bool, engine: Engine) -> None:
    """Raise PfmonError for --follow-... if the engine runs no children."""
    if wanted and not engine.capabilities.follows:
        raise PfmonError(
            f"--follow-...: this is {PROCESSORS[engine.instruction_set].program}, which starts no other process here"
        )


def check_threads(wanted: bool, option: str, engine: Engine) -> None:
    """Raise PfmonError for an option that tells threads apart if they run simultaneously."""
    if wanted and not engine.capabilities.takes_turns:
        raise PfmonError(
            f"{option}: this is {PROCESSORS[engine.instruction_set].program}, whose threads run at the same time "
            "under qemu and are counted together"
        )


def check_regions(wanted: bool, engine: Engine) -> None:
    """Raise PfmonError for regions if the engine does not see a program's marks."""
    if wanted and not engine.capabilities.regions:
        raise PfmonError(
            f"--region: this is {PROCESSORS[engine.instruction_set].program} under qemu; the marks of IA-64 programs "
            "are seen, and those of x86-64 programs under --engine=x86_64"
        ).about("--region", "--per-region")


def check_guest_pmu(wanted: bool, engine: Engine, confined: bool) -> None:
    """Raise PfmonError for --guest-pmu with a program that has no access to the PMU."""
    if wanted and confined and engine.instruction_set == InstructionSet.X86_64:
        raise PfmonError("--guest-pmu: an x86-64 program that --confine holds has no PMU; leave one of them out")
    if wanted and not engine.capabilities.performance_data:
        program = PROCESSORS[engine.instruction_set].program
        raise PfmonError(
            f"--guest-pmu: this is {program}; the PMU is given to IA-64 programs, and to x86-64 programs under "
            "--engine=x86_64"
        )


def check_controls(model: PmuModel, controls: Controls) -> None:
    """Raise PfmonError for controls that only the Itaniums have: PSR.up switches monitors, PSR.sp permits reading
    them."""
    if model.architecture != "ia64":
        refuse(
            {"--insecure": controls.insecure, "--dont-start": controls.dont_start},
            f"{{}} applies to the user mask of the Itaniums; programs for {model.name} have none",
        )


def check_supported(model: PmuModel, request: Request) -> None:
    """Raise PfmonError for settings that counting does not support, or with which it would count nothing."""
    if stopping := [name for name in IDLE if request.controls.get(name)]:
        raise PfmonError(
            f"--controls={','.join(stopping)}: nothing counts then while a program runs (user state, MSR.pm clear)"
        )
    idle = _without_the_program(model, request)
    refuse(
        {
            f"a privilege mask without level 3 (programs run at level 3 alone), of {', '.join(idle)}": bool(idle),
            "--system-wide": request.system_wide and not request.whole_system,
            "--controls=intonbittrans (the time base is not followed)": bool(request.controls.get("intonbittrans")),
            "--btb-ds (what is captured instead of targets is not documented)": _captures_details(request),
        },
        "{}: runs do not honour it in this version; --check-events-only programs it",
    )


def _captures_details(request: Request) -> bool:
    """Return whether the branch buffer captures something else than targets."""
    return request.branch_buffer is not None and bool(request.branch_buffer.fields.get("ds"))


def _without_the_program(model: PmuModel, request: Request) -> list[str]:
    """The events that do not count at the program's level; a whole processor has all. The operating system's time of
    IA-64 programs is known, so cycles may count at level 0 alone."""
    if request.whole_system:
        return []
    found = [(event.name, event.plm or request.plm) for event in request.events]
    timed = model.architecture == "ia64" and not request.ia32_program
    return [
        name
        for name, plm in found
        if not plm & PLM_USER and not (plm & PLM_KERNEL and timed and counts_all_cycles(model.events[name].signal))
    ]


def check_machine_counts(slow: bool) -> None:
    """Raise PfmonError for machine events with --slow."""
    if slow:
        raise PfmonError("--slow: the machine times whole blocks, which --slow takes apart; with it only exact events")
