"""The world that the program sees, and the limits of its run. For IA-64 programs all is fixed by default, so that
counts repeat. A program under qemu has a fixed environment, and else sees the host."""

from __future__ import annotations

from pfmon.cli.command_config import CommandConfig
from pfmon.cli.option_parsing import Option, ParsedOption
from pfmon.library.option_checks import guest_pmu
from pfmon.library.option_values import directory, seconds, size, variable, whole_number
from pfmon.library.run_options import MAX_QUANTUM, MAX_SEED

TOPIC = "program"
TITLE = "Program"
OPTIONS = [
    Option("sysroot", "where the program's files are: its interpreter, its libraries and what it opens", "DIR"),
    Option("confine", "let an IA-64 program see nothing outside of --sysroot (Linux 5.6 or later)"),
    Option("net", "let IA-64 programs reach other machines (else sockets reach this one alone)"),
    Option("session-timeout", "end the run after so many seconds and print the counts so far", "SECONDS", "t"),
    Option(
        "env",
        "set a variable in the program's environment; NAME alone takes the host's value",
        "NAME[=VALUE]",
    ),
    Option("host-env", "give the program pfmon's own environment"),
    Option(
        "host-clock", "let the program see the host's time (else time follows instructions; under qemu it never does)"
    ),
    Option(
        "host-random", "let the program have the host's random bytes (else they follow from --seed; under qemu not)"
    ),
    Option(
        "host-ids",
        "let the program see the host's process, user and group ids and host name (under qemu it does in any case)",
    ),
    Option("seed", "where random bytes start", "NUMBER"),
    Option("quantum", "instructions of a turn, where threads take turns on IA-64 (100000)", "NUMBER"),
    Option("schedule-seed", "choose threads at random, always the same for this seed (0: round robin)", "NUMBER"),
    Option("memory-limit", "the most memory the program may map (half of the host's)", "SIZE"),
    Option("crash-report", "when a signal kills the program, write registers, code, stack and memory map here", "FILE"),
    Option(
        "guest-pmu",
        "let the program use the PMU (perfmonctl, perf_event_open) instead of pfmon; exact: without a machine, for "
        "events that need none",
        "exact",
        optional=True,
    ),
    Option("slow", "execute and count instruction by instruction: the same counts, for checking"),
]
FLAGS = {
    "confine": "confine",
    "net": "net",
    "host-env": "host_env",
    "host-clock": "host_clock",
    "host-random": "host_random",
    "host-ids": "host_ids",
    "slow": "slow",
}


def apply(config: CommandConfig, given: ParsedOption) -> None:
    """Take one option's value."""
    text = given.value or ""
    match given.name:
        case "sysroot":
            config.sysroot = directory(given.name, text)
        case "session-timeout":
            config.session_timeout = seconds(given.name, text)
        case "seed":
            config.seed = whole_number(given.name, text)
        case "quantum":
            config.quantum = whole_number(given.name, text, 1, MAX_QUANTUM)
        case "schedule-seed":
            config.schedule_seed = whole_number(given.name, text, 0, MAX_SEED)
        case "crash-report":
            config.crash_report = text
        case "memory-limit":
            config.memory_limit = size(given.name, text)
        case "env":
            config.environment.append(variable(given.name, text))
        case "guest-pmu":
            config.guest_pmu = guest_pmu(given.value)
        case _:
            setattr(config, FLAGS[given.name], True)
