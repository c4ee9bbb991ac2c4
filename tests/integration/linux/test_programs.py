"""Programs on the engine with this Linux: examples, signals of every kind, handlers at any instruction."""

import os
import random
import shutil
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from grids import diagonal, each

from pfmon.engine.guest_settings import GuestSettings
from pfmon.engine.ia64._ia64 import BREAK, FAULT, AddressSpace, Processor
from pfmon.engine.linux import kernel
from pfmon.engine.linux.abi.ia64.ia64_abi import IA64
from pfmon.engine.linux.process.engine_interface import End
from pfmon.engine.linux.signals.signals import Action, Signal, kill_info
from pfmon.program import image
from pfmon.stream._stream import Consumer

EXAMPLES = Path(__file__).parents[3] / "examples"
PROGRAMS = Path(__file__).parents[2] / "data" / "linux"
SYSTEM_CALL_BREAK, FAULT_BREAK = 0x100000, 16
HANDLER = 0x2000000400000000


class Machine:
    """A process on a processor, and the loop that runs it."""

    def __init__(self, path: Path, *arguments: str, settings: GuestSettings | None = None, max_block: int = 96) -> None:
        self.memory = AddressSpace(1 << 30)
        self.processor = Processor(self.memory, max_block=max_block)
        words = [os.fsencode(path), *map(os.fsencode, arguments)]
        settings = settings or GuestSettings()
        program = image.load(str(path), settings.sysroot)
        self.process = kernel.first_process(program, words, [], settings, self.memory, self.processor, IA64)
        self.process.start()
        self.consumer = Consumer()

    def react(self, why: int) -> End | None:
        """What the run loop does when the processor stops."""
        r = self.processor
        if why == BREAK and r.fault_info == SYSTEM_CALL_BREAK:
            end = kernel.system_call(self.process)
            while end is None and self.process.thread.wait is not None:
                self.process.system.schedule.next()
                end = kernel.system_call(self.process)
            return end
        if why == BREAK:
            return kernel.fault(self.process, FAULT_BREAK, 0, r.fault_info)
        if why == FAULT:
            return kernel.fault(self.process, r.fault, r.fault_address, r.fault_code)
        return None

    def run(self, at_step: Callable[["Machine"], None] | None = None) -> End:
        """Run to the end; block by block while a timer runs, or if at_step wants to see every block."""
        while True:
            timer = self.process.next_timer()
            stepping = timer is not None or at_step is not None
            end = self.react(self.processor.step(self.consumer) if stepping else self.processor.run(self.consumer))
            if end is None and at_step is not None:
                at_step(self)
            if end is None and timer is not None and self.processor.retired >= timer:
                end = kernel.pending_signals(self.process)
            if end is not None:
                return end


def expected() -> list[tuple[str, int, str]]:
    lines = (EXAMPLES / "expected" / "ia64.txt").read_text().splitlines()
    return [(name, int(status), text) for name, status, text in (line.split("|", 2) for line in lines)]


@each(("name", "status", "text"), expected())
def test_example_prints_and_exits_as_expected(
    name: str, status: int, text: str, capfd: pytest.CaptureFixture[str]
) -> None:
    end = Machine(EXAMPLES / "ia64" / name).run()
    assert end.status == status
    assert capfd.readouterr().out == (text + "\n" if text else "")


@each(
    ("letter", "status"),
    [
        ("f", 20),  # the handler skipped the load and every register was as before
        ("o", 139),  # the register backing store overflowed
        ("a", 21),  # the same with a handler on an alternate stack
        ("t", 22),  # interval timer, sigsuspend
        ("m", 139),  # the memory stack overflowed
        ("x", 136),  # break 1
    ],
)
def test_program_with_signals_ends_as_it_says(letter: str, status: int) -> None:
    assert Machine(PROGRAMS / "signals", letter).run().status == status


def test_handler_that_faults_itself_ends_when_its_stack_is_used_up() -> None:
    machine = Machine(PROGRAMS / "signals", "n", settings=GuestSettings(stack_size=1 << 20))
    end = machine.run()
    assert end.status == 139
    assert "no stack" in end.text


def test_sleeping_takes_guest_time_but_no_real_time() -> None:
    machine = Machine(PROGRAMS / "signals", "t")
    begun = time.monotonic()
    machine.run()
    assert time.monotonic() - begun < 1.5
    assert machine.process.system.slept == pytest.approx(2_000_000_000, abs=1000)
    # the second expiry is 200 microseconds, that is 200000 instructions, after the first
    assert 200_000 <= machine.processor.retired < 201_000


def test_position_independent_program_runs(capfd: pytest.CaptureFixture[str]) -> None:
    assert Machine(PROGRAMS / "position_independent").run().status == 5
    assert capfd.readouterr().out == "program\n"


def test_dynamic_program_starts_in_its_interpreter(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "lib").mkdir()
    shutil.copy(PROGRAMS / "interpreter", tmp_path / "lib")
    machine = Machine(PROGRAMS / "dynamic", settings=GuestSettings(sysroot=str(tmp_path)))
    assert machine.run().status == 5
    assert capfd.readouterr().out == "interpreter\nprogram\n"


def interrupt(machine: Machine, at: set[int], flags: int = 0) -> Callable[[Machine], None]:
    """Send signal 10 at certain steps, with the handler of clobber.S."""
    code = (PROGRAMS / "clobber").read_bytes()
    machine.memory.map(HANDLER, 1 << 14, 7)
    machine.memory.write(HANDLER, code)
    machine.memory.write(HANDLER + (1 << 14) - 16, struct.pack("<2Q", HANDLER, 0))
    machine.process.signals.set_action(10, Action(HANDLER + (1 << 14) - 16, flags, 0))
    steps = 0

    def at_step(machine: Machine) -> None:
        nonlocal steps
        steps += 1
        if steps in at:
            machine.process.send(Signal(10, kill_info(10, 0, 0, 0)))
            assert kernel.pending_signals(machine.process) is None

    return at_step


@pytest.mark.slow
@diagonal
@each("name", ["epic", "queens", "nbody", "sort"])
@each("max_block", [1, 96])
@each("alternate", [False, True])
def test_handlers_at_any_instruction_change_nothing(
    name: str, max_block: int, alternate: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    small = {"epic": [], "queens": ["6"], "nbody": ["25"], "sort": ["60"]}[name]
    plain = Machine(EXAMPLES / "ia64" / name, *small)
    status = plain.run().status
    text = capfd.readouterr().out
    machine = Machine(EXAMPLES / "ia64" / name, *small, max_block=max_block)
    rng = random.Random(f"{name} {max_block} {alternate}")
    at = {rng.randrange(20_000 if max_block == 1 else 3_000) for _ in range(120)}
    if alternate:
        machine.memory.map(HANDLER + (1 << 20), 1 << 20, 3)
        machine.process.signals.stack = (HANDLER + (1 << 20), 0, 1 << 20)
    end = machine.run(interrupt(machine, at, 0x08000000 if alternate else 0))
    assert end.status == status
    assert capfd.readouterr().out == text
    assert machine.processor.retired > plain.processor.retired + 1000


def test_two_runs_are_the_same_to_the_last_instruction(capfd: pytest.CaptureFixture[str]) -> None:
    runs = [Machine(EXAMPLES / "ia64" / "hashmap", "100") for _ in range(2)]
    assert runs[0].run() == runs[1].run()
    assert runs[0].processor.retired == runs[1].processor.retired


def test_starting_takes_less_than_a_tenth_of_a_second() -> None:
    """Loading, not counting the import of the engine."""
    code = (
        "import sys,time; from pfmon.program import image;"
        "from pfmon.engine.ia64._ia64 import AddressSpace;"
        "from pfmon.engine.linux.process import loader; from pfmon.engine.guest_settings import GuestSettings;"
        "from pfmon.engine.linux.abi.ia64.ia64_abi import IA64;"
        "t=time.perf_counter(); p=image.load(sys.argv[1]);"
        "loader.load(AddressSpace(), p, [b'x'], [], GuestSettings(), (1, 1), bytes(16), IA64);"
        "print(time.perf_counter()-t)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, EXAMPLES / "ia64" / "matmul"], capture_output=True, text=True, check=True
    )
    assert float(run.stdout) < 0.1
