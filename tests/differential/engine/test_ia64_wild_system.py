"""Whatever bits a processor executes at level 0, it comes back: a stop, or a machine check that says why; and whole
blocks do what single instructions do."""

from random import Random
from typing import Any

import pytest
from grids import each

from pfmon.engine.ia64._ia64 import CHECK, PMD, STOP, AddressSpace, SystemProcessor
from pfmon.isa.ia64.bundle import TEMPLATES
from pfmon.isa.ia64.instruction_set import INSTRUCTIONS
from pfmon.machine._machine import Machine
from pfmon.machine.config.machine_config import load
from pfmon.machine.config.machine_figures import ITANIUMS
from pfmon.stream._stream import Consumer, Kind

MEMORY = 1 << 20
HANDLERS, CODE, STACK = 0x8000, 0x20000, 0x60000
BUNDLES = 256
RUN = 3000  # instructions
DEVICE = 1 << 40
BN, IT, RT, DT, IC = 1 << 44, 1 << 36, 1 << 27, 1 << 17, 1 << 13
WRITTEN = (0, 1, 2, 8, 16, 19, 20, 21, 23, 66, 72, 73, 74)
"""Control registers that get random values."""
SYSTEM = ("cover", "epc", "flushrs", "loadrs", "alloc", "br", "probe", "fc", "thash", "ttag", "rum", "sum", "mov")
TELLING = (0, 1, CODE, HANDLERS, STACK, 1 << 61, 5 << 61, 7 << 61, 1 << 63 | CODE, 12 << 2, 14 << 2, 16 << 2, 20 << 2,
           0x10661, 0x100000000007E1, 0x100000000007E1 | CODE, IC, IT | RT | DT | BN, BN | IC, 0xEF,
           (1 << 64) - 1)  # fmt: skip


def of_unit(unit: str, privileged: bool) -> list[tuple[int, int]]:
    """(mask, value) of rows of the unit: all, or those that system code is made of."""
    return [
        (row.mask, row.value)
        for row in INSTRUCTIONS
        if unit in row.units
        and (not privileged or row.kind & Kind.PRIVILEGED or row.mnemonic.partition(".")[0] in SYSTEM)
    ]


ALL = {unit: of_unit(unit, False) for unit in "MIFBX"}
PRIVILEGED = {unit: of_unit(unit, True) or ALL[unit] for unit in "MIFBX"}


def slot(numbers: Random, unit: str) -> int:
    chosen, bits = numbers.random(), numbers.getrandbits(41)
    if chosen < 0.05:
        return bits
    mask, value = numbers.choice(PRIVILEGED[unit] if chosen < 0.65 else ALL[unit])
    bits = bits & ~mask | value
    return bits & ~63 if not mask & 63 and numbers.random() < 0.8 else bits


def bundle(numbers: Random) -> bytes:
    number = numbers.choice(sorted(TEMPLATES))
    value = number
    for place, unit in enumerate(TEMPLATES[number].units):
        value |= slot(numbers, "X" if unit == "L" else unit) << (5 + 41 * place)
    return value.to_bytes(16, "little")


def register(numbers: Random) -> int:
    chosen = numbers.random()
    return (
        numbers.choice(TELLING)
        if chosen < 0.5
        else numbers.getrandbits(20)
        if chosen < 0.75
        else numbers.getrandbits(64)
    )


class Device:
    """Registers that read as three times their offset."""

    def read(self, offset: int, size: int) -> int:
        return 3 * offset

    def write(self, offset: int, size: int, value: int) -> None:
        pass


def processor(seed: int, max_block: int, traced: bool = False) -> SystemProcessor:
    """A processor in front of random code, with random registers and translations."""
    numbers = Random(seed)
    memory = AddressSpace()
    memory.map(0, MEMORY, 7)
    code = b"".join(bundle(numbers) for _ in range(BUNDLES))
    for start in range(HANDLERS, STACK, len(code)):
        memory.write(start, code)
    made = SystemProcessor(memory, max_block=max_block, trace=traced)
    made.set_device(DEVICE, DEVICE + 4096, Device())
    made.set_guest_pmu(numbers.random() < 0.5)
    for number in range(1, 32):
        made.set_gr(number, register(numbers), nat=numbers.random() < 0.1)
    for number in WRITTEN:
        try:
            made.set_cr(number, register(numbers))
        except ValueError:  # reserved fields
            continue
    if numbers.random() < 0.8:
        made.set_cr(2, HANDLERS)
    for number in range(8):
        made.set_br(number, register(numbers) & ~15)
    made.set_ar("rsc", numbers.getrandbits(5))
    made.begin_stack(numbers.choice((STACK, register(numbers) & ~7)))
    made.set_psr(numbers.choice((BN, BN, BN | IC, BN | numbers.getrandbits(47) & 0x7FF8CFFEE03E)))
    made.set_ip(CODE)
    return made


def run(made: SystemProcessor, limit: int) -> int:
    """Run so many instructions; accesses of performance registers get 7."""
    made.stop_exactly_at(limit)
    while (why := made.run(Consumer())) == PMD:
        made.answer_pmd(7)
    return why


def state(made: SystemProcessor) -> dict[str, Any]:
    """All that the code could see."""
    return {
        "gr": [(made.gr(number), made.nat(number)) for number in range(128)],
        "fr": [made.fr_spill(number) for number in range(128)],
        "br": [made.br(number) for number in range(8)],
        "cr": [made.cr(number) for number in range(82)],
        "rr": [made.rr(number) for number in range(8)],
        "kr": [made.kr(number) for number in range(8)],
        "psr": made.psr,
        "pr": made.pr,
        "cfm": made.cfm,
        "ar": [made.ar(name) for name in ("rsc", "bsp", "bspstore", "rnat", "ccv", "unat", "fpsr", "pfs", "lc", "ec")],
        "at": (made.ip, made.retired),
        "memory": made.memory.read(0, MEMORY),
        "check": made.machine_check,
    }


def run_wild(seed: int) -> None:
    made = processor(seed, Random(seed).choice([96, 5, 1]), bool(seed & 1))
    why = run(made, RUN)
    assert why in (STOP, CHECK)
    assert made.retired <= RUN
    assert (why == CHECK) == (made.machine_check is not None)


@each("part", range(4))
def test_wild_code_at_level_0_comes_back(part: int) -> None:
    for seed in range(100 * part, 100 * part + 100):
        run_wild(seed)


@pytest.mark.exhaustive
@each("part", range(100))
def test_a_million_wild_bundles_at_level_0_come_back(part: int) -> None:
    for seed in range(40 * part, 40 * part + 40):
        run_wild(10000 + seed)


@each("part", range(4))
def test_wild_blocks_at_level_0_do_what_their_instructions_do(part: int) -> None:
    for seed in range(50 * part, 50 * part + 50):
        whole, single = processor(seed, 96), processor(seed, 1)
        for limit in (7, 100, 1000):
            assert run(whole, limit) == run(single, limit), seed
            assert state(whole) == state(single), seed


@each("part", range(2))
def test_a_machine_takes_wild_code_with_its_memo_and_without(part: int) -> None:
    """And interruptions between which nothing retires."""
    for seed in range(40 * part, 40 * part + 40):
        seen = []
        for memo in (True, False):
            made = processor(seed, 96, True)
            machine = Machine(load(ITANIUMS[seed % len(ITANIUMS)]), made.table, (), memo)
            made.stop_exactly_at(RUN)
            while made.run(machine) == PMD:
                made.answer_pmd(7)
            machine.finish()
            assert not machine.failure, seed
            seen.append((machine.cycles, machine.occurrences(), sorted(machine.bubbles()), machine.levels()))
        assert seen[0] == seen[1], seed
