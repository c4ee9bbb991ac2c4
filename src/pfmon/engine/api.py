"""An engine executes a program, or replays a recording, and writes what retires into a stream.

Sessions use engines through this module alone. The kind of file decides which engine runs a program.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from importlib import import_module
from typing import NamedTuple, Protocol

from pfmon.debug_log import log
from pfmon.engine.guest_settings import GuestSettings
from pfmon.program.elf_machine import EM_386, EM_IA_64, EM_PPC, EM_PPC64, EM_X86_64
from pfmon.program.image import Program
from pfmon.program.mapped_files import MappedFile
from pfmon.stream._stream import BlockTable, Consumer, InstructionSet

EI_DATA, E_MACHINE, BIG_ENDIAN = 5, 18, 2
"""Offsets of byte order and machine in an ELF header; the value for big-endian (System V ABI, chapter 4)."""


class Task(NamedTuple):
    """One followed program in one process: from its start, fork or exec to its end. ``process``: place in the process
    tree, (1, 2) being the second child of (1,), the first process; ``image``: number of programs that the process
    executed before; ``command`` begins with the executed file; ``named``: it is the program that the user named, not
    one executed later."""

    process: tuple[int, ...]
    image: int
    pid: int
    command: Sequence[str]
    named: bool

    @property
    def name(self) -> str:
        """``1.2``, or ``1.2:1`` after its first exec."""
        return ".".join(map(str, self.process)) + (f":{self.image}" if self.image else "")


class TaskReader(Protocol):
    """The reader of one task's stream, within ``running``."""

    @property
    def consumer(self) -> Consumer:
        """The reader of its stream."""

    @property
    def running(self) -> AbstractContextManager[object]:
        """The context in which the task's stream arrives."""

    def ended(self, ending: ExitReport | None, retired: int) -> None:
        """The stream is read to its end. None: the task executed another program, or was stopped."""


class FollowRules(NamedTuple):
    """Child processes and executed programs to count, ``most`` processes at a time. ``watch`` returns a reader for each
    task but the first; such a task runs as an engine in a thread of its own, and an exception of task or reader ends
    the run. ``first_ended`` is called when the first task ends (None: as in `TaskReader.ended`), ``first_begins`` with
    the first task as soon as it is known."""

    forks: bool
    execs: bool
    most: int
    watch: Callable[[Task, Engine], TaskReader]
    first_ended: Callable[[Task, ExitReport | None], None]
    first_begins: Callable[[Task], None] = lambda _: None


class StartRequest(NamedTuple):
    """Parameters of a run. ``memory_limit``: bytes; ``processor``: the one that the program sees; ``slow``: every
    instruction is a block of its own; ``addresses``: the stream has those of memory accesses; ``totals``: the reader
    only adds up how often blocks ran and needs neither order nor conditions; ``listing``: code is listed after
    the run; ``on_notice`` is called with messages for
    the user while the program runs; ``follow``: the child processes and executed programs to count; ``on_mapped`` is
    called when the first program has mapped files executable, before their blocks appear in the stream."""

    program: Program
    arguments: Sequence[bytes]
    environment: Sequence[bytes]
    settings: GuestSettings
    memory_limit: int
    processor: str
    slow: bool = False
    addresses: bool = False
    totals: bool = False
    listing: bool = False
    on_notice: Callable[[str], None] = lambda _: None
    follow: FollowRules | None = None
    on_mapped: Callable[[], None] | None = None


class Capabilities(NamedTuple):
    """Features of an engine. ``addresses``: its stream has, or can have, the addresses of memory accesses;
    ``performance_data``: it supports PerformanceData; ``apart``: the program runs in a process of its own, in parallel
    to the reader of its stream; ``follows``: it can count child processes and executed programs."""

    addresses: bool
    performance_data: bool
    apart: bool = False
    follows: bool = False


class ExitReport(NamedTuple):
    """The end of a program: exit status for the shell; ``signal`` that killed it (0: none), the reason and the place;
    ``report``: registers, code, stack and memory at that point, as far as the engine knows them."""

    status: int
    signal: int = 0
    text: str = ""
    where: str = ""
    report: str = ""


class PerformanceData(Protocol):
    """Answers a program's reads of performance data registers."""

    @property
    def pmu(self) -> ProgramPmu | None:
        """The PMU, if the program programs it; None: pfmon counts with it, or it is unused."""

    def read_pmd(self, number: int) -> int:
        """The value that the program reads from PMD ``number``."""


class PmuEvent(NamedTuple):
    """An event that a program wants to count by its code and unit mask, or by perf's generic name (``name``);
    ``plm``: its privilege levels, a bit each."""

    name: str
    code: int
    umask: int
    threshold: int
    plm: int


class ProgramPmu(Protocol):
    """The modelled processor's PMU, for the system calls of a program that programs it. Registers have the names of the
    processor's manual (pmc4, pmd4, ibr0, dbr0); written values take effect at `commit`, between two instructions."""

    @property
    def counters(self) -> Sequence[int]:
        """The PMDs that are event counters."""

    @property
    def width(self) -> int:
        """Bits of a counter."""

    def set_overflow_handler(self, told: Callable[[Sequence[int], int, int], None] | None) -> None:
        """Set the overflow callback (None: none). At the overflowing instruction it gets the PMDs that wrapped
        together, the instruction's address and slot, and the number of instructions retired, itself included."""

    def update_registers(self) -> None:
        """Update the registers to the next instruction; called before they are read or written."""

    def read(self, name: str) -> int:
        """The value of a register."""

    def write(self, name: str, value: int) -> None:
        """Write a register. ValueError for a value that it does not take."""

    def freeze(self, frozen: bool) -> None:
        """Stop all counting, whatever the registers say (PMC0.fr), or resume it."""

    def clear_captures(self) -> None:
        """Reset the capture registers."""

    def commit(self) -> str:
        """Count as the registers say from here on. Returns "", or a text that names what cannot be counted; the
        registers must then be written again."""

    def set_counting(self, on: bool, up: bool | None) -> None:
        """Start or stop all counters; ``up``: PSR.up, None: it does not matter."""

    def set_overflow_stops(self, pmds: Collection[int]) -> None:
        """Set the counters whose overflow stops the program, at the end of a block."""

    def set_timer(self, retired: int | None) -> None:
        """Stop the program at the end of the block in which this many instructions have retired; None: cancel."""

    def named(self, event: PmuEvent) -> PmuEvent:
        """The event with its code, for one given by code or name. PfmonError: unknown, or it cannot be counted."""

    def assign(self, events: Sequence[PmuEvent]) -> tuple[dict[str, int], list[int]]:
        """Register values that make events count, and their counters, in order. PfmonError: they cannot be counted
        together."""

    def next_poll(self) -> int | None:
        """The count of retired instructions at which the program next stops for an overflow."""

    def read_pmd(self, number: int) -> int:
        """The value that the program reads from PMD ``number``."""

    @property
    def pmu(self) -> ProgramPmu:
        """Itself."""

    @property
    def consumer(self) -> Consumer:
        """The reader of the program's stream, which comes within ``running``."""

    @property
    def running(self) -> AbstractContextManager[object]:
        """The context in which the program runs."""

    def pmu_of_program(self, engine: Engine) -> ProgramPmu:
        """A PMU for another program of the run, from here on; its machine starts cold."""


class Engine(Protocol):
    """A program that can be run once, to its end or until it is stopped."""

    @property
    def instruction_set(self) -> InstructionSet:
        """The instruction set of its blocks."""

    @property
    def capabilities(self) -> Capabilities:
        """Its features."""

    @property
    def table(self) -> BlockTable:
        """The blocks that its stream names."""

    @property
    def traced(self) -> bool:
        """Whether its stream has the addresses of memory accesses."""

    @property
    def mapped(self) -> Sequence[MappedFile]:
        """The files that the program has mapped executable so far; blocks name one by its place, from 1 on."""

    @property
    def threads(self) -> Sequence[tuple[int, int]]:
        """Its threads' turns so far, if known: instructions retired when the turn began, and the thread's number."""

    @property
    def retired(self) -> int:
        """Instructions retired so far."""

    @property
    def ip(self) -> int:
        """The address of the instruction that is next."""

    def set_monitoring(self, up: bool, secure: bool) -> None:
        """Set PSR.up and PSR.sp for the program's start: whether user monitors are on, and whether the program may
        neither switch them nor read their counts."""

    def run(self, consumer: Consumer, performance_data: PerformanceData | None = None) -> ExitReport | None:
        """Write the stream to a consumer. Returns how the program ended, or None when it was stopped."""

    def stop(self) -> None:
        """Make `run` return soon; from any thread, or from a signal handler."""

    def listing(self, first: int, beyond: int) -> list[tuple[int, str]]:
        """Address and text of the instructions in a range of code."""

    def close(self) -> None:
        """Release host resources."""


class MnemonicPattern(NamedTuple):
    """The opcode bits of a mnemonic: slot types, value and mask (bits that are 1 are compared), and the mnemonics of
    other instructions with these bits."""

    slots: str
    value: int
    mask: int
    others: tuple[str, ...]


class Instructions(Protocol):
    """Properties of an instruction set, known without a run."""

    def pattern(self, name: str, slots: str, available: int) -> MnemonicPattern:
        """The bits of a mnemonic with all its completers, limited to ``available``; ``slots``: only in slots of these
        types (none: all). Raises UnknownNameError, and BadValueError when no such slot takes it."""

    def families(self, mnemonics: Iterable[str], name: str) -> str:
        """Mnemonics as short text: without completers unless these distinguish them from ``name``."""

    def listing(self, read: Callable[[int], bytes], first: int, beyond: int) -> list[tuple[int, str]]:
        """Address and text of the instructions in a range of code; ``read`` returns 16 bytes at an address."""


MACHINES = {
    (EM_IA_64, False): InstructionSet.IA64,
    (EM_X86_64, False): InstructionSet.X86_64,
    (EM_386, False): InstructionSet.I386,
    (EM_PPC, True): InstructionSet.PPC,
    (EM_PPC64, True): InstructionSet.PPC64,
    (EM_PPC64, False): InstructionSet.PPC64LE,
}
"""Instruction sets of ELF files, by e_machine and big-endianness."""

QEMU = ("pfmon.engine.qemu.qemu_guest", "QemuGuest")

ENGINES = {
    InstructionSet.IA64: ("pfmon.engine.ia64.ia64_guest", "Ia64Guest"),
    InstructionSet.X86_64: QEMU,
    InstructionSet.I386: QEMU,
    InstructionSet.PPC: QEMU,
    InstructionSet.PPC64: QEMU,
    InstructionSet.PPC64LE: QEMU,
}
"""Module and class of the engine that runs its programs, by instruction set."""

INSTRUCTIONS = {InstructionSet.IA64: "pfmon.engine.ia64.encodings.opcode_masks"}
"""The module with its instructions' properties, by instruction set."""


def instruction_set_of(path: str) -> InstructionSet | None:
    """The instruction set of an ELF file, by its header (System V ABI, e_machine); None: not an ELF file, another
    machine, or unreadable."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # no wait on a pipe
    except (OSError, ValueError):
        return None
    try:
        header = os.read(descriptor, E_MACHINE + 2)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    if len(header) < E_MACHINE + 2 or not header.startswith(b"\x7fELF"):
        return None
    big_endian = header[EI_DATA] == BIG_ENDIAN
    return MACHINES.get((int.from_bytes(header[E_MACHINE:], "big" if big_endian else "little"), big_endian))


def instruction_set_in(program: Program) -> InstructionSet:
    """The instruction set of a loaded program."""
    return MACHINES[program.image.elf.machine, program.image.elf.big_endian]


def emulators() -> dict[str, str]:
    """By instruction set name: the emulator of its programs with its version, or how to get it."""
    from pfmon.engine.qemu.qemu_binary import PACKAGE, version
    from pfmon.engine.qemu.qemu_targets import TARGETS

    return {
        target.name: version(one) or f"no qemu-{target.name}: install the package {PACKAGE}"
        for one, target in TARGETS.items()
    }


def start(wanted: StartRequest) -> Engine:
    """The engine that runs a program, with the program loaded. Raises PfmonError."""
    instruction_set = instruction_set_in(wanted.program)
    module, name = ENGINES[instruction_set]
    log("engine", "%s runs %s, a program for %s", name, wanted.program.image.path, instruction_set.name)
    engine: Engine = getattr(import_module(module), name).start(wanted)
    return engine


class Recording(Engine, Protocol):
    """A recorded run. ``command``: the recorded command line; ``damage``: where a damaged recording ends."""

    command: list[str]
    damage: str

    def everything_mapped(self) -> Sequence[MappedFile]:
        """The files that the program maps executable during the whole recording."""

    def program(self, sysroot: str | None = None) -> Program:
        """The recorded program. PfmonError: the file is gone or has changed."""


def replay(path: str, *, partial: bool = False, addresses: bool = False, listing: bool = False) -> Recording:
    """The engine that replays a recording. ``partial``: up to the first damage; ``addresses``: with those of memory
    accesses; ``listing``: code is listed after the run. Raises PfmonError."""
    log("engine", "ReplayEngine reads the recording %s", path)
    module = import_module("pfmon.engine.replay.replay_engine")
    recording: Recording = module.ReplayEngine(path, partial=partial, addresses=addresses, listing=listing)
    return recording


def instructions(instruction_set: InstructionSet) -> Instructions:
    """The properties of an instruction set."""
    instructions: Instructions = import_module(INSTRUCTIONS[instruction_set])
    return instructions


def check_emulator(instruction_set: InstructionSet) -> None:
    """PfmonError when programs of this instruction set need an emulator that is not installed."""
    from pfmon.engine.qemu.qemu_binary import emulator
    from pfmon.engine.qemu.qemu_targets import TARGETS

    if instruction_set in TARGETS:
        emulator(instruction_set)
