"""A program on the IA-64 engine under Linux, with its child processes: the loop between processors and system calls."""

from __future__ import annotations

from _thread import get_ident
from collections.abc import Callable, Sequence
from typing import Self

from pfmon.engine.api import Capabilities, ExitReport, FollowRules, StartRequest
from pfmon.engine.guest_pmu import PerformanceData, ProgramPmu
from pfmon.engine.guest_settings import GuestSettings
from pfmon.engine.ia64._ia64 import BREAK, FAULT, PMD, AddressSpace, Processor
from pfmon.engine.ia64.execution import Execution
from pfmon.engine.ia64.task_following import TaskFollowing
from pfmon.engine.linux import kernel
from pfmon.engine.linux.abi.ia64.ia64_abi import IA64
from pfmon.engine.linux.files.host_files import allow_open_files
from pfmon.engine.linux.process import process_exit
from pfmon.engine.linux.process.engine_interface import Death, End
from pfmon.engine.linux.process.process import Process
from pfmon.engine.linux.process.scheduler import Deadlock
from pfmon.engine.linux.process.syscall_errors import Interrupted
from pfmon.engine.linux.signals.signal_table import SIGKILL
from pfmon.errors import LostError
from pfmon.program.guest_functions import GuestFunction
from pfmon.program.image import Program
from pfmon.program.mapped_files import MappedFile
from pfmon.stream._stream import BlockTable, Consumer, InstructionSet, Mark

SYSTEM_CALL_BREAK = 0x100000
FAULT_BREAK = 16
MAX_OPEN_FILES = 1 << 16
MIN_OPEN_FILES = 32
"""Host descriptors that pfmon requests, within its hard limit, and the number below which nothing can run."""


class Ia64Guest:
    """One program and its child processes. ``memory_limit``: bytes, of each process; ``processor``: value of cpuid
    (identity.py); ``slow``: every instruction is a block of its own; ``trace``: the stream has memory addresses;
    ``follow``: child processes and executed programs to count; ``on_mapped``, ``regions`` as in
    `api.StartRequest`."""

    def __init__(
        self,
        program: Program,
        arguments: Sequence[bytes],
        environment: Sequence[bytes],
        settings: GuestSettings,
        *,
        memory_limit: int,
        processor: str = "itanium2",
        slow: bool = False,
        trace: bool = False,
        on_notice: Callable[[str], None] = lambda _: None,
        follow: FollowRules | None = None,
        on_mapped: Callable[[], None] | None = None,
        regions: bool = False,
    ) -> None:
        """Map the program and set its registers. Raises PfmonError."""
        self._make = (processor, slow, trace, regions)
        self.first = Execution(AddressSpace(memory_limit), program, *self._make)
        self.memory, self.processor = self.first.memory, self.first.processor
        self.process = kernel.first_process(
            program, arguments, environment, settings, self.memory, self.processor, IA64, on_notice, host=self
        )
        self.first.set_process(self.process)
        self.process.processor = processor
        self.process.mappings.code.publish_code = self.processor.set_files
        self.process.mappings.code.on_mapped = on_mapped
        self.process.start()
        self._executions: dict[Process, Execution] = {self.process: self.first}
        self._followed = TaskFollowing(follow, self.process, self.first)
        self._stopping = False
        self._calling = 0
        self._closed = False
        self._ended: ExitReport | None = None
        self._pmu: ProgramPmu | None = None

    @classmethod
    def start(cls, wanted: StartRequest) -> Self:
        """The engine for a session (engine/api.py)."""
        allowed = allow_open_files(MAX_OPEN_FILES)
        if allowed < MIN_OPEN_FILES:
            raise LostError(f"the limit of open files (ulimit -n) is {allowed}; at least {MIN_OPEN_FILES} are wanted")
        return cls(
            wanted.program,
            wanted.arguments,
            wanted.environment,
            wanted.settings,
            memory_limit=wanted.memory_limit,
            processor=wanted.processor,
            slow=wanted.slow,
            trace=wanted.addresses,
            on_notice=wanted.on_notice,
            follow=wanted.follow,
            on_mapped=wanted.on_mapped,
            regions=wanted.regions,
        )

    instruction_set = InstructionSet.IA64
    capabilities = Capabilities(addresses=True, performance_data=True, follows=True, takes_turns=True, regions=True)

    @property
    def table(self) -> BlockTable:
        """The blocks that the stream of the first program names."""
        return self.first.table

    @property
    def traced(self) -> bool:
        """Whether the addresses of memory accesses are in its stream."""
        return self.first.traced

    @property
    def retired(self) -> int:
        """Instructions that the first program has retired so far."""
        return self.first.retired

    @property
    def ip(self) -> int:
        """Bundle address | slot of its next instruction."""
        return self.first.ip

    @property
    def mapped(self) -> Sequence[MappedFile]:
        """The files that it has mapped executable so far."""
        return self.first.mapped

    functions: Sequence[GuestFunction] = ()
    """No Python functions are marked."""

    @property
    def threads(self) -> Sequence[tuple[int, int]]:
        """The turns of its threads so far."""
        return self.first.threads

    def set_monitoring(self, on: bool, locked: bool) -> None:
        """PSR.up and PSR.sp as the program finds them."""
        self.first.set_monitoring(on, locked)

    def listing(self, first: int, beyond: int) -> list[tuple[int, str]]:
        """Address | slot and text of every instruction in a range of code."""
        return self.first.listing(first, beyond)

    def run(self, consumer: Consumer, performance_data: PerformanceData | None = None) -> ExitReport | None:
        """Run all processes to their end, or until ``stop`` (None); returns how the first process ended. Timers are
        exact to the instruction."""
        self.first.consumer, self.first.performance_data = consumer, performance_data
        self._pmu = self.process.pmu = performance_data.pmu if performance_data else None
        system = self.process.system
        try:
            while system.processes and not self._stopping:
                thread = system.schedule.next()
                process = thread.process
                execution = self._executions[process]
                before = execution.processor.um
                process.switch_to(thread)
                execution.notify_thread(thread.place, thread.number, before)
                if thread.wait is not None:
                    self._system_call(process, execution)
                elif thread.signals.interrupting():
                    kernel.pending_signals(process)
                else:
                    self._run_turn(process, execution)
        except Interrupted:
            pass
        except Deadlock as deadlock:
            self._kill_all(f"deadlock: {deadlock}")
        except BaseException:
            for execution in self._executions.values():
                execution.abandon()
            raise
        if self._stopping:
            for execution in self._executions.values():
                execution.finish(None)
            self._followed.first_ended(None)
            return None
        return self._ended

    def _run_turn(self, process: Process, execution: Execution) -> None:
        """Run the thread whose turn it is until an event needs handling."""
        processor, schedule = execution.processor, process.system.schedule
        limit = schedule.limit()
        look = process.pmu.next_poll() if process.pmu else None
        stops = [] if limit is None else [processor.retired + limit]
        processor.stop_when_retired(min(stops if look is None else [*stops, look], default=None))
        timer = process.next_timer()
        processor.stop_exactly_at(timer)
        why = processor.run(execution.consumer)
        if self._stopping:
            return
        if processor.unaligned[0]:
            execution.note_unaligned(process)
        if why == BREAK:
            self._break(process, execution)
        elif why == FAULT:
            execution.mark(Mark.FAULT, processor.fault)
            kernel.fault(process, processor.fault, processor.fault_address, processor.fault_code)
        elif why == PMD:
            data = execution.performance_data
            processor.answer_pmd(data.read_data(processor.fault_info) if data else 0)
        elif timer is not None and processor.retired >= timer:
            kernel.pending_signals(process)
        elif process.owners is not None:
            process.owners.rotate_if_due()

    def _break(self, process: Process, execution: Execution) -> None:
        processor = execution.processor
        immediate = processor.fault_info
        if immediate != SYSTEM_CALL_BREAK:
            execution.mark(Mark.FAULT, FAULT_BREAK)
            kernel.fault(process, FAULT_BREAK, processor.ip, immediate)
            return
        execution.mark(Mark.SYSTEM_CALL, processor.gr(15))
        execution.note_region_call(processor.gr(15))
        self._system_call(process, execution)

    def _system_call(self, process: Process, execution: Execution) -> None:
        self._calling = get_ident()
        before = execution.processor.um
        try:
            kernel.system_call(process)
        finally:
            self._calling = 0
            if execution.processor.um != before and self._executions.get(process) is execution:
                execution.mark(Mark.MODE, execution.processor.um)  # a return from a signal handler restores it

    def _kill_all(self, text: str) -> None:
        """Kill all processes: none can continue."""
        self.process.notice(text)
        for process in list(self.process.system.processes.values()):
            process_exit.finish(process, Death(SIGKILL, text))

    # Requests of the processes (linux/system.py, Host):

    def forked(self, parent: Process, child: Process, lend: bool) -> tuple[AddressSpace, Processor]:
        """Memory and processor of a child: its parent's memory copied, or (``lend``) shared until it is cleared."""
        memory = self._executions[parent].memory.fork(lend)
        execution = Execution(memory, parent.program, *self._make)
        execution.set_process(child)
        self._executions[child] = execution
        self._followed.forked(self._executions[parent], child, execution)
        return memory, execution.processor

    def executed(self, process: Process, program: Program, command: Sequence[str]) -> tuple[AddressSpace, Processor]:
        """Memory and processor for an executed program, in place of the process's own."""
        old = self._executions[process]
        execution = Execution(AddressSpace(old.memory.limit), program, *self._make)
        old.finish(None)
        self._followed.executed(process, command, old, execution)
        execution.set_process(process)
        self._executions[process] = execution
        return execution.memory, execution.processor

    def pmu_of(self, process: Process) -> ProgramPmu | None:
        """A PMU for a process without one, if the run lets programs program the PMU."""
        if self._pmu is None:
            return None
        execution = self._executions[process]
        pmu = self._pmu.pmu_of_program(execution)
        execution.set_pmu(pmu)
        return pmu

    def ended(self, process: Process, end: End) -> None:
        """A process has ended."""
        execution = self._executions.pop(process)
        if self._closed:
            return
        ending = execution.finish(end)
        if process is self.process:
            self._ended = ending
        if execution is self.first:
            self._followed.first_ended(ending)
        else:
            execution.close()

    def stop(self) -> None:
        """Make ``run`` return soon: from any thread, or from a signal handler, where it raises Interrupted during a
        system call (one of the host's may wait without watching ``wakeup``)."""
        self._stopping = True
        for execution in list(self._executions.values()):
            execution.processor.request_stop()
        self.process.system.wakeup.wake()
        if self._calling == get_ident():
            raise Interrupted

    def close(self) -> None:
        """Release the processes' host resources."""
        self._closed = True
        for process in list(self._executions):
            process_exit.close(process)
        process_exit.close(self.process)
        self._executions.clear()
        self._pmu = None
        self.first.abandon()
