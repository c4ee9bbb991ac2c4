"""The option modules, and the parser from words to a Config."""

from __future__ import annotations

from collections.abc import Sequence

from pfmon.cli import (
    baseline_options,
    branch_options,
    coupled_options,
    event_options,
    follow_options,
    guest_options,
    insn_set_options,
    machine_options,
    opcode_options,
    output_options,
    privilege_options,
    profile_options,
    progress_options,
    query_options,
    range_options,
    recording_options,
    report_options,
    sampling_options,
    session_options,
    trigger_options,
)
from pfmon.cli.command_config import CommandConfig
from pfmon.cli.option_parsing import parse
from pfmon.errors import PfmonError
from pfmon.library.option_checks import check, no_program_is_given

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
    progress_options,
    baseline_options,
    recording_options,
    guest_options,
    follow_options,
    coupled_options,
    query_options,
)

USAGE = "usage: pfmon [OPTION]... [--] PROGRAM [ARGUMENT]..."


def a_program_is_given(config: CommandConfig, command: Sequence[str]) -> None:
    """Raise PfmonError if there is neither a program nor a recording to run."""
    if not command and not config.replay:
        raise PfmonError(f"no program given; {USAGE}")


def read(words: Sequence[str]) -> tuple[CommandConfig, list[str]]:
    """Return the configuration, and the program with its arguments. Raises PfmonError."""
    config = CommandConfig()
    owner = {option.long: concern for concern in CONCERNS for option in concern.OPTIONS}
    given, command = parse((option for concern in CONCERNS for option in concern.OPTIONS), words)
    for one in given:
        owner[one.name].apply(config, one)
    sampling_options.check(config)
    baseline_options.check(config)
    progress_options.check(config)
    coupled_options.check(config)
    check(config, asks=bool(config.action))
    no_program_is_given(config, command)
    return config, command
