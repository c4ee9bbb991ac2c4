/* The beginning of an x86 instruction, up to its opcode. */

#ifndef PFMON_QEMU_X86_OPCODE_H
#define PFMON_QEMU_X86_OPCODE_H

#include "code.h"

enum { NO_MODRM = -1 };

struct decoded {
    int map;                     /* 1: one byte, 2: 0F; 0: only prefixes */
    uint8_t opcode;
    int modrm;                   /* the byte after the opcode; NO_MODRM when there is none */
    bool repeats, operand_size;  /* prefixes */
    size_t length;               /* up to and including the opcode */
};

#pragma GCC visibility push(hidden)

uint8_t x86_slots(const struct decoded *it, const uint8_t *bytes, size_t size, bool is_64);

#pragma GCC visibility pop

static inline bool between(uint8_t value, uint8_t first, uint8_t last) {
    return first <= value && value <= last;
}

#endif
