/* PowerPC instructions as the plugin needs them (Power ISA, book I, and its appendix of opcode maps). Instructions not
   known to be harmless may fault: that costs a little time and is never wrong. Harmless are only those that all of
   qemu's processors have, since missing ones are illegal; floating-point arithmetic is not, as programs may enable its
   exceptions. */

#include "code.h"
#include "layout.h"

enum { CONDITIONAL = 16, SYSTEM_CALL = 17, UNCONDITIONAL = 18, REGISTER = 19, EXTENDED = 31, FLOAT = 63 };

struct set {                     /* of opcodes */
    const uint16_t *numbers;
    size_t count;
};

#define SET(array) (struct set){array, sizeof array / sizeof array[0]}

/* Primary opcodes: mulli, subfic, cmpli, cmpi, addic, addic., addi, addis; rlwimi, rlwinm, rlwnm, ori ... andis. */
static const uint16_t harmless[] = {7, 8, 10, 11, 12, 13, 14, 15, 20, 21, 23, 24, 25, 26, 27, 28, 29};

/* Extended opcodes (bits 21 to 30) of primary opcode 31. */
static const uint16_t harmless_integers[] = {
    0, 32,                                              /* cmp, cmpl */
    28, 60, 124, 284, 316, 412, 444, 476,               /* and, andc, nor, eqv, xor, orc, or, nand */
    24, 26, 536, 792, 824, 922, 954,                    /* slw, cntlzw, srw, sraw, srawi, extsh, extsb */
    11, 75,                                             /* mulhwu, mulhw */
    19, 144, 246, 278, 598, 854,                        /* mfcr, mtcrf, dcbtst, dcbt, sync, eieio */
};
/* Those of 64-bit processors. */
static const uint16_t harmless_wide[] = {
    9, 73, 27, 58, 539, 794, 826, 827, 986,             /* mulhdu, mulhd, sld, cntlzd, srd, srad, sradi, extsw */
};
/* Those with an OE bit: subfc, addc, subf, neg, subfe, adde, subfze, addze, subfme, addme, mullw, add, divwu, divw. */
static const uint16_t harmless_sums[] = {8, 10, 40, 104, 136, 138, 200, 202, 232, 234, 235, 266, 459, 491};
static const uint16_t harmless_wide_sums[] = {233, 457, 489};                   /* mulld, divdu, divd */

/* Primary opcode 19: mcrf, crnor, crandc, isync, crxor, crnand, crand, creqv, crorc, cror. */
static const uint16_t harmless_conditions[] = {0, 33, 129, 150, 193, 225, 257, 289, 417, 449};

/* Primary opcode 63: fneg, fmr, fnabs, fabs. */
static const uint16_t harmless_floats[] = {40, 72, 136, 264};

/* Primary opcode 31: loads and stores whose addresses qemu reports (see ppc_accesses). */
static const uint16_t accessing[] = {
    20, 21, 23, 52, 53, 55, 84, 87, 116, 119, 276, 279, 310, 311, 341, 343, 373, 375,   /* lwarx, ldx ... lhaux */
    149, 150, 151, 181, 182, 183, 214, 215, 247, 407, 438, 439, 694, 726,               /* stdx, stwcx., ... sthcx. */
    532, 534, 790, 660, 662, 918,                                                       /* byte-reversed */
    535, 567, 599, 631, 791, 855, 887, 663, 695, 727, 759, 919, 983,                    /* floating-point */
    7, 39, 71, 103, 359, 135, 167, 199, 231, 487,                                       /* AltiVec */
    12, 76, 268, 269, 301, 332, 364, 524, 588, 780, 781, 812, 813, 844, 876,            /* VSX: loads, */
    140, 396, 397, 429, 652, 716, 908, 909, 940, 941, 972, 1004,                        /* ... stores, */
    13, 45, 77, 109, 333, 141, 173, 205, 237, 461,                                      /* ... and those of ISA 3.1 */
    582, 614, 710, 742,                                                                 /* lwat, ldat, stwat, stdat */
};

static bool has(struct set set, uint32_t number) {
    size_t i;
    for (i = 0; i < set.count; i++)
        if (set.numbers[i] == number)
            return true;
    return false;
}

static uint32_t primary(uint32_t word) {
    return word >> 26;
}

static uint32_t extended(uint32_t word) {
    return word >> 1 & 0x3FF;
}

/* mfspr and mtspr of XER, LR and CTR. */
static bool is_harmless_move(uint32_t word) {
    uint32_t number = (word >> 16 & 31) | (word >> 11 & 31) << 5;
    return (extended(word) == 339 || extended(word) == 467) && (number == 1 || number == 8 || number == 9);
}

static bool is_harmless(uint32_t word, bool is_64) {
    uint32_t number = extended(word);
    switch (primary(word)) {
    case 30:
        return is_64 && (number & 15) < 10;                     /* rotates of 64 bits */
    case REGISTER:
        return has(SET(harmless_conditions), number);
    case EXTENDED:
        return has(SET(harmless_integers), number) || has(SET(harmless_sums), number & 0x1FF) || is_harmless_move(word)
            || (is_64 && (has(SET(harmless_wide), number) || has(SET(harmless_wide_sums), number & 0x1FF)));
    case FLOAT:
        return has(SET(harmless_floats), number);
    default:
        return has(SET(harmless), primary(word));
    }
}

/* Branches do not fault themselves; their targets may. bclr, bcctr, bctar. */
static bool is_branch(uint32_t word) {
    uint32_t number = extended(word);
    return primary(word) == CONDITIONAL || primary(word) == UNCONDITIONAL
        || (primary(word) == REGISTER && (number == 16 || number == 528 || number == 560));
}

/* Whether a branch depends on CTR or on a condition (the field BO, book I, section 2.4). */
static bool is_conditional(uint32_t word) {
    return primary(word) != UNCONDITIONAL && (word >> 21 & 0x14) != 0x14;
}

/* The number of addresses of an instruction's memory accesses in the stream: one or none. qemu does not report the
   accesses of lmw, stmw, lswi, lswx, stswi, stswx, dcbz to plugins. */
uint8_t ppc_accesses(uint32_t word) {
    switch (primary(word)) {
    case 46: case 47:
        return 0;                /* lmw, stmw */
    case EXTENDED:
        return has(SET(accessing), extended(word));
    case 6: case 56: case 57: case 58: case 61: case 62:
        return 1;
    default:
        return primary(word) >= 32 && primary(word) < 56;
    }
}

static struct code code_of(uint32_t word, bool is_64) {
    struct code code = {.may_fault = true, .tail = SUCCESSOR, .slots = ppc_accesses(word)};
    if (is_branch(word)) {
        code.may_fault = false;
        code.tail = CERTAIN;
        code.conditional = is_conditional(word);
    } else if (primary(word) == SYSTEM_CALL)
        code.tail = CERTAIN;
    else if (is_harmless(word, is_64)) {
        code.may_fault = false;
        code.tail = CERTAIN;
    }
    return code;
}

static uint32_t big_endian(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static uint32_t little_endian(const uint8_t *bytes) {
    return (uint32_t)bytes[3] << 24 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[1] << 8 | bytes[0];
}

struct code ppc64_code(const uint8_t *bytes, size_t size) {
    (void)size;
    return code_of(big_endian(bytes), true);
}

struct code ppc_code(const uint8_t *bytes, size_t size) {
    (void)size;
    return code_of(big_endian(bytes), false);
}

struct code ppc64le_code(const uint8_t *bytes, size_t size) {
    (void)size;
    return code_of(little_endian(bytes), true);
}

bool ppc_is_whole(const uint8_t *bytes, size_t size) {
    (void)bytes;
    return size >= 4;
}
