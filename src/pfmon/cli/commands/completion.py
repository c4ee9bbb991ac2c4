"""Command-line completion for bash, zsh and fish, with argcomplete: options, events, PMUs, machines, files.

``pfmon --completion=SHELL`` prints code for the shell to evaluate once; the shell then calls pfmon for completions.
"""

from __future__ import annotations

from argparse import REMAINDER, Action, ArgumentParser, Namespace
from collections.abc import Callable
from typing import Any

import argcomplete
from argcomplete.completers import DirectoriesCompleter, FilesCompleter, SuppressCompleter
from argcomplete.shell_integration import shellcode

from pfmon.cli.commands.subcommand import SUBCOMMANDS
from pfmon.cli.commands.verbs import VERBS
from pfmon.engine.registry import engine_names, instruction_set_of
from pfmon.errors import PfmonError
from pfmon.library.options.session_rows import REPORTS
from pfmon.library.options.table import TOPICS
from pfmon.machine.config.machine_figures import FILES as MACHINES
from pfmon.machine.config.machine_figures import HOST
from pfmon.pmu import get, names
from pfmon.pmu.model.derived import load_derived
from pfmon.pmu.model.describe import event_list
from pfmon.pmu.targets import DEFAULT_PMU
from pfmon.session.run.supported import PROCESSORS

SHELLS = ("bash", "zsh", "fish")
FILES = ("FILE", "FORMAT:FILE")


def shell_code(shell: str) -> str:
    """Return the code that a shell evaluates to complete pfmon's command lines. PfmonError: unsupported shell."""
    if shell not in SHELLS:
        raise PfmonError(f"--completion={shell}: there is completion for {', '.join(SHELLS)}")
    return shellcode(["pfmon"], use_defaults=True, shell=shell)


def argument_parser(tell: Callable[[str, Action], None] = lambda name, action: None) -> ArgumentParser:
    """Return a parser with every option, by topic; ``tell`` is called with the name and action of each option, of
    "program" and of "argument"."""
    parser = ArgumentParser("pfmon", add_help=False)
    for topic in TOPICS:
        group = parser.add_argument_group(topic.title)
        for option in topic.options:
            names = [f"-{option.short}"] * bool(option.short) + [f"--{option.long}"]
            text = option.help.replace("%", "%%")
            if option.value:
                values = "?" if option.optional else None
                action = group.add_argument(*names, help=text, metavar=option.value, nargs=values, action="append")
            else:
                action = group.add_argument(*names, help=text, action="store_true")
            tell(option.long, action)
    tell("program", parser.add_argument("program", nargs="?"))
    tell("argument", parser.add_argument("argument", nargs=REMAINDER))
    return parser


def complete() -> None:
    """Print the completions that a shell asks for and exit."""
    argcomplete.autocomplete(argument_parser(_set_completer), always_complete_options="long")


def _set_completer(name: str, action: Action) -> None:
    action.completer = COMPLETERS.get(name) or _by_value(name, action)  # type: ignore[attr-defined]  # argcomplete's


def _programs(prefix: str, **more: Any) -> list[str]:
    """Return the verbs and the files that a word begins."""
    verbs = [verb for verb in (*VERBS, *SUBCOMMANDS) if verb.startswith(prefix)]
    return [*verbs, *FilesCompleter()(prefix, **more)]


def _by_value(name: str, action: Action) -> Any:
    if name == "program":
        return _programs
    if name == "argument" or action.metavar in FILES:
        return FilesCompleter()
    if action.metavar == "DIR":
        return DirectoriesCompleter()
    return SuppressCompleter()


def _one_of(known: Callable[[], list[str]]) -> Callable[..., list[str]]:
    return lambda prefix, **_: [name for name in known() if name.startswith(prefix)]


def _pmu(given: Namespace) -> str:
    """Return the PMU selected by the words so far."""
    if given.pmu and given.pmu[-1] in names():
        return str(given.pmu[-1])
    instructions = instruction_set_of(given.program) if given.program else None
    return PROCESSORS[instructions].pmu if instructions is not None else DEFAULT_PMU


def _events(prefix: str, parsed_args: Namespace, **_: object) -> list[str]:
    """Return completions of the last event in a comma-separated list, in the letter case of its prefix."""
    pmu = _pmu(parsed_args)
    before, comma, begun = prefix.rpartition(",")
    lower = begun != begun.upper() or not begun
    found = [name for name in event_list(get(pmu)).split("\n") if name.startswith(begun)]
    known = [event.name for event in get(pmu).events] + list(load_derived(pmu))
    found += [name.lower() if lower else name for name in known if name.upper().startswith(begun.upper())]
    return [f"{before}{comma}{name}" for name in dict.fromkeys(found)]


def _topics() -> list[str]:
    return [topic.name for topic in TOPICS]


def _modules() -> list[str]:
    from pfmon.report.sampling import MODULES

    return list(MODULES)


def _formats() -> list[str]:
    from pfmon.report.exports import EXPORTS

    return [f"{name}:" for name in EXPORTS]


COMPLETERS: dict[str, Any] = {
    "events": _events,
    "event-info": _events,
    "pmu": _one_of(names),
    "engine": _one_of(engine_names),
    "machine": _one_of(lambda: [*MACHINES, HOST]),
    "report": _one_of(lambda: list(REPORTS)),
    "smpl-module": _one_of(_modules),
    "export": _one_of(_formats),
    "help": _one_of(_topics),
    "completion": _one_of(lambda: list(SHELLS)),
}
"""By option; other options complete by the name of their value."""
