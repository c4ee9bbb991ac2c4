/* Encodings by feature, and their tuple types (Intel SDM volume 2, appendix A and the instructions' pages). Instructions
   without a row are of every processor in the maps of one and two bytes, and none elsewhere. */

#include "encoding_rows.h"
#include "kernel.h"

enum { NP = 1, P66 = 2, F3 = 4, F2 = 8, PS_PD = NP | P66, SCALARS = F3 | F2, ANY = 15 };     /* mandatory prefixes */
enum { W0 = 1, W1 = 2, WIG = 3 };
enum { IN_REGISTER = 1, IN_MEMORY = 2, EITHER = 3 };
enum { ALL = 0x3F };

/* Opcodes from .. to; with a group's field reg in memory; with ModR/M of registers from .. to. */
#define ROW(from, to, prefixes, feature) {from, to, prefixes, WIG, feature, NO_TUPLE, EITHER, 0, ALL}
#define GROUP(opcode, reg, prefixes, feature) \
    {opcode, opcode, prefixes, WIG, feature, NO_TUPLE, IN_MEMORY, 8 * (reg), 8 * (reg) + 7}
#define REGS(opcode, low, high, prefixes, feature) \
    {opcode, opcode, prefixes, WIG, feature, NO_TUPLE, IN_REGISTER, (low) & ALL, (high) & ALL}
#define EVEX_ROW(from, to, prefixes, widths, tuple) {from, to, prefixes, widths, AVX512, tuple, EITHER, 0, ALL}
#define LATER_ROW(from, to, prefixes, widths, tuple) {from, to, prefixes, widths, LATER_AVX512, tuple, EITHER, 0, ALL}
#define END {0, 0, 0, 0, 0, 0, 0, 0, 0}

static const struct encoding two_bytes[] = {
    REGS(0x01, 0xC0, 0xC7, ANY, OTHER),          /* enclv, VMX, pconfig */
    REGS(0x01, 0xC8, 0xCF, ANY, OTHER),          /* monitor, mwait, clac, stac, encls */
    REGS(0x01, 0xD0, 0xD0, ANY, AVX2),           /* xgetbv */
    REGS(0x01, 0xD2, 0xDF, ANY, OTHER),          /* vmfunc, xend, xtest, enclu, SVM */
    REGS(0x01, 0xE8, 0xEF, ANY, OTHER),          /* serialize, shadow stacks, user interrupts, rdpkru, wrpkru */
    REGS(0x01, 0xF9, 0xF9, ANY, AVX2),           /* rdtscp */
    REGS(0x01, 0xFA, 0xFF, ANY, OTHER),          /* monitorx, mwaitx, clzero, rdpru, invlpgb, tlbsync */
    GROUP(0x01, 5, F3, OTHER),                   /* rstorssp */
    ROW(0x0E, 0x0F, ANY, OTHER),                 /* 3DNow! */
    ROW(0x2B, 0x2B, SCALARS, OTHER),             /* movntss, movntsd */
    ROW(0x37, 0x37, ANY, OTHER),                 /* getsec */
    ROW(0x78, 0x79, ANY, OTHER),                 /* vmread, vmwrite, extrq, insertq */
    GROUP(0xAE, 4, NP, AVX2),                    /* xsave */
    GROUP(0xAE, 5, NP, AVX2),                    /* xrstor */
    GROUP(0xAE, 4, P66 | F3 | F2, OTHER),        /* ptwrite */
    GROUP(0xAE, 6, ANY, OTHER),                  /* xsaveopt, clwb, clrssbsy */
    GROUP(0xAE, 7, P66, OTHER),                  /* clflushopt */
    REGS(0xAE, 0xC0, 0xDF, F3, OTHER),           /* rdfsbase .. wrgsbase */
    REGS(0xAE, 0xE0, 0xFF, P66 | F3 | F2, OTHER),    /* ptwrite, incssp, umonitor, umwait, tpause */
    ROW(0xB8, 0xB8, F3, SSE4),                   /* popcnt */
    ROW(0xB8, 0xB8, NP | P66 | F2, OTHER),
    GROUP(0xC7, 3, ANY, OTHER),                  /* xrstors */
    GROUP(0xC7, 4, ANY, OTHER),                  /* xsavec */
    GROUP(0xC7, 5, ANY, OTHER),                  /* xsaves */
    GROUP(0xC7, 6, ANY, OTHER),                  /* VMX */
    GROUP(0xC7, 7, ANY, OTHER),
    REGS(0xC7, 0xF0, 0xFF, ANY, OTHER),          /* rdrand, rdseed, rdpid, senduipi */
    END
};

static const struct encoding map_38[] = {
    ROW(0x00, 0x0B, PS_PD, BASE), ROW(0x1C, 0x1E, PS_PD, BASE),                  /* SSSE3 */
    ROW(0x10, 0x10, P66, SSE4), ROW(0x14, 0x15, P66, SSE4), ROW(0x17, 0x17, P66, SSE4), ROW(0x20, 0x25, P66, SSE4),
    ROW(0x28, 0x2B, P66, SSE4), ROW(0x30, 0x35, P66, SSE4), ROW(0x37, 0x41, P66, SSE4),
    ROW(0xF0, 0xF1, PS_PD, AVX2),                                                /* movbe */
    ROW(0xF0, 0xF1, F2, SSE4),                                                   /* crc32 */
    END
};

static const struct encoding map_3a[] = {
    ROW(0x0F, 0x0F, PS_PD, BASE),                                                /* palignr */
    ROW(0x08, 0x0E, P66, SSE4), ROW(0x14, 0x17, P66, SSE4), ROW(0x20, 0x22, P66, SSE4), ROW(0x40, 0x42, P66, SSE4),
    ROW(0x60, 0x63, P66, SSE4),
    END
};

static const struct encoding vex_two_bytes[] = {
    ROW(0x10, 0x12, ANY, AVX2), ROW(0x13, 0x15, PS_PD, AVX2), ROW(0x16, 0x16, PS_PD | F3, AVX2),
    ROW(0x17, 0x17, PS_PD, AVX2),
    ROW(0x28, 0x29, PS_PD, AVX2), ROW(0x2A, 0x2A, SCALARS, AVX2), ROW(0x2B, 0x2B, PS_PD, AVX2),
    ROW(0x2C, 0x2D, SCALARS, AVX2), ROW(0x2E, 0x2F, PS_PD, AVX2),
    ROW(0x41, 0x42, PS_PD, AVX512), ROW(0x44, 0x47, PS_PD, AVX512), ROW(0x4A, 0x4B, PS_PD, AVX512),
    ROW(0x50, 0x50, PS_PD, AVX2), ROW(0x51, 0x51, ANY, AVX2), ROW(0x52, 0x53, NP | F3, AVX2), ROW(0x54, 0x57, PS_PD, AVX2),
    ROW(0x58, 0x5A, ANY, AVX2), ROW(0x5B, 0x5B, PS_PD | F3, AVX2), ROW(0x5C, 0x5F, ANY, AVX2),
    ROW(0x60, 0x6E, P66, AVX2), ROW(0x6F, 0x6F, P66 | F3, AVX2), ROW(0x70, 0x70, P66 | SCALARS, AVX2),
    ROW(0x71, 0x76, P66, AVX2), ROW(0x77, 0x77, NP, AVX2), ROW(0x7C, 0x7D, P66 | F2, AVX2), ROW(0x7E, 0x7F, P66 | F3, AVX2),
    ROW(0x90, 0x91, PS_PD, AVX512), ROW(0x92, 0x93, PS_PD | F2, AVX512), ROW(0x98, 0x99, PS_PD, AVX512),
    GROUP(0xAE, 2, NP, AVX2), GROUP(0xAE, 3, NP, AVX2),
    ROW(0xC2, 0xC2, ANY, AVX2), ROW(0xC4, 0xC5, P66, AVX2), ROW(0xC6, 0xC6, PS_PD, AVX2), ROW(0xD0, 0xD0, P66 | F2, AVX2),
    ROW(0xD1, 0xE5, P66, AVX2), ROW(0xE6, 0xE6, P66 | SCALARS, AVX2), ROW(0xE7, 0xEF, P66, AVX2), ROW(0xF0, 0xF0, F2, AVX2),
    ROW(0xF1, 0xFE, P66, AVX2),
    END
};

static const struct encoding vex_38[] = {
    ROW(0x00, 0x0F, P66, AVX2), ROW(0x13, 0x13, P66, AVX2), ROW(0x16, 0x1A, P66, AVX2), ROW(0x1C, 0x1E, P66, AVX2),
    ROW(0x20, 0x25, P66, AVX2), ROW(0x28, 0x41, P66, AVX2), ROW(0x45, 0x47, P66, AVX2), ROW(0x58, 0x5A, P66, AVX2),
    ROW(0x78, 0x79, P66, AVX2), ROW(0x8C, 0x8C, P66, AVX2), ROW(0x8E, 0x8E, P66, AVX2), ROW(0x90, 0x93, P66, AVX2),
    ROW(0x96, 0x9F, P66, AVX2), ROW(0xA6, 0xAF, P66, AVX2), ROW(0xB6, 0xBF, P66, AVX2),
    ROW(0xF2, 0xF3, NP, AVX2), ROW(0xF5, 0xF5, NP | SCALARS, AVX2), ROW(0xF6, 0xF6, F2, AVX2), ROW(0xF7, 0xF7, ANY, AVX2),
    END
};

static const struct encoding vex_3a[] = {
    ROW(0x00, 0x02, P66, AVX2), ROW(0x04, 0x06, P66, AVX2), ROW(0x08, 0x0F, P66, AVX2), ROW(0x14, 0x19, P66, AVX2),
    ROW(0x1D, 0x1D, P66, AVX2), ROW(0x20, 0x22, P66, AVX2), ROW(0x30, 0x33, P66, AVX512), ROW(0x38, 0x39, P66, AVX2),
    ROW(0x40, 0x42, P66, AVX2), ROW(0x46, 0x46, P66, AVX2), ROW(0x4A, 0x4C, P66, AVX2), ROW(0x60, 0x63, P66, AVX2),
    ROW(0xF0, 0xF0, F2, AVX2),
    END
};

/* Packed and scalar floating-point instructions of an opcode: ps, pd, ss, sd. */
#define PACKED(from, to, tuple) EVEX_ROW(from, to, NP, W0, tuple), EVEX_ROW(from, to, P66, W1, tuple)
#define FLOATS(from, to) PACKED(from, to, FULL), EVEX_ROW(from, to, F3, W0, BYTES_4), EVEX_ROW(from, to, F2, W1, BYTES_8)
#define INTEGERS(from, to, tuple) EVEX_ROW(from, to, P66, WIG, tuple)
#define WORDS(from, to) EVEX_ROW(from, to, P66, W0, FULL)
#define QUADS(from, to) EVEX_ROW(from, to, P66, W1, FULL)

static const struct encoding evex_two_bytes[] = {
    PACKED(0x10, 0x11, FULL_MEMORY), EVEX_ROW(0x10, 0x11, F3, W0, BYTES_4), EVEX_ROW(0x10, 0x11, F2, W1, BYTES_8),
    PACKED(0x12, 0x13, BYTES_8), EVEX_ROW(0x12, 0x12, F3, W0, FULL_MEMORY), EVEX_ROW(0x12, 0x12, F2, W1, DUPLICATED),
    PACKED(0x14, 0x15, FULL), PACKED(0x16, 0x17, BYTES_8), EVEX_ROW(0x16, 0x16, F3, W0, FULL_MEMORY),
    PACKED(0x28, 0x29, FULL_MEMORY), EVEX_ROW(0x2A, 0x2A, SCALARS, WIG, ELEMENT), PACKED(0x2B, 0x2B, FULL_MEMORY),
    EVEX_ROW(0x2C, 0x2D, F3, WIG, BYTES_4), EVEX_ROW(0x2C, 0x2D, F2, WIG, BYTES_8),
    EVEX_ROW(0x2E, 0x2F, NP, W0, BYTES_4), EVEX_ROW(0x2E, 0x2F, P66, W1, BYTES_8),
    FLOATS(0x51, 0x51), PACKED(0x54, 0x57, FULL), FLOATS(0x58, 0x59),
    EVEX_ROW(0x5A, 0x5A, NP, W0, HALF), QUADS(0x5A, 0x5A), EVEX_ROW(0x5A, 0x5A, F3, W0, BYTES_4),
    EVEX_ROW(0x5A, 0x5A, F2, W1, BYTES_8),
    EVEX_ROW(0x5B, 0x5B, NP, WIG, FULL), EVEX_ROW(0x5B, 0x5B, P66 | F3, W0, FULL), FLOATS(0x5C, 0x5F),
    INTEGERS(0x60, 0x61, FULL_MEMORY), WORDS(0x62, 0x62), INTEGERS(0x63, 0x65, FULL_MEMORY), WORDS(0x66, 0x66),
    INTEGERS(0x67, 0x69, FULL_MEMORY), WORDS(0x6A, 0x6B), QUADS(0x6C, 0x6D), INTEGERS(0x6E, 0x6E, ELEMENT),
    EVEX_ROW(0x6F, 0x6F, P66 | F3 | F2, WIG, FULL_MEMORY),
    WORDS(0x70, 0x70), EVEX_ROW(0x70, 0x70, SCALARS, WIG, FULL_MEMORY), INTEGERS(0x71, 0x71, FULL_MEMORY),
    INTEGERS(0x72, 0x73, FULL), INTEGERS(0x74, 0x75, FULL_MEMORY), WORDS(0x76, 0x76),
    EVEX_ROW(0x78, 0x79, NP, WIG, FULL), EVEX_ROW(0x78, 0x79, P66, W0, HALF), QUADS(0x78, 0x79),
    EVEX_ROW(0x78, 0x79, F3, WIG, BYTES_4), EVEX_ROW(0x78, 0x79, F2, WIG, BYTES_8),
    EVEX_ROW(0x7A, 0x7A, P66 | F3, W0, HALF), EVEX_ROW(0x7A, 0x7A, P66 | F3, W1, FULL), EVEX_ROW(0x7A, 0x7A, F2, WIG, FULL),
    EVEX_ROW(0x7B, 0x7B, P66, W0, HALF), QUADS(0x7B, 0x7B), EVEX_ROW(0x7B, 0x7B, SCALARS, WIG, ELEMENT),
    INTEGERS(0x7E, 0x7E, ELEMENT), EVEX_ROW(0x7E, 0x7E, F3, W1, BYTES_8),
    EVEX_ROW(0x7F, 0x7F, P66 | F3 | F2, WIG, FULL_MEMORY),
    FLOATS(0xC2, 0xC2), INTEGERS(0xC4, 0xC5, BYTES_2), PACKED(0xC6, 0xC6, FULL),
    INTEGERS(0xD1, 0xD1, BYTES_16), EVEX_ROW(0xD2, 0xD2, P66, W0, BYTES_16), EVEX_ROW(0xD3, 0xD3, P66, W1, BYTES_16),
    QUADS(0xD4, 0xD4), INTEGERS(0xD5, 0xD5, FULL_MEMORY), EVEX_ROW(0xD6, 0xD6, P66, W1, BYTES_8),
    INTEGERS(0xD8, 0xDA, FULL_MEMORY), INTEGERS(0xDB, 0xDB, FULL), INTEGERS(0xDC, 0xDE, FULL_MEMORY),
    INTEGERS(0xDF, 0xDF, FULL),
    INTEGERS(0xE0, 0xE0, FULL_MEMORY), INTEGERS(0xE1, 0xE2, BYTES_16), INTEGERS(0xE3, 0xE5, FULL_MEMORY),
    EVEX_ROW(0xE6, 0xE6, P66 | F2, W1, FULL), EVEX_ROW(0xE6, 0xE6, F3, W0, HALF), EVEX_ROW(0xE6, 0xE6, F3, W1, FULL),
    EVEX_ROW(0xE7, 0xE7, P66, W0, FULL_MEMORY), INTEGERS(0xE8, 0xEA, FULL_MEMORY), INTEGERS(0xEB, 0xEB, FULL),
    INTEGERS(0xEC, 0xEE, FULL_MEMORY), INTEGERS(0xEF, 0xEF, FULL), INTEGERS(0xF1, 0xF1, BYTES_16),
    EVEX_ROW(0xF2, 0xF2, P66, W0, BYTES_16), EVEX_ROW(0xF3, 0xF3, P66, W1, BYTES_16), QUADS(0xF4, 0xF4),
    INTEGERS(0xF5, 0xF6, FULL_MEMORY), INTEGERS(0xF8, 0xF9, FULL_MEMORY), WORDS(0xFA, 0xFA), QUADS(0xFB, 0xFB),
    INTEGERS(0xFC, 0xFD, FULL_MEMORY), WORDS(0xFE, 0xFE),
    END
};

/* A conversion that widens its source in memory (66), and one that narrows into memory (F3). */
#define CONVERTS(opcode, tuple) EVEX_ROW(opcode, opcode, P66, WIG, tuple), EVEX_ROW(opcode, opcode, F3, W0, tuple)

static const struct encoding evex_38[] = {
    INTEGERS(0x00, 0x00, FULL_MEMORY), INTEGERS(0x04, 0x04, FULL_MEMORY), INTEGERS(0x0B, 0x0B, FULL_MEMORY),
    WORDS(0x0C, 0x0C), QUADS(0x0D, 0x0D),
    EVEX_ROW(0x10, 0x12, P66, W1, FULL_MEMORY), EVEX_ROW(0x13, 0x13, P66, W0, HALF_MEMORY), INTEGERS(0x14, 0x16, FULL),
    EVEX_ROW(0x10, 0x10, F3, W0, HALF_MEMORY), EVEX_ROW(0x11, 0x11, F3, W0, QUARTER_MEMORY),
    EVEX_ROW(0x12, 0x12, F3, W0, EIGHTH_MEMORY),
    EVEX_ROW(0x13, 0x13, F3, W0, HALF_MEMORY), EVEX_ROW(0x14, 0x14, F3, W0, QUARTER_MEMORY),
    EVEX_ROW(0x15, 0x15, F3, W0, HALF_MEMORY),
    EVEX_ROW(0x18, 0x18, P66, W0, BYTES_4), INTEGERS(0x19, 0x19, BYTES_8), INTEGERS(0x1A, 0x1A, BYTES_16),
    INTEGERS(0x1B, 0x1B, BYTES_32), INTEGERS(0x1C, 0x1D, FULL_MEMORY), WORDS(0x1E, 0x1E), QUADS(0x1F, 0x1F),
    CONVERTS(0x20, HALF_MEMORY), CONVERTS(0x21, QUARTER_MEMORY), CONVERTS(0x22, EIGHTH_MEMORY), CONVERTS(0x23, HALF_MEMORY),
    CONVERTS(0x24, QUARTER_MEMORY), EVEX_ROW(0x25, 0x25, P66 | F3, W0, HALF_MEMORY),
    EVEX_ROW(0x26, 0x26, P66 | F3, WIG, FULL_MEMORY), EVEX_ROW(0x27, 0x27, P66 | F3, WIG, FULL), QUADS(0x28, 0x29),
    EVEX_ROW(0x28, 0x29, F3, WIG, NO_TUPLE), EVEX_ROW(0x2A, 0x2A, P66, W0, FULL_MEMORY),
    EVEX_ROW(0x2A, 0x2A, F3, W1, NO_TUPLE),
    WORDS(0x2B, 0x2B), INTEGERS(0x2C, 0x2C, FULL), INTEGERS(0x2D, 0x2D, ELEMENT),
    CONVERTS(0x30, HALF_MEMORY), CONVERTS(0x31, QUARTER_MEMORY), CONVERTS(0x32, EIGHTH_MEMORY), CONVERTS(0x33, HALF_MEMORY),
    CONVERTS(0x34, QUARTER_MEMORY), EVEX_ROW(0x35, 0x35, P66 | F3, W0, HALF_MEMORY),
    INTEGERS(0x36, 0x36, FULL), QUADS(0x37, 0x37), INTEGERS(0x38, 0x38, FULL_MEMORY),
    EVEX_ROW(0x38, 0x39, F3, WIG, NO_TUPLE),
    INTEGERS(0x39, 0x39, FULL), INTEGERS(0x3A, 0x3A, FULL_MEMORY), EVEX_ROW(0x3A, 0x3A, F3, W0, NO_TUPLE),
    INTEGERS(0x3B, 0x3B, FULL), INTEGERS(0x3C, 0x3C, FULL_MEMORY), INTEGERS(0x3D, 0x3D, FULL),
    INTEGERS(0x3E, 0x3E, FULL_MEMORY), INTEGERS(0x3F, 0x40, FULL),
    INTEGERS(0x42, 0x42, FULL), INTEGERS(0x43, 0x43, ELEMENT), INTEGERS(0x44, 0x47, FULL),
    INTEGERS(0x4C, 0x4C, FULL), INTEGERS(0x4D, 0x4D, ELEMENT), INTEGERS(0x4E, 0x4E, FULL), INTEGERS(0x4F, 0x4F, ELEMENT),
    LATER_ROW(0x50, 0x53, P66, W0, FULL), LATER_ROW(0x52, 0x52, F3, W0, FULL), LATER_ROW(0x54, 0x54, P66, WIG, FULL_MEMORY),
    LATER_ROW(0x55, 0x55, P66, WIG, FULL), EVEX_ROW(0x58, 0x58, P66, W0, BYTES_4), INTEGERS(0x59, 0x59, BYTES_8),
    INTEGERS(0x5A, 0x5A, BYTES_16), INTEGERS(0x5B, 0x5B, BYTES_32),
    LATER_ROW(0x62, 0x63, P66, W0, BYTES_1), LATER_ROW(0x62, 0x63, P66, W1, BYTES_2),
    INTEGERS(0x64, 0x65, FULL), INTEGERS(0x66, 0x66, FULL_MEMORY),
    LATER_ROW(0x70, 0x70, P66, W1, FULL_MEMORY), LATER_ROW(0x71, 0x71, P66, WIG, FULL),
    LATER_ROW(0x72, 0x72, P66, W1, FULL_MEMORY),
    LATER_ROW(0x73, 0x73, P66, WIG, FULL), LATER_ROW(0x72, 0x72, SCALARS, W0, FULL),
    EVEX_ROW(0x75, 0x75, P66, W1, FULL_MEMORY), LATER_ROW(0x75, 0x75, P66, W0, FULL_MEMORY), INTEGERS(0x76, 0x77, FULL),
    EVEX_ROW(0x78, 0x78, P66, W0, BYTES_1), EVEX_ROW(0x79, 0x79, P66, W0, BYTES_2), EVEX_ROW(0x7A, 0x7B, P66, W0, NO_TUPLE),
    INTEGERS(0x7C, 0x7C, NO_TUPLE), EVEX_ROW(0x7D, 0x7D, P66, W1, FULL_MEMORY), LATER_ROW(0x7D, 0x7D, P66, W0, FULL_MEMORY),
    INTEGERS(0x7E, 0x7F, FULL), LATER_ROW(0x83, 0x83, P66, W1, FULL), INTEGERS(0x88, 0x8B, ELEMENT),
    EVEX_ROW(0x8D, 0x8D, P66, W1, FULL_MEMORY), LATER_ROW(0x8D, 0x8D, P66, W0, FULL_MEMORY),
    LATER_ROW(0x8F, 0x8F, P66, W0, FULL_MEMORY),
    INTEGERS(0x90, 0x93, ELEMENT), INTEGERS(0x96, 0x98, FULL), INTEGERS(0x99, 0x99, ELEMENT), INTEGERS(0x9A, 0x9A, FULL),
    INTEGERS(0x9B, 0x9B, ELEMENT), INTEGERS(0x9C, 0x9C, FULL), INTEGERS(0x9D, 0x9D, ELEMENT), INTEGERS(0x9E, 0x9E, FULL),
    INTEGERS(0x9F, 0x9F, ELEMENT), INTEGERS(0xA0, 0xA3, ELEMENT), INTEGERS(0xA6, 0xA8, FULL), INTEGERS(0xA9, 0xA9, ELEMENT),
    INTEGERS(0xAA, 0xAA, FULL), INTEGERS(0xAB, 0xAB, ELEMENT), INTEGERS(0xAC, 0xAC, FULL), INTEGERS(0xAD, 0xAD, ELEMENT),
    INTEGERS(0xAE, 0xAE, FULL), INTEGERS(0xAF, 0xAF, ELEMENT), LATER_ROW(0xB4, 0xB5, P66, W1, FULL),
    INTEGERS(0xB6, 0xB8, FULL),
    INTEGERS(0xB9, 0xB9, ELEMENT), INTEGERS(0xBA, 0xBA, FULL), INTEGERS(0xBB, 0xBB, ELEMENT), INTEGERS(0xBC, 0xBC, FULL),
    INTEGERS(0xBD, 0xBD, ELEMENT), INTEGERS(0xBE, 0xBE, FULL), INTEGERS(0xBF, 0xBF, ELEMENT), INTEGERS(0xC4, 0xC4, FULL),
    END
};

static const struct encoding evex_3a[] = {
    QUADS(0x00, 0x01), INTEGERS(0x03, 0x03, FULL), WORDS(0x04, 0x04), QUADS(0x05, 0x05), WORDS(0x08, 0x08),
    QUADS(0x09, 0x09),
    EVEX_ROW(0x0A, 0x0A, P66, W0, BYTES_4), EVEX_ROW(0x0B, 0x0B, P66, W1, BYTES_8), INTEGERS(0x0F, 0x0F, FULL_MEMORY),
    INTEGERS(0x14, 0x14, BYTES_1), INTEGERS(0x15, 0x15, BYTES_2), INTEGERS(0x16, 0x16, ELEMENT),
    INTEGERS(0x17, 0x17, BYTES_4),
    INTEGERS(0x18, 0x19, BYTES_16), INTEGERS(0x1A, 0x1B, BYTES_32), EVEX_ROW(0x1D, 0x1D, P66, W0, HALF_MEMORY),
    INTEGERS(0x1E, 0x1F, FULL), INTEGERS(0x20, 0x20, BYTES_1), EVEX_ROW(0x21, 0x21, P66, W0, BYTES_4),
    INTEGERS(0x22, 0x22, ELEMENT), INTEGERS(0x23, 0x23, FULL), INTEGERS(0x25, 0x26, FULL), INTEGERS(0x27, 0x27, ELEMENT),
    INTEGERS(0x38, 0x39, BYTES_16), INTEGERS(0x3A, 0x3B, BYTES_32), INTEGERS(0x3E, 0x3F, FULL_MEMORY),
    EVEX_ROW(0x42, 0x42, P66, W0, FULL_MEMORY), INTEGERS(0x43, 0x43, FULL), INTEGERS(0x50, 0x50, FULL),
    INTEGERS(0x51, 0x51, ELEMENT), INTEGERS(0x54, 0x54, FULL), INTEGERS(0x55, 0x55, ELEMENT), INTEGERS(0x56, 0x56, FULL),
    INTEGERS(0x57, 0x57, ELEMENT), INTEGERS(0x66, 0x66, FULL), INTEGERS(0x67, 0x67, ELEMENT),
    LATER_ROW(0x70, 0x70, P66, W1, FULL_MEMORY), LATER_ROW(0x71, 0x71, P66, WIG, FULL),
    LATER_ROW(0x72, 0x72, P66, W1, FULL_MEMORY),
    LATER_ROW(0x73, 0x73, P66, WIG, FULL),
    END
};

/* By encoding and map. The runtime is not relocated, so no table holds addresses. */
static const struct encoding *rows_of(const struct instruction *it) {
    switch (it->encoding << 4 | it->map) {
    case LEGACY << 4 | TWO_BYTES:
        return two_bytes;
    case LEGACY << 4 | MAP_38:
        return map_38;
    case LEGACY << 4 | MAP_3A:
        return map_3a;
    case VEX << 4 | TWO_BYTES:
        return vex_two_bytes;
    case VEX << 4 | MAP_38:
        return vex_38;
    case VEX << 4 | MAP_3A:
        return vex_3a;
    case EVEX << 4 | TWO_BYTES:
        return evex_two_bytes;
    case EVEX << 4 | MAP_38:
        return evex_38;
    case EVEX << 4 | MAP_3A:
        return evex_3a;
    default:
        return NULL;
    }
}

static bool has_form(const struct encoding *row, int modrm) {
    int low = modrm & ALL;
    if (row->form == EITHER)
        return true;
    if (modrm == NO_BYTE || (modrm >> 6 == 3) != (row->form == IN_REGISTER))
        return false;
    if (row->form == IN_MEMORY)
        low &= 0x38;
    return row->low <= low && low <= row->high;
}

const struct encoding *find_encoding(const struct instruction *it) {
    const struct encoding *row = rows_of(it);
    for (; row && row->prefixes; row++)
        if (row->first <= it->opcode && it->opcode <= row->last && row->prefixes >> it->prefix & 1
            && row->widths >> it->wide & 1 && has_form(row, it->modrm))
            return row;
    return NULL;
}

enum feature feature_of(const struct instruction *it, const struct encoding *row) {
    if (row)
        return (enum feature)row->feature;
    return it->encoding == LEGACY && it->map <= TWO_BYTES ? BASE : OTHER;
}

int32_t displacement_scale(const struct instruction *it, const struct encoding *row) {
    int32_t vector = 16 << it->vector_length, element = it->wide ? 8 : 4;
    switch (row->tuple) {
    case FULL:
        return it->broadcast ? element : vector;
    case HALF:
        return it->broadcast ? element : vector / 2;
    case FULL_MEMORY:
        return vector;
    case HALF_MEMORY:
        return vector / 2;
    case QUARTER_MEMORY:
        return vector / 4;
    case EIGHTH_MEMORY:
        return vector / 8;
    case ELEMENT:
        return element;
    case DUPLICATED:
        return vector == 16 ? 8 : vector;
    case NO_TUPLE:
        return 1;
    default:
        return 1 << (row->tuple - BYTES_1);
    }
}
