"""A program that qemu-user executes, with a plugin that reports retired blocks (docs/dev/engines.md)."""

from __future__ import annotations

import os
import re
import signal
from functools import partial
from typing import Self

from pfmon.debug_log import log
from pfmon.engine.api import Capabilities, ExitReport, StartRequest
from pfmon.engine.guest_pmu import PerformanceData
from pfmon.engine.qemu._qemu import PluginReader
from pfmon.engine.qemu.guest_process import GuestProcess
from pfmon.engine.qemu.process_guest import ProcessGuest
from pfmon.engine.qemu.qemu_binary import (
    QUERIES,
    VERSIONS,
    check_cpu,
    check_plugins,
    cpu_option,
    emulator,
    find,
    has_scoreboards,
    one_by_one,
    plugin_path,
    version,
)
from pfmon.engine.qemu.reader.guest_stream import NEEDS, QEMU_HAS_NO_ROOM, reading, trouble
from pfmon.engine.registry import instruction_set_in
from pfmon.engine.tasks.running_task import TaskEngine
from pfmon.engine.tasks.tasks import words_of
from pfmon.errors import LostError, PfmonError
from pfmon.program.image import QEMU_BASE_32, QEMU_STACK, Program
from pfmon.stream._stream import Consumer, InstructionSet

ALL = "max"
"""qemu's processor model with every feature that qemu has."""


UNCAUGHT = re.compile(rb"uncaught target signal (\d+)")
"""qemu's message when a signal kills the program."""

PAGE = 4096
PROGRAM_BASE_32 = 0x40_0000
INTERPRETER_BASE_32 = QEMU_BASE_32 + QEMU_STACK
PROGRAM_BASES = {
    InstructionSet.X86_64: 0x5555_5555_6000,
    InstructionSet.I386: PROGRAM_BASE_32,
    InstructionSet.PPC64: 0x1_0000_0000,
    InstructionSet.PPC64LE: 0x1_0000_0000,
    InstructionSet.PPC: PROGRAM_BASE_32,
}
"""Addresses of position-independent programs under qemu 9.0 and newer (ELF_ET_DYN_BASE of linux-user/*/target_mman.h in
qemu 10.0)."""


def placed(program: Program) -> Program:
    """The program where the emulator that is here loads it: elsewhere from qemu 9.0 on, if it is position-independent.
    A 64-bit interpreter is then where the host puts it, which is not known before."""
    image, interpreter = program.image, program.interpreter
    path = find(instruction_set_in(program))
    if path is None or not has_scoreboards(path):
        return program
    base = PROGRAM_BASES[instruction_set_in(program)]
    if image.elf.position_independent:
        image = image._replace(bias=base - (min(s.address for s in image.elf.segments) & -PAGE))
    if interpreter is not None and interpreter.elf.position_independent and base == PROGRAM_BASE_32:
        lowest = min(s.address for s in interpreter.elf.segments) & -PAGE
        interpreter = interpreter._replace(bias=INTERPRETER_BASE_32 - lowest)
    return Program(image, interpreter)


class QemuGuest(ProcessGuest):
    """One host process in which qemu executes the program."""

    by = "qemu"
    capabilities = Capabilities(addresses=True, performance_data=False, apart=True, follows=True)

    def __init__(self, wanted: StartRequest) -> None:
        """Prepare the run; the process starts with `run`. Raises PfmonError."""
        if wanted.settings.confined:
            raise PfmonError("--confine: under qemu a program reaches all of the host's files")
        instruction_set = instruction_set_in(wanted.program)
        self._emulator = emulator(instruction_set)
        if wanted.settings.cpu.partition(",")[0] in QUERIES:
            check_cpu(self._emulator, wanted.settings.cpu)
        stream = reading(
            instruction_set,
            wanted.addresses,
            totals=wanted.totals and not wanted.addresses and wanted.follow is None,
            on_mapped=wanted.on_mapped,
            followed=wanted.follow is not None,
        )
        super().__init__(wanted, instruction_set, stream)
        if wanted.follow:
            self._follow(self._task_engine())

    @classmethod
    def start(cls, wanted: StartRequest) -> Self:
        """The engine for a session (engine/api.py)."""
        return cls(wanted)

    def _task_engine(self) -> TaskEngine:
        return TaskEngine(
            self.instruction_set,
            self.traced,
            partial(reading, followed=True, area_bytes=self._reader.area_bytes),
            _command,
            trouble,
            _killed_by,
        )

    def run(self, consumer: Consumer, performance_data: PerformanceData | None = None) -> ExitReport | None:
        """Run to the program's end, or until ``stop`` was called (None)."""
        if self._stopping:
            return None
        process = self._spawn()
        self._read(consumer, process)
        ending = self._end(consumer)
        self._end_the_rest(process)
        return ending

    def _finish(self, consumer: Consumer) -> ExitReport | None:
        ending = super()._finish(consumer)
        if self._status == -signal.SIGILL and self._wanted.settings.cpu not in ("", ALL):
            self._wanted.on_notice(
                f"its processor is qemu's {self._wanted.settings.cpu}: instructions of later ones are illegal on it; "
                f"--set qemu.cpu={ALL} enables all that qemu executes"
            )
        return ending

    def _spawn(self) -> GuestProcess:
        wanted = self._wanted
        files: tuple[int, ...] = ()
        plugin = plugin_path()
        if self._tasks:
            name, what = self._tasks.start()
            plugin += f",reader={name},follow={what}"
        else:
            files = (self._reader.ring_file, self._reader.area_file)
            plugin += f",ring={files[0]},area={files[1]}"
        command: list[str | bytes] = [
            self._emulator,
            "-plugin",
            plugin,
            "-0",
            wanted.arguments[0],
            "-r",
            wanted.settings.release,
        ]
        command += ["-seed", str(wanted.settings.seed), "-s", str(wanted.settings.stack_size)]
        if wanted.settings.cpu:
            command += ["-cpu", cpu_option(wanted.settings.cpu)]
        if wanted.settings.sysroot is not None:
            command += ["-L", wanted.settings.sysroot]
        if wanted.slow:
            command.append(one_by_one(self._emulator))
        for entry in filter(_is_for_the_linker, wanted.environment):
            command += ["-E", entry]
        command += ["--", wanted.program.image.path, *wanted.arguments[1:]]
        standard = wanted.settings.standard_files
        others = [entry for entry in wanted.environment if not _is_for_the_linker(entry)]
        if not has_scoreboards(self._emulator):
            others.reverse()  # qemu 7 and 8 reverse their order
        environment = dict(entry.partition(b"=")[::2] for entry in others)
        log("engine", "%s executes it, with the plugin %s", self._emulator, plugin_path())
        process = GuestProcess(command, standard, environment, files, wanted.settings.detach_children)
        self._process = process
        if self._stopping:
            self.stop()
        return process

    def _check(self) -> None:
        """PfmonError: the counts are not those of the program. Also prints other messages."""
        path = self._wanted.program.image.path
        if why := trouble(self._reader):
            raise LostError(f"{path}: cannot be counted: {why}")
        if self._stopping:
            return
        if len(self.table) == 0:
            text = _in_a_line(self._reader.message)
            if QEMU_HAS_NO_ROOM in text:
                raise LostError(f"{path}: qemu has no room: {NEEDS} (ulimit -v){text}")
            found = version(self.instruction_set) or "qemu"
            check_plugins(self._emulator, found)
            check_cpu(self._emulator, self._wanted.settings.cpu)
            what = f"{found} did not run it with pfmon's plugin, which is for {VERSIONS}"
            raise PfmonError(f"{path}: {what}{text}")
        if self._reader.executing:
            self._tell_executed()
        elif self._status >= 0 and self._reader.exit_status is None:
            raise LostError(
                f"{path}: cannot be counted: qemu ended with exit status {self._status} while the program ran: that "
                f"has written into its memory, or qemu failed{_in_a_line(self._reader.message)}"
            )


def _command(pid: int) -> list[str]:
    """The program that qemu executes in a process, with its arguments. OSError, ValueError: they cannot be read."""
    words = words_of(pid)
    return [os.fsdecode(word) for word in words[words.index(b"--") + 1 :]]


def _killed_by(reader: PluginReader) -> int:
    """The signal that killed a task, by qemu's message; SIGKILL leaves none."""
    said = UNCAUGHT.search(reader.message)
    return int(said[1]) if said else signal.SIGKILL


def _is_for_the_linker(entry: bytes) -> bool:
    """Whether a variable of the environment is for the program's dynamic linker, not qemu's own. qemu splits values at
    commas."""
    return entry.startswith(b"LD_") and b"," not in entry


def _in_a_line(message: bytes) -> str:
    """qemu's message, to end a line with."""
    text = os.fsdecode(message).strip().replace("\n", "; ")
    return f": {text}" if text else ""
