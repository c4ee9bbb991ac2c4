/* Writes host instructions into the code cache. None of them changes flags, but for those of an
   interpreter's sites (interpreter_sites.c). */

#ifndef PFMON_X86_64_EMIT_H
#define PFMON_X86_64_EMIT_H

#include "decode.h"
#include "kernel.h"

enum { LOAD_BYTE = 0x8A };       /* mov to a register of 8 bits: aligned at any address */
enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15, NO_REGISTER };

extern uint8_t *emitted;         /* where the next byte goes */

static inline void put_byte(uint32_t value) {
    *emitted++ = (uint8_t)value;
}

static inline void put_32(uint64_t value) {
    uint32_t part = (uint32_t)value;
    __builtin_memcpy(emitted, &part, 4);
    emitted += 4;
}

static inline void put_64(uint64_t value) {
    __builtin_memcpy(emitted, &value, 8);
    emitted += 8;
}

/* REX with W and the high bits of two registers. */
static inline void put_rex(int wide, int reg, int rm) {
    put_byte((uint32_t)(0x40 | wide << 3 | (reg >> 3) << 2 | rm >> 3));
}

/* An instruction with a register and the 64-bit word at an absolute address below 2 GB. */
static inline void put_absolute(uint32_t opcode, int reg, uint64_t address) {
    put_rex(1, reg, 0);
    put_byte(opcode);
    put_byte((uint32_t)(0x04 | (reg & 7) << 3));
    put_byte(0x25);
    put_32(address);
}

static inline void put_store(uint64_t address, int reg) {
    put_absolute(0x89, reg, address);
}

/* mov qword [address], a number that 32 bits hold sign-extended */
static inline void put_number_at(uint64_t address, uint64_t value) {
    put_rex(1, 0, 0);
    put_byte(0xC7);
    put_byte(0x04);
    put_byte(0x25);
    put_32(address);
    put_32(value);
}

static inline void put_load(int reg, uint64_t address) {
    put_absolute(0x8B, reg, address);
}

/* ModR/M and what follows for [base + displacement]. */
static inline void put_base(int reg, int base, int32_t displacement) {
    int mod = displacement == 0 && (base & 7) != RBP ? 0 : displacement == (int8_t)displacement ? 1 : 2;
    put_byte((uint32_t)(mod << 6 | (reg & 7) << 3 | (base & 7)));
    if ((base & 7) == RSP)
        put_byte(0x24);
    if (mod == 1)
        put_byte((uint8_t)displacement);
    else if (mod == 2)
        put_32((uint32_t)displacement);
}

static inline void put_based(uint32_t opcode, int reg, int base, int32_t displacement) {
    put_rex(1, reg, base);
    put_byte(opcode);
    put_base(reg, base, displacement);
}

static inline void put_lea(int reg, int base, int32_t displacement) {
    put_based(0x8D, reg, base, displacement);
}

static inline void put_move(int to, int from) {
    put_rex(1, from, to);
    put_byte(0x89);
    put_byte((uint32_t)(0xC0 | (from & 7) << 3 | (to & 7)));
}

/* mov [base + displacement], a number that 32 bits hold sign-extended; `wide`: 64 bits of it. */
static inline void put_store_number(int wide, int base, int32_t displacement, uint64_t value) {
    put_rex(wide, 0, base);
    put_byte(0xC7);
    put_base(0, base, displacement);
    put_32(value);
}

static inline void put_load_number(int reg, uint64_t value) {
    put_rex(1, 0, reg);
    put_byte((uint32_t)(0xB8 | (reg & 7)));
    put_64(value);
}

static inline bool fits_signed(uint64_t value) {
    return (int64_t)value == (int32_t)value;
}

/* lea reg, [base + index * 2^scale]; `base` is no rbp or r13 without its displacement of 0. */
static inline void put_lea_index(int reg, int base, int index, int scale, int32_t displacement) {
    put_byte((uint32_t)(0x48 | (reg >> 3) << 2 | (index >> 3) << 1 | base >> 3));
    put_byte(0x8D);
    put_byte((uint32_t)(0x84 | (reg & 7) << 3));
    put_byte((uint32_t)(scale << 6 | (index & 7) << 3 | (base & 7)));
    put_32((uint32_t)displacement);
}

/* A jump through an absolute address. */
static inline void put_jump_through(uint64_t address) {
    put_byte(0xFF);
    put_byte(0x24);
    put_byte(0x25);
    put_32(address);
}

/* The displacement of a jump whose 4 bytes are at `site`. */
static inline void aim(uint8_t *site, const uint8_t *target) {
    int32_t distance = (int32_t)(target - (site + 4));
    __builtin_memcpy(site, &distance, 4);
}

#endif
