"""Whatever bits a program executes, the engine comes back: a fault, a break, or a stop when told to."""

from random import Random
from typing import Any

import pytest
from grids import each, first_quick
from ia64_execute import CODE, EXECUTE, READ, WRITE

from pfmon.engine.ia64._ia64 import BREAK, FAULT, STOP, AddressSpace, Processor
from pfmon.isa.ia64.bundle import TEMPLATES, slots
from pfmon.isa.ia64.disassemble import disassemble
from pfmon.isa.ia64.instruction_set import INSTRUCTIONS
from pfmon.stream._stream import Consumer

DATA = 0x2000000000100000
BACKING_STORE = 0x2000000000200000
BUNDLES = 64
RUN = 3000  # instructions


def of_unit(unit: str) -> list[tuple[int, int]]:
    """(mask, value) of all rows that a slot of the unit takes."""
    return [(row.mask, row.value) for row in INSTRUCTIONS if unit in row.units]


ROWS = {unit: of_unit(unit) for unit in "MIFBX"}


def any_bundle(numbers: Random) -> int:
    return numbers.getrandbits(128)


def legal_bundle(numbers: Random) -> int:
    """Random instructions that exist, often unpredicated, in a template that exists."""
    number = numbers.choice(sorted(TEMPLATES))
    value = number
    for place, unit in enumerate(TEMPLATES[number].units):
        slot = numbers.getrandbits(41)
        if unit != "L":
            mask, fixed = numbers.choice(ROWS[unit])
            slot = slot & ~mask | fixed
            if not mask & 63 and numbers.random() < 0.7:
                slot &= ~63
        value |= slot << (5 + 41 * place)
    return value


def repeatable_bundle(numbers: Random) -> int:
    """As ``legal_bundle``, but nothing reads the user mask: its mfl and mfh are set for a whole block at once."""
    while True:
        value = legal_bundle(numbers)
        texts = [disassemble(slot.unit, slot.encoding, slot.extension) or "" for slot in slots(value) or ()]
        if not any("=psr" in text for text in texts):
            return value


def machine(numbers: Random, code: bytes, protection: int, max_block: int) -> Processor:
    """A processor in front of ``code``, with registers that often point into its memory."""
    memory = AddressSpace()
    memory.map(CODE, 0x10000, protection)
    memory.map(DATA, 0x10000, READ | WRITE)
    memory.map(BACKING_STORE, 0x10000, READ | WRITE)
    memory.write_initial(CODE, code)
    processor = Processor(memory, max_block=max_block, trace=numbers.random() < 0.5)
    processor.set_ar("bspstore", BACKING_STORE)
    processor.set_cfm(numbers.choice([0, 8, 96]))
    processor.set_ip(CODE)
    processor.set_pr(numbers.getrandbits(64))
    for number in range(1, 128):
        value = numbers.choice([DATA + numbers.randrange(0x10000), CODE + 16 * numbers.randrange(BUNDLES),
                                numbers.getrandbits(64), numbers.randrange(64)])  # fmt: skip
        processor.set_gr(number, value, nat=numbers.random() < 0.03)
    for number in range(8):
        processor.set_br(number, CODE + 16 * numbers.randrange(BUNDLES))
    return processor


def run_wild(seed: int) -> None:
    numbers = Random(seed)
    bundle = numbers.choice([any_bundle, legal_bundle, legal_bundle])
    code = b"".join(bundle(numbers).to_bytes(16, "little") for _ in range(BUNDLES))
    protection = numbers.choice([READ | EXECUTE, READ | WRITE | EXECUTE])
    processor = machine(numbers, code, protection, numbers.choice([96, 96, 5, 1]))
    for _ in range(100):
        limit = processor.retired + RUN
        processor.stop_when_retired(limit)
        why = processor.run(Consumer())
        assert why in (BREAK, FAULT, STOP)
        assert processor.retired <= limit + 200
        if why == FAULT:
            assert processor.fault
            processor.set_ip(CODE + 16 * numbers.randrange(BUNDLES))


def state(processor: Processor) -> dict[str, Any]:
    """All that a program can see, and what the last fault said."""
    names = ("rsc", "bsp", "bspstore", "rnat", "ccv", "unat", "fpsr", "pfs", "lc", "ec", "csd", "ssd")
    return {
        "gr": [(processor.gr(number), processor.nat(number)) for number in range(128)],
        "fr": [processor.fr_spill(number) for number in range(128)],
        "br": [processor.br(number) for number in range(8)],
        "pr": processor.pr,
        "cfm": processor.cfm,
        "um": processor.um & 0xF,
        "ar": {name: processor.ar(name) for name in names},
        "at": (processor.ip, processor.retired),
        "fault": (processor.fault, processor.fault_code, processor.fault_address, processor.fault_info),
    }


def states(seed: int, max_block: int, one_by_one: bool) -> list[dict[str, Any]]:
    """Run wild code and go on after each fault or break; the states there, up to where it only runs."""
    numbers = Random(seed)
    code = b"".join(repeatable_bundle(numbers).to_bytes(16, "little") for _ in range(BUNDLES))
    processor = machine(numbers, code, READ | EXECUTE, max_block)
    found = []
    for _ in range(30):
        limit = processor.retired + RUN
        processor.stop_when_retired(limit)
        why = STOP
        while why == STOP and processor.retired < limit:
            why = processor.step(Consumer()) if one_by_one else processor.run(Consumer())
        if why == STOP:
            break
        found.append(state(processor))
        processor.set_ip(CODE + 16 * numbers.randrange(BUNDLES))
    return found


def compare_ways(seed: int) -> int:
    """Blocks of the usual length, of one instruction, and the careful way through; how many states agreed."""
    usual, short, checked = states(seed, 96, False), states(seed, 1, False), states(seed, 96, True)
    agreed = min(len(usual), len(short), len(checked))
    assert usual[:agreed] == short[:agreed]
    assert usual[:agreed] == checked[:agreed]
    return agreed


@pytest.mark.slow
@each("part", range(8))
def test_wild_code_ends_in_a_fault_a_break_or_a_stop(part: int) -> None:
    for seed in range(part * 25, part * 25 + 25):
        run_wild(seed)


@pytest.mark.exhaustive
def test_much_wild_code_ends_in_a_fault_a_break_or_a_stop() -> None:
    for seed in range(1000, 3000):
        run_wild(seed)


@pytest.mark.parametrize("part", first_quick(range(8)))
def test_wild_code_leads_to_one_state_whatever_the_way(part: int) -> None:
    assert sum(compare_ways(seed) for seed in range(part * 5, part * 5 + 5)) > 20


@pytest.mark.exhaustive
def test_much_wild_code_leads_to_one_state_whatever_the_way() -> None:
    assert sum(compare_ways(seed) for seed in range(1000, 1400)) > 4000
