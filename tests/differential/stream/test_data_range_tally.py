"""Accesses in data ranges, counted in runs of blocks and block by block: the same as one by one."""

from random import Random

from grids import each
from ia64_assembly import BREAK
from ia64_machine import DATA, Machine

from pfmon.counting._counting import DataRangeTally

MASK_56 = (1 << 56) - 1


def inside(m: Machine, ranges: list[tuple[int, int]]) -> dict[int, int]:
    """By address of the instruction: how many of its accesses were in the ranges."""
    tally = DataRangeTally(m.cpu.table, ranges)
    m.cpu.run(tally)
    counts: dict[int, int] = {}
    for number in range(m.cpu.block_count()):
        record = m.cpu.block(number)
        for place, count in tally.inside(number).items():
            address = record.instructions[place].address
            counts[address] = counts.get(address, 0) + count
    return {address: count for address, count in counts.items() if count}


def machine(pick: Random, max_block: int) -> Machine:
    """Loops of one and of several blocks, whose accesses are many or few, some of them under predicates."""
    lines = []
    for loop in range(4):
        rounds = pick.randrange(1, 60)
        lines += [f"adds r10={rounds},r0", "mov.i ar.lc=r10", f"loop{loop}:"]
        for _ in range(pick.randrange(6)):
            predicate = pick.choice(["", "", "(p6) ", "(p7) "])
            step = pick.choice([0, 8, 24])
            update = f",{step}" if step else ""
            lines.append(predicate + pick.choice([f"ld8 r8=[r6]{update}", f"st8 [r7]=r9{update}", "ld8 r11=[r5]"]))
        if pick.random() < 0.5:
            lines.append("cmp.eq p6,p7=r0,r0" if pick.random() < 0.5 else "cmp.eq p7,p6=r8,r9")
        if pick.random() < 0.3:
            lines.append(f"(p7) br.cond.sptk.few skip{loop}")
        lines += ["adds r9=1,r9", f"skip{loop}:", f"br.cloop.sptk.few loop{loop}"]
    return Machine([*lines, BREAK], max_block=max_block, trace=True).set({5: DATA + 64, 6: DATA, 7: DATA + 4096}, pr=65)


@each("seed", range(60))
def test_counts_by_access_do_not_depend_on_where_blocks_end(seed: int) -> None:
    pick = Random(seed)
    size = pick.choice([8, 64, 512, 8192])
    starts = [DATA + size * pick.randrange(6144 // size + 1) for _ in range(pick.randrange(5))]
    ranges = [(start, MASK_56 & -size) for start in starts]
    ways = [inside(machine(Random(seed), max_block), ranges) for max_block in (96, 1, 3)]
    assert ways[0] == ways[1] == ways[2]
    if not starts:
        assert ways[0] == {}
