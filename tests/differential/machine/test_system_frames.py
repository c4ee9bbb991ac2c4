"""Register frames of a whole system as a machine follows them, against the engine's own, at many places of images."""

import random
from pathlib import Path

import pytest
import system_images
from grids import each
from system_machine import PUT, image

from pfmon.engine.ia64._ia64 import BREAK, STOP
from pfmon.machine._machine import Machine
from pfmon.machine.config.machine_config import load

UNMATCHED = "levels"
"""Its returns have an AR[PFS] that no call has left; a machine takes them for those of the calls before."""
IMAGES = [name for name in system_images.names() if not system_images.options(name) and name != UNMATCHED]
PRIVILEGES = Path(system_images.FOLDER.parent, "engine", "privileges.elf")
PLACES = 60


def registers_between(low: int, high: int) -> int:
    """Registers in the words of the backing store, every 64th of which has NaT bits (volume 2, 6.1)."""
    return sum(address & 0x1F8 != 0x1F8 for address in range(low, high, 8))


def compare(path: Path, slow: bool, places: int) -> int:
    """Compares them now and then; returns how many of the frames had dirty registers below them."""
    system = image(path, slow)
    machine = Machine(load("montecito"), system.table, (), True)
    pick, dirty, last = random.Random(f"{path.name} {slow}"), 0, 0
    for _ in range(places):
        system.stop_exactly_at(system.retired + pick.randrange(1, 400))
        while (why := system.run(machine)) == BREAK and system.gr(15) == PUT:
            pass
        machine.update_records(system.ip)
        marker, below = system.cfm, registers_between(system.ar("bspstore"), system.ar("bsp"))
        expected = marker & 0x7F, marker >> 7 & 0x7F, (marker >> 14 & 0xF) * 8, below
        assert machine.register_frame == expected, f"{path.name}: {system.retired} instructions"
        dirty += below > 0
        if why != STOP or system.retired == last:
            break
        last = system.retired
    assert not machine.failure
    return dirty


@pytest.mark.slow
@each("name", IMAGES)
def test_frames_are_the_engines(name: str) -> None:
    """Also behind cover, rfi, loadrs, a new backing store and returns to frames of it (volume 2, chapter 6)."""
    compare(system_images.image(name), False, PLACES)


@pytest.mark.slow
@each("name", ["rse", "stack"])
def test_frames_do_not_depend_on_blocks(name: str) -> None:
    assert compare(system_images.image(name), True, 4 * PLACES)


@pytest.mark.slow
def test_frames_of_four_levels_are_the_engines() -> None:
    assert compare(PRIVILEGES, False, 4 * PLACES)
