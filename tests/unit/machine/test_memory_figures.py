"""Every figure of the data side means something: changing it changes what happens."""

import random
from collections.abc import Iterator

import pytest
from grids import each

from pfmon.machine._machine import L2, DataMemory
from pfmon.machine.config.machine_config import load

TABLES = ("l1d", "l2", "l2d", "l2i", "l3", "memory", "bus", "dtlb1", "dtlb2", "vhpt")
MACHINES = ("itanium2", "montecito")
# Changes that geometry allows; other numbers are halved, or doubled where they are small, flags are turned.
OTHER = {
    "l1d.line": 32, "l1d.ways": 8, "l2.line": 64, "l2d.line": 64, "l2i.line": 64, "l3.line": 256,
    "l2.ways": 4, "l2d.ways": 4, "l2i.ways": 4, "l3.ways": 3, "dtlb1.ways": 8, "dtlb2.ways": 32,
    "vhpt.format": "long", "l3.size": 3 << 20, "bus.castouts": "false", "bus.request_queue": 2, "bus.queue": 1,
    "bus.frequency": "200 MHz",
    "l2i.size": 32 << 10, "vhpt.page": 8 << 10, "dtlb1.page": 8 << 10, "l1d.fills": 1, "l2i.queue": 1,
    "bus.system_queue": 1, "bus.write_queue": 1, "bus.castout_queue": 1, "l3.write_buffers": 1, "l3.victims": 1,
    "l2d.look": 20,
}  # fmt: skip
# Not of the data side alone, or the same by definition where sets are a power of two.
ELSEWHERE = {"l1d.nat_window", "l3.index", "l2.index", "l2d.index", "l2i.index", "l1d.index"}
TOGETHER = {"dtlb1.entries": ["dtlb1.ways=16"], "dtlb2.entries": ["dtlb2.ways=64"]}  # fully associative stays so


def base(machine: str) -> list[str]:
    """Figures that make everything happen in a short trace."""
    small = ["l2i.size=64K"] if machine == "montecito" else []
    return ["l3.size=1536K", "l3.ways=12", "bus.castouts=true", *small]


def behaviour(machine: str, overrides: list[str]) -> Iterator[object]:
    """What a mixed trace does, step by step: latencies, stalls, occurrences; levels at the end."""
    config = load(machine, [*base(machine), *overrides])
    l2 = L2(config)
    memory, choice = DataMemory(config, l2), random.Random(5)
    now = 1000
    for step in range(24_000):
        area = choice.choice([1 << 12, 1 << 16, 1 << 19, 1 << 23])
        address = (1 << 24) + choice.randrange(area) // 8 * 8
        kind = choice.choice([0, 0, 0, 1, 1, 2, 2, 3, 4, 5, 6, 7])
        flags = choice.choice([0] * 12 + [1, 2])
        if step % 3000 < 600:  # now and then a burst of lines
            address, kind, flags = (1 << 25) + step * 128, choice.choice([1, 2, 2]), 0
        if step % 5 == 0:
            yield l2.request_at((1 << 26) + choice.randrange(1 << 18), choice.choice([5, 6]), now)[0]
        if step % 7 == 0:
            yield memory.access_at(address, 2, now)
            kind = 0
            now += choice.choice([1, 2, 3])
        ready, stalls, noted = memory.access_at(address, kind, now, 8, flags)
        yield ready, stalls, noted
        now += choice.choice([0, 1, 2, 8]) + sum(cycles for _, cycles in stalls)
    l2.finish_at(now)
    yield l2.levels()


def cases() -> list[tuple[str, str]]:
    return [
        (machine, name)
        for machine in MACHINES
        for name in load(machine)
        if name.split(".")[0] in TABLES and name not in ELSEWHERE
        if machine == "itanium2" or name.split(".")[0] in ("l2d", "l2i")
    ]


@pytest.fixture(scope="module")
def usual() -> dict[str, list[object]]:
    return {machine: [*behaviour(machine, [])] for machine in MACHINES}


@pytest.mark.slow
@each(("machine", "name"), cases())
def test_a_figure_that_changes_changes_what_happens(machine: str, name: str, usual: dict[str, list[object]]) -> None:
    value = load(machine, base(machine))[name]
    if name in OTHER:
        other: object = OTHER[name]
    elif isinstance(value, bool):
        other = str(not value).lower()
    elif isinstance(value, int):
        other = value * 2 if value < 6 else value // 2
    else:
        other = "random"
    changed = behaviour(machine, [f"{name}={other}", *TOGETHER.get(name, [])])
    assert any(one != was for one, was in zip(changed, usual[machine], strict=True))
