"""Notes on options that have no effect on a program's run."""

from __future__ import annotations

from collections.abc import Sequence

from pfmon.errors import PfmonError
from pfmon.library.options.option import OF_RUN
from pfmon.library.options.run_options import Options
from pfmon.library.options.set_options import SetOptions
from pfmon.library.options.table import OPTIONS, rows
from pfmon.library.resolving.command_program import dropped_variables


def engine_notes(options: Options, engine: str) -> list[str]:
    """Options without effect on a program under qemu or x86_64. PfmonError: one that promises safety would not keep
    it."""
    if options.confine and engine == "qemu":
        raise PfmonError("--confine: this program runs under qemu, which does not keep it below a directory")
    return _idle_under(options, engine)


def _idle_under(options: Options, engine: str) -> list[str]:
    given = [one for one in rows(OF_RUN) if engine in one.idle_under and one.is_given(options)]
    if options.confine:
        given = [one for one in given if one.long != "net"]
    said = [f"--{one.long}{f' ({why})' if (why := one.idle_under[engine]) else ''}" for one in given]
    return [f"changes nothing for a program under {engine}: {option}" for option in said]


def ia64_notes(options: Options) -> list[str]:
    """Options without effect on an IA-64 program."""
    said = _idle_under(options, "ia64")
    if options.detach_children:
        said.append("--detach-children changes nothing: an IA-64 program's processes are all pfmon's, and end with it")
    return said


def notes_on_options(options: Options, whole_system: bool) -> list[str]:
    """Notes on options without effect, and on levels and ranges that count little; ``whole_system``: all levels run."""
    levels = [] if whole_system else _privilege_notes(options)
    return [*_session_notes(options, whole_system), *levels, *range_notes(options.sets)]


def _session_notes(options: Options, whole_system: bool) -> list[str]:
    """Options without effect, and the reason."""
    idle = [*options.idle_options]
    if not whole_system:
        idle += [name for one in options.sets for name in one.interrupts]
    said = [f"--{name} changes nothing: {OPTIONS[name].idle}" for name in dict.fromkeys(idle)]
    if options.dont_start and not options.insecure:
        said.append("--dont-start: nothing will start counting, all counts are 0; --insecure lets the program do it")
    return said


def environment_notes(options: Options) -> list[str]:
    """Variables of the shell that would change what the program does, and that it does not get."""
    dropped = dropped_variables(options.host_env, options.environment)
    if not dropped:
        return []
    return [f"the program does not get {', '.join(dropped)}: --env=NAME passes a variable, --host-env all of them"]


def _privilege_notes(options: Options) -> list[str]:
    """Levels that a run cannot count at."""
    letters = "".join([options.levels, *(one.priv_levels for one in options.sets)])
    wanted = {"k" if letter == "0" else letter for letter in letters} & set("k12")
    if not wanted:
        return []
    names = ", ".join("the kernel's, 0" if letter == "k" else letter for letter in sorted(wanted))
    return [
        f"privilege levels ({names}): programs run at level 3 alone, and only their events are counted, except for"
        " the operating system's time in cycles of an Itanium (level 0)"
    ]


def range_notes(sets: Sequence[SetOptions]) -> list[str]:
    """Ranges that are not those of all event sets: HP's pfmon had one of a kind for all."""
    said = []
    for field in ("irange", "drange", "checkpoint_func"):
        without = [str(number) for number, one in enumerate(sets) if not one.gives(field)]
        if 0 < len(without) < len(sets):
            option = f"--{field.replace('_', '-')}"
            said.append(f"{option} is of the event set (-e) before it; without one counts set {', '.join(without)}")
    return said
