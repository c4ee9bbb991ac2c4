"""A PMU for tests of system calls: it holds registers, and tests count in them."""

from collections.abc import Callable, Sequence
from typing import Any

from pfmon.engine.guest_pmu import PmuEvent
from pfmon.engine.ia64._ia64 import Processor
from pfmon.errors import PfmonError

NAMES = {"cycles": 0x12, "instructions": 0x08, "cache-misses": 0xDC}


class StandIn:
    """A PMU that holds registers and counts nothing."""

    counters: Sequence[int] = (4, 5, 6, 7)
    width = 47

    def __init__(self) -> None:
        self.registers: dict[str, int] = {}
        self.refusal = ""
        self.frozen = True
        self.steered: tuple[bool, bool | None] = (False, None)
        self.told: Callable[[Sequence[int], int, int], None] | None = None
        self.watched: list[int] = []
        self.alarmed: int | None = None

    def set_overflow_handler(self, told: Any) -> None:
        self.told = told

    def update_registers(self) -> None: ...
    def clear_captures(self) -> None: ...

    def read(self, name: str) -> int:
        return self.registers.get(name, 0)

    def write(self, name: str, value: int) -> None:
        self.registers[name] = value

    def read_counter(self, number: int) -> int:
        return self.read(f"pmd{number}")

    def write_counter(self, number: int, value: int) -> None:
        self.write(f"pmd{number}", value)

    def freeze(self, frozen: bool) -> None:
        self.frozen = frozen

    def commit(self) -> str:
        return self.refusal

    def set_counting(self, on: bool, monitoring: bool | None) -> None:
        self.steered = (on, monitoring)

    def set_overflow_stops(self, counters: Any) -> None:
        self.watched = list(counters)

    # --- what perf events ask for: any event, on as many counters as there are; the code 0x99 is not modelled

    def set_timer(self, retired: int | None) -> None:
        self.alarmed = retired

    def named(self, event: PmuEvent) -> PmuEvent:
        code = NAMES.get(event.name, 0x99) if event.name else event.code
        if code == 0x99:
            raise PfmonError("this event is not modelled")
        return event._replace(name="", code=code)

    def assign(self, events: Sequence[PmuEvent]) -> tuple[dict[str, int], list[int]]:
        if len(events) > len(self.counters):
            raise PfmonError("there are four counters")
        pmds = list(self.counters[: len(events)])
        return {f"pmc{n}": one.code << 8 | one.plm for n, one in zip(pmds, events, strict=True)}, pmds

    # --- what tests do

    def count(self, pmd: int, times: int, address: int = 0x1000, retired: int = 0) -> None:
        """A counter counts; who is told of overflows is told."""
        value = self.registers.get(f"pmd{pmd}", 0) + times
        self.registers[f"pmd{pmd}"] = value & ((1 << self.width) - 1)
        if value >> self.width and self.told:
            self.told([pmd], address, retired)


class Host:
    """Gives a processor and a PMU to each process."""

    def forked(self, parent: Any, child: Any, lend: bool) -> Any:
        memory = parent.memory.fork(lend)
        return memory, Processor(memory)

    def ended(self, process: Any, end: Any) -> None: ...

    def pmu_of(self, process: Any) -> StandIn:
        return StandIn()
