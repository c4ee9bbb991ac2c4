"""Top-down analysis: nodes of level 1 add up to width times cycles, those of level 2 to their parent."""

from random import Random

import pytest

from pfmon.machine.config.machine_config import load
from pfmon.session.profile.cpi_causes import COMPONENTS
from pfmon.session.profile.top_down import NODES, IssueSlots, TopDown, together, top_down

OUT_OF_ORDER = [one for one in COMPONENTS if one.core != "in_order"]


def adds_up(found: TopDown, cycles: int) -> None:
    assert found.slots == found.width * cycles == sum(found.total(part) for part in found.parts)
    assert [(part, *of) for part, of in found.parts.items()] == [(part, *of) for part, of in NODES.items()]
    assert all((own or 0) >= 0 for of in found.parts.values() for own in of.values())
    for part, slots in found.to_dict()["parts"].items():
        assert slots["slots"] == found.total(part) == sum(own or 0 for own in slots["of"].values())


@pytest.mark.parametrize("machine", ["skylake", "icelake", "core2", "ppc604e"])
def test_levels_add_up(machine: str) -> None:
    """Also where the last cycle is not over: its slots are counted, and the cycle is not."""
    figures, random = load(machine), Random(machine)
    for _ in range(200):
        cycles = {one.name: random.choice([0, random.randrange(1 << random.randrange(1, 40))]) for one in OUT_OF_ORDER}
        all_slots = int(figures["core.width"]) * sum(cycles.values())
        retired = random.randrange(all_slots + 1)
        waits = random.randrange(all_slots - retired + 1)
        wrong = all_slots - retired - waits + random.randrange(4)
        counted = IssueSlots(retired, random.randrange(retired + 1), waits, random.randrange(waits + 1), wrong)
        for seen in (counted, counted._replace(mispredicted=wrong // 2), None):
            adds_up(top_down(figures, cycles, retired, seen), sum(cycles.values()))


def test_each_cause_of_a_stall_has_a_node_or_says_nothing_about_slots() -> None:
    nodes = {name for of in NODES.values() for name in of}
    assert {one.slots for one in COMPONENTS} <= {"", *nodes}
    without = {one.name for one in OUT_OF_ORDER if not one.slots}
    assert without == {"cycles that retired", "full buffers"}  # why the buffer is full is another cause
    assert not any(one.slots for one in COMPONENTS if one.core == "in_order")


def test_the_back_end_is_shared_as_the_causes_of_stalls_are() -> None:
    cycles = {"cycles that retired": 40, "waiting for memory": 45, "divider": 15}
    found = top_down(load("skylake"), cycles, 0, IssueSlots(100, 25, 50, 48, 10))
    assert found.parts == {
        "retiring": {"light operations": 75, "heavy operations": 25},
        "bad speculation": {"branch mispredicts": 10, "machine clears": None},
        "frontend bound": {"fetch latency": 48, "fetch bandwidth": 2},
        "backend bound": {"memory bound": 180, "core bound": 60},
    }


def test_programs_together_are_the_sum() -> None:
    figures = load("skylake")
    some = [top_down(figures, {"divider": n}, 0, IssueSlots(n, 0, n, n, 0)) for n in (10, 33)]
    adds_up(together(some), 43)
    assert together(some).total("retiring") == 43
