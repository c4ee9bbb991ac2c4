"""Programs of Linux at level 3 of a system image: they print, and count there, what they do under Linux's interface.

The kernel (tests/data/engine/level3.S) has the program's segments in translation registers, answers its calls by
break, and may have a timer. Nothing that it does is at the program's level, and no instruction of the program runs
twice: an interrupt of the timer comes between two of them, and no call is repeated. So no instruction differs.
It leaves DCR clear, so that no program is here whose speculative loads fault (epic).
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import level3
import pytest
from command import example
from grids import each

import pfmon
from pfmon.isa.ia64.disassemble import listing

PROGRAMS = {"fib": "12", "queens": "5", "sha256": "2", "hashmap": "100", "lz": "500", "strings": "30"}
EVENTS = (
    "IA64_INST_RETIRED", "LOADS_RETIRED", "STORES_RETIRED", "NOPS_RETIRED", "PREDICATE_SQUASHED_RETIRED",
    "RSE_REFERENCES_RETIRED_ALL",
)  # fmt: skip
LEVELS = ("0", "1", "2", "3", "0123")
PERIOD = 1000
TIMER_VECTOR = 0x3000


@pytest.fixture(scope="module")
def alone() -> dict[str, tuple[bytes | None, list[int]]]:
    """Of each program under Linux's interface: what it prints, and the counts of its level."""
    made = {}
    for name, argument in PROGRAMS.items():
        run = pfmon.run([example(name), *argument.split()], events=EVENTS, unlimited=True, capture=True)
        made[name] = (run.output, [int(count.value or 0) for count in run.counts])
    return made


def counted(name: str, folder: Path, period: int, **options: Any) -> tuple[bytes | None, list[list[int]]]:
    """What a program prints at level 3 of an image; the counts of each of LEVELS."""
    image = folder / "image"
    image.write_bytes(level3.level3_image(Path(example(name)), *PROGRAMS[name].split(), period=period))
    levels = ",".join(level for level in LEVELS for _ in EVENTS)
    run = pfmon.run(
        (), system=str(image), events=EVENTS * len(LEVELS), priv_levels=levels, unlimited=True, capture=True,
        **options,
    )  # fmt: skip
    assert run.status == 0
    values = [int(count.value or 0) for count in run.counts]
    return run.output, [values[at : at + len(EVENTS)] for at in range(0, len(values), len(EVENTS))]


def handled() -> int:
    """Instructions of the timer's handler, up to its rfi."""

    kernel = level3.KERNEL.read_bytes()

    def bundle(address: int) -> bytes:
        return kernel[address - level3.KERNEL_AT :][:16]

    first = level3.KERNEL_AT + TIMER_VECTOR
    texts: Iterator[str] = (text for _, text in listing(bundle, first, first + 0x400))
    return next(number for number, text in enumerate(texts, 1) if text.startswith("rfi"))


@pytest.mark.slow
@each("name", PROGRAMS)
def test_level_3_is_what_the_program_is_alone(
    name: str, tmp_path: Path, alone: dict[str, tuple[bytes | None, list[int]]]
) -> None:
    printed, counts = alone[name]
    before: list[list[int]] = []
    for period in (0, PERIOD):
        output, found = counted(name, tmp_path, period)
        assert output == printed
        *levels, whole = found
        assert levels[3] == counts and levels[1] == levels[2] == [0] * len(EVENTS)
        assert [sum(parts) for parts in zip(*levels, strict=True)] == whole
        assert counted(name, tmp_path, period, slow=True) == (output, found)
        before.append(levels[0])
    # Only the timer's handler is more.
    ticks, rest = divmod(before[1][0] - before[0][0], handled())
    assert rest == 0
    # The first interrupt comes a period behind the timer's setting, the next ones a period behind the handler's
    # reading of the clock; a call's code in the kernel, with PSR.i clear, may be in its way.
    retired = counts[0] + before[1][0]
    assert 0 < ticks <= retired // PERIOD
    assert ticks >= counts[0] // (PERIOD + handled()) - 1


@pytest.mark.slow
@pytest.mark.skipif(not level3.can_assemble(), reason="no assembler for IA-64 here")
def test_assembled_kernel_is_that_of_its_source() -> None:
    assert level3.assembled() == level3.KERNEL.read_bytes()
