"""The loop around the processor in system mode, with a processor that does what a test says."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from elf_images import MB, Piece, elf_image, flat_image
from fake_processor import FakeProcessor, Step, asks_pmu, at_break, checks, exits, makes, settings, simulator_call

from pfmon.engine.api import ExitReport
from pfmon.engine.guest_settings import GuestSettings
from pfmon.engine.ia64._ia64 import BREAK, STOP
from pfmon.engine.ia64.system.system_guest import SystemGuest
from pfmon.engine.system_settings import SystemSettings
from pfmon.errors import PfmonError
from pfmon.program import system_image
from pfmon.program.image import Program
from pfmon.stream._stream import Consumer, Mark

CODE = bytes(range(64))
PAL_BREAK = 0x1F50A0


class Ran(NamedTuple):
    guest: SystemGuest
    processor: FakeProcessor
    ending: ExitReport | None
    output: bytes
    notices: list[str]


def program(data: bytes) -> Program:
    return system_image.load("image", data)


class Systems:
    """Makes systems whose console is a file."""

    def __init__(self, folder: Path) -> None:
        self.output = folder / "output"
        self.input = folder / "input"
        self.input.touch()
        self.notices: list[str] = []

    def __call__(
        self,
        *steps: Step,
        image: bytes = flat_image(CODE),
        system: SystemSettings | None = None,
        given: bytes = b"",
        prepare: Callable[[FakeProcessor], None] = lambda _: None,
    ) -> Ran:
        self.input.write_bytes(given)
        with self.input.open("rb") as source, self.output.open("wb") as target:
            make, made = makes(*steps)
            files = (source.fileno(), target.fileno(), 2)
            guest = SystemGuest(
                program(image),
                system or settings(),
                GuestSettings(standard_files=files),
                "montecito",
                on_notice=self.notices.append,
                make=make,
            )
            prepare(made[0])
            ending = guest.run(Consumer())
        return Ran(guest, made[0], ending, self.output.read_bytes(), self.notices)


@pytest.fixture
def ran(tmp_path: Path) -> Systems:
    return Systems(tmp_path)


def test_image_is_loaded_at_its_physical_addresses(ran: Systems) -> None:
    virtual = 5 << 61
    done = ran(exits(), image=elf_image(virtual + 16, [Piece(CODE, virtual, 2 * MB, memory_size=128)]))
    memory = done.guest.memory.space
    assert memory.read(2 * MB, 128) == CODE + bytes(64)
    assert memory.read(2 * MB - 16, 16) == bytes(16)
    assert done.processor.ip == 2 * MB + 16


def test_processor_begins_as_firmware_does(ran: Systems) -> None:
    processor = ran(exits()).processor
    assert processor.cfm == 96
    assert processor.registers[33:36] == [0, 15 * MB, 0]
    assert processor.memory.read(15 * MB, 16)[:3] == b"\x01\x00\x85"  # PAL's first bundle
    assert processor.cpuid[3] >> 24 & 0xFF == 0x20
    assert processor.breaks == [0x80001, 0x1F50A0, 0x1F50A1]


def test_status_of_the_image_is_that_of_the_run(ran: Systems) -> None:
    done = ran(exits(7))
    assert done.ending == ExitReport(7)
    assert done.processor.marks == [(Mark.EXIT, 7)]


def test_status_has_eight_bits(ran: Systems) -> None:
    assert ran(exits((1 << 64) - 1)).ending == ExitReport(255)


def test_characters_go_to_standard_output(ran: Systems) -> None:
    assert ran(simulator_call(31, ord("a")), simulator_call(31, 0x1FF), exits()).output == b"a\xff"


def test_characters_come_from_standard_input(ran: Systems) -> None:
    seen: list[int] = []

    def keep(processor: FakeProcessor) -> int:
        seen.append(processor.registers[8])
        return simulator_call(21)(processor)

    ran(simulator_call(21), keep, keep, exits(), given=b"x\0")
    assert seen == [ord("x"), 0]


def test_unknown_simulator_calls_get_minus_one_and_are_said_once(ran: Systems) -> None:
    done = ran(simulator_call(50, 1), simulator_call(50, 1), simulator_call(1 << 63), exits())
    assert done.processor.registers[8] == (1 << 64) - 1
    assert done.notices == ["the image makes simulator call 50, which is not there: it gets -1"]


def test_machine_check_is_said_and_ends_the_run(ran: Systems) -> None:
    done = ran(checks("no memory at 0x1000000000", ip=MB + 0x11))
    assert done.ending is not None
    assert done.ending.status == 125
    assert done.notices == ["machine check: no memory at 0x1000000000, at 0x100011"]


def test_halted_processor_sleeps_until_the_timer(ran: Systems) -> None:
    def prepare(processor: FakeProcessor) -> None:
        processor.retired, processor.next_timer = 1000, 5000

    done = ran(simulator_call(19), exits(3), prepare=prepare)
    assert done.ending == ExitReport(3)
    assert done.processor.next_timer is None


def test_halt_with_a_pending_interrupt_takes_no_time(ran: Systems) -> None:
    def prepare(processor: FakeProcessor) -> None:
        processor.next_timer, processor.interrupt_pending = 5000, True

    assert ran(simulator_call(19), exits(), prepare=prepare).processor.next_timer == 5000


@pytest.mark.parametrize("timer", [None, 5000])
def test_halt_that_nothing_ends_is_said(ran: Systems, timer: int | None) -> None:
    def prepare(processor: FakeProcessor) -> None:
        processor.next_timer, processor.pends_at_timer = timer, False  # its vector is masked

    done = ran(simulator_call(19), prepare=prepare)
    assert done.ending is not None
    assert done.ending.status == 125
    assert done.notices == ["the processor is halted, and no interrupt can wake it, at 0x100000"]


def test_firmware_answers_through_its_break(ran: Systems) -> None:
    done = ran(at_break(PAL_BREAK, r28=19, r29=0, r30=0, r31=0), exits())
    assert done.processor.registers[8:12] == [0, 96, 0, 0]


def test_firmware_at_level_3_ends_the_run(ran: Systems) -> None:
    def step(processor: FakeProcessor) -> int:
        processor.level = 3
        return at_break(PAL_BREAK, r28=19)(processor)

    done = ran(step)
    assert done.ending is not None
    assert done.ending.status == 125


def test_shutdown_ends_the_run_with_status_0(ran: Systems) -> None:
    assert ran(at_break(PAL_BREAK, r28=40, r29=0, r30=0, r31=0)).ending == ExitReport(0)


def test_stop_ends_the_run_without_an_ending(ran: Systems) -> None:
    guests: list[SystemGuest] = []
    make, made = makes(lambda _: guests[0].stop() or BREAK)  # type: ignore[func-returns-value]
    guests.append(SystemGuest(program(flat_image(CODE)), settings(), GuestSettings(), "montecito", make=make))
    assert guests[0].run(Consumer()) is None
    assert made[0].stop_requested
    assert made[0].marks == []


class Pmu:
    """A PMU that notes what is done with it."""

    def __init__(self) -> None:
        self.done: list[tuple[object, ...]] = []
        self.interrupt: Callable[[], None] = lambda: None

    def set_interrupt(self, raise_pmi: Callable[[], None]) -> None:
        self.interrupt = raise_pmi

    def access(self, kind: str, number: int, value: int = 0, *, cpl: int = 0, secure: bool = False) -> int:
        self.done.append((kind, number, value, cpl, secure))
        return 0x1234 if kind.startswith("read") else 0

    def next_stop(self) -> int | None:
        return 100

    def update_registers(self) -> None:
        self.interrupt()


def with_pmu(*steps: Step) -> tuple[Pmu, FakeProcessor]:
    pmu = Pmu()
    make, made = makes(*steps, exits())
    image = program(flat_image(CODE))
    guest = SystemGuest(image, settings(guest_pmu=True), GuestSettings(), "montecito", make=make)
    guest.run(Consumer(), pmu)  # type: ignore[arg-type]
    return pmu, made[0]


def test_system_with_a_pmu_reads_and_writes_its_registers() -> None:
    def at_level_3(processor: FakeProcessor) -> int:
        processor.level, processor.psr = 3, 1 << 20  # PSR.sp
        return asks_pmu("read_pmd", 5)(processor)

    pmu, processor = with_pmu(asks_pmu("write_pmc", 4, 0x861), at_level_3)
    assert pmu.done == [("write_pmc", 4, 0x861, 0, False), ("read_pmd", 5, 0, 3, True)]
    assert processor.answers == [0, 0x1234]
    assert processor.has_guest_pmu


def test_overflow_interrupts_where_the_pmu_has_it_stop() -> None:
    def stops_at(retired: int) -> Step:
        def step(processor: FakeProcessor) -> int:
            processor.retired = retired
            return STOP

        return step

    assert with_pmu(stops_at(99))[1].overflows == 0
    _, processor = with_pmu(stops_at(100), lambda processor: setattr(processor, "retired", 0) or STOP)
    assert processor.overflows == 1
    assert processor.stops == [100] * 3


def test_system_without_a_pmu_has_none(ran: Systems) -> None:
    assert not ran(exits()).processor.has_guest_pmu


def test_image_beyond_the_memory_is_refused() -> None:
    make, _ = makes()
    with pytest.raises(
        PfmonError, match=r"its segment at physical address 0xeffff0 ends at 0xf00001, and the firmware"
    ):
        SystemGuest(
            program(elf_image(0xEFFFF0, [Piece(CODE[:17], 0xEFFFF0, 0xEFFFF0)])),
            settings(16 * MB),
            GuestSettings(),
            "montecito",
            make=make,
        )


def test_image_may_end_where_the_firmware_begins() -> None:
    make, _ = makes()
    image = elf_image(0xEFFFF0, [Piece(CODE[:16], 0xEFFFF0, 0xEFFFF0)])
    SystemGuest(program(image), settings(16 * MB), GuestSettings(), "montecito", make=make)


def test_translation_has_the_processor_s_sizes(ran: Systems) -> None:
    geometry = ran(exits()).processor.geometry
    assert geometry["registers"] == (32, 32)
    assert geometry["cache"] == (128, 128)
    assert (geometry["va_msb"], geometry["pa_bits"], geometry["rid_bits"]) == (60, 50, 24)


def test_uart_is_at_its_address(ran: Systems) -> None:
    def sends(processor: FakeProcessor) -> int:
        processor.devices[16 * MB, 16 * MB + 8].write(0, 1, ord("u"))
        return exits()(processor)

    assert ran(sends, system=settings(uart=16 * MB)).output == b"u"


def test_uart_in_the_memory_is_refused() -> None:
    make, _ = makes()
    with pytest.raises(PfmonError, match=r"--uart=0xfffff8: is in the memory, which ends at 0x1000000"):
        SystemGuest(program(flat_image(CODE)), settings(uart=16 * MB - 8), GuestSettings(), "montecito", make=make)


@pytest.mark.parametrize("address", [16 * MB - 31, (1 << 64) - 32, 1 << 63])
def test_time_is_not_written_where_no_memory_is(ran: Systems, address: int) -> None:
    done = ran(simulator_call(65, address), simulator_call(74, address, address), exits())
    assert done.ending == ExitReport(0)


def test_time_follows_the_interval_timer(ran: Systems) -> None:
    def prepare(processor: FakeProcessor) -> None:
        processor.retired = 1600 * 1_500_000  # 1.5 s at 1.6 GHz

    done = ran(simulator_call(65, MB), simulator_call(74, MB + 64, 0), exits(), prepare=prepare)
    memory = done.guest.memory.space
    fields = [int.from_bytes(memory.read(MB + 4 * place, 4), "little") for place in range(8)]
    assert fields == [126, 0, 1, 0, 0, 1, 500, 4]  # Thursday, 2026-01-01 00:00:01.5
    seconds, microseconds = (int.from_bytes(memory.read(MB + 64 + 4 * place, 4), "little") for place in range(2))
    assert (seconds, microseconds) == (1_767_225_601, 500_000)


def test_console_that_is_gone_is_said_once(tmp_path: Path) -> None:
    notices: list[str] = []
    reader, writer = os.pipe()
    os.close(reader)
    make, _ = makes(simulator_call(31, 65), simulator_call(31, 65), exits())
    guest = SystemGuest(
        program(flat_image(CODE)),
        settings(),
        GuestSettings(standard_files=(0, writer, 2)),
        "montecito",
        on_notice=notices.append,
        make=make,
    )
    assert guest.run(Consumer()) == ExitReport(0)
    os.close(writer)
    assert notices == ["the console cannot be written any more: broken pipe"]
