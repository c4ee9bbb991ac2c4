"""The plan of a run, made of its parts: what its options say, what its program has, and what it
has of this process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from pfmon.engine.system_settings import CYCLES, SystemSettings
from pfmon.errors import BadValueError, PfmonError, UnknownObjectError
from pfmon.library.options.timeline_place import TimelinePlace
from pfmon.library.preparing.standard_streams import Files
from pfmon.library.resolving.request_builder import Symbols
from pfmon.library.resolving.run_parts import Resolved
from pfmon.library.resolving.triggers import event_trigger, triggers
from pfmon.pmu.model.request import PLM_ALL, Request
from pfmon.program.image import Program
from pfmon.program.source_texts import SourceFile
from pfmon.session.coupled.coupled_run import HardwareThread
from pfmon.session.run.controls import Controls, Trigger
from pfmon.session.run.run_plan import RunPlan, TimelineRequest
from pfmon.session.sampling.sampling_period import Sampling

if TYPE_CHECKING:
    from pfmon.library.preparing.deferred_symbols import DeferredSymbols
    from pfmon.library.preparing.task_starts import TaskStarts


def _nobody(_: object) -> None:
    pass


class RunContext(NamedTuple):
    """What a run has of the process that starts it. ``files``: the program's standard files, None: those of the
    process; ``on_notice``: called with messages during the run, ``on_detail``: with those that only --verbose prints;
    ``hardware_thread``: that of a shared core that the program runs on; ``timed``: end the run after the time of the
    options; ``threaded``: the machine has a thread of its own (many simultaneous runs share the processors better
    without); ``watched``: counts are read while the program runs; ``stacks``: samples are taken with the calls that the
    program is in, or all calls are kept if no samples are taken; ``edges``: with these, taken branches as well."""

    files: Files | None = None
    on_notice: Callable[[str], None] = _nobody
    on_detail: Callable[[str], None] = _nobody
    hardware_thread: HardwareThread | None = None
    timed: bool = True
    threaded: bool = True
    watched: bool = False
    stacks: bool = False
    edges: bool = False


ALONE = RunContext()
"""A run that has the files of this process, and nothing else of it."""


class LoadedProgram(NamedTuple):
    """What the program gave. ``program``: None where a recording is counted without its names; ``requests``: to the
    PMU, by event set; ``symbols``: names, those in objects that the program opens itself among them; ``linked``: names
    in the program and the objects that it is linked with; ``awaited``: names that are not known yet."""

    program: Program | None
    requests: Sequence[Request]
    symbols: Symbols
    linked: Symbols
    awaited: DeferredSymbols | None


def _is_clock(system: SystemSettings | None) -> bool:
    """Whether the machine of a system is read during the run, in the engine's thread."""
    return system is not None and system.itc == CYCLES


def at_all_levels(request: Request, parts: Resolved) -> Request:
    """Return the request of a whole system, which counts at all privilege levels unless options name some."""
    chosen = not parts.whole_system or parts.counting.of_all.levels
    return request if chosen else request._replace(plm=PLM_ALL)


def plan_of(
    parts: Resolved, loaded: LoadedProgram, context: RunContext, standard_files: tuple[int, int, int]
) -> RunPlan:
    """Return the plan of a run. Raises PfmonError, naming the option."""
    processor, guest, results, execution = parts.processor, parts.guest, parts.results, parts.execution
    at_addresses = _at_addresses(parts, loaded.symbols)
    both = context.hardware_thread is not None and execution.rules_of_two_threads
    return RunPlan(
        program=loaded.program,
        arguments=guest.arguments,
        environment=guest.variables,
        settings=guest.settings._replace(standard_files=standard_files),
        model=processor.model,
        requests=[
            at_all_levels(one, parts)._replace(
                ia32_program=processor.ia32, two_threads=both, whole_system=parts.whole_system
            )
            for one in loaded.requests
        ],
        memory_limit=guest.memory_limit,
        timeout=execution.timeout if context.timed else None,
        engine=guest.engine,
        slow=execution.slow,
        unlimited=parts.counting.unlimited,
        finding=parts.counting.summary,
        profile=results.split or _splits_counts_of_page(parts),
        lines=results.lines,
        annotate=_annotated(results.annotate, loaded.linked),
        controls=_controls(parts, at_addresses),
        machine=processor.figures,
        report=results.report == "cpi",
        record=parts.recordings.record,
        replay=parts.recordings.replay,
        partial=parts.recordings.partial,
        sampling=_sampling(parts),
        demangle=results.demangle,
        following=parts.following,
        debug=guest.debug,
        collect_report=results.page,
        collect_calls=context.stacks and parts.buffer is None,
        collect_edges=context.edges and parts.buffer is None,
        shared_lines=results.report == "c2c",
        timeline=_timeline(results.timeline, loaded.linked),
        threaded=context.threaded and not (_is_clock(guest.system) and context.hardware_thread is None),
        guest_pmu=execution.guest_pmu,
        watched=context.watched,
        hardware_thread=context.hardware_thread,
        deferred=loaded.awaited.place if loaded.awaited and loaded.awaited.waits else None,
        begin=_task_starts(parts, loaded.program, at_addresses),
        system=guest.system,
    )


def _at_addresses(parts: Resolved, symbols: Symbols) -> tuple[Trigger, ...]:
    """The triggers at addresses."""
    code, data = symbols.code, symbols.data
    if parts.following and parts.following.execs and parts.triggers.addresses:
        from pfmon.library.preparing.task_starts import somewhere

        code, data = somewhere(code), somewhere(data)  # another program may have the name
    return triggers(parts.triggers, code, data)


def _controls(parts: Resolved, at_addresses: tuple[Trigger, ...]) -> Controls:
    """The controls, with the triggers."""
    model, wanted = parts.processor.model, parts.triggers
    return parts.controls._replace(
        triggers=at_addresses,
        event_trigger=event_trigger("trigger-event", wanted.start, model),
        stop_event=event_trigger("stop-event", wanted.stop, model),
    )


def _sampling(parts: Resolved) -> Sampling | None:
    if parts.buffer is None:
        return None
    from pfmon.library.resolving.sampling_setup import sampling

    counting = parts.counting
    return sampling(parts.buffer, counting.sets, counting.of_all.controls, parts.processor.model)


def _annotated(name: str, symbols: Symbols) -> tuple[int, int] | SourceFile | str | None:
    """Return the address range of the code to list, or the source file; the name, if it may be in a shared object that
    the program opens."""
    try:
        return symbols.code(name) if name else None
    except UnknownObjectError:
        return name
    except BadValueError:
        raise
    except PfmonError:
        if found := symbols.source(name):
            return found
        raise


def _timeline(wanted: TimelinePlace | None, symbols: Symbols) -> TimelineRequest | None:
    """Return the block of which a timeline is wanted, where its code is known."""
    if wanted is None:
        return None
    place: tuple[int, int] | str | None = None
    if wanted.address is not None:
        place = (wanted.address, wanted.address + 1)
    elif wanted.name:
        try:
            place = symbols.code(wanted.name)
        except UnknownObjectError:
            place = wanted.name
    return TimelineRequest(place, wanted.text, wanted.iterations)


def _splits_counts_of_page(parts: Resolved) -> bool:
    """Whether the counts are to be split for an HTML report."""
    one_set = len(parts.counting.sets) == 1 and parts.buffer is None
    return parts.results.page and bool(parts.counting.events) and one_set


def _task_starts(parts: Resolved, program: Program | None, planned: Sequence[Trigger]) -> TaskStarts | None:
    if parts.following is None:
        return None
    from pfmon.library.preparing.task_starts import TaskStarts

    guest = parts.guest
    return TaskStarts(program, planned, parts.triggers, guest.settings.sysroot, guest.debug)
