"""Rules for options of a system image. Each rule is the function of its name."""

from __future__ import annotations

from collections.abc import Sequence, Set

from pfmon.engine.system_settings import COUPLED, CYCLES, PROGRAM_TASKS
from pfmon.errors import PfmonError, refuse
from pfmon.library.options.needs import refuse_unmet
from pfmon.library.options.option import OF_RUN
from pfmon.library.options.run_options import Options
from pfmon.library.options.table import rows

OF_PROGRAMS = (
    "confine",
    "net",
    "host-clock",
    "host-random",
    "host-ids",
    "memory-limit",
    "engine",
    "mask-cpuid",
    "follow-exec-exclude",
    "follow-pthread",
    "follow-limit",
    "per-thread",
    "detach-children",
    "insecure",
    "dont-start",
    "ia32",
)
"""Options about a program under the Linux of this host, its children and its threads."""
OF_PACKED_PROGRAMS = ("sysroot", "env", "host-env")
"""Those that a program has under a kernel, too."""
OF_SNAPSHOTS = ("snapshot", "snapshot-on", "from-snapshot")
OF_KERNELS = ("cmdline", "seed", "initrd", "exit-on", "sysmap-file", "per-task", "task", "task-offsets", *OF_SNAPSHOTS)
OF_KERNELS_PROGRAMS = ("guest-file", "guest-output", "console", "from-boot")
WITHOUT_PROGRAM = "{} is about a program under Linux; with --system there is none: leave it out"


def systems_run_alone(options: Options) -> None:
    """A system image is no program under Linux, and has a machine of its own."""
    if not options.system:
        refuse_unmet("a system", options)
        return
    refuse(
        {
            "--replay": options.replay,
            "a second program": options.smt or options.smt_replay,
            "--cores": options.cores > 1 and not options.smt_threads,
            "--guest-pmu": options.guest_pmu and options.processors > 1,
            "--timeline": options.timeline is not None,
        },
        "--system runs one image, on processors of --processors or --smt-threads: leave {} out",
        "--system",
    )
    if options.schedule_seed and (options.smt_threads or options.itc == CYCLES):
        raise PfmonError(
            "--schedule-seed draws times of instructions, and here the machine's cycles decide: leave it out"
        ).about("--schedule-seed", "--itc", "--smt-threads")
    if options.smt_threads and options.processors not in (1, COUPLED):
        raise PfmonError(
            f"--processors={options.processors}: with --smt-threads a system has two processors: leave --processors out"
        ).about("--processors", "--smt-threads")
    tasks_are_counted_apart_as_a_whole(options)
    given = {one.long for one in rows(OF_RUN) if one.is_given(options)}
    refuse(
        {"--follow-...": options.follows} | {f"--{name}": name in given for name in OF_PROGRAMS},
        WITHOUT_PROGRAM,
        "--system",
    )


def tasks_are_counted_apart_as_a_whole(options: Options) -> None:
    """What tells tasks, processors or handlers apart is for counts of pfmon's own, in one stream."""
    idle = any("exclude-idle" in one.interrupts for one in options.sets)
    handlers = any({*one.interrupts} - {"exclude-idle"} for one in options.sets)
    named = bool(options.task) and not options.task.isdecimal() and options.task != PROGRAM_TASKS
    chosen = {
        "--per-task": options.per_task,
        "--per-processor": options.per_processor,
        "--task": options.task,
        "--cpu-list": options.cpu_list is not None,
        "--exclude-idle": idle,
    }
    given = [name for name, used in chosen.items() if used]
    if handlers and options.guest_pmu:
        raise PfmonError("--excl-intr and --intr-only use PSR.pp, which with --guest-pmu is the system's").about(
            "--guest-pmu"
        )
    if options.cpu_list is not None and max(options.cpu_list) >= options.processors:
        raise PfmonError(f"--cpu-list: the system has {options.processors} processors, from 0 on").about(
            "--cpu-list", "--processors"
        )
    if not given:
        return
    refuse(
        {
            "--guest-pmu": options.guest_pmu,
            "--smt-threads": options.smt_threads,
        },
        f"{given[0]}: counts are of one stream, and of pfmon's own counters: leave {{}} out",
        given[0],
    )
    apart = [name for name in ("--per-task", "--per-processor") if chosen[name]] or ["--task"] * named
    if apart:
        refuse(
            {
                "--long-smpl-periods and --short-smpl-periods": options.sampled,
                "--per-function, --per-block, --per-line and --annotate": options.splits,
                "--print-interval": options.print_interval is not None,
                "--report": options.report or options.collect_report,
                "several event sets (-e)": options.several_sets,
            },
            f"{{}}: of all tasks together; leave out {apart[0]}, which counts each by itself",
            apart[0],
        )


def kernels_alone_run_programs(options: Options, command: Sequence[str]) -> None:
    """A Linux kernel runs a program, or has the user's initial file system; another image is all that runs. PfmonError
    as well if the image cannot be read."""
    if not options.system or options.replay:
        return
    given = {one.long for one in rows(OF_RUN) if one.is_given(options)}
    wanted = [name for name in (*OF_KERNELS, *OF_KERNELS_PROGRAMS, *OF_PACKED_PROGRAMS) if name in given]
    if any("exclude-idle" in one.interrupts for one in options.sets):
        given.add("exclude-idle")
    if not command and not wanted and "exclude-idle" not in given:
        return
    from pfmon.program.system_image import is_linux_kernel

    if not is_linux_kernel(options.system):
        _image_runs_alone(options.system, command, given)
        return
    snapshots_are_of_whole_systems(options, command, given)
    if options.snapshot and not options.snapshot_on:
        given -= {"console"}
    if not command:
        if options.task == PROGRAM_TASKS:
            raise PfmonError(f"--task={PROGRAM_TASKS} is about a program that the kernel runs: give one too").about(
                "--task"
            )
        for name in (*OF_KERNELS_PROGRAMS, *OF_PACKED_PROGRAMS):
            if name in given:
                raise PfmonError(f"--{name} is about a program that the kernel runs: give one too").about(f"--{name}")
    elif "initrd" in given:
        raise PfmonError(
            f"--initrd={options.initrd}: the initial file system is made for the program {command[0]!r}; leave one out"
        ).about("--initrd")


def snapshots_are_of_whole_systems(options: Options, command: Sequence[str], given: Set[str]) -> None:
    """A snapshot is taken of a system that has booted, and is gone on from by one that does not boot; the registers of
    a PMU that the system programs are not part of it."""
    if options.snapshot:
        refuse(
            {
                "--from-snapshot": options.from_snapshot,
                "--guest-pmu": options.guest_pmu,
                "--record": options.record,
                f"the program {command[0]!r} (--from-snapshot runs it)" if command else "": command,
                "--exit-on": options.exit_on,
            },
            f"--snapshot={options.snapshot}: the run ends with the snapshot of a booted system: leave {{}} out",
            "--snapshot",
        )
        if options.initrd and not options.snapshot_on:
            raise PfmonError(
                "--initrd: --snapshot-on says when the snapshot is taken of a system that runs no program of pfmon's"
            ).about("--initrd", "--snapshot-on")
    elif options.snapshot_on:
        raise PfmonError("--snapshot-on is about a snapshot: give --snapshot=FILE too").about("--snapshot-on")
    if options.from_snapshot:
        refuse(
            {f"--{name}": name in given for name in ("cmdline", "initrd", "seed", "guest-pmu")},
            f"--from-snapshot={options.from_snapshot}: the system has booted without it: leave {{}} out",
            "--from-snapshot",
        )


def _image_runs_alone(system: str, command: Sequence[str], given: Set[str]) -> None:
    if command:
        raise PfmonError(f"--system={system}: the image is all that runs, and there is {command[0]!r}").about(
            "--system"
        )
    for name in (*OF_KERNELS, *OF_KERNELS_PROGRAMS, "exclude-idle"):
        if name in given:
            raise PfmonError(f"--{name} is about a Linux kernel, and {system} is none: leave it out").about(f"--{name}")
    refuse({f"--{name}": name in given for name in OF_PACKED_PROGRAMS}, WITHOUT_PROGRAM, "--system")
