"""Random programs, for tests of robustness: nothing that a guest executes may crash or hang its host."""

from random import Random

from ia64_assembly import NUMBERS, join
from ia64_machine import DATA, DATA_PAGES, FAULT, MASK, PAGE, READ_ONLY, STOP, STORE, STORE_PAGES, UNMAPPED

from pfmon.counting._counting import Tally
from pfmon.engine.ia64._ia64 import AddressSpace, Processor
from pfmon.isa.ia64.bundle import TEMPLATES
from pfmon.isa.ia64.formats import Field
from pfmon.isa.ia64.instruction_set import INSTRUCTIONS
from pfmon.stream._stream import Consumer

CODE = 0x100000
BUNDLES = 256
FORMS = {unit: [row for row in INSTRUCTIONS if unit in row.units and "break" not in row.text] for unit in "MIFBX"}
STACK_FORMS = [row for row in FORMS["M"] if row.text.startswith(("alloc", "flushrs", "loadrs", "mov.m"))]
BRANCH_FORMS = [
    row for row in FORMS["B"] if row.text.startswith(("br.call", "br.ret", "br.c", "br.w", "cover", "clrrrb"))
]


def random_slot(random: Random, unit: str) -> tuple[int, int]:
    """(slot, L slot): mostly an instruction with random operands, sometimes random bits."""
    if random.random() < 0.02:
        return random.getrandbits(41), random.getrandbits(41)
    forms = FORMS[unit]
    if unit == "M" and random.random() < 0.15:
        forms = STACK_FORMS
    if unit == "B" and random.random() < 0.7:
        forms = BRANCH_FORMS
    row = random.choice(forms)
    operands = random.getrandbits(82)
    if random.random() < 0.7:
        operands &= ~63  # unpredicated
    encoding = (operands & ~row.mask) | row.value
    if unit in "BM" and random.random() < 0.7:
        encoding = _near(random, row.layout.fields, encoding)
    return encoding & ((1 << 41) - 1), encoding >> 41


def _near(random: Random, fields: dict[str, Field], encoding: int) -> int:
    """A branch of a few bundles, forth or back."""
    for name in ("imm20b", "imm20a", "imm13c"):
        field = fields.get(name)
        if field is not None:
            encoding &= ~field.mask
            if "s" in fields:
                encoding &= ~fields["s"].mask
            encoding |= field.put(random.randrange(1, 20))
    return encoding


def random_bundle(random: Random) -> bytes:
    """A bundle of random instructions; one in thirty is 128 random bits."""
    if random.random() < 0.03:
        return random.randbytes(16)
    template = random.choice(list(TEMPLATES))
    units = TEMPLATES[template].units
    if units == "MLX":
        slot, extension = random_slot(random, "X")
        return join(template, (random_slot(random, "M")[0], extension, slot))
    return join(template, (random_slot(random, unit)[0] for unit in units))


POINTERS = (
    (DATA, DATA + DATA_PAGES * PAGE),
    (READ_ONLY, READ_ONLY + PAGE),
    (STORE, STORE + STORE_PAGES * PAGE),
    (CODE, CODE + 16 * BUNDLES),
    (UNMAPPED, UNMAPPED + PAGE),
)


def random_value(random: Random) -> int:
    """A general register's value: a pointer, a small number, any bits."""
    kind = random.random()
    if kind < 0.6:
        return random.randrange(*random.choice(POINTERS)) & random.choice((MASK, -16))
    if kind < 0.8:
        return random.randrange(-200, 200) & MASK
    return random.getrandbits(64)


class Fuzz:
    """A machine on which one random program after the other runs."""

    def __init__(self, random: Random, *, max_block: int = 96, trace: bool = False) -> None:
        self.random = random
        self.memory = AddressSpace(64 << 20)
        self.memory.map(CODE, 16 * BUNDLES, 7)
        self.memory.map(DATA, DATA_PAGES * PAGE, 3)
        self.memory.map(READ_ONLY, PAGE, 1)
        self.memory.map(STORE, STORE_PAGES * PAGE, 3)
        self.cpu = Processor(self.memory, max_block=max_block, trace=trace)
        self.tally: Consumer = Tally(self.cpu.table, trace)

    def new_program(self) -> None:
        """Random code and registers."""
        self.memory.write_initial(CODE, b"".join(random_bundle(self.random) for _ in range(BUNDLES)))
        self.new_registers()

    def new_registers(self) -> None:
        """Random registers, a random place to go on."""
        random, cpu = self.random, self.cpu
        for number in range(1, 128):
            cpu.set_gr(number, random_value(random), number < 32 and random.random() < 0.01)
        for number in range(8):
            cpu.set_br(number, random.randrange(CODE, CODE + 16 * BUNDLES))
        cpu.set_pr(random.getrandbits(64))
        for name in ("lc", "ec"):
            cpu.set_ar(name, random.randrange(20))
        sof = random.randrange(97)
        sol = random.randrange(sof + 1)
        if random.random() < 0.5:
            cpu.set_ar("pfs", random.getrandbits(38) | random.getrandbits(6) << 52 | 3 << 62)
        if random.random() < 0.5:
            cpu.set_ar("bspstore", random.choice((STORE, STORE + STORE_PAGES * PAGE - 600, STORE + 512 * 77)))
        cpu.set_ar("rsc", random.choice((0xC, 0xF, 0x1C, 0xC | random.randrange(1 << 14) << 16)))
        cpu.set_cfm(sof | sol << 7 | random.randrange(sof // 8 + 1) << 14 | random.getrandbits(20) << 18)
        cpu.set_um(random.choice((0, 0, 0, 2, 8, 10)))
        cpu.set_ip(CODE + 16 * random.randrange(BUNDLES))

    def run(self, instructions: int, tries: int = 100) -> None:
        """Run the program for some instructions, going on elsewhere after each fault."""
        self.cpu.stop_when_retired(self.cpu.retired + instructions)
        for _ in range(tries):
            why = self.cpu.run(self.tally)
            if why == STOP:
                return
            if why == FAULT or self.random.random() < 0.3:
                self.new_registers()


__all__ = ["CODE", "NUMBERS", "Fuzz", "random_bundle"]
