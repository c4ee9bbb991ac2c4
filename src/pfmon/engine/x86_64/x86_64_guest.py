"""An x86-64 program that this host's processor executes, translated block by block, with the recording in line
(docs/dev/engines.md)."""

from __future__ import annotations

import os
import platform
import signal
import sys
import time
from functools import partial
from typing import NamedTuple, Self

from pfmon.debug_log import log
from pfmon.engine.api import Capabilities, ExecutedError, ExitReport, StartRequest
from pfmon.engine.guest_pmu import PerformanceData, ProgramPmu
from pfmon.engine.qemu._qemu import PluginReader
from pfmon.engine.qemu.guest_process import GuestProcess
from pfmon.engine.qemu.process_guest import ProcessGuest, ProcessWatch
from pfmon.engine.qemu.qemu_binary import INSTALL, find
from pfmon.engine.qemu.reader.guest_stream import reading
from pfmon.engine.tasks.running_task import TaskEngine
from pfmon.engine.tasks.tasks import words_of
from pfmon.engine.x86_64.monitored_tasks import MonitoredTasks
from pfmon.engine.x86_64.pmu_of_program import PmuOfProgram
from pfmon.engine.x86_64.processors import DEFAULT, PROCESSORS, on_host
from pfmon.engine.x86_64.schedule_file import ScheduleFile
from pfmon.errors import LostError, PfmonError, UnsupportedError
from pfmon.program.image import Program
from pfmon.stream._stream import Consumer, InstructionSet

GUEST_PIE = 0x1000_0000
"""Address of a position-independent program (memory_map.h)."""
GUEST_LOW_END = 0x6000_0000
"""End of the files' addresses; the interpreter ends there."""
AREA_BYTES = 0x0FFF_E000
"""Largest area of announcements."""
PAGE = 4096
BEGIN_SECONDS, BEGIN_POLL = 60.0, 0.0005
"""Seconds in which a process goes on with another reader, and from one look to the next."""
MOST_INSTRUCTIONS = 128
"""Instructions of a block (runtime.h)."""
HOST_CLOCK, HOST_RANDOM, HOST_IDS, CONFINED, HAS_NETWORK, COUNTS_EXECUTED, HAS_PMU = 1, 2, 4, 8, 16, 64, 128
HAS_REGIONS, REGIONS_ALONE = 256, 512
"""Flags of what the program sees of the host (world/world.h)."""
EXECUTED, VARIABLES = 15, 39
"""Places of the program's path and of the number of variables among the arguments (runtime/arguments.h)."""
OF_EXECUTED = ("0", "0", "0", "0", "", "")
"""Arguments from ELAPSED to INTERPRETER_FILE (runtime/arguments.h): the runtime sets them for an executed program."""
NO_PMU = ("0", "0", "0", "0", "")
"""Arguments from PMU_SIGNATURE to PMU_FILES."""

PROCESSOR_RESULTS = (
    *("rcpps", "rcpss", "rsqrtps", "rsqrtss", "vrcp14", "vrsqrt14", "f2xm1", "fyl2x", "fptan", "fpatan", "fyl2xp1"),
    *("fsincos", "fsin", "fcos"),
)
"""Instructions whose result the host's processor decides, by the bit that says that one was executed
(processor_results.c)."""

TROUBLES = {
    1: "it has more than 256 threads at a time",
    2: "it has more code than there is room for: 256 MB of descriptions, and less where memory is limited "
    "(ulimit -v, -f)",
    3: "memory ran out: this engine needs 1.5 GB of address space (ulimit -v)",
    4: "it has written into pfmon's memory",
    8: "the kernel does not keep it below --sysroot (--confine)",
}
"""Why the runtime gave up (layout.h, enum trouble)."""
DEADLOCK = 5
"""Why it ended the program: no thread can run any more."""
UNSUPPORTED = {
    6: "it executes instructions or maps memory as the engine x86_64 does not",
    7: "the engine x86_64 cannot load it at its addresses",
}
"""Why the runtime gave up what qemu executes."""


def runtime_path() -> str:
    """The program in which translated code runs."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "x86_64-runtime")


def check_host(cpu: str) -> None:
    """PfmonError: this host does not run programs for that processor."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        raise PfmonError("--engine=x86_64 runs on x86-64 hosts under Linux; give --engine=qemu")
    if not os.path.isfile(runtime_path()):
        raise PfmonError(f"pfmon was built without its x86_64 engine: there is no {runtime_path()}; give --engine=qemu")
    on_host(cpu, mask=False)


def placed(program: Program) -> Program:
    """The program with this engine's load addresses."""
    image, interpreter = program.image, program.interpreter
    if image.elf.position_independent:
        image = image._replace(bias=GUEST_PIE - (min(s.address for s in image.elf.segments) & -PAGE))
    if interpreter is not None and interpreter.elf.position_independent:
        lowest = min(s.address for s in interpreter.elf.segments) & -PAGE
        end = max(s.address + s.memory_size for s in interpreter.elf.segments) + PAGE - 1 & -PAGE
        interpreter = interpreter._replace(bias=GUEST_LOW_END - end)
        assert interpreter.bias + lowest > 0
    return Program(image, interpreter)


class WaitingGuest(NamedTuple):
    """A process that waits for another engine, and the reader of its stream so far."""

    process: GuestProcess
    watch: ProcessWatch
    reader: PluginReader
    schedule: ScheduleFile

    def close(self) -> None:
        """Kill the process."""
        self.process.close()
        self.schedule.close()


class X8664Guest(ProcessGuest):
    """One process in which the runtime executes the program."""

    by = "--engine=x86_64"
    capabilities = Capabilities(
        addresses=True, performance_data=True, apart=True, follows=True, takes_turns=True, regions=True
    )

    def __init__(self, wanted: StartRequest) -> None:
        """Prepare the run; the process starts with `run`. Raises PfmonError."""
        if wanted.settings.confined:
            from pfmon.engine.x86_64.confinement import check_confinement

            assert wanted.settings.sysroot is not None
            check_confinement(wanted.settings.sysroot, runtime_path())
            if wanted.follow:
                raise PfmonError(
                    "--confine: what a confined program starts is not counted; --follow-... cannot be given"
                )
        self._cpu = wanted.settings.cpu or DEFAULT
        check_host(self._cpu)
        stream = reading(
            InstructionSet.X86_64,
            wanted.addresses,
            totals=wanted.totals and not wanted.addresses and wanted.follow is None,
            on_mapped=wanted.on_mapped,
            followed=wanted.follow is not None,
            most_area_bytes=AREA_BYTES,
            in_line=True,
        )
        self._pmu: PmuOfProgram | None = None
        super().__init__(wanted._replace(program=placed(wanted.program)), InstructionSet.X86_64, stream)
        waiting = wanted.waiting
        self._schedule: ScheduleFile | None = waiting.schedule if isinstance(waiting, WaitingGuest) else ScheduleFile()

    def _task_engine(self) -> TaskEngine:
        return TaskEngine(
            self.instruction_set,
            self.traced,
            partial(reading, followed=True, area_bytes=self._reader.area_bytes, in_line=True),
            _command,
            _trouble,
            lambda reader: reader.killed_by or signal.SIGKILL,
        )

    @classmethod
    def start(cls, wanted: StartRequest) -> Self:
        """The engine for a session (engine/api.py)."""
        return cls(wanted)

    def run(self, consumer: Consumer, performance_data: PerformanceData | None = None) -> ExitReport | None:
        """Run to the program's end, or until ``stop`` was called (None)."""
        if self._stopping:
            return None
        if performance_data and performance_data.pmu:
            self._give_pmu(performance_data.pmu)
        if self._wanted.follow:
            self._follow(self._task_engine())
        process = self._go_on() if self._wanted.waiting else self._spawn()
        self._read(consumer, process)
        if self._is_waiting:
            self._leave(consumer)
        ending = self._end(consumer)
        if self._schedule and (deadlock := self._schedule.deadlock):
            self._wanted.on_notice(f"deadlock: {deadlock}")
        self._end_the_rest(process)
        return ending

    def _give_pmu(self, pmu: ProgramPmu) -> None:
        """Give the program a PMU, and one to each process that is followed."""
        self._pmu = PmuOfProgram(pmu, self, self._wanted, lambda: self._reader.is_read)
        self._reader.on_request = self._pmu.events.answer
        if self._wanted.follow:
            tasks = MonitoredTasks(self._pmu.run, self._pmu.events, self._wanted.on_notice)
            self._wanted = self._wanted._replace(follow=tasks.rules(self._wanted.follow))

    def _is_counted(self, ended: bool) -> None:
        """Its events have all counts."""
        if self._pmu and ended:
            self._pmu.events.leave(True)

    def close(self) -> None:
        """End the guest if it still runs, and what it has started."""
        super().close()
        if self._pmu:
            self._pmu.close()
        if self._schedule:
            self._schedule.close()

    def _go_on(self) -> GuestProcess:
        """Take over the process that executes the program."""
        waiting = self._wanted.waiting
        assert isinstance(waiting, WaitingGuest)
        self._process, self._watch = waiting.process, waiting.watch
        if self._stopping:
            self.stop()
        waiting.reader.hand_over(self._reader, self._wanted.python or (0, 0, 0))
        self._watch.tell(self._died)
        self._wait_for_begin()
        return waiting.process

    def _wait_for_begin(self) -> None:
        """Wait until the process has taken over the reader's files. LostError: it does not, since it only seemed to
        wait."""
        end = time.monotonic() + BEGIN_SECONDS
        while not (self._reader.has_begun or self._stopping):
            if time.monotonic() > end:
                self._kill()
                raise LostError(f"{self._wanted.program.image.path}: cannot be counted: {TROUBLES[4]}")
            time.sleep(BEGIN_POLL)

    def _leave(self, consumer: Consumer) -> None:
        """Give the consumer the rest, and leave the process to another engine: raises ExecutedError."""
        assert self._process and self._watch and self._schedule
        path = os.fsdecode(self._reader.message)
        self._reader.finish(consumer, False, 0, None)
        waiting = WaitingGuest(self._process, self._watch, self._reader, self._schedule)
        self._process = self._schedule = None
        raise ExecutedError(path, self._reader.retired, self._reader.forks, waiting)

    def _spawn(self) -> GuestProcess:
        wanted, settings = self._wanted, self._wanted.settings
        image, interpreter = wanted.program.image, wanted.program.interpreter
        flags = HOST_CLOCK * settings.host_clock | HOST_RANDOM * settings.host_random | HOST_IDS * settings.host_ids
        flags |= CONFINED * settings.confined | HAS_NETWORK * settings.net | COUNTS_EXECUTED * wanted.anew
        flags |= HAS_PMU * (self._pmu is not None) | HAS_REGIONS * wanted.regions
        flags |= REGIONS_ALONE * wanted.regions_alone
        files = () if self._tasks else (self._reader.ring_file, self._reader.area_file)
        name, following = self._tasks.start() if self._tasks else ("", 0)
        numbers = (
            *(files or (0, 0)),
            settings.seed,
            settings.stack_size,
            1 if wanted.slow else MOST_INSTRUCTIONS,
            flags,
        )
        command: list[str | bytes] = [
            runtime_path(),
            *map(str, numbers),
            *(str(settings.epoch), str(settings.boot), settings.release, self._cpu),
            *(str(image.bias), str(interpreter.bias if interpreter else 0)),
            interpreter.path if interpreter else "",
            os.path.realpath(image.path),
            image.path,
            os.path.realpath(settings.sysroot) if settings.sysroot else "",
            *OF_EXECUTED,
            *("0", "0"),
            *map(str, wanted.python or (0, 0, 0)),
            *(name, str(following)),
            *(self._schedule.place if self._schedule else "", ""),
            *(str(settings.quantum), str(settings.schedule_seed)),
            *(self._pmu.arguments if self._pmu else NO_PMU),
            str(len(wanted.environment)),
            *wanted.environment,
            *wanted.arguments,
        ]
        log("engine", "%s executes it", runtime_path())
        process = GuestProcess(command, settings.standard_files, {}, files, settings.detach_children)
        self._process = process
        if self._stopping:
            self.stop()
        return process

    def _check(self) -> None:
        """PfmonError: the counts are not those of the program. Also tells what was not counted."""
        path = self._wanted.program.image.path
        if not self._reader.damaged and self._reader.trouble == DEADLOCK:
            self._wanted.on_notice(f"deadlock: {os.fsdecode(self._reader.message)}")
            self._tell_children()
            return
        if not self._reader.damaged and self._reader.trouble in UNSUPPORTED:
            why = UNSUPPORTED[self._reader.trouble]
            instead = "--confine needs it" if self._wanted.settings.confined else _instead()
            if self._wanted.waiting:
                instead = _instead("--engine=qemu --follow-all")  # else qemu counts the named program alone
            text = f"{path}: cannot be counted by this engine: {why}: {instead}"
            raise UnsupportedError(text, why, self._reader.outside)
        if why := _trouble(self._reader):
            raise LostError(f"{path}: cannot be counted: {why}")
        if self._stopping:
            return
        if self._status == -signal.SIGILL:
            self._wanted.on_notice(
                f"the program sees the processor {self._cpu}; --set=qemu.cpu={PROCESSORS[0]} shows it the one with most"
                " features, and --engine=qemu has others"
            )
        self._tell_processor_results()
        self._tell_children()
        if self._reader.executing:
            self._tell_executed()
        elif self._status >= 0 and self._reader.exit_status is None:
            raise LostError(f"{path}: cannot be counted: {TROUBLES[4]}, or this host cannot run it")

    def _tell_children(self) -> None:
        """Say what was not counted."""
        if self._wanted.follow and self._wanted.follow.forks:
            return
        if children := self._reader.forks:
            processes = "process that it started is" if children == 1 else "processes that it started are"
            self._wanted.on_notice(f"{children} {processes} not counted; --follow-all counts what a program starts")

    def _tell_processor_results(self) -> None:
        """Name the executed instructions whose results may differ on another host."""
        bits = self._reader.processor_results
        names = [name for bit, name in enumerate(PROCESSOR_RESULTS) if bits >> bit & 1]
        if names:
            results = "result" if len(names) == 1 else "results"
            self._wanted.on_detail(f"the program executed {', '.join(names)}, whose {results} the processor decides")


def _trouble(reader: PluginReader) -> str:
    """Why a task's stream is not complete; empty: it is."""
    if reader.damaged:
        return TROUBLES[4]
    if why := UNSUPPORTED.get(reader.trouble):
        return f"{why}: {_instead()}"
    return TROUBLES.get(reader.trouble, TROUBLES[4]) if reader.trouble else ""


def _command(pid: int) -> list[str]:
    """The program that the runtime executes in a process, with its arguments. OSError, ValueError, IndexError: they
    cannot be read."""
    words = words_of(pid)
    arguments = words[VARIABLES + 1 + int(words[VARIABLES]) :]
    return [os.fsdecode(word) for word in (words[EXECUTED], *arguments[1:])]


def _instead(options: str = "--engine=qemu") -> str:
    """The options for a program that this engine does not run, or how to install the emulator."""
    if find(InstructionSet.X86_64):
        return f"give {options}"
    return f"qemu-x86_64 would run it, but is not installed: {INSTALL}"
