"""A system that changes its level and its PSR in every way there is (tests/data/engine/privileges.S): what its own
monitors count, where they interrupt it, and what pfmon counts by level, against a log of its instructions."""

import struct
from collections import Counter
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import system_images
from grids import diagonal, each
from plain_monitors import Logged, Privilege, stepped

import pfmon

FOLDER = system_images.FOLDER.parent / "engine"
IMAGE = FOLDER / "privileges.elf"
PLMS = ("0", "1", "2", "3", "k", "u", "12", "0123")
EVENTS = ("IA64_INST_RETIRED", "NOPS_RETIRED")
GUEST, GUEST_SLOW = {"guest_pmu": True}, {"guest_pmu": "exact", "slow": True}


@cache
def logged(present: bool) -> tuple[bytes, Counter[Logged]]:
    """What the system prints, and its instructions, each kind with its number; ``present``: it has monitors."""
    with TemporaryDirectory() as folder:
        output = Path(folder, "output")
        monitors, ending = stepped(IMAGE, output, present)
        assert ending.status == 0 and monitors.interruptions > 100 and (monitors.overflows > 30) is present
        return output.read_bytes(), Counter(monitors.log)


def levels(plm: str) -> set[int]:
    """The levels that -k, -u, -0 to -3 name."""
    return {int(one) for one in plm.replace("k", "0").replace("u", "3")}


def expected(log: Counter[Logged], plm: str, event: str) -> int:
    """What the log says that the event is at some levels."""
    at = levels(plm)
    return sum(n for one, n in log.items() if one.privilege.level in at and (one.is_nop or event == EVENTS[0]))


def counted(plms: tuple[str, ...], **options: Any) -> tuple[bytes | None, list[int]]:
    """What the system prints; its counts of all EVENTS at each of the levels."""
    run = pfmon.run(
        (), system=str(IMAGE), pmu="itanium2", events=EVENTS * len(plms), capture=True,
        priv_levels=",".join(plm for plm in plms for _ in EVENTS), **options,
    )  # fmt: skip
    assert run.status == 0
    return run.output, [int(count.value or 0) for count in run.counts]


@pytest.mark.slow
def test_the_log_has_every_privilege() -> None:
    _, log = logged(True)
    every = {Privilege(level, up, pp) for level in range(4) for up in (0, 1) for pp in (0, 1)}
    assert {one.privilege for one in log} == every


@pytest.mark.slow
@diagonal
@each("options", [GUEST, GUEST_SLOW], ids=["blocks", "slow"])
@each("plms", [PLMS[:2], PLMS[2:4], PLMS[4:6], PLMS[6:]], ids=",".join)
def test_the_systems_monitors_and_those_beside_agree_with_the_log(
    plms: tuple[str, ...], options: dict[str, Any]
) -> None:
    printed, log = logged(True)
    output, counts = counted(plms, **options)
    assert output == printed
    assert counts == [expected(log, plm, event) for plm in plms for event in EVENTS]


@pytest.mark.slow
@each("options", [{}, {"slow": True}, {"system_wide": True}], ids=["blocks", "slow", "system-wide"])
def test_counts_by_level_are_the_logs(options: dict[str, Any]) -> None:
    """The code's PSR.up and pp, which change, are not for pfmon's own monitors."""
    printed, log = logged(False)
    output, counts = counted(PLMS, unlimited=True, **options)
    assert output == printed
    assert counts == [expected(log, plm, event) for plm in PLMS for event in EVENTS]
    assert min(counts) > 0


@pytest.mark.slow
def test_changes_of_the_level_are_the_logs(tmp_path: Path) -> None:
    """Also where a level is left before an instruction retires in it: a break that rfi returns to."""
    changes = stepped(IMAGE, tmp_path / "output", False)[0].changes
    names = ["CPU_CPL_CHANGES_ALL", *(f"CPU_CPL_CHANGES_LVL{level}" for level in range(4))]
    for slow in (False, True):
        for plm in ("0123", "0", "1", "2", "3", "12"):
            run = pfmon.run(
                (), system=str(IMAGE), pmu="montecito", events=names, priv_levels=",".join([plm] * 5), slow=slow,
                capture=True,
            )  # fmt: skip
            left = Counter({pair: number for pair, number in changes.items() if pair[0] in levels(plm)})
            of_level = [sum(number for pair, number in left.items() if level in pair) for level in range(4)]
            assert [count.value for count in run.counts] == [left.total(), *of_level], plm
            assert min(of_level) > 0 or plm != "0123"


PERIODS = [(449, 350), (233, 1003), *((one, tick) for one in range(250, 1000, 83) for tick in (400, 511, 777))]
"""Instructions of the first monitor between two overflows, and those between two ticks of the timer. A handler is to go
on: it takes fewer."""
KEY = b"periods\0"


def image_with(period: int, tick: int) -> bytes:
    """The image with periods of its own."""
    image = IMAGE.read_bytes()
    at = image.index(KEY) + len(KEY)
    return image[:at] + struct.pack("<QQ", period, tick) + image[at + 16 :]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("period", "tick"),
    [pytest.param(*one, marks=[pytest.mark.exhaustive] * (at > 1)) for at, one in enumerate(PERIODS)],
)
def test_interrupts_are_at_the_places_of_the_log(period: int, tick: int, tmp_path: Path) -> None:
    image, output = tmp_path / "image", tmp_path / "output"
    image.write_bytes(image_with(period, tick))
    monitors, _ = stepped(image, output)
    assert monitors.overflows > 20
    for options in (GUEST, GUEST_SLOW, {"guest_pmu": "exact"}):
        run = pfmon.run((), system=str(image), pmu="itanium2", events=["IA64_INST_RETIRED"], capture=True, **options)
        assert run.output == output.read_bytes(), options


@pytest.mark.slow
@pytest.mark.skipif(not system_images.can_assemble(), reason="no assembler for IA-64 here")
def test_assembled_image_is_that_of_its_source(tmp_path: Path) -> None:
    system_images.assemble("privileges", tmp_path / "image", FOLDER)
    assert (tmp_path / "image").read_bytes() == IMAGE.read_bytes()
