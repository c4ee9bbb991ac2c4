/* Checks whether bytes are a whole x86 instruction (Intel SDM volume 2, chapter 2 and appendix A).

   qemu 7.2 also reports an instruction that it began to translate and gave up, because it crosses the page: with the
   bytes read so far. That one is not in the block. */

#include "code.h"

struct reader {
    const uint8_t *at, *end;
    bool is_64, wide, short_operand, short_address;
};

static bool between(uint8_t value, uint8_t first, uint8_t last) {
    return first <= value && value <= last;
}

static int next(struct reader *it) {
    return it->at < it->end ? *it->at++ : -1;
}

static size_t immediate(const struct reader *it) {
    return it->short_operand && !it->wide ? 2 : 4;
}

static void prefixes(struct reader *it) {
    for (; it->at < it->end; it->at++) {
        if (*it->at == 0x66)
            it->short_operand = true;
        else if (*it->at == 0x67)
            it->short_address = true;
        else if (*it->at != 0xF0 && *it->at != 0xF2 && *it->at != 0xF3 && !between(*it->at, 0x64, 0x65)
                 && (*it->at & 0xE7) != 0x26)
            break;
    }
    if (it->is_64 && it->at < it->end && (*it->at & 0xF0) == 0x40)
        it->wide = *it->at++ & 8;
}

static bool one_byte_has_modrm(uint8_t opcode) {
    if (opcode < 0x40)
        return (opcode & 7) < 4;
    return opcode == 0x62 || opcode == 0x63 || opcode == 0x69 || opcode == 0x6B || between(opcode, 0x80, 0x8F)
        || opcode == 0xC0 || opcode == 0xC1 || between(opcode, 0xC4, 0xC7) || between(opcode, 0xD0, 0xD3)
        || between(opcode, 0xD8, 0xDF) || opcode == 0xF6 || opcode == 0xF7 || opcode >= 0xFE;
}

/* Bytes of immediate operands; `reg`: the field of the ModR/M byte. */
static size_t one_byte_immediate(const struct reader *it, uint8_t opcode, int reg) {
    if (opcode < 0x40)
        return (opcode & 7) == 4 ? 1 : (opcode & 7) == 5 ? immediate(it) : 0;
    if (between(opcode, 0x70, 0x7F) || between(opcode, 0xB0, 0xB7) || between(opcode, 0xE0, 0xE7))
        return 1;
    if (between(opcode, 0xA0, 0xA3))
        return it->is_64 ? (it->short_address ? 4 : 8) : (it->short_address ? 2 : 4);
    if (between(opcode, 0xB8, 0xBF))
        return it->wide ? 8 : immediate(it);
    switch (opcode) {
    case 0x6A: case 0x6B: case 0x80: case 0x82: case 0x83: case 0xA8: case 0xC0: case 0xC1: case 0xC6: case 0xCD:
    case 0xD4: case 0xD5: case 0xEB:
        return 1;
    case 0x68: case 0x69: case 0x81: case 0xA9: case 0xC7:
        return immediate(it);
    case 0xE8: case 0xE9:
        return it->is_64 ? 4 : immediate(it);
    case 0x9A: case 0xEA:
        return 2 + immediate(it);
    case 0xC2: case 0xCA:
        return 2;
    case 0xC8:
        return 3;
    case 0xF6:
        return reg < 2 ? 1 : 0;
    case 0xF7:
        return reg < 2 ? immediate(it) : 0;
    default:
        return 0;
    }
}

static bool two_bytes_have_modrm(uint8_t opcode) {
    return !(between(opcode, 0x05, 0x09) || opcode == 0x0B || opcode == 0x0E || between(opcode, 0x30, 0x37)
             || opcode == 0x77 || between(opcode, 0x80, 0x8F) || between(opcode, 0xA0, 0xA2)
             || between(opcode, 0xA8, 0xAA) || between(opcode, 0xC8, 0xCF));
}

static size_t two_bytes_immediate(const struct reader *it, uint8_t opcode) {
    if (between(opcode, 0x80, 0x8F))
        return it->is_64 ? 4 : immediate(it);
    return between(opcode, 0x70, 0x73) || opcode == 0x0F || opcode == 0xA4 || opcode == 0xAC || opcode == 0xBA
        || opcode == 0xC2 || between(opcode, 0xC4, 0xC6);
}

/* The bytes after a ModR/M byte that belong to its operand. Sets `lack` when the SIB byte is missing. */
static size_t operand(struct reader *it, int modrm, bool *lack) {
    int mod = modrm >> 6, rm = modrm & 7, sib;
    if (mod == 3)
        return 0;
    if (!it->is_64 && it->short_address)
        return mod == 0 ? (rm == 6 ? 2 : 0) : (size_t)mod;
    if (rm == 4) {
        sib = next(it);
        *lack |= sib < 0;
        if (mod == 0 && (sib & 7) == 5)
            return 4;
    }
    return mod == 1 ? 1 : mod == 2 || rm == 5 ? 4 : 0;
}

bool x86_is_whole(const uint8_t *bytes, size_t size, bool is_64) {
    struct reader it = {bytes, bytes + size, is_64, false, false, false};
    bool lack = false;
    int opcode, map = 1, modrm = 0;
    size_t rest = 0;
    prefixes(&it);
    opcode = next(&it);
    if ((opcode == 0xC4 || opcode == 0xC5 || opcode == 0x62) && it.at < it.end && (is_64 || *it.at >= 0xC0)) {
        int second = next(&it);                       /* VEX and EVEX: the map is in them */
        map = opcode == 0xC5 ? 2 : (second & (opcode == 0x62 ? 7 : 0x1F)) + 1;
        it.at += opcode == 0xC5 ? 0 : opcode == 0xC4 ? 1 : 2;
        opcode = next(&it);
    } else if (opcode == 0x0F) {
        map = 2;
        opcode = next(&it);
        if (opcode == 0x38 || opcode == 0x3A) {
            map = opcode == 0x38 ? 3 : 4;
            opcode = next(&it);
        }
    }
    if (opcode < 0)
        return false;
    if (map > 2 || (map == 2 ? two_bytes_have_modrm((uint8_t)opcode) : one_byte_has_modrm((uint8_t)opcode))) {
        modrm = next(&it);
        if (modrm < 0)
            return false;
        rest = operand(&it, modrm, &lack);
    }
    rest += map == 1 ? one_byte_immediate(&it, (uint8_t)opcode, modrm >> 3 & 7)
        : map == 2 ? two_bytes_immediate(&it, (uint8_t)opcode) : map == 4;
    return !lack && (size_t)(it.end - it.at) >= rest && it.at <= it.end;
}
