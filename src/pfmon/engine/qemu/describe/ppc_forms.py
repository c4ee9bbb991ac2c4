"""The registers that PowerPC instructions read, write, and use in addresses, by form, as data (Power ISA, book I,
chapters 2 to 7 and the appendix of opcode maps).

A form has the written fields, ``<``, the read fields, and in brackets those of an address:

========== ============================================================================================================
RT RA RB   the general register of that field; RT of a store is read. RA0: none if the field is 0
FT FA FB   the floating-point or vector register of that field; FC likewise (of the 64 vector registers of VSX the last
           32 are taken for the first)
RT+        that of the field and all after it (lmw, stmw)
BF BC      the field of the condition register; that of which BC is a bit
BITS       those of which BA and BB are bits (of mcrf nearly so)
FXM CR     those of a mask; all
SPR CA     LR, CTR or XER, by number; XER
. .1       CR0, CR1, if the instruction has Rc set; CR0: always
BO         registers that a branch tests, by its field
========== ============================================================================================================

Writes of RA by update forms are left out: the value comes from RA, not from memory.
"""

from __future__ import annotations

from collections.abc import Iterator

from pfmon.engine.qemu._qemu import Use

EXTENSIONS = {
    4: (0, 0x3F),
    19: (1, 0x3FF),
    30: (1, 0xF),
    31: (1, 0x3FF),
    57: (0, 3),
    58: (0, 3),
    59: (1, 0x3FF),
    60: (1, 0x3FF),
    61: (0, 7),
    62: (0, 3),
    63: (1, 0x3FF),
}
"""By primary opcode: shift and width of the extended opcode."""

SHORT = {59: 5, 63: 5}
"""Primary opcodes some of whose extended opcodes are shorter, after a register field (A-form)."""

WITHOUT_EXTENSION = {
    "< RA": (2, 3),
    "RT < RA": (7,),
    "RT CA < RA": (8, 12),
    "RT CA CR0 < RA": (13,),
    "RT < RA0": (14, 15),
    "BF < RA": (10, 11),
    "LR < BO": (16,),
    "LR <": (18,),
    "RA . < RT RA": (20,),
    "RA . < RT": (21,),
    "RA . < RT RB": (23,),
    "RA < RT": (24, 25, 26, 27),
    "RA CR0 < RT": (28, 29),
    "RT < [RA0]": (32, 33, 34, 35, 40, 41, 42, 43),
    "< RT [RA0]": (36, 37, 38, 39, 44, 45),
    "RT+ < [RA0]": (46, 56),
    "< RT+ [RA0]": (47,),
    "FT < [RA0]": (48, 49, 50, 51),
    "< FT [RA0]": (52, 53, 54, 55),
}
"""Primary opcodes by form."""

WITH_EXTENSION: dict[int, dict[str, tuple[int, ...]]] = {
    4: {"FT < FA FB": tuple(range(32)), "FT < FA FB FC": tuple(range(32, 48))},
    19: {
        "BF < BITS": (0, 33, 129, 193, 225, 257, 289, 417, 449),
        "< BO LR": (16,),
        "< BO CTR": (528,),
        "< BO": (560,),
    },
    30: {"RA . < RT": (0, 1, 2, 3, 4, 5), "RA . < RT RA": (6, 7), "RA . < RT RB": (8, 9)},
    57: {"FT < [RA0]": (0, 2, 3)},
    58: {"RT < [RA0]": (0, 1, 2)},
    61: {"FT < [RA0]": (1,), "< FT [RA0]": (0, 2, 3, 4, 5, 6, 7)},
    62: {"< RT [RA0]": (0, 1), "< RT+ [RA0]": (2,)},
    60: {"FT < FA FB": tuple(range(1024)), "BF < FA FB": tuple(n << 2 | low for n in (35, 43, 59) for low in range(4))},
    63: {
        "BF < FA FB": (0, 32),
        "FT .1 < FB": (12, 14, 15, 40, 72, 136, 264, 392, 424, 456, 488, 814, 815, 846, 942, 943, 974, 143, 142),
        "FT .1 < FA FB": (8,),
        "FT .1 <": (583,),
        "< FB": (711,),
        "BF <": (64,),
    },
    31: {
        "BF < RA RB": (0, 32),
        "< RA RB": (4, 68),
        "RT . < RA RB": (9, 11, 40, 73, 75, 233, 235, 266, 393, 395, 425, 427, 457, 459, 489, 491),
        "RT < RA RB": (265, 267, 777, 779),
        "RT CA . < RA RB": (8, 10),
        "RT CA . < RA RB CA": (136, 138),
        "RT CA . < RA CA": (200, 202, 232, 234),
        "RT . < RA": (104,),
        "RT < RA0 RB BC": tuple(high << 5 | 15 for high in range(32)),
        "RA . < RT RB": (24, 27, 28, 60, 124, 284, 316, 412, 444, 476, 508, 536, 539, 252),
        "RA CA . < RT RB": (792, 794),
        "RA CA . < RT": (824, 826, 827),
        "RA . < RT": (26, 58, 538, 570, 922, 954, 986, 122, 154, 186, 378, 506, 890, 891),
        "RT < [RA0 RB]": (
            *(20, 21, 23, 52, 53, 55, 84, 87, 116, 119, 279, 311, 341, 343, 373, 375, 532, 534, 790),
            *(276, 310, 533),
        ),
        "RT+ < [RA0]": (597,),
        "< RT [RA0 RB]": (
            *(149, 151, 181, 183, 215, 247, 407, 439, 660, 662, 918, 438, 661),
        ),
        "CR0 < RT [RA0 RB]": (150, 214, 694, 726, 182),
        "< RT+ [RA0]": (725,),
        "FT < [RA0 RB]": (
            *(535, 567, 599, 631, 791, 855, 887, 7, 39, 71, 103, 359, 12, 76, 268, 332, 524, 588, 780, 812, 844, 876),
            *(13, 45, 77, 109, 781, 813, 269, 301),
        ),
        "< FT [RA0 RB]": (
            *(663, 695, 727, 759, 919, 983, 135, 167, 199, 231, 487, 140, 396, 652, 716, 908, 940, 972, 1004),
            *(141, 173, 205, 237, 909, 941, 397, 429),
        ),
        "FT < RA0 RB": (6, 38),
        "RA < FT": (51, 115, 307),
        "FT < RA": (179, 211, 243),
        "FT < RA RB": (403, 435),
        "< [RA0 RB]": (54, 86, 246, 278, 470, 982, 1014),
        "RT < SPR": (339,),
        "SPR < RT": (467,),
        "RT < CR": (19, 128),
        "FXM < RT": (144,),
        "RT <": (83, 371),
        "BF < CA": (512, 576),
    },
}  # fmt: skip
"""Extended opcodes by primary opcode and form; of two forms of one opcode the last holds."""

WITH_OVERFLOW = ("RT . < RA RB", "RT CA . < RA RB", "RT CA . < RA RB CA", "RT CA . < RA CA", "RT . < RA")
"""Forms whose highest bit of the extended opcode is OE (of 31)."""

ARITHMETIC = {
    "FT .1 < FA FB": (18, 20, 21),
    "FT .1 < FB": (22, 24, 26),
    "FT .1 < FA FC": (25,),
    "FT .1 < FA FB FC": (23, 28, 29, 30, 31),
}
"""Extended opcodes of five bits (59 and 63)."""

WORDS = {
    "[RA": Use.ADDRESS_RA0,
    "[RA0": Use.ADDRESS_RA0,
    "[RA0]": Use.ADDRESS_RA0,
    "RB]": Use.ADDRESS_RB,
    ".": Use.RECORD,
    ".1": Use.RECORD_1,
}


def forms() -> Iterator[tuple[int, int, int]]:
    """Primary opcode, extended opcode (0 if there is none), and the used registers, as bits of Use."""
    for form, primaries in WITHOUT_EXTENSION.items():
        for primary in primaries:
            yield primary, 0, uses(form)
    for primary, bits in SHORT.items():
        for form, short in ARITHMETIC.items():
            used = uses(form)
            for extended in short:
                for register in range(1 << bits):
                    yield primary, register << 5 | extended, used
    for primary, of_primary in WITH_EXTENSION.items():
        for form, extensions in of_primary.items():
            used = uses(form)
            for extended in extensions:
                yield primary, extended, used
                if primary == 31 and form in WITH_OVERFLOW and extended < 0x200:
                    yield primary, extended | 0x200, used


def uses(form: str) -> int:
    """A form as bits of Use; KeyError for an unknown word."""
    written, _, read = form.partition("<")
    bits = 0
    for word in written.split():
        bits |= WORDS[word] if word in WORDS else Use[f"WRITE_{word.replace('+', '_ON')}"]
    for word in read.split():
        bits |= WORDS[word] if word in WORDS else Use[f"READ_{word.replace('+', '_ON')}"]
    return bits
