"""What an engine is: it executes a program, or a recording of one, and writes what retires into a stream.

A session uses engines through this module alone. Which engine runs a program follows from what the file is.
"""

from __future__ import annotations

import os

from pfmon.light_importlib import import_module
from pfmon.light_typing import NamedTuple, Protocol
from pfmon.program.machines import EM_386, EM_IA_64, EM_PPC, EM_PPC64, EM_X86_64
from pfmon.stream.table import InstructionSet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence
    from contextlib import AbstractContextManager

    from pfmon.engine.settings import Settings
    from pfmon.program.image import Program
    from pfmon.program.mapped import Mapped
    from pfmon.stream.consumer import Consumer
    from pfmon.stream.table import BlockTable


EI_DATA, E_MACHINE, BIG_ENDIAN = 5, 18, 2
"""Where an ELF header says the order of bytes and, in two of them, the machine (System V ABI, chapter 4)."""


class Task(NamedTuple):
    """One program in one process that is followed: from its beginning, by fork or by exec, to its end. ``process`` says
    whose child it is: (1, 2) the second one of (1,), which is the process that was begun first; ``image`` is how many
    programs the process executed before; ``command`` begins with the file that was executed; ``named``: it is the
    program that was to be run, and no other one that was executed."""

    process: tuple[int, ...]
    image: int
    pid: int
    command: Sequence[str]
    named: bool

    @property
    def name(self) -> str:
        """``1.2``, or ``1.2:1`` for the program that it executed then."""
        return ".".join(map(str, self.process)) + (f":{self.image}" if self.image else "")


class Watch(Protocol):
    """Who reads what one task retires, within ``running``."""

    @property
    def consumer(self) -> Consumer:
        """The reader of its stream."""

    @property
    def running(self) -> AbstractContextManager[object]:
        """Its stream comes within it."""

    def ended(self, ending: Ending | None, retired: int) -> None:
        """Everything was read; None: it executed another program, or was stopped."""


class Follow(NamedTuple):
    """What is counted of what the program starts: children, other programs that are executed; ``most`` processes at a
    time. ``watch`` is asked for a reader of each task but the first, which runs as an engine in a thread of its own;
    what it or the reader raises ends the run. ``first_ended`` is told of the first task (None: as `Watch.ended`),
    ``first_begins`` of what it is, as soon as it is known."""

    forks: bool
    execs: bool
    most: int
    watch: Callable[[Task, Engine], Watch]
    first_ended: Callable[[Task, Ending | None], None]
    first_begins: Callable[[Task], None] = lambda _: None


class Start(NamedTuple):
    """What is to be run. ``memory_limit`` is in bytes; ``processor`` is what the program is told that it runs on;
    ``slow`` makes every instruction a block of its own; ``addresses``: put those of memory accesses into the stream;
    ``totals``: its reader adds up how often blocks ran, so that their order and their conditions are nobody's concern;
    ``on_notice`` gets what the user should know of the program, when it happens; ``follow``: what of all that it
    starts is counted, too; ``on_mapped`` is called when the first program has mapped files executable, before anything
    of them comes in the stream."""

    program: Program
    arguments: Sequence[bytes]
    environment: Sequence[bytes]
    settings: Settings
    memory_limit: int
    processor: str
    slow: bool = False
    addresses: bool = False
    totals: bool = False
    on_notice: Callable[[str], None] = lambda _: None
    follow: Follow | None = None
    on_mapped: Callable[[], None] | None = None


class Capabilities(NamedTuple):
    """What an engine can do. ``addresses``: its stream has, or can have, the addresses of memory accesses;
    ``performance_data``: it can ask what the program reads from performance data registers; ``apart``: the program runs
    in a process of its own, beside whoever reads its stream; ``follows``: it can count what the program starts."""

    addresses: bool
    performance_data: bool
    apart: bool = False
    follows: bool = False


class Ending(NamedTuple):
    """How a program ended: exit status for the shell; ``signal`` that killed it (0: none), why, and where it was;
    ``report``: registers, code, stack and memory then, as far as the engine knows them."""

    status: int
    signal: int = 0
    text: str = ""
    where: str = ""
    report: str = ""


class PerformanceData(Protocol):
    """Answers a program's reads of performance data registers."""

    @property
    def pmu(self) -> ProgramPmu | None:
        """The PMU, if the program has it. None: pfmon counts with it, or nobody does."""

    def read_pmd(self, number: int) -> int:
        """What the program reads from PMD ``number``."""


class PmuEvent(NamedTuple):
    """An event that a program wants to count by its code and unit mask, or by perf's generic name (``name``);
    ``plm``: its privilege levels, a bit each."""

    name: str
    code: int
    umask: int
    threshold: int
    plm: int


class ProgramPmu(Protocol):
    """The PMU of the modelled processor, for the system calls of a program that programs it. Registers have the names
    of the processor's manual (pmc4, pmd4, ibr0, dbr0); what is written holds from `commit` on, between two
    instructions."""

    @property
    def counters(self) -> Sequence[int]:
        """The PMDs that are event counters."""

    @property
    def width(self) -> int:
        """Bits of a counter."""

    def tell(self, told: Callable[[Sequence[int], int, int], None] | None) -> None:
        """Who is told of overflows, at the instruction: the PMDs that wrapped together, the instruction's address and
        slot, how many have retired, itself included."""

    def settle(self) -> None:
        """Bring the registers up to the instruction that is next: before they are read or written."""

    def held(self, name: str) -> int:
        """What a register holds."""

    def write(self, name: str, value: int) -> None:
        """Write a register. ValueError: it takes no such value."""

    def freeze(self, frozen: bool) -> None:
        """Whether nothing counts, whatever the registers say (PMC0.fr)."""

    def clear_captures(self) -> None:
        """Registers that capture are as if nothing had been captured."""

    def commit(self) -> str:
        """Count as the registers say from here on. "" or, in words, what cannot be counted: then they are to be written
        anew."""

    def steer(self, on: bool, up: bool | None) -> None:
        """Whether counters count from here on; ``up``: PSR.up, None: it does not matter."""

    def watch(self, pmds: Collection[int]) -> None:
        """The counters whose overflow the program is stopped for, at the end of a block."""

    def alarm(self, retired: int | None) -> None:
        """Stop the program when so many instructions have retired, at the end of a block; None: not for this."""

    def named(self, event: PmuEvent) -> PmuEvent:
        """An event by its code, whatever it was given by. PfmonError: there is none such, or it cannot be counted."""

    def assign(self, events: Sequence[PmuEvent]) -> tuple[dict[str, int], list[int]]:
        """Register values that make events count, and their counters, in order. PfmonError: they do not count
        together."""

    def next_look(self) -> int | None:
        """When so many instructions have retired, the program is stopped for an overflow."""

    def read_pmd(self, number: int) -> int:
        """What the program reads from PMD ``number``."""

    @property
    def pmu(self) -> ProgramPmu:
        """Itself: it answers reads."""

    @property
    def consumer(self) -> Consumer:
        """The reader of the program's stream, which comes within ``running``."""

    @property
    def running(self) -> AbstractContextManager[object]:
        """The program runs within it."""

    def another(self, engine: Engine) -> ProgramPmu:
        """One for another program of the run, from here on; its machine begins empty."""


class Engine(Protocol):
    """A program that can be run once, to its end or until it is stopped."""

    @property
    def instruction_set(self) -> InstructionSet:
        """Whose instructions its blocks consist of."""

    @property
    def capabilities(self) -> Capabilities:
        """What it can do."""

    @property
    def table(self) -> BlockTable:
        """The blocks that its stream names."""

    @property
    def traced(self) -> bool:
        """Whether the addresses of memory accesses are in its stream."""

    @property
    def mapped(self) -> Sequence[Mapped]:
        """The files that the program has mapped executable so far; blocks name one by its place, from 1 on."""

    @property
    def threads(self) -> Sequence[tuple[int, int]]:
        """Its threads' turns so far, as far as they are known: with how many instructions retired one began, and the
        number of its thread."""

    @property
    def retired(self) -> int:
        """Instructions retired so far."""

    @property
    def ip(self) -> int:
        """The address of the instruction that is next."""

    def set_monitoring(self, up: bool, secure: bool) -> None:
        """PSR.up and PSR.sp as the program finds them: whether user monitors are on, and whether it may neither switch
        them nor read what they counted."""

    def run(self, consumer: Consumer, performance_data: PerformanceData | None = None) -> Ending | None:
        """Give the stream to a consumer; how the program ended, or None when it was stopped."""

    def stop(self) -> None:
        """Make `run` return soon; from any thread, or from a signal handler."""

    def listing(self, first: int, beyond: int) -> list[tuple[int, str]]:
        """Address and text of the instructions in a range of code."""

    def close(self) -> None:
        """Give back what it holds of the host."""


class Pattern(NamedTuple):
    """The opcode bits that a mnemonic stands for: types of slots, value and mask (ones are compared), and the mnemonics
    of other instructions that have these bits as well."""

    slots: str
    value: int
    mask: int
    others: tuple[str, ...]


class Instructions(Protocol):
    """What is known of an instruction set without running anything."""

    def pattern(self, name: str, slots: str, available: int) -> Pattern:
        """The bits of a mnemonic with all its completers, of those in ``available``; ``slots``: only in slots of these
        types (none: all). Raises UnknownNameError, and BadValueError when no such slot takes it."""

    def families(self, mnemonics: Iterable[str], name: str) -> str:
        """Mnemonics in few words: without completers unless these tell them from ``name``."""

    def listing(self, read: Callable[[int], bytes], first: int, beyond: int) -> list[tuple[int, str]]:
        """Address and text of the instructions in a range of code, of which ``read`` gives 16 bytes."""


MACHINES = {
    (EM_IA_64, False): InstructionSet.IA64,
    (EM_X86_64, False): InstructionSet.X86_64,
    (EM_386, False): InstructionSet.I386,
    (EM_PPC, True): InstructionSet.PPC,
    (EM_PPC64, True): InstructionSet.PPC64,
    (EM_PPC64, False): InstructionSet.PPC64LE,
}
"""Of ELF files, by number, and whether they are big-endian."""

QEMU = ("pfmon.engine.qemu.guest", "Guest")

ENGINES = {
    InstructionSet.IA64: ("pfmon.engine.ia64.guest", "Guest"),
    InstructionSet.X86_64: QEMU,
    InstructionSet.I386: QEMU,
    InstructionSet.PPC: QEMU,
    InstructionSet.PPC64: QEMU,
    InstructionSet.PPC64LE: QEMU,
}
"""By instruction set: module and class of the engine that runs its programs."""

INSTRUCTIONS = {InstructionSet.IA64: "pfmon.engine.ia64.encodings.patterns"}
"""By instruction set: the module that knows its instructions."""


def instruction_set_of(path: str) -> InstructionSet | None:
    """Whose instructions an ELF file consists of, by its header (System V ABI, e_machine); None: no ELF file, one of
    another machine, or one that cannot be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # a pipe has nothing to wait for
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
    """Whose instructions a program that was read consists of."""
    return MACHINES[program.image.elf.machine, program.image.elf.big_endian]


def emulators() -> dict[str, str]:
    """By the name of an instruction set: what executes its programs beside pfmon itself, with its version, or how to
    get it."""
    from pfmon.engine.qemu.emulator import PACKAGE, version  # only who asks needs them
    from pfmon.engine.qemu.targets import TARGETS

    return {
        target.name: version(one) or f"no qemu-{target.name}: install the package {PACKAGE}"
        for one, target in TARGETS.items()
    }


def start(wanted: Start) -> Engine:
    """The engine that runs a program, with the program loaded. Raises PfmonError."""
    module, name = ENGINES[instruction_set_in(wanted.program)]
    engine: Engine = getattr(import_module(module), name).start(wanted)
    return engine


class Recording(Engine, Protocol):
    """A recorded run. ``command`` is what was run; ``damage`` says where a damaged one ended."""

    command: list[str]
    damage: str

    def everything_mapped(self) -> Sequence[Mapped]:
        """The files that the program will have mapped executable."""

    def program(self, sysroot: str | None = None) -> Program:
        """The program that was recorded. PfmonError: it is not there any more, or was changed."""


def replay(path: str, *, partial: bool = False, addresses: bool = False) -> Recording:
    """The engine that gives a recording again. ``partial``: as far as it is whole; ``addresses``: with those of memory
    accesses. Raises PfmonError."""
    module = import_module("pfmon.engine.replay.engine")
    recording: Recording = module.Replay(path, partial=partial, addresses=addresses)
    return recording


def instructions(instruction_set: InstructionSet) -> Instructions:
    """What is known of an instruction set."""
    instructions: Instructions = import_module(INSTRUCTIONS[instruction_set])
    return instructions


def check_emulator(instruction_set: InstructionSet) -> None:
    """PfmonError: programs of this instruction set take an emulator, and it is not here."""
    from pfmon.engine.qemu.emulator import emulator  # as above
    from pfmon.engine.qemu.targets import TARGETS

    if instruction_set in TARGETS:
        emulator(instruction_set)
