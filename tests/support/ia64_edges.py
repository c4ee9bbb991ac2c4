"""Every kind of access of an IA-64 program at the edges of what it has mapped: it completes if all of its bytes may be
used so, and faults otherwise; no byte beside them changes. What the host has beyond is for `guarded` to see."""

from itertools import product
from typing import NamedTuple

from ia64_assembly import BREAK, assemble
from ia64_machine import FAULT, PAGE, UM_AC, UM_BE

from pfmon.engine.guest_memory import GuestMemoryFault
from pfmon.engine.ia64._ia64 import AddressSpace, Processor
from pfmon.stream._stream import Consumer

CODE = 0x100000
FIRST = 0x200000
READ, WRITE = 1, 2
LAYOUT = (READ | WRITE, READ, READ | WRITE, None, READ | WRITE, 0, READ | WRITE, WRITE | READ, None)
"""Pages from FIRST on: what each may be used for; None: nothing is mapped."""
OFFSETS = (*range(-18, 18), -33, -32, 31, 32)


class Access(NamedTuple):
    """An instruction that accesses so many bytes at r6: ``writes`` them as well, or only; ``strict``: never unaligned,
    to a multiple of ``alignment``."""

    text: str
    size: int
    rights: int
    alignment: int
    strict: bool = False


def _accesses() -> list[Access]:
    found = []
    for size in (1, 2, 4, 8):
        found += [Access(f"ld{size}{kind} r5=[r6]", size, READ, size) for kind in ("", ".acq", ".bias", ".c.clr")]
        found += [Access(f"st{size}{kind} [r6]=r7", size, WRITE, size) for kind in ("", ".rel")]
        found += [Access(f"cmpxchg{size}.acq r5=[r6],r7,ar.ccv", size, READ | WRITE, size, True)]
        found += [Access(f"xchg{size} r5=[r6],r7", size, READ | WRITE, size, True)]
    for size in (4, 8):
        found += [Access(f"fetchadd{size}.acq r5=[r6],1", size, READ | WRITE, size, True)]
    for name, size in (("s", 4), ("d", 8), ("8", 8)):
        found += [Access(f"ldf{name} f6=[r6]", size, READ, size), Access(f"stf{name} [r6]=f7", size, WRITE, size)]
        found += [Access(f"ldfp{name} f6,f7=[r6]", 2 * size, READ, 2 * size)]
    found += [Access("ldfe f6=[r6]", 10, READ, 16), Access("stfe [r6]=f7", 10, WRITE, 16)]
    found += [Access("ldf.fill f6=[r6]", 16, READ, 16), Access("stf.spill [r6]=f7", 16, WRITE, 16)]
    found += [Access("ld8.fill r5=[r6]", 8, READ, 8), Access("st8.spill [r6]=r7", 8, WRITE, 8)]
    found += [Access("ld16 r5,ar.csd=[r6]", 16, READ, 16, True), Access("st16 [r6]=r7,ar.csd", 16, WRITE, 16, True)]
    return found


ACCESSES = _accesses()


class Edges:
    """A processor with all of these instructions, each with a break behind it."""

    def __init__(self) -> None:
        self.memory = AddressSpace(64 << 20)
        code = assemble([line for access in ACCESSES for line in (access.text, BREAK)], CODE)
        self.memory.map(CODE, len(code), 5)
        self.memory.write_initial(CODE, code)
        self.pages = {FIRST + PAGE * number: rights for number, rights in enumerate(LAYOUT) if rights is not None}
        for start, rights in self.pages.items():
            self.memory.map(start, PAGE, rights)
            self.memory.write_initial(start, bytes((start >> 14) + 5 * k & 0xFF for k in range(PAGE)))
        self.cpu = Processor(self.memory)

    def allowed(self, access: Access, address: int, um: int) -> bool:
        """Whether an access completes, by the pages of its bytes and its alignment."""
        rights = [self.pages.get(byte & -PAGE) for byte in (address, address + access.size - 1)]
        mem_accesses = all(one is not None and one & access.rights == access.rights for one in rights)
        return mem_accesses and (address % access.alignment == 0 or not (access.strict or um & UM_AC))

    def contents(self, address: int) -> bytes:
        """The bytes around an address; those that cannot be read are 0."""
        first, beyond = address - 64, address + 64
        edge = beyond & -PAGE
        pieces = [(first, edge), (edge, beyond)] if first < edge < beyond else [(first, beyond)]
        return b"".join(self._piece(*piece) for piece in pieces)

    def _piece(self, first: int, beyond: int) -> bytes:
        try:
            return self.memory.read(first, beyond - first)
        except GuestMemoryFault:
            return bytes(beyond - first)

    def run(self, number: int, address: int, um: int) -> bool:
        """Whether an access at an address completed; AssertionError: it changed what it must not."""
        access, cpu = ACCESSES[number], self.cpu
        before = self.contents(address)
        cpu.set_um(um)
        cpu.set_gr(6, address)
        cpu.set_gr(7, 0x0123456789ABCDEF)
        cpu.set_ip(CODE + 32 * number)
        done = cpu.run(Consumer()) != FAULT
        after = self.contents(address)
        size = access.size if done and access.rights & WRITE else 0
        if (before[:64], before[64 + size :]) != (after[:64], after[64 + size :]):
            raise AssertionError(f"{access.text} at {address:#x} with um={um:#x} changed other bytes")
        return done


def check_all() -> int:
    """Every access at every edge; how many there were. AssertionError."""
    edges = Edges()
    places = [FIRST + PAGE * page + offset for page, offset in product(range(len(LAYOUT) + 1), OFFSETS)]
    tried = 0
    for (number, access), um in product(enumerate(ACCESSES), (0, UM_AC, UM_BE)):
        for address in places:
            if edges.run(number, address, um) != edges.allowed(access, address, um):
                raise AssertionError(f"{access.text} at {address:#x} with um={um:#x}")
            tried += 1
    return tried


if __name__ == "__main__":
    print(check_all())
