"""The list of command-line concerns, and from words to a Config."""

from __future__ import annotations

from pfmon.cli import (
    baseline_options,
    branch_options,
    event_options,
    follow_options,
    guest_options,
    insn_set_options,
    listing_options,
    machine_options,
    opcode_options,
    output_options,
    privilege_options,
    profile_options,
    range_options,
    recording_options,
    report_options,
    sampling_options,
    session_options,
    trigger_options,
)
from pfmon.cli.config import Config
from pfmon.cli.options import parse
from pfmon.library.checks import check, no_program_is_given

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from pfmon.cli.options import Option

CONCERNS = (
    event_options,
    machine_options,
    privilege_options,
    insn_set_options,
    range_options,
    opcode_options,
    branch_options,
    trigger_options,
    session_options,
    profile_options,
    report_options,
    sampling_options,
    output_options,
    baseline_options,
    recording_options,
    guest_options,
    follow_options,
    listing_options,
)

USAGE = "usage: pfmon [OPTION]... [--] PROGRAM [ARGUMENT]..."


def read(words: Sequence[str]) -> tuple[Config, list[str]]:
    """The configuration, and the program with its arguments. Raises PfmonError."""
    config = Config()
    owner = {option.long: concern for concern in CONCERNS for option in concern.OPTIONS}
    given, command = parse((option for concern in CONCERNS for option in concern.OPTIONS), words)
    for one in given:
        owner[one.name].apply(config, one)
    sampling_options.check(config)
    baseline_options.check(config)
    check(config, asks=bool(config.action))
    no_program_is_given(config, command)
    return config, command


def help_text() -> str:
    """What --help prints."""
    lines = [
        USAGE,
        "       pfmon diff A B",
        "       pfmon sweep FILE.toml",
        "",
        "Runs an IA-64 program on a model of its processor and counts with that processor's PMU.",
    ]
    for concern in CONCERNS:
        lines += ["", f"{concern.TITLE}:"]
        lines += [_help_line(option) for option in concern.OPTIONS]
    lines += [
        "",
        "Long options may be shortened to any unique prefix. The exit status is the program's; 2 for a",
        "mistake on the command line, 3 for a count that grew (--baseline), 124 after a timeout, 125 for counts",
        "that were lost, 128 + signal for a program that a signal killed.",
    ]
    return "\n".join(lines) + "\n"


def _help_line(option: Option) -> str:
    value = f"[={option.value}]" if option.optional else f"={option.value}" if option.value else ""
    short = f"-{option.short}, " if option.short else "    "
    left = f"  {short}--{option.long}{value}"
    return f"{left:<36} {option.help}" if len(left) < 36 else f"{left}\n{'':<36} {option.help}"
