"""The texts of --help, --help TOPIC and --help-all, generated from the option tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from pfmon.cli.command_line import USAGE
from pfmon.cli.first_words import VERBS
from pfmon.errors import PfmonError
from pfmon.library.options.option import Option, Topic
from pfmon.library.options.table import OPTIONS, TOPICS

PURPOSE = "Runs a program on a model of its processor and counts with that processor's PMU."
SUBCOMMANDS = (
    f"       pfmon {'|'.join(VERBS)} ... (pfmon stat --help, ...)",
    "       pfmon diff [A B]",
    "       pfmon check BASE NEW [-- ARGUMENT...]",
    "       pfmon sweep FILE.toml | demo",
)
EXAMPLES = {
    "pfmon {program}": "cycles, instructions, branches, misses, as perf stat has them",
    "pfmon -e {events} {program}": "count these events",
    "pfmon --report cpi {program}": "where the cycles went, by cause and by function",
    "pfmon --report html:{name}.html {program}": "everything in a page for a browser",
    "pfmon --per-function -e {misses} {program}": "in which functions they happen",
    "pfmon --export perf-data:perf.data {program}": "every call, for perf report and perf script",
}
"""Example commands and what they show."""
EVENTS = {
    "x86": ("instructions,branch-misses", "cache-misses,branch-misses"),
    "ia64": ("loads_retired,nops_retired", "l2_misses,ia64_inst_retired"),
    "ppc": ("INSTRUCTIONS_COMPLETED,DCACHE_MISSES", "cache-misses,branch-misses"),
}
"""The events and the misses of the examples, by the architecture of the PMU."""
COMMON = (
    *("events", "pmu", "report", "unlimited", "per-function", "annotate", "print-interval", "irange"),
    *("repeat", "outfile", "json", "csv", "export", "session-timeout", "show-events", "event-info"),
    *("check-events-only", "help", "help-all", "version"),
)
"""The options that --help itself lists."""
MARK = "[set]"
OF_SETS = (
    f"Options with {MARK} belong to the event set of the last -e before them, or of the first one; others to the run.\n"
)
ENDING = (
    "Long options may be shortened to any unique prefix, and end at the program's name. The exit status is the\n"
    "program's; 1 if -l or -L finds no event, 2 for a mistake on the command line, 3 for a count that grew\n"
    "(--baseline, pfmon check), 124 after a timeout, 125 for counts that were lost or could not be written,\n"
    "128 + signal for a program that a signal killed, and for a run that was ended: 129 by SIGHUP, 130 by Ctrl-C,\n"
    "143 by SIGTERM."
)
ENVIRONMENT = (
    "PFMON_DEBUG=1 in the environment logs to standard error how pfmon runs the program: engine, caches, threads,\n"
    "memo, times; PFMON_DEBUG=FILE appends the log to a file."
)
WIDTH = 120
INDENT = 36


def examples(architecture: str, program: str = "PROGRAM") -> dict[str, str]:
    """Return example commands for a program, of a PMU of that architecture, and what they show."""
    events, misses = EVENTS[architecture]
    name = program.split()[0].rpartition("/")[2]
    return {
        command.format(program=program, name=name, events=events, misses=misses): shows
        for command, shows in EXAMPLES.items()
    }


def help_text(architecture: str, program: str) -> str:
    """Return the usage, examples for a program, and the common options."""
    commands = examples(architecture, program)
    width = max(len(command) for command in commands if len(command) < WIDTH // 2)
    lines = [USAGE, *SUBCOMMANDS, PURPOSE, "", "Examples:"]
    for command, shows in commands.items():
        lines.append(f"  {command:<{width}}  {shows}")
    lines += ["", "Common options:", *(option_line(OPTIONS[name]) for name in COMMON)]
    lines += ["", *_wrapped(f"Topics (--help TOPIC): {', '.join(_topics())}", WIDTH)]
    return "\n".join([*lines, "", OF_SETS + ENDING, ENVIRONMENT]) + "\n"


def help_all(pmu: str) -> str:
    """Return all options of a PMU."""
    lines = [USAGE, *SUBCOMMANDS, PURPOSE]
    for topic in TOPICS:
        lines += _section(topic, pmu)
    return "\n".join([*lines, "", *_others(pmu), "", OF_SETS + ENDING, ENVIRONMENT]) + "\n"


def topic_text(topic: str, pmu: str) -> str:
    """Return the options of a topic, or of an option's topic. PfmonError: there is no such topic."""
    found = topics_named(topic)
    if not found:
        raise PfmonError(f"unknown help topic {topic!r}; there are: {', '.join(_topics())}, and every option's name")
    lines = [line for one in found for line in _section(one, pmu)]
    return "\n".join([*lines[1:], "", *_others(pmu, found)]).rstrip() + "\n"


def topics_named(topic: str) -> list[Topic]:
    """Return the topics of a name, or the topic of an option."""
    word = topic.lower().removeprefix("--")
    found = [one for one in TOPICS if one.name.startswith(word)] if word else []
    return found or [one for one in TOPICS if any(option.long == word for option in one.options)]


def _topics() -> list[str]:
    return [topic.name for topic in TOPICS]


def _section(topic: Topic, pmu: str) -> Iterator[str]:
    """Yield the lines of a topic after an empty one; none if no option applies to the PMU."""
    own = [option for option in topic.options if belongs(option, pmu)]
    if own:
        yield ""
        yield f"{topic.title}:"
        yield from map(option_line, own)


def belongs(option: Option, pmu: str) -> bool:
    """Return whether an option applies to a PMU."""
    return not option.pmus or pmu in option.pmus


def _others(pmu: str, topics: Sequence[Topic] = TOPICS) -> list[str]:
    """Return the lines that name the PMUs with further options."""
    options = [option for topic in topics for option in topic.options]
    others = dict.fromkeys(name for option in options if not belongs(option, pmu) for name in option.pmus)
    names = ", ".join(f"--pmu={name}" for name in others if name != pmu)
    return _wrapped(f"These are the options for {pmu}; there are more with {names}.", WIDTH) if names else []


def option_line(option: Option) -> str:
    """Return an option's syntax and help text."""
    left = f"  {f'-{option.short}, ' if option.short else '    '}--{option.long}{value_text(option)}"
    first = f"{left:<{INDENT}} " if len(left) < INDENT else f"{left}\n{'':<{INDENT}} "
    return first + f"\n{'':<{INDENT}} ".join(_wrapped(help_of(option), WIDTH - INDENT - 1))


def help_of(option: Option) -> str:
    """The text of an option, with a mark if it belongs to an event set."""
    return f"{option.help} {MARK}" if option.of_set else option.help


def value_text(option: Option) -> str:
    """Return the syntax of an option's value."""
    return f"[={option.value}]" if option.optional else f"={option.value}" if option.value else ""


def _wrapped(text: str, width: int) -> list[str]:
    return wrap(text, width, break_on_hyphens=False)
