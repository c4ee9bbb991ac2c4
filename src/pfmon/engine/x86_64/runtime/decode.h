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
    GATHER,
    SAVE_STATE,                  /* xsave, xrstor and their like: their components are in edx:eax */
    CPUID, RDTSC, RDTSCP, XGETBV,
    TRAP,                        /* always raises a signal */
    ILLEGAL,                     /* no instruction of this processor */
    UNSUPPORTED                  /* none that this engine executes */
};

enum map { ONE_BYTE = 0, TWO_BYTES = 1, MAP_38 = 2, MAP_3A = 3 };

struct instruction {
    const uint8_t *bytes;
    uint8_t length;
    uint8_t kind;
    uint8_t map, opcode;
    uint8_t opcode_at;           /* offset of the opcode */
    uint8_t segment;             /* 0, 4: fs, 5: gs */
    bool vex;
    bool wide, r, x, b;          /* REX or VEX bits */
    bool operand_size, repeats, short_address;
    int modrm;                   /* NO_BYTE: none */
    uint8_t modrm_at;            /* its offset, and those of what follows it */
    uint8_t displacement_at, displacement_size;
    bool memory;                 /* an operand in memory, by ModR/M */
    bool relative;               /* to rip */
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
