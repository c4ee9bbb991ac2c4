"""A processor in system mode that executes what a test says, step by step, in place of the engine's."""

from collections.abc import Callable, Sequence
from typing import Any

from pfmon.engine.ia64._ia64 import BREAK, CHECK, PMD, AddressSpace
from pfmon.engine.ia64.system.physical_device import PhysicalDevice
from pfmon.engine.system_settings import NO_PMU, CacheDescription, ProcessorDescription, SystemSettings, TlbDescription
from pfmon.stream._stream import BlockTable, Consumer, InstructionSet

MB = 1 << 20
PAYLOAD = 32
Step = Callable[["FakeProcessor"], int]

PROCESSOR = ProcessorDescription(
    brand="A processor (1.6 GHz)",
    frequency=1600,
    bus_frequency=400,
    caches=(
        CacheDescription(0, "instruction", 16 << 10, 64, 4, 1, False),
        CacheDescription(0, "data", 16 << 10, 64, 4, 1, False),
        CacheDescription(1, "instruction", 1 << 20, 128, 8, 7, True),
        CacheDescription(1, "data", 256 << 10, 128, 8, 5, True),
        CacheDescription(2, "unified", 12 << 20, 128, 12, 14, True),
    ),
    tlbs=(
        TlbDescription(0, "instruction", 32, 32),
        TlbDescription(0, "data", 32, 32),
        TlbDescription(1, "instruction", 128, 128),
        TlbDescription(1, "data", 128, 128),
    ),
    shares_core=True,
    pmu=NO_PMU,
)
"""Montecito's figures."""


def settings(memory: int = 16 * MB, uart: int | None = None, guest_pmu: bool = False) -> SystemSettings:
    return SystemSettings(memory, uart, PROCESSOR, guest_pmu)


class FakeProcessor:
    """Each ``run`` takes the next step, which says why it returned."""

    def __init__(self, steps: Sequence[Step], memory: AddressSpace, trace: bool = False) -> None:
        self.steps = list(steps)
        self.memory, self.traced = memory, trace
        self.table = BlockTable(InstructionSet.IA64, PAYLOAD)
        self.registers = [0] * 128
        self.retired = self.ip = self.psr = self.cfm = self.fault_info = 0
        self.machine_check = ""
        self.pmu_access = ("", 0, 0)
        self.next_timer: int | None = None
        self.interrupt_pending = self.interrupt_due = False
        self.pends_at_timer = True
        self.breaks: Sequence[int] = ()
        self.devices: dict[tuple[int, int], PhysicalDevice] = {}
        self.geometry: dict[str, object] = {}
        self.level = 0
        self.control: dict[int, int] = {}
        self.cpuid: tuple[int, ...] = ()
        self.has_guest_pmu = False
        self.answers: list[int] = []
        self.stops: list[int | None] = []
        self.interrupts: list[int] = []
        self.overflows = 0
        self.marks: list[tuple[int, int]] = []
        self.stop_requested = False
        self.turn_ends: list[int | None] = []
        self.turns = 0
        self.translations: dict[tuple[bool, int], tuple[int, int, int, int]] = {}

    def run(self, consumer: Consumer) -> int:
        return self.steps.pop(0)(self)

    def request_stop(self) -> None:
        self.stop_requested = True

    def stop_exactly_at(self, count: int | None) -> None:
        self.stops.append(count)

    def set_cpuid(self, values: tuple[int, ...]) -> None:
        self.cpuid = values

    def set_reserved_breaks(self, numbers: Sequence[int]) -> None:
        self.breaks = numbers

    def set_geometry(self, **geometry: object) -> None:
        self.geometry = geometry

    def set_guest_pmu(self, on: bool) -> None:
        self.has_guest_pmu = on

    def set_device(self, start: int, end: int, device: PhysicalDevice) -> None:
        self.devices[start, end] = device

    def answer_pmd(self, value: int) -> None:
        self.answers.append(value)

    def advance_time(self, instructions: int) -> None:
        assert self.next_timer is not None
        assert self.retired + instructions == self.next_timer
        self.next_timer = None
        self.interrupt_pending = self.pends_at_timer

    def raise_interrupt(self, vector: int) -> None:
        self.interrupts.append(vector)

    def raise_pmi(self) -> None:
        self.overflows += 1

    def set_user_break(self, number: int | None) -> None:
        self.user_break = number

    def stop_when_retired(self, count: int | None) -> None:
        self.turn_ends.append(count)

    def connect(self, processors: Sequence["FakeProcessor"], shares_core: bool = False) -> None:
        self.connected, self.shares_core = list(processors), shares_core

    def begin_turn(self) -> None:
        self.turns += 1

    def set_cr(self, number: int, value: int) -> None:
        self.control[number] = value

    def cr(self, number: int) -> int:
        return self.control.get(number, 0)

    def emit_mark(self, consumer: Consumer, kind: int, value: int) -> None:
        self.marks.append((kind, value))

    def gr(self, number: int) -> int:
        return self.registers[number]

    def set_gr(self, number: int, value: int) -> None:
        assert 0 < number < 128
        assert 0 <= value < 1 << 64
        self.registers[number] = value

    def set_ip(self, value: int) -> None:
        self.ip = value

    def set_cfm(self, value: int) -> None:
        self.cfm = value

    def translation_register(self, is_data: bool, number: int) -> tuple[int, int, int, int] | None:
        return self.translations.get((is_data, number))


def at_break(immediate: int, **registers: int) -> Step:
    """A reserved break with these general registers: ``r15=31``."""

    def step(processor: FakeProcessor) -> int:
        processor.fault_info = immediate
        for name, value in registers.items():
            processor.registers[int(name[1:])] = value
        return BREAK

    return step


def simulator_call(number: int, *arguments: int) -> Step:
    return at_break(0x80001, r15=number, **{f"r{32 + place}": value for place, value in enumerate(arguments)})


def exits(status: int = 0) -> Step:
    return simulator_call(66, status)


def checks(text: str, ip: int = 0) -> Step:
    """A machine check."""

    def step(processor: FakeProcessor) -> int:
        processor.machine_check, processor.ip = text, ip
        return CHECK

    return step


def asks_pmu(kind: str, number: int, value: int = 0) -> Step:
    def step(processor: FakeProcessor) -> int:
        processor.pmu_access = (kind, number, value)
        return PMD

    return step


def makes(*steps: Step) -> tuple[Callable[..., FakeProcessor], list[FakeProcessor]]:
    """What SystemGuest makes its processor with, and the list of those that it has made."""
    made: list[FakeProcessor] = []

    def make(memory: AddressSpace, **options: Any) -> FakeProcessor:
        made.append(FakeProcessor(steps, memory, options["trace"]))
        return made[0]

    return make, made
