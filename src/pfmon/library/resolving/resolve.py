"""Options are resolved once: with what the program is and what its processor has they become the parts of a run."""

from __future__ import annotations

import os
import resource
from collections.abc import Sequence
from typing import NamedTuple

from pfmon.engine import registry
from pfmon.engine.api import Recording
from pfmon.engine.guest_settings import GuestSettings
from pfmon.engine.system_settings import (
    COUPLED,
    CYCLES,
    PROGRAM_TASKS,
    BootSettings,
    PackedProgram,
    SystemSettings,
    TaskSettings,
)
from pfmon.engine.system_settings import QUANTUM as SYSTEM_QUANTUM
from pfmon.errors import PfmonError
from pfmon.library.checks.option_checks import images_run_alone
from pfmon.library.options.run_options import Options
from pfmon.library.options.table import OPTIONS
from pfmon.library.resolving.command_program import environment, find_program, interpreted
from pfmon.library.resolving.default_events import counted_sets, counts_default_events, gives_summary
from pfmon.library.resolving.ineffective_options import engine_notes, environment_notes, ia64_notes, notes_on_options
from pfmon.library.resolving.machine_selection import cpu_model, processor_of
from pfmon.library.resolving.run_parts import (
    Counting,
    Execution,
    Guest,
    Processor,
    Qualification,
    RecordingFiles,
    Resolved,
    Results,
    TriggerOptions,
)
from pfmon.pmu import IA64
from pfmon.pmu.model.branch_filter import are_calls_and_returns
from pfmon.program.image import DebugDirectories
from pfmon.session.run.controls import Controls
from pfmon.session.run.run_plan import EXACT, FollowOptions, default_memory_limit
from pfmon.session.sampling.sampling_period import Sampling
from pfmon.stream._stream import InstructionSet

QUANTUM, CORES_QUANTUM = 100_000, 100
"""Instructions of a thread's turn, where --quantum gives none: on one processor, and on several cores."""


def resolve(options: Options, command: Sequence[str], stacks: bool = False) -> tuple[Resolved, Recording | None]:
    """Return what is to be run, and the recording that is replayed. ``stacks``: samples are taken with the calls that
    the program is in. Raises PfmonError."""
    if not command and not options.replay and not options.system:
        raise PfmonError("no program given")
    images_run_alone(options, command)
    ran = command
    if options.system and not options.replay:
        command = [options.system, *command]
    recording = registry.replay(options.replay) if options.replay else None
    command = tuple(recording.command if recording else command)
    words = command if recording or options.system else interpreted(command, options.sysroot)
    instructions = recording.instruction_set if recording else _instruction_set(words[0], bool(options.system))
    processor = processor_of(options, instructions)
    executed_by = ExecutedBy() if recording else engine_of(options, processor, instructions)
    whole_system = recording.capabilities.system if recording else bool(options.system)
    if recording and whole_system:
        recordings_tell_no_tasks_apart(options)
    notes = notes_on_options(options, whole_system)
    if not recording and not options.system:
        notes += _notes_on_program(options, instructions, executed_by.engine)
    if processor.settings:
        processor.figures()  # whatever is wrong with them shows now
    resolved = Resolved(
        command,
        guest_of(options, words, *executed_by)._replace(system=system_of(options, processor, ran, stacks)),
        processor,
        counting_of(options, processor),
        triggers_of(options, processor.pmu),
        _controls(options),
        _buffer(options, stacks),
        _following(options),
        RecordingFiles(options.record, options.replay, options.partial),
        _results(options),
        _execution(options),
        notes,
        whole_system,
    )
    return resolved, recording


def recordings_tell_no_tasks_apart(options: Options) -> None:
    """PfmonError for options whose marks are not in the stream of a system that was recorded."""
    for name in (name for one in options.sets for name in one.interrupts):
        raise PfmonError(f"--{name} is about a system while it runs: leave it out with --replay").about(f"--{name}")


def counting_of(options: Options, processor: Processor) -> Counting:
    """Return what is counted on a processor. PfmonError: there is nothing to count, or no such event."""
    return Counting(
        counted_sets(options, processor.model),
        qualification_of(options),
        options.unlimited or options.report == "derived" or gives_summary(options),
        counts_default_events(options),
        gives_summary(options),
    )


class ExecutedBy(NamedTuple):
    """The name of the engine that executes a program, the model of processor that it gives the program ("": its own),
    and the features of the wanted model that are masked, since the host lacks them."""

    engine: str = ""
    cpu: str = ""
    masked: Sequence[str] = ()


def engine_of(options: Options, processor: Processor, instructions: InstructionSet | None) -> ExecutedBy:
    """Return by what a program is executed. PfmonError: the named engine does not run it, or the host lacks features
    of the processor."""
    registry.check_name(options.engine)
    if instructions is None:
        return ExecutedBy(options.engine)
    cpu = cpu_model(processor, instructions)
    named = cpu if options.machine or any(text.startswith("qemu.cpu") for text in options.machine_settings) else ""
    row = registry.chosen(instructions, options.engine, _needs(options), named)
    if not row.processors:
        return ExecutedBy(row.name, cpu)
    return ExecutedBy(row.name, *registry.processor_on_host(named, options.mask_cpuid))


def _needs(options: Options) -> list[str]:
    """Return what the run needs that not all engines do."""
    space = resource.getrlimit(resource.RLIMIT_AS)[0]
    return ["little address space"] if 0 <= space < registry.MUCH_ADDRESS_SPACE else []


def guest_of(options: Options, words: Sequence[str], engine: str, cpu: str, masked: Sequence[str]) -> Guest:
    """Return a program as the options have it run; ``engine``, ``cpu``, ``masked``: of `engine_of`. PfmonError: a
    variable to be passed is not set here."""
    return Guest(
        tuple(words),
        environment(options.host_env, options.environment),
        _settings(options, cpu),
        options.memory_limit or default_memory_limit(),
        options.symbol_file,
        options.sysmap_file,
        DebugDirectories(options.debug_dirs, options.sysroot),
        engine,
        masked,
    )


def system_of(
    options: Options, processor: Processor, command: Sequence[str], stacks: bool = False
) -> SystemSettings | None:
    """Return the system that an image runs on; None: a program runs under Linux, or a recording is replayed.
    ``command``: what a kernel runs; ``stacks``: samples are taken with the calls."""
    if not options.system or options.replay:
        return None
    from pfmon.session.run.system_description import described

    has_pmu = bool(options.guest_pmu)
    if options.itc == CYCLES and options.guest_pmu == EXACT:
        raise PfmonError(f"--itc={CYCLES} needs a machine, and --guest-pmu={EXACT} has none").about(
            "--itc", "--guest-pmu"
        )
    processor_described = described(processor.figures(), processor.model, has_pmu)
    if options.smt_threads:
        threads, cores = (1, COUPLED) if options.cores > 1 else (COUPLED, 1)
        processor_described = processor_described._replace(threads=threads, cores=cores)
    boot = _boot(options, command)
    return SystemSettings(
        options.memory,
        options.uart,
        processor_described,
        has_pmu,
        CYCLES if options.smt_threads else options.itc,
        boot,
        COUPLED if options.smt_threads else options.processors,
        options.quantum or SYSTEM_QUANTUM,
        from_boot=_counts_boot(options, command),
        tasks=_tasks_of(options) or _stacks_of_tasks(options, boot, stacks),
        marks_handlers=any({*one.interrupts} - {"exclude-idle"} for one in options.sets),
    )


def _counts_boot(options: Options, command: Sequence[str]) -> bool:
    """Whether the stream has more of a kernel than its program's time: where a machine keeps the time, and where the
    kernel has the PMU, it does in any case."""
    needed = options.smt_threads or options.itc == CYCLES or options.guest_pmu
    return not command or options.from_boot or bool(needed)


def _tasks_of(options: Options) -> TaskSettings | None:
    """How the tasks of a kernel are counted; None: all together."""
    named = options.task if is_name(options.task) else ""
    apart = options.per_task or bool(named)
    idle = any("exclude-idle" in one.interrupts for one in options.sets)
    handlers = any({*one.interrupts} - {"exclude-idle"} for one in options.sets)
    wanted = TaskSettings(
        apart, options.per_processor, "" if named else options.task, options.cpu_list, options.task_offsets
    )
    return wanted if idle or handlers or wanted != TaskSettings(offsets=options.task_offsets) else None


def _stacks_of_tasks(options: Options, boot: BootSettings | None, stacks: bool) -> TaskSettings | None:
    """Tasks are told apart as each has its stack of calls; None: nothing follows calls, or the image is no kernel."""
    follows = stacks or options.smpl_stacks or options.collect_report or options.triggers or options.record
    return TaskSettings(stacks=True) if boot and follows and not options.guest_pmu else None


def is_name(task: str) -> bool:
    """Whether --task names tasks, and neither their number nor the program."""
    return bool(task) and not task.isdecimal() and task != PROGRAM_TASKS


def _boot(options: Options, command: Sequence[str]) -> BootSettings | None:
    """How the image boots, if it is a Linux kernel."""
    from pathlib import Path

    from pfmon.program.system_image import is_linux_kernel

    if not is_linux_kernel(options.system):
        return None
    program = None
    if command:
        program = PackedProgram(
            find_program(command[0]),
            [os.fsencode(word) for word in command],
            [os.fsencode(entry) for entry in environment(options.host_env, options.environment)],
            str(Path.cwd()),
            options.sysroot,
            options.guest_files,
            options.guest_outputs,
        )
    return BootSettings(
        options.cmdline,
        options.initrd,
        program,
        options.console,
        options.exit_on,
        options.snapshot,
        options.snapshot_on,
        options.from_snapshot,
    )


def qualification_of(options: Options) -> Qualification:
    """Return what the options of the run say of all events."""
    return Qualification(*(getattr(options, name) for name in Qualification._fields))


def triggers_of(options: Options, pmu: str) -> TriggerOptions:
    """Return what the options say of triggers."""
    return TriggerOptions(
        options.triggers, options.trigger_flags, pmu in IA64, options.trigger_event, options.stop_event
    )


def _notes_on_program(options: Options, instructions: InstructionSet | None, engine: str) -> list[str]:
    if instructions is None:
        return environment_notes(options)
    said = ia64_notes(options) if instructions == InstructionSet.IA64 else engine_notes(options, engine)
    return [*environment_notes(options), *said]


def _settings(options: Options, cpu: str) -> GuestSettings:
    return GuestSettings(
        cpu=cpu,
        sysroot=options.sysroot,
        confined=options.confine,
        net=options.net,
        detach_children=options.detach_children,
        host_clock=options.host_clock,
        host_random=options.host_random,
        host_ids=options.host_ids,
        seed=options.seed,
        quantum=options.quantum or (CORES_QUANTUM if options.cores_of_threads > 1 else QUANTUM),
        schedule_seed=options.schedule_seed,
        most_processes=options.follow_limit,
    )


def _controls(options: Options) -> Controls:
    return Controls(
        switch=options.switch_timeout,
        true_values=options.true_values,
        interval=options.print_interval,
        insecure=options.insecure,
        dont_start=options.dont_start,
        ear_seed=options.ear_seed,
        per_thread=options.per_thread,
        by_task=bool(options.system) and _tasks_of(options) is not None,
        tasks_apart=options.per_task or options.per_processor or is_name(options.task),
        task_name=options.task if is_name(options.task) else "",
        regions=tuple(options.region),
        per_region=options.per_region,
        without_idle=tuple(number for number, one in enumerate(options.sets) if "exclude-idle" in one.interrupts),
    )


def _following(options: Options) -> FollowOptions | None:
    if not options.follows:
        return None
    from pfmon.library.resolving.follow_request import within_open_files

    wanted = FollowOptions(
        options.follow_fork,
        options.follow_exec,
        options.follow_limit,
        options.follow_exec_only,
        options.follow_exec_exclude,
    )
    return within_open_files(wanted, OPTIONS["follow-limit"].is_given(options))


def _buffer(options: Options, stacks: bool) -> Sampling | None:
    """Return how samples are taken, without the periods of the event sets; None: none are. ``stacks``: with the calls
    that the program is in, unless last branch records have them."""
    if not options.sampled:
        return None
    recorded = any(are_calls_and_returns(one.branch_filter) for one in options.sets)
    return Sampling(
        (),
        options.smpl_entries,
        options.saturate_smpl_buffer,
        options.smpl_truth,
        options.smpl_stacks or (stacks and not recorded),
        options.smpl_skid,
    )


def _results(options: Options) -> Results:
    return Results(
        options.report,
        options.collect_report,
        options.per_function,
        options.per_block,
        options.per_line,
        options.annotate,
        options.demangle,
        options.timeline,
    )


def _execution(options: Options) -> Execution:
    one_core = options.cores == 1 and options.smt_rules
    return Execution(options.slow, options.guest_pmu, options.session_timeout, one_core)


def _instruction_set(name: str, system: bool) -> InstructionSet | None:
    """Return a program's instruction set; None if unknown. Systems are those of IA-64, also if the file is no image,
    which is reported when it is loaded."""
    if system:
        return InstructionSet.IA64
    try:
        return registry.instruction_set_of(find_program(name))
    except PfmonError:  # reported when it is loaded
        return None
