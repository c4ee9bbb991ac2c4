"""Options of the program and of what runs beside it: the world that it sees and the limits of its run, its children,
a second program on the same core. For IA-64 programs all is fixed by default, so that counts repeat. A program under
qemu has a fixed environment, and else sees the host."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pfmon.errors import PfmonError
from pfmon.library.options import python_values
from pfmon.library.options.kinds import DIRECTORY, FILE, FLAG, TEXT, WORD, converted, flag, number, of_command
from pfmon.library.options.matcher_options import TWO_THREADS
from pfmon.library.options.option import Kind, Option, Topic, extend, put, same
from pfmon.library.options.option_values import pattern, seconds, size, variable
from pfmon.session.run.run_plan import EXACT, MACHINE

MAX_PROCESSES = 10_000
"""The highest limit on simultaneous processes of a followed program."""
MAX_QUANTUM = 1 << 40
"""Instructions of a thread's turn."""
MAX_CORES = 32
"""The highest number of cores (coherent_caches.pxd; figure machine.cores)."""
HOST_PROCESSES = ("qemu", "x86_64")
"""Engines that execute a program as a process of the host."""
MAX_SEED = (1 << 31) - 2
"""Modulus of the minimal standard generator."""


def _variables(_: str, value: object) -> list[str]:
    """Return variables: NAME=VALUE or NAME (the host's value), or a mapping (None: the host's value)."""
    if isinstance(value, Mapping):
        entries = [one if text is None else f"{one}={text}" for one, text in value.items()]
    else:
        given = [value] if isinstance(value, str) else python_values.several(value)
        entries = [python_values.text("env", entry) for entry in given]
    return [variable("env", entry) for entry in entries]


def _guest_pmu(_: str, text: str | None) -> str:
    """Return whether the guest counts on a machine, or architectural events alone."""
    if text not in (None, EXACT):
        raise PfmonError(
            f"--guest-pmu={text}: say --guest-pmu, or --guest-pmu={EXACT} for events that need no machine"
        ).about("--guest-pmu")
    return EXACT if text else MACHINE


def _pattern(name: str, text: str | None) -> str:
    return pattern(name, text or "")


def _follow_exec(_: Option, options: Any, __: Any, only: str) -> None:
    options.follow_exec, options.follow_exec_only = True, only


def _follow_all(_: Option, options: Any, __: Any, value: bool) -> None:
    options.follow_fork = options.follow_exec = options.follow_pthread = value


def _words(name: str, text: str) -> list[str]:
    """Split a program and its arguments, quoted as for a shell."""
    import shlex

    try:
        words = shlex.split(text)
    except ValueError as error:
        raise PfmonError(f"--{name}={text}: {str(error).lower()}").about(f"--{name}") from None
    if not words:
        raise PfmonError(f'--{name}: a program is wanted: --{name} "PROGRAM ARGUMENT..."').about(f"--{name}")
    return words


def _beside(option: Option, options: Any, _: Any, words: list[str]) -> None:
    options.smt, options.smt_name = words, option.long


PROGRAM = Topic(
    "program",
    "Program",
    [
        Option(
            "sysroot",
            "where the program's files are: its interpreter, its libraries and what it opens",
            DIRECTORY,
            "DIR",
            keyword=True,
        ),
        Option(
            "confine",
            "let a program see nothing outside of --sysroot (IA-64: Linux 5.6; x86-64: Linux 6.12)",
            FLAG,
            keyword=True,
        ),
        Option(
            "net",
            "let IA-64 programs reach other machines (else sockets reach this one alone)",
            FLAG,
            keyword=True,
            idle_under=dict.fromkeys(HOST_PROCESSES, "its sockets reach other machines in any case"),
        ),
        Option(
            "session-timeout",
            "end the run after so many seconds and print the counts so far",
            converted(seconds),
            "SECONDS",
            "t",
            keyword="timeout",
        ),
        Option(
            "env",
            "set a variable in the program's environment; NAME alone takes the host's value",
            Kind(lambda name, text: [variable(name, text)], _variables, extend, default=[]),
            "NAME[=VALUE]",
            field="environment",
            keyword="environment",
            needs=("a program",),
        ),
        Option("host-env", "give the program pfmon's own environment", FLAG, keyword=True, needs=("a program",)),
        Option(
            "host-clock",
            "let the program see the host's time (else time follows instructions; under qemu it never does)",
            FLAG,
            keyword=True,
            needs=("a program",),
            idle_under={"qemu": "it sees the host's in any case"},
        ),
        Option(
            "host-random",
            "let the program have the host's random bytes (else they follow from --seed; under qemu not)",
            FLAG,
            keyword=True,
            needs=("a program",),
            idle_under={"qemu": "its random bytes are the host's in any case, but those at its start"},
        ),
        Option(
            "host-ids",
            "let the program see the host's process, user and group ids and host name (under qemu it does in any case)",
            FLAG,
            keyword=True,
            needs=("a program",),
            idle_under={"qemu": "it sees the host's in any case"},
        ),
        Option("seed", "where random bytes start", number(), "NUMBER", keyword=True),
        Option(
            "quantum",
            "instructions of a turn, where threads take turns (100000; with --cores 100)",
            number(1, MAX_QUANTUM),
            "NUMBER",
            keyword=True,
            default=0,
            idle_under={"qemu": "its threads run as the host has them run"},
        ),
        Option(
            "schedule-seed",
            "choose threads, or a system's turns and phases, at random, always the same for this seed (0: round robin)",
            number(0, MAX_SEED),
            "NUMBER",
            keyword=True,
            idle_under={"qemu": "its threads run as the host has them run"},
        ),
        Option(
            "memory-limit",
            "the most memory the program may map (half of the host's)",
            converted(size),
            "SIZE",
            keyword=True,
            needs=("a program",),
            idle_under=dict.fromkeys(HOST_PROCESSES, ""),
        ),
        Option(
            "engine",
            "execute the program by this engine (ia64, x86_64, qemu)",
            WORD,
            "NAME",
            keyword=True,
            needs=("a program",),
        ),
        Option(
            "mask-cpuid",
            "where the host lacks features of the processor that an x86-64 program sees, let it see the best one that"
            " the host has",
            FLAG,
            keyword=True,
            needs=("a program",),
            idle_under={"qemu": "it emulates all features", "ia64": "it has none of the host's features"},
        ),
        Option(
            "crash-report",
            "when a signal kills the program, write registers, code, stack and memory map here",
            TEXT,
            "FILE",
            of_output=True,
        ),
        Option(
            "guest-pmu",
            "let the program use the PMU (perfmonctl, perf_event_open, rdpmc) instead of pfmon; exact: without a"
            " machine, for events that need none",
            Kind(_guest_pmu, lambda name, value: _guest_pmu(name, None if value is True else str(value)), put),
            "exact",
            optional=True,
            keyword=True,
            alone=True,
        ),
        Option(
            "slow",
            "execute and count instruction by instruction: the same counts, for checking",
            FLAG,
            keyword=True,
            needs=("a program",),
        ),
    ],
)
FOLLOW_FORK = Option("follow-fork", "count the program's children and theirs", FLAG, keyword=True)
FOLLOW_EXEC_EXCLUDE = Option(
    "follow-exec-exclude",
    "do not count those whose path matches",
    Kind(_pattern, lambda name, value: _pattern(name, python_values.text(name, value)), put),
    "REGEX",
    keyword=True,
    needs=("children",),
)
CHILDREN = Topic(
    "children",
    "Children, threads, and programs that the program executes",
    [
        FOLLOW_FORK,
        same("follow-vfork", FOLLOW_FORK),
        Option(
            "follow-exec",
            "count programs that are executed; REGEX: if their path matches",
            Kind(
                _pattern,
                lambda name, value: "" if value is True else _pattern(name, python_values.text(name, value)),
                _follow_exec,
            ),
            "REGEX",
            optional=True,
            default=False,
            keyword=True,
        ),
        FOLLOW_EXEC_EXCLUDE,
        same("follow-exclude", FOLLOW_EXEC_EXCLUDE),
        Option(
            "follow-pthread",
            "no effect: threads are always counted, together by process (see --per-thread)",
            FLAG,
            keyword=True,
        ),
        Option("per-thread", "count each thread by itself, too (not under qemu)", FLAG, keyword=True),
        Option("follow-all", "count all of these", flag(True, _follow_all), field="follow_fork", keyword="follow_all"),
        Option(
            "follow-limit",
            "end the run when there are more processes at a time than this (250)",
            number(1, MAX_PROCESSES),
            "NUMBER",
            keyword=True,
            default=250,
        ),
        Option(
            "detach-children",
            "let what a program under qemu has started, and is not counted, go on behind its end",
            FLAG,
            keyword=True,
        ),
        Option(
            "aggregate-results",
            "print what all come to, and not what each does",
            FLAG,
            of_output=True,
            needs=("children",),
        ),
    ],
)
COMMAND = of_command(_words, _beside, [])
CORES = Topic(
    "cores",
    "Several cores, for a program's threads or two programs; two programs on one core (Montecito's hardware threads)",
    [
        Option(
            "smt",
            "run this program on thread 0 of a core, and the other one on thread 1",
            COMMAND,
            "COMMAND",
            pmus=TWO_THREADS,
        ),
        Option("smt-replay", "replay a recording on thread 0", FILE, "FILE", pmus=TWO_THREADS),
        Option(
            "smt-threads",
            "run the program's threads on both hardware threads of a core, or with --cores=2 on two cores",
            FLAG,
            pmus=TWO_THREADS,
        ),
        Option(
            "smt-output",
            "the standard output of thread 0's program goes to a file",
            FILE,
            "FILE",
            pmus=TWO_THREADS,
            of_output=True,
            needs=("two programs",),
            writes=True,
        ),
        Option(
            "cores",
            "cores on which the threads of an x86-64 program run (2: two programs, on an Itanium's two cores)",
            number(1, MAX_CORES),
            "NUMBER",
            keyword=True,
            default=1,
        ),
        Option("beside", "the same as --smt, for --cores=2", COMMAND, "COMMAND", field="smt"),
        Option(
            "no-smt-rules",
            "allow events on counters that count wrong with two threads",
            flag(False),
            pmus=TWO_THREADS,
            field="smt_rules",
            keyword=True,
            needs=("two programs",),
        ),
    ],
)
TOPICS = (PROGRAM, CHILDREN, CORES)
