"""Options for two programs on the two hardware threads of one core, or on two cores."""

from __future__ import annotations

import shlex

from pfmon.cli.command_config import CommandConfig
from pfmon.cli.option_parsing import Option, ParsedOption
from pfmon.errors import PfmonError, refuse
from pfmon.library.coupled_checks import TWO_THREADS

TOPIC = "cores"
TITLE = "Two programs on one core (Montecito's hardware threads), or on two cores"
OPTIONS = [
    Option("smt", "run this program on thread 0 of a core, and the other one on thread 1", "COMMAND", pmus=TWO_THREADS),
    Option("smt-replay", "replay a recording on thread 0", "FILE", pmus=TWO_THREADS),
    Option(
        "smt-threads",
        "run the program's threads on both hardware threads of a core, or with --cores=2 on two cores",
        pmus=TWO_THREADS,
    ),
    Option("smt-output", "the standard output of thread 0's program goes to a file", "FILE", pmus=TWO_THREADS),
    Option("cores", "2: run the two programs on two cores of one bus instead", "NUMBER"),
    Option("beside", "the same as --smt, for --cores=2", "COMMAND"),
    Option("no-smt-rules", "allow events on counters that count wrong with two threads", pmus=TWO_THREADS),
]


def apply(config: CommandConfig, given: ParsedOption) -> None:
    """Take one option's value."""
    value = given.value or ""
    match given.name:
        case "smt" | "beside":
            config.smt = _words(given.name, value)
            config.smt_name = given.name
        case "smt-threads":
            config.smt_threads = True
        case "cores":
            from pfmon.library.coupled_checks import number_of_cores

            config.cores = number_of_cores(given.name, value)
        case "smt-replay":
            config.smt_replay = _file(given.name, value)
        case "smt-output":
            config.smt_output = _file(given.name, value)
        case _:
            config.smt_rules = False


def _words(option: str, text: str) -> list[str]:
    """Split a program and its arguments, quoted as for a shell."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise PfmonError(f"--{option}={text}: {str(error).lower()}").about(f"--{option}") from None
    if not words:
        raise PfmonError(f'--{option}: a program is wanted: --{option} "PROGRAM ARGUMENT..."').about(f"--{option}")
    return words


def _file(option: str, path: str) -> str:
    if not path:
        raise PfmonError(f"--{option}: a file is wanted").about(f"--{option}")
    return path


def check(config: CommandConfig) -> None:
    """Raise PfmonError for options that exclude two programs, or that need them; two programs need Montecito's PMU."""
    if not config.two_programs:
        _two_programs_are_given(config)
        return
    if not (config.pmu_given or config.machine):
        config.pmu, config.pmu_given = TWO_THREADS[0], True
    if config.smt_name == "beside" and config.cores == 1:
        raise PfmonError(
            "--beside applies to two cores: give --cores=2 too, or --smt for two threads of one core"
        ).about("--beside", "--cores", "--smt")
    if config.smt_name == "smt" and config.cores > 1:
        raise PfmonError("--smt applies to the threads of one core: with --cores=2 give --beside").about(
            "--smt", "--cores", "--beside"
        )
    if config.smt_threads:
        _one_program_is_given(config)
    if config.smt and config.smt_replay:
        raise PfmonError("--smt and --smt-replay exclude each other: thread 0 runs one of them").about(
            "--smt", "--smt-replay"
        )
    if config.smt_output and config.smt_replay:
        raise PfmonError("--smt-output is of a program that runs: a recorded one writes nothing").about("--smt-output")
    from pfmon.library.coupled_checks import NOT_WITH_TWO, check_two_programs

    refuse(
        {
            "--baseline": config.baseline,
            "--save-baseline": config.save_baseline,
            "--live": config.live,
            "--progress": config.progress,
        },
        NOT_WITH_TWO,
    )
    check_two_programs(config)


def _one_program_is_given(config: CommandConfig) -> None:
    refuse(
        {
            f"--{config.smt_name}": bool(config.smt),
            "--smt-replay": bool(config.smt_replay),
            "--smt-output": bool(config.smt_output),
            "--record": bool(config.record),
        },
        "--smt-threads is of one program: leave {} out",
        "--smt-threads",
    )


def _two_programs_are_given(config: CommandConfig) -> None:
    if config.cores > 1:
        raise PfmonError('--cores=2: the second program is missing: give --beside "PROGRAM ARGUMENT..." too').about(
            "--cores", "--beside"
        )
    refuse(
        {"--smt-output": config.smt_output, "--no-smt-rules": not config.smt_rules},
        '{} applies to two programs on one core: give --smt "PROGRAM ARGUMENT..." too',
        "--smt",
    )
