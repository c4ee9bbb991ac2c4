"""PowerPC programs on the out-of-order machine: which loads wait for which."""

from pathlib import Path

import pytest
from ppc_programs import DATA, PPC_ASSEMBLER, QEMU_PPC, TARGETS, Target, ppc_program

import pfmon
from pfmon.machine.config.machine_config import load

pytestmark = [
    pytest.mark.slow,
    PPC_ASSEMBLER,
    QEMU_PPC,
]

NODES, STRIDE = 110, 544
"""Of a list in the program's 64 KB, each in a line of its own."""
SMALL_CACHES = ["l1d.size=1K", "l1d.ways=4", "l2.size=1K", "l2.ways=4", "memory.walk=0"]
LIST = f"""
        lis 9, {DATA >> 16}
        li 4, {NODES}
        mtctr 4
        mr 8, 9
1:      addi 10, 8, {STRIDE}
        stw 10, 0(8)
        stw 10, 4(8)
        mr 8, 10
        bdnz 1b
"""
LATENCY, OCCUPANCY = (int(load("ppc604e")[f"memory.{key}"]) for key in ("latency", "occupancy"))


def cycles(directory: Path, body: str, target: Target, repeats: int) -> int:
    """What a loop of loads takes, with so many of them, without what the program takes that has none."""
    with_loop = f"{LIST}\n li 4, {repeats}\n mtctr 4\n li 10, 0\n 2: {body}\n bdnz 2b\n li 0, 1\n li 3, 0\n sc"
    program = ppc_program(directory, with_loop, target)
    ran = pfmon.run([str(program)], events=["PROCESSOR_CYCLES"], set=SMALL_CACHES, stdout=pfmon.DEVNULL)
    return int(ran.counts[0].value)


def loads(directory: Path, body: str, target: Target) -> float:
    """Cycles of one of its loads, each of which goes to memory."""
    return (cycles(directory, body, target, 105) - cycles(directory, body, target, 5)) / 100


DEPENDENT = {
    "the address is what was loaded": "lwz 9, 0(9)",
    "... moved and added to": "lwz 5, 4(9)\n mr 6, 5\n addi 9, 6, 0",
    "... as an index": "lwzx 7, 0, 9\n or 9, 7, 7",
    "... through the link register": "lwz 5, 0(9)\n mtlr 5\n mflr 9",
    "... with an update": "lwzu 5, 4(9)\n mr 9, 5",
}
INDEPENDENT = {
    "the address is counted up": f"lwz 5, 0(9)\n addi 9, 9, {STRIDE}",
    "... by an update": f"lwzu 5, {STRIDE}(9)",
    "... beside it": f"lwzx 5, 9, 10\n addi 10, 10, {STRIDE}",
    "what was loaded is used, and not for addresses": f"lwz 5, 0(9)\n add 6, 5, 5\n addi 9, 9, {STRIDE}",
    "what was loaded is overwritten": f"lwz 5, 0(9)\n li 5, 0\n add 9, 9, 5\n addi 9, 9, {STRIDE}",
    "RA 0 is no register": f"lwz 0, 0(9)\n addi 10, 0, {STRIDE}\n add 9, 9, 10",
}


@pytest.mark.parametrize("target", [TARGETS["ppc64"], TARGETS["ppc"]], ids=lambda target: target.name)
@pytest.mark.parametrize("body", DEPENDENT.values(), ids=DEPENDENT)
def test_a_load_waits_for_the_load_of_its_address(body: str, target: Target, tmp_path: Path) -> None:
    assert 0.9 * LATENCY <= loads(tmp_path, body, target) <= LATENCY + 8


@pytest.mark.parametrize("body", INDEPENDENT.values(), ids=INDEPENDENT)
def test_loads_with_known_addresses_miss_together(body: str, tmp_path: Path) -> None:
    """Memory hands over one line after the other."""
    assert 0.9 * OCCUPANCY <= loads(tmp_path, body, TARGETS["ppc64"]) <= 0.5 * LATENCY
