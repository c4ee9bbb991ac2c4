"""The manual page, pfmon(1), made from the options: ``pfmon --man-page`` prints it, packages install it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pfmon.cli.commands.help import ENDING, ENVIRONMENT, OF_SETS, PURPOSE, examples, help_of
from pfmon.library.options.option import Option
from pfmon.library.options.table import TOPICS
from pfmon.version import VERSION

DESCRIPTION = (
    "pfmon runs an unmodified program on a model of its processor and gives you that processor's PMU: name events, get "
    "counts. It needs no PMU in the machine that it runs on. Counts are exact, or modelled and said to be so, and they "
    "repeat to the last digit. pfmon executes IA-64 programs, and x86-64 programs on x86-64 hosts, itself; others "
    "run under qemu-user.",
    "Without events it counts cycles, instructions, branches and misses. -i EVENT explains an event and says how exact "
    "its count is. stat, record, report and annotate before the options are perf's verbs (pfmon stat --help); diff "
    "compares two results, sweep counts on many machines. A program of such a name runs behind two dashes: pfmon -- "
    "stat.",
    OF_SETS.strip(),
)


def manual_page() -> str:
    """Return the page in the macros of man(7)."""
    lines = [
        f'.TH PFMON 1 "" "pfmon {VERSION}" "User Commands"',
        *(".SH NAME", f"pfmon \\- {_plain(PURPOSE[0].lower() + PURPOSE[1:].rstrip('.'))}"),
        *(".SH SYNOPSIS", ".B pfmon", "[\\fIOPTION\\fR]... [\\-\\-] \\fIPROGRAM\\fR [\\fIARGUMENT\\fR]..."),
        ".SH DESCRIPTION",
        *(line for paragraph in DESCRIPTION for line in (".PP", _plain(paragraph))),
        ".SH OPTIONS",
    ]
    for topic in TOPICS:
        lines.append(f'.SS "{_plain(topic.title)}"')
        lines += [line for option in topic.options for line in _option(option)]
    lines.append(".SH EXAMPLES")
    for command, shows in examples("x86").items():
        lines += [".TP", f".B {_plain(command)}", _plain(shows)]
    lines += [".SH EXIT STATUS", _plain(" ".join(ENDING.split()))]
    lines += [".SH ENVIRONMENT", _plain(" ".join(ENVIRONMENT.split()))]
    return "\n".join(lines) + "\n"


def _option(option: Option) -> Iterator[str]:
    value = f"\\fI{_plain(option.value)}\\fR" if option.value else ""
    text = f"[={value}]" if option.optional else f"={value}" if value else ""
    short = f"\\fB{_plain(f'-{option.short}')}\\fR, " if option.short else ""
    yield ".TP"
    yield f"{short}\\fB{_plain(f'--{option.long}')}\\fR{text}"
    yield _plain(help_of(option) + (f" ({', '.join(option.pmus)})" if option.pmus else ""))


def _plain(text: str) -> str:
    """Escape text for roff: no escapes, no requests, hyphens that can be copied."""
    plain = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{plain}" if plain.startswith((".", "'")) else plain


def write(path: str) -> None:
    """Write the page."""
    Path(path).write_text(manual_page())
