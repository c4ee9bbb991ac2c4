"""Command-line completion for bash, zsh and fish, with argcomplete: options, events, PMUs, machines, files.

``pfmon --completion=SHELL`` prints code for the shell to evaluate once; the shell then calls pfmon for completions.
"""

from __future__ import annotations

import os
import re
from argparse import REMAINDER, Action, ArgumentParser, Namespace, _ActionsContainer
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import argcomplete
from argcomplete.completers import DirectoriesCompleter, FilesCompleter
from argcomplete.shell_integration import shellcode

from pfmon.cli.commands.verb import FILE, NOT_HERE, verb_of
from pfmon.cli.first_words import SUBCOMMANDS, VERBS
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
from pfmon.program.symbols import SymbolTable
from pfmon.session.run.supported import PROCESSORS
from pfmon.stream.recording.recording_file import RecordingReader

SHELLS = ("bash", "zsh", "fish")
FILES = ("FILE", "FORMAT:FILE")


def shell_code(shell: str) -> str:
    """Return the code that a shell evaluates to complete pfmon's command lines. PfmonError: unsupported shell."""
    if shell not in SHELLS:
        raise PfmonError(f"--completion={shell}: there is completion for {', '.join(SHELLS)}")
    return shellcode(["pfmon"], use_defaults=True, shell=shell)


def argument_parser(verb: str = "") -> ArgumentParser:
    """Return a parser with the completers of every option and of the words behind them: pfmon's by topic, or the
    options of a verb or subcommand."""
    parser = ArgumentParser("pfmon", add_help=False)
    if not verb:
        for topic in TOPICS:
            group = parser.add_argument_group(topic.title)
            for option in topic.options:
                _add(group, option)
        _words(parser, _programs)
    elif verb in VERBS:
        known = verb_of(verb)
        for one in known.options:
            if one.long not in NOT_HERE:
                _add(parser, one)
        _words(parser, FilesCompleter() if known.runs_program else _places)
    else:
        for one in import_module(SUBCOMMANDS[verb]).OPTIONS:
            _add(parser, one)
        _words(parser, FilesCompleter())
    return parser


def _add(parser: _ActionsContainer, option: Any) -> None:
    names = [f"-{option.short}"] * bool(option.short) + [f"--{option.long}"]
    text = option.help.replace("%", "%%")
    if option.value:
        values = "?" if option.optional else None
        action = parser.add_argument(*names, help=text, metavar=option.value, nargs=values, action="append")
    else:
        action = parser.add_argument(*names, help=text, action="store_true")
    action.completer = COMPLETERS.get(option.long) or _by_value(action)  # type: ignore[attr-defined]  # argcomplete's


def _words(parser: ArgumentParser, first: Any) -> None:
    """Add the words behind the options: ``first`` completes the first one, files the others."""
    parser.add_argument("program", nargs="?").completer = first  # type: ignore[attr-defined]  # argcomplete's
    parser.add_argument("argument", nargs=REMAINDER).completer = FilesCompleter()  # type: ignore[attr-defined]  # argcomplete's


BEHIND_A_VERB = re.compile(rf"(\s*\S+\s+)({'|'.join((*VERBS, *SUBCOMMANDS))})\s+")


def complete() -> None:
    """Print the completions that a shell asks for and exit. Behind a verb they are those of a command with the verb's
    options, and the verb is left out of the line."""
    verb, line = "", os.environ.get("COMP_LINE", "")
    point = os.environ.get("COMP_POINT", "")
    if (found := BEHIND_A_VERB.match(line)) and point.isdigit() and int(point) >= found.end():
        verb = found[2]
        left_out = found.end() - found.end(1)
        os.environ["COMP_LINE"] = line[: found.end(1)] + line[found.end() :]
        os.environ["COMP_POINT"] = str(int(point) - left_out)
    argcomplete.autocomplete(argument_parser(verb), always_complete_options="long")


def _programs(prefix: str, **more: Any) -> list[str]:
    """Return the verbs and the files that a word begins."""
    verbs = [verb for verb in (*VERBS, *SUBCOMMANDS) if verb.startswith(prefix)]
    return [*verbs, *FilesCompleter()(prefix, **more)]


def _places(prefix: str, parsed_args: Namespace, **_: object) -> list[str]:
    """Return the functions of a recording's program that a word begins."""
    path = (getattr(parsed_args, "input", None) or [FILE])[-1]
    try:
        program = Path(RecordingReader(path).head["files"][0]["path"]).read_bytes()
    except (PfmonError, OSError, LookupError, TypeError):
        return []
    symbols = SymbolTable(program).symbols()
    return sorted({one.name for one in symbols if one.kind == "function" and one.name.startswith(prefix)})


def _by_value(action: Action) -> Any:
    if action.metavar in FILES:
        return FilesCompleter()
    if action.metavar == "DIR":
        return DirectoriesCompleter()
    return _nothing


def _nothing(**_: object) -> list[str]:
    """Complete a value that may be anything; argcomplete's SuppressCompleter would leave the option out, too."""
    return []


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
