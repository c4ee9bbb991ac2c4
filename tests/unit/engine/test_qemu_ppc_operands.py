"""What PowerPC instructions read and write, and what their addresses are made of: by hand, from the Power ISA."""

from grids import each
from ppc_programs import PPC64, PPC_ASSEMBLER, machine_code

from pfmon.engine.qemu._qemu import registers_used
from pfmon.engine.qemu.describe.ppc_forms import EXTENSIONS, forms

CR0, CR7, CR6, OTHER_CRS, LR, CTR, XER, F0 = 32, 33, 34, 35, 36, 37, 38, 39
NAMED = {"cr0": CR0, "cr7": CR7, "cr6": CR6, "cr1": OTHER_CRS, "cr4": OTHER_CRS, "lr": LR, "ctr": CTR, "xer": XER}

ROWS = """
addi 3, 4, 1            | r3 < r4
li 3, 1                 | r3 <
addis 3, 31, 1          | r3 < r31
mulli 3, 4, 5           | r3 < r4
addic 3, 4, 1           | r3 xer < r4
addic. 3, 4, 1          | r3 xer cr0 < r4
add 3, 4, 5             | r3 < r4 r5
add. 3, 4, 5            | r3 cr0 < r4 r5
.long 0x7c642e14        | r3 < r4 r5
adde 3, 4, 5            | r3 xer < r4 r5 xer
addze 3, 4              | r3 xer < r4 xer
neg 3, 4                | r3 < r4
divd 3, 4, 5            | r3 < r4 r5
modsw 3, 4, 5           | r3 < r4 r5
isel 3, 4, 5, 2         | r3 < r4 r5 cr0
isel 3, 0, 5, 30        | r3 < r5 cr7
and 3, 4, 5             | r3 < r4 r5
mr 3, 4                 | r3 < r4
ori 3, 4, 5             | r3 < r4
andi. 3, 4, 5           | r3 cr0 < r4
slw. 3, 4, 5            | r3 cr0 < r4 r5
sradi 3, 4, 40          | r3 xer < r4
extsw 3, 4              | r3 < r4
rlwinm 3, 4, 1, 2, 3    | r3 < r4
rlwimi 3, 4, 1, 2, 3    | r3 < r3 r4
rldicl 3, 4, 1, 2       | r3 < r4
rldimi 3, 4, 1, 2       | r3 < r3 r4
rldcl 3, 4, 5, 2        | r3 < r4 r5
cmpwi 3, 1              | cr0 < r3
cmpwi 7, 3, 1           | cr7 < r3
cmpld 6, 3, 4           | cr6 < r3 r4
crand 2, 4, 30          | cr0 < cr1 cr7
mtcrf 129, 3            | cr0 cr7 < r3
mfcr 3                  | r3 < cr0 cr1 cr6 cr7
mflr 3                  | r3 < lr
mtctr 3                 | ctr < r3
mtxer 3                 | xer < r3
tw 4, 3, 5              | < r3 r5
lwz 3, 8(4)             | r3 < [r4]
lwz 3, 8(0)             | r3 <
lwzu 3, 8(4)            | r3 < [r4]
ld 3, 8(4)              | r3 < [r4]
ldu 3, 8(4)             | r3 < [r4]
lwa 3, 8(4)             | r3 < [r4]
lmw 30, 8(4)            | r30 r31 < [r4]
lwzx 3, 4, 5            | r3 < [r4 r5]
lwzx 3, 0, 5            | r3 < [r5]
lwarx 3, 4, 5           | r3 < [r4 r5]
ldux 3, 4, 5            | r3 < [r4 r5]
stw 3, 8(4)             | < r3 [r4]
stdu 1, -64(1)          | < r1 [r1]
stmw 30, 8(4)           | < r30 r31 [r4]
stbx 3, 4, 5            | < r3 [r4 r5]
stwcx. 3, 4, 5          | cr0 < r3 [r4 r5]
dcbt 4, 5               | < [r4 r5]
lfd 1, 8(4)             | f1 < [r4]
lfdx 1, 4, 5            | f1 < [r4 r5]
stfs 1, 8(4)            | < f1 [r4]
fadd 1, 2, 3            | f1 < f2 f3
fmul 1, 2, 3            | f1 < f2 f3
fmadd 1, 2, 3, 4        | f1 < f2 f3 f4
fmadds. 1, 2, 3, 4      | f1 cr1 < f2 f3 f4
fsqrt 1, 2              | f1 < f2
fmr 1, 2                | f1 < f2
fctidz 1, 2             | f1 < f2
fsel 1, 2, 3, 4         | f1 < f2 f3 f4
fcmpu 4, 1, 2           | cr4 < f1 f2
mffs 1                  | f1 <
mtfsf 255, 1            | < f1
lvx 1, 4, 5             | f1 < [r4 r5]
vperm 1, 2, 3, 4        | f1 < f2 f3 f4
vaddubm 1, 2, 3         | f1 < f2 f3
lxvd2x 1, 4, 5          | f1 < [r4 r5]
xxlor 1, 2, 3           | f1 < f2 f3
mfvsrd 3, 1             | r3 < f1
mtvsrd 1, 3             | f1 < r3
b .+8                   | <
bl .+8                  | lr <
bdnz .+8                | < ctr
beq 7, .+8              | < cr7
bdnzt 2, .+8            | < ctr cr0
blr                     | < lr
beqlr                   | < lr cr0
bctr                    | < ctr
bctrl                   | < ctr
sync                    | <
sc                      | <
""".strip().splitlines()


def bit(name: str) -> int:
    """Floating-point registers beyond the 17th share bits: none of these here."""
    if name in NAMED:
        return 1 << NAMED[name]
    number = int(name[1:])
    return 1 << (number if name[0] == "r" else F0 + number)


def bits(names: list[str]) -> int:
    found = 0
    for name in names:
        found |= bit(name)
    return found


@PPC_ASSEMBLER
def test_operands_are_those_of_the_power_isa() -> None:
    code = machine_code("\n".join(row.partition("|")[0] for row in ROWS), PPC64)
    words = [int.from_bytes(code[at : at + 4], "big") for at in range(0, len(code), 4)]
    known = {(primary, extended): uses for primary, extended, uses in forms()}
    assert len(words) == len(ROWS)
    for word, row in zip(words, ROWS, strict=True):
        shift, mask = EXTENSIONS.get(word >> 26, (0, 0))
        written, _, others = row.partition("|")[2].partition("<")
        read, _, address = others.partition("[")
        made_of = address.strip(" ]").split()
        expected = bits(read.split() + made_of), bits(written.split()), bits(made_of)
        assert registers_used(word, known.get((word >> 26, word >> shift & mask), 0)) == expected, row


@each("primary", EXTENSIONS)
def test_extended_opcodes_fit_their_fields(primary: int) -> None:
    extended = [one for opcode, one, _ in forms() if opcode == primary]
    assert extended and max(extended) <= EXTENSIONS[primary][1]
