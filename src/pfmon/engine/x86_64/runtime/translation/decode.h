/* Lengths, operands and kinds of x86-64 instructions (Intel SDM volume 2, chapter 2 and appendix A). */

#ifndef PFMON_X86_64_DECODE_H
#define PFMON_X86_64_DECODE_H

#include <stdbool.h>
#include <stdint.h>

enum { MAX_INSTRUCTION = 15, NO_BYTE = -1 };

enum kind {
    PLAIN,                       /* executed as it is */
    JUMP, CONDITIONAL, LOOP, CALL, RETURN,
    INDIRECT_JUMP, INDIRECT_CALL,
    SYSTEM_CALL,
    STRING,                      /* a string instruction with a repeat prefix */
    GATHER,                      /* or a scatter: its index register is a vector */
    SAVE_STATE,                  /* xsave, xrstor and their like: their components are in edx:eax */
    CPUID, RDTSC, RDTSCP, XGETBV,
    READ_COUNTER,                /* rdpmc */
    REGION_MARK,                 /* a nop that starts or stops a region of the program (region_marks.c) */
    TRAP,                        /* always raises a signal */
    ILLEGAL,                     /* no instruction of this processor */
    UNSUPPORTED                  /* none that this engine executes */
};

enum map { ONE_BYTE = 0, TWO_BYTES = 1, MAP_38 = 2, MAP_3A = 3, MAP_5 = 5, MAP_6 = 6 };

enum encoding_kind { LEGACY, VEX, EVEX };

enum prefix { NO_PREFIX, PREFIX_66, PREFIX_F3, PREFIX_F2 };  /* as VEX and EVEX number them */

struct instruction {
    const uint8_t *bytes;
    uint8_t length;
    uint8_t kind;
    uint8_t map, opcode;
    uint8_t opcode_at;           /* offset of the opcode */
    uint8_t segment;             /* 0, 4: fs, 5: gs */
    uint8_t encoding;            /* LEGACY, VEX, EVEX */
    uint8_t feature;             /* encoding_rows.h */
    uint8_t prefix;              /* the mandatory one */
    bool wide, r, x, b;          /* bits of REX, VEX or EVEX */
    bool broadcast, high_index;  /* EVEX.b; EVEX.V': bit 4 of a vector's number */
    int8_t third;                /* register in vvvv, or NO_BYTE */
    uint8_t vector_length;       /* 0, 1, 2: 16, 32, 64 bytes */
    uint8_t mask;                /* number of the opmask register, 0: none */
    bool operand_size, repeats, short_address;
    bool ignores_repeat;         /* the processor ignores its prefix F3 */
    int modrm;                   /* NO_BYTE: none */
    uint8_t modrm_at;            /* its offset, and those of what follows it */
    uint8_t displacement_at, displacement_size;
    bool memory;                 /* an operand in memory, by ModR/M */
    bool relative;               /* to rip */
    bool compressed;             /* the displacement is one byte that stands for a multiple */
    int32_t displacement;
    int64_t immediate;
    uint16_t registers;          /* general registers of its encoding, a bit each; not those that the opcode implies */
};

/* Decode one instruction of at most `room` bytes. False: it is not complete. */
bool decode(struct instruction *it, const uint8_t *bytes, uint32_t room);

/* The number of a register field with its extension. */
static inline int field_reg(const struct instruction *it) {
    return (it->modrm >> 3 & 7) | it->r << 3;
}

static inline int field_rm(const struct instruction *it) {
    return (it->modrm & 7) | it->b << 3;
}

#endif
