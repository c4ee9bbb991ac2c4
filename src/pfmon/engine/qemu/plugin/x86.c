/* x86 instructions as the plugin needs them (Intel SDM volume 2, appendix A: opcode maps). Instructions not known to be
   harmless may fault: that costs time and is never wrong. */

#include "layout.h"
#include "x86_gather.h"
#include "x86_opcode.h"

enum { NOT_HARMLESS = 0, HARMLESS = 1, IN_REGISTERS = 2 };

static bool is_prefix(uint8_t byte) {
    switch (byte) {
    case 0x26: case 0x2E: case 0x36: case 0x3E: case 0x64: case 0x65: case 0x66: case 0x67:
    case 0xF0: case 0xF2: case 0xF3:
        return true;
    default:
        return false;
    }
}

static struct decoded decode(const uint8_t *bytes, size_t size, bool is_64) {
    struct decoded it = {0, 0, NO_MODRM, false, false, 0};
    size_t at = 0;
    while (at < size && is_prefix(bytes[at])) {
        it.repeats |= bytes[at] == 0xF2 || bytes[at] == 0xF3;
        it.operand_size |= bytes[at] == 0x66;
        at++;
    }
    if (is_64 && at < size && (bytes[at] & 0xF0) == 0x40)
        at++;
    it.map = 1;
    if (at < size && bytes[at] == 0x0F) {
        it.map = 2;
        at++;
    }
    if (at < size)
        it.opcode = bytes[at++];
    else
        it.map = 0;
    it.length = at;
    if (at < size)
        it.modrm = bytes[at];
    return it;
}

/* One-byte opcodes. IN_REGISTERS: harmless without a memory operand. */
static int harmless_one_byte(uint8_t opcode, int reg, bool is_64) {
    if (opcode < 0x40) {         /* add, or, adc, sbb, and, sub, xor, cmp */
        if ((opcode & 7) < 4)
            return IN_REGISTERS;
        return (opcode & 7) < 6 ? HARMLESS : NOT_HARMLESS;
    }
    if (between(opcode, 0x40, 0x4F))
        return is_64 ? NOT_HARMLESS : HARMLESS;              /* inc, dec */
    if (between(opcode, 0x70, 0x7F) || between(opcode, 0x90, 0x99) || between(opcode, 0xB0, 0xBF)
            || between(opcode, 0xE0, 0xE3))
        return HARMLESS;         /* jcc; xchg, cbw, cwd; mov; loop, jcxz */
    if (between(opcode, 0x84, 0x8B) || opcode == 0x80 || opcode == 0x81 || opcode == 0x83)
        return IN_REGISTERS;     /* test, xchg, mov; arithmetic with an immediate */
    if (opcode == 0x63)
        return is_64 ? IN_REGISTERS : NOT_HARMLESS;          /* movsxd */
    switch (opcode) {
    case 0x69: case 0x6B:        /* imul */
    case 0xC0: case 0xC1: case 0xD0: case 0xD1: case 0xD2: case 0xD3:
        return IN_REGISTERS;     /* shifts */
    case 0xC6: case 0xC7:
        return reg == 0 ? IN_REGISTERS : NOT_HARMLESS;       /* mov */
    case 0x8D: case 0xA8: case 0xA9: case 0xE9: case 0xEB: case 0xF5: case 0xF8: case 0xF9: case 0xFC: case 0xFD:
        return HARMLESS;         /* lea; test; jmp; cmc, clc, stc, cld, std */
    case 0xF6: case 0xF7:
        return reg < 6 ? IN_REGISTERS : NOT_HARMLESS;        /* div and idiv fault */
    case 0xFE:
        return reg < 2 ? IN_REGISTERS : NOT_HARMLESS;
    case 0xFF:
        return reg < 2 || reg == 4 ? IN_REGISTERS : NOT_HARMLESS;   /* inc, dec; jmp */
    default:
        return NOT_HARMLESS;
    }
}

/* Opcodes after 0F. */
static int harmless_two_bytes(uint8_t opcode) {
    if (between(opcode, 0x80, 0x8F) || between(opcode, 0xC8, 0xCF) || opcode == 0x1E || opcode == 0x1F
            || opcode == 0xA2 || opcode == 0x31)
        return HARMLESS;         /* jcc; bswap; endbr, nop; cpuid; rdtsc */
    if (between(opcode, 0x40, 0x4F) || between(opcode, 0x90, 0x9F))
        return IN_REGISTERS;     /* cmov; setcc */
    if (between(opcode, 0x28, 0x2F) || between(opcode, 0x54, 0x5F) || between(opcode, 0x60, 0x6F)
            || between(opcode, 0xD8, 0xEF))
        return IN_REGISTERS;     /* movaps ... comis; logic, arithmetic; unpack, movq, movdqa; MMX and SSE2 integers */
    switch (opcode) {
    case 0x10: case 0x11: case 0x14: case 0x15: case 0x16: case 0x51: case 0x70: case 0x7E: case 0x7F: case 0xC6:
    case 0xD6:
        return IN_REGISTERS;     /* movups and movss, unpck, sqrt, pshuf, shuf */
    case 0xA3: case 0xA4: case 0xA5: case 0xAB: case 0xAC: case 0xAD: case 0xAF: case 0xB0: case 0xB1: case 0xB3:
    case 0xB6: case 0xB7: case 0xBB: case 0xBC: case 0xBD: case 0xBE: case 0xBF: case 0xC0: case 0xC1:
        return IN_REGISTERS;     /* bit tests, double shifts, imul, cmpxchg, movzx, bit scans, movsx, xadd */
    default:
        return NOT_HARMLESS;
    }
}

static bool is_harmless(const struct decoded *it, bool is_64) {
    int reg = it->modrm == NO_MODRM ? 0 : it->modrm >> 3 & 7;
    int what = it->map == 1 ? harmless_one_byte(it->opcode, reg, is_64)
        : it->map == 2 ? harmless_two_bytes(it->opcode) : NOT_HARMLESS;
    if (what == IN_REGISTERS)
        return it->modrm != NO_MODRM && it->modrm >> 6 == 3;
    return what == HARMLESS;
}

static bool is_string(uint8_t opcode) {
    return between(opcode, 0xA4, 0xA7) || between(opcode, 0xAA, 0xAF) || between(opcode, 0x6C, 0x6F);
}

/* Calls, returns and jumps: their number of memory accesses; -1: other instructions. */
static int accesses_of_branch(const struct decoded *it) {
    bool memory = it->modrm != NO_MODRM && it->modrm >> 6 != 3;
    if (it->opcode == 0xE8 || it->opcode == 0xC2 || it->opcode == 0xC3)
        return 1;
    if (it->opcode != 0xFF || it->modrm == NO_MODRM)
        return -1;
    switch (it->modrm >> 3 & 7) {
    case 2:
        return 1 + memory;
    case 4:
        return memory;
    default:
        return -1;
    }
}

/* Instructions that any block may follow, and that do not fault once they have begun: traps, system calls, and calls,
   jumps and returns to another code segment. */
static bool is_trap(const struct decoded *it, const uint8_t *last) {
    int reg = it->modrm == NO_MODRM ? 0 : it->modrm >> 3 & 7;
    if (it->map == 2)
        return it->opcode == 0x05;
    switch (it->opcode) {
    case 0xCC: case 0xF1: case 0xCA: case 0xCB: case 0xCF: case 0x9A: case 0xEA:
        return true;
    case 0xCD:                   /* int: vectors that programs may use */
        return *last == 0x80 || *last == 3 || *last == 4;
    case 0xFF:
        return reg == 3 || reg == 5;
    default:
        return false;
    }
}

struct code x86_code(const uint8_t *bytes, size_t size, bool is_64) {
    struct decoded it = decode(bytes, size, is_64);
    struct code code = {true, false, SUCCESSOR, 0, 0, false};
    int accesses;
    code.slots = x86_slots(&it, bytes, size, is_64);
    if (it.map == 1 && (it.opcode == 0xC4 || it.opcode == 0x62) && (is_64 || it.modrm >> 6 == 3)) {
        uint32_t elements = x86_gather_of(bytes, size).elements;
        code.elements = elements > 0;
        code.slots = elements ? (uint8_t)elements : code.slots;
    }
    if (is_harmless(&it, is_64)) {
        code.may_fault = false;
        code.tail = CERTAIN;
        code.conditional = it.map == 1 ? between(it.opcode, 0x70, 0x7F) || between(it.opcode, 0xE0, 0xE3)
            : between(it.opcode, 0x80, 0x8F);
        return code;
    }
    if (it.map == 0)
        return code;
    if (is_trap(&it, bytes + size - 1)) {
        code.tail = CERTAIN;
        return code;
    }
    if (it.map != 1)
        return code;
    accesses = accesses_of_branch(&it);
    if (accesses >= 0) {
        code.tail = COUNTED;
        code.accesses = (uint8_t)accesses;
    } else if (it.repeats && is_string(it.opcode))
        code.tail = REPEATED;
    return code;
}
