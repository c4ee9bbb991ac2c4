/* Rows of encodings: which feature an instruction belongs to, and how EVEX scales its displacement. */

#ifndef PFMON_X86_64_ENCODING_ROWS_H
#define PFMON_X86_64_ENCODING_ROWS_H

#include "decode.h"

enum feature {                   /* sets of CPUID's features that a model of the processor has or lacks as a whole */
    BASE,                        /* x86-64 with SSE3, SSSE3, CMPXCHG16B */
    SSE4,                        /* SSE4.1, SSE4.2, POPCNT: x86-64-v2 */
    AVX2,                        /* AVX, AVX2, BMI1, BMI2, F16C, FMA, LZCNT, MOVBE, XSAVE: x86-64-v3; RDTSCP */
    AVX512,                      /* AVX512F, BW, CD, DQ, VL: x86-64-v4 */
    LATER_AVX512,                /* IFMA, VBMI, VBMI2, VNNI, BITALG, VPOPCNTDQ, BF16 */
    OTHER                        /* of no model */
};

enum tuple {                     /* what N of disp8*N is (SDM volume 2, 2.7.5, tables 2-34 and 2-35) */
    NO_TUPLE,
    FULL, HALF,                  /* a vector or half of one; an element, if it is broadcast */
    FULL_MEMORY, HALF_MEMORY, QUARTER_MEMORY, EIGHTH_MEMORY,
    ELEMENT,                     /* 4 bytes or 8, by W */
    BYTES_1, BYTES_2, BYTES_4, BYTES_8, BYTES_16, BYTES_32,
    DUPLICATED                   /* movddup: 8, or a vector of more than 16 bytes */
};

struct encoding {
    uint8_t first, last;         /* opcodes */
    uint8_t prefixes;            /* a bit for each mandatory prefix: none, 66, F3, F2 */
    uint8_t widths;              /* a bit for each value of W */
    uint8_t feature;
    uint8_t tuple;
    uint8_t form;                /* of ModR/M: a register, memory, or both */
    uint8_t low, high;           /* the lower six bits of ModR/M; of memory those of its field reg alone */
};

/* The row of an instruction, whose fields are known up to ModR/M; NULL: there is none. */
const struct encoding *find_encoding(const struct instruction *it);

/* The feature of an instruction with that row. */
enum feature feature_of(const struct instruction *it, const struct encoding *row);

/* By how much EVEX scales a displacement of 8 bits. */
int32_t displacement_scale(const struct instruction *it, const struct encoding *row);

#endif
