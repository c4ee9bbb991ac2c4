"""The registry of engines: a program's instruction set, the host and the user decide which engine runs it."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from importlib import import_module
from typing import NamedTuple

from pfmon.debug_log import log
from pfmon.engine.api import Engine, Recording, StartRequest
from pfmon.engine.x86_64.processors import PROCESSORS, on_host
from pfmon.errors import PfmonError
from pfmon.isa.common.instruction_properties import Instructions, properties
from pfmon.program.elf_machine import EM_386, EM_IA_64, EM_PPC, EM_PPC64, EM_X86_64
from pfmon.program.image import Program
from pfmon.stream._stream import InstructionSet

EI_DATA, E_MACHINE, BIG_ENDIAN = 5, 18, 2
"""Offsets of byte order and machine in an ELF header; the value for big-endian (System V ABI, chapter 4)."""


MACHINES = {
    (EM_IA_64, False): InstructionSet.IA64,
    (EM_X86_64, False): InstructionSet.X86_64,
    (EM_386, False): InstructionSet.I386,
    (EM_PPC, True): InstructionSet.PPC,
    (EM_PPC64, True): InstructionSet.PPC64,
    (EM_PPC64, False): InstructionSet.PPC64LE,
}
"""Instruction sets of ELF files, by e_machine and big-endianness."""

NAMES = {
    InstructionSet.IA64: "IA-64",
    InstructionSet.X86_64: "x86-64",
    InstructionSet.I386: "i386",
    InstructionSet.PPC: "PowerPC",
    InstructionSet.PPC64: "PowerPC",
    InstructionSet.PPC64LE: "PowerPC",
}
"""Instruction sets as users know them."""


MUCH_ADDRESS_SPACE = 3 << 29
"""Bytes; a limit below this (ulimit -v) is too little for an engine that lacks "little address space"."""


class EngineRow(NamedTuple):
    """One engine: its name (``--engine``), its module and class, the instruction sets of its programs, and the hosts
    that it runs on, as uname names them (none: any); ``places``: its module has a function ``placed``, which gives a
    program the engine's load addresses; ``lacks``: what it does not do for any program, as options name it;
    ``processors``: the models that it has (none: any)."""

    name: str
    module: str
    factory: str
    programs: frozenset[InstructionSet]
    hosts: frozenset[str] = frozenset()
    places: bool = False
    lacks: frozenset[str] = frozenset()
    processors: Collection[str] = ()

    def serves(self, needs: Collection[str], cpu: str) -> bool:
        """Whether it does all that a run needs, on this model of processor ("": its own)."""
        return self.lacks.isdisjoint(needs) and (not self.processors or not cpu or cpu in self.processors)


ENGINES = (
    EngineRow("ia64", "pfmon.engine.ia64.ia64_guest", "Ia64Guest", frozenset({InstructionSet.IA64})),
    EngineRow(
        "x86_64",
        "pfmon.engine.x86_64.x86_64_guest",
        "X8664Guest",
        frozenset({InstructionSet.X86_64}),
        frozenset({"x86_64"}),
        places=True,
        lacks=frozenset({"little address space"}),
        processors=PROCESSORS,
    ),
    EngineRow(
        "qemu",
        "pfmon.engine.qemu.qemu_guest",
        "QemuGuest",
        frozenset(MACHINES.values()) - {InstructionSet.IA64},
        places=True,
    ),
)
"""The engines; of several that run a program the first one does which serves the run, unless another is asked for."""

SYSTEM = EngineRow("ia64", "pfmon.engine.ia64.system.system_guest", "SystemGuest", frozenset({InstructionSet.IA64}))
"""The engine of system images."""


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
    from pfmon.engine.qemu.qemu_binary import INSTALL, version
    from pfmon.engine.qemu.qemu_targets import TARGETS

    return {target.name: version(one) or f"no qemu-{target.name}: {INSTALL}" for one, target in TARGETS.items()}


def engine_names() -> list[str]:
    """The names of all engines."""
    return [row.name for row in ENGINES]


def able(instruction_set: InstructionSet) -> list[EngineRow]:
    """The engines that run an instruction set's programs on this host, the usual one first."""
    host = os.uname().machine
    return [row for row in ENGINES if instruction_set in row.programs and (not row.hosts or host in row.hosts)]


def chosen(instruction_set: InstructionSet, name: str = "", needs: Collection[str] = (), cpu: str = "") -> EngineRow:
    """The engine of an instruction set's programs on this host: the one of this name, or (empty) the first one that
    serves the run. ``needs``: what the run needs (EngineRow.lacks); ``cpu``: its model of processor. PfmonError: it
    does not run them."""
    rows = able(instruction_set)
    found = next((row for row in rows if name == row.name or (not name and row.serves(needs, cpu))), None)
    if found is not None:
        return found
    check_name(name)
    would = " or ".join(f"--engine={row.name}" for row in rows)
    raise PfmonError(
        f"--engine={name} runs no {NAMES[instruction_set]} programs on this host: "
        f"{f'give {would}' if rows else 'no engine does'}"
    ).about("--engine")


def processor_on_host(cpu: str, mask: bool) -> tuple[str, Sequence[str]]:
    """The model of processor that an engine with ``processors`` gives a program (x86_64/processors.py, on_host)."""
    return on_host(cpu, mask)


def check_name(name: str) -> None:
    """PfmonError unless an engine has this name, or none is named."""
    if name and name not in engine_names():
        known = ", ".join(engine_names())
        raise PfmonError(f"--engine={name}: no engine has this name; there are: {known}").about("--engine")


def placed(program: Program, name: str) -> Program:
    """The program at the load addresses of the engine of this name, on whatever host (empty: of the usual one)."""
    row = next((row for row in ENGINES if row.name == name), None)
    if row is None or not row.places or instruction_set_in(program) not in row.programs:
        return program
    at_its_addresses: Program = import_module(row.module).placed(program)
    return at_its_addresses


def start(wanted: StartRequest) -> Engine:
    """The engine that runs a program, or a system image, with the program loaded. Raises PfmonError."""
    instruction_set = instruction_set_in(wanted.program)
    row = SYSTEM if wanted.system else chosen(instruction_set, wanted.engine)
    log("engine", "%s runs %s, a program for %s", row.factory, wanted.program.image.path, instruction_set.name)
    engine: Engine = getattr(import_module(row.module), row.factory).start(wanted)
    return engine


def replay(path: str, *, partial: bool = False, addresses: bool = False, listing: bool = False) -> Recording:
    """The engine that replays a recording. ``partial``: up to the first damage; ``addresses``: with those of memory
    accesses; ``listing``: code is listed after the run. Raises PfmonError."""
    log("engine", "ReplayEngine reads the recording %s", path)
    module = import_module("pfmon.engine.replay.replay_engine")
    recording: Recording = module.ReplayEngine(path, partial=partial, addresses=addresses, listing=listing)
    return recording


def instructions(instruction_set: InstructionSet) -> Instructions:
    """The properties of an instruction set."""
    return properties(instruction_set)


def check_emulator(instruction_set: InstructionSet) -> None:
    """PfmonError when the usual engine of this instruction set's programs is an emulator that is not installed."""
    from pfmon.engine.qemu.qemu_binary import emulator
    from pfmon.engine.qemu.qemu_targets import TARGETS

    if instruction_set in TARGETS and chosen(instruction_set).name == "qemu":
        emulator(instruction_set)
