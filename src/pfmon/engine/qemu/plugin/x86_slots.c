/* The number of addresses of an x86 instruction in the stream: one for each memory operand, including the stack's
   (Intel SDM volume 2, appendix A: opcode maps), those of prefetches and clflush among them: qemu leaves
   their slots empty. */

#include "x86_opcode.h"

static bool in_memory(int modrm) {
    return modrm != NO_MODRM && modrm >> 6 != 3;
}

/* The group of FF: inc, dec, call, far call, jmp, far jmp, push. */
static uint8_t slots_of_ff(int modrm) {
    int reg = modrm >> 3 & 7;
    if (reg == 2 || reg == 6)
        return (uint8_t)(1 + in_memory(modrm));
    return (uint8_t)(in_memory(modrm) * (reg == 3 ? 2 : 1));
}

static uint8_t slots_of_one_byte(uint8_t opcode, int modrm, bool is_64) {
    if (between(opcode, 0x50, 0x5F))
        return 1;                /* push, pop */
    if (opcode < 0x40)
        return (opcode & 7) < 4 ? in_memory(modrm) : (opcode & 7) > 5 && !is_64 && (opcode & 0x27) != 0x27
            && (opcode & 0x27) != 0x26;     /* push and pop of a segment */
    if (between(opcode, 0x80, 0x8C) || opcode == 0x8E || between(opcode, 0xC0, 0xC1) || between(opcode, 0xC6, 0xC7)
            || between(opcode, 0xD0, 0xD3) || between(opcode, 0xD8, 0xDF) || between(opcode, 0xF6, 0xF7)
            || opcode == 0xFE || opcode == 0x62 || opcode == 0x63 || opcode == 0x69 || opcode == 0x6B
            || between(opcode, 0xC4, 0xC5))
        return in_memory(modrm);
    if (between(opcode, 0xA4, 0xA7))
        return 2;                /* movs, cmps */
    if (between(opcode, 0xA0, 0xA3) || between(opcode, 0xAA, 0xAF) || between(opcode, 0x6C, 0x6F))
        return 1;                /* mov of an address, stos, lods, scas, ins, outs */
    switch (opcode) {
    case 0x60: case 0x61: case 0x68: case 0x6A: case 0x9C: case 0x9D: case 0xC2: case 0xC3: case 0xC8: case 0xC9:
    case 0xCA: case 0xCB: case 0xCF: case 0xD7: case 0xE8:
        return 1;                /* pusha, popa, push, pushf, popf, ret, enter, leave, xlat, call */
    case 0x9A:
        return !is_64;           /* far call */
    case 0x8F:
        return (uint8_t)(1 + in_memory(modrm));              /* pop */
    case 0xFF:
        return modrm == NO_MODRM ? 0 : slots_of_ff(modrm);
    default:
        return 0;
    }
}

static uint8_t slots_of_two_bytes(const struct decoded *it) {
    int reg = it->modrm == NO_MODRM ? 0 : it->modrm >> 3 & 7;
    switch (it->opcode) {
    case 0xA0: case 0xA1: case 0xA8: case 0xA9:
        return 1;                /* push and pop of a segment */
    case 0xF7:
        return 1;                /* maskmovq: its address is in a register */
    case 0x0D:
        return in_memory(it->modrm) && reg < 3;              /* prefetch, prefetchw, prefetchwt1 */
    case 0x18:
        return in_memory(it->modrm) && reg < 4;              /* prefetchnta, t0, t1, t2 */
    case 0x19: case 0x1A: case 0x1B: case 0x1C: case 0x1D: case 0x1E: case 0x1F:
        return 0;                /* nops */
    case 0x01:
        return in_memory(it->modrm) && reg != 7;             /* invlpg */
    case 0xAE:
        return in_memory(it->modrm) && !(reg == 6 && it->operand_size);      /* clwb has none, clflush has */
    default:
        break;
    }
    if (between(it->opcode, 0x05, 0x0C) || between(it->opcode, 0x20, 0x27) || between(it->opcode, 0x30, 0x37)
            || it->opcode == 0x0E || it->opcode == 0x77 || between(it->opcode, 0x80, 0x8F) || it->opcode == 0xA2
            || it->opcode == 0xAA || between(it->opcode, 0xC8, 0xCF))
        return 0;                /* without a byte of operands */
    return in_memory(it->modrm);
}

/* VEX (C4, C5) and EVEX (62), in place of instructions without such operands; opcode and operands follow the prefix. */
static uint8_t slots_of_vex(const uint8_t *bytes, size_t size, size_t opcode, int map) {
    if (opcode + 1 >= size || (bytes[opcode] == 0x77 && map == 1))
        return 0;                /* vzeroupper */
    return (bytes[opcode] == 0xF7 && map == 1) || in_memory(bytes[opcode + 1]);      /* vmaskmovdqu */
}

uint8_t x86_slots(const struct decoded *it, const uint8_t *bytes, size_t size, bool is_64) {
    size_t at = it->length;
    bool vector = is_64 || (it->modrm != NO_MODRM && !in_memory(it->modrm));
    if (it->map == 0)
        return 0;
    if (it->map == 1 && vector && (it->opcode == 0xC4 || it->opcode == 0xC5 || it->opcode == 0x62))
        return slots_of_vex(bytes, size, at + (it->opcode == 0xC5 ? 1 : it->opcode == 0xC4 ? 2 : 3),
                            it->opcode == 0xC5 || at >= size ? 1 : bytes[at] & (it->opcode == 0xC4 ? 31 : 7));
    if (it->map == 1)
        return slots_of_one_byte(it->opcode, it->modrm, is_64);
    if (it->opcode == 0x38 || it->opcode == 0x3A)            /* another byte of opcode */
        return at + 1 < size && in_memory(bytes[at + 1]);
    return slots_of_two_bytes(it);
}
