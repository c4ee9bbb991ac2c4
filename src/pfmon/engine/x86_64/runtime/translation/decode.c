/* The decoder: one letter for each opcode says which bytes follow it (Intel SDM volume 2, appendix A, opcode maps). */

#include "decode.h"
#include "encoding_rows.h"
#include "kernel.h"

/* . nothing; m ModR/M; b an immediate of 8 bits, w of 16, z of the operand's size up to 32, v up to 64; M and Z: ModR/M and
   b or z; e: w and b; o: an address; j, J: a displacement of 8 or 32 bits; f, F: ModR/M, and b or z if its field reg is
   0 or 1; x: no instruction; p: a prefix; r: REX; * a prefix of another map. */
static const char one_byte[] =
    "mmmmbzxxmmmmbzx*"
    "mmmmbzxxmmmmbzxx"
    "mmmmbzpxmmmmbzpx"
    "mmmmbzpxmmmmbzpx"
    "rrrrrrrrrrrrrrrr"
    "................"
    "xx*mppppzZbM...."
    "jjjjjjjjjjjjjjjj"
    "MZxMmmmmmmmmmmmm"
    "..........x....."
    "oooo....bz......"
    "bbbbbbbbvvvvvvvv"
    "MMw.**MZe.w..bx."
    "mmmmxxx.mmmmmmmm"
    "jjjjbbbbJJxj...."
    "p.pp..fF......mm";

static const char two_bytes[] =
    "mmmmx.....x.xm.M"
    "mmmmmmmmmmmmmmmm"
    "mmmmxxxxmmmmmmmm"
    "......x.*x*xxxxx"
    "mmmmmmmmmmmmmmmm"
    "mmmmmmmmmmmmmmmm"
    "mmmmmmmmmmmmmmmm"
    "MMMMmmm.mmmmmmmm"
    "JJJJJJJJJJJJJJJJ"
    "mmmmmmmmmmmmmmmm"
    "...mMmxx...mMmmm"
    "mmmmmmmmmmMmmmmm"
    "mmMmMMMm........"
    "mmmmmmmmmmmmmmmm"
    "mmmmmmmmmmmmmmmm"
    "mmmmmmmmmmmmmmmm";

/* V: the fields of ModR/M are no general registers, but for the base and index of memory; G: they may be. In doubt G. */
static const char two_bytes_class[] =
    "GGGGGGGGGGGGGGGG"
    "VVVVVVVVGGGGGGGG"
    "GGGGGGGGVVGVGGVV"
    "GGGGGGGGGGGGGGGG"
    "GGGGGGGGGGGGGGGG"
    "GVVVVVVVVVVVVVVV"
    "VVVVVVVVVVVVVVGV"
    "VVVVVVVVGGVVVVGV"
    "GGGGGGGGGGGGGGGG"
    "GGGGGGGGGGGGGGGG"
    "GGGGGGGGGGGGGGGG"
    "GGGGGGGGGGGGGGGG"
    "GGVGGGVGGGGGGGGG"
    "VVVVVVVGVVVVVVVV"
    "VVVVVVVVVVVVVVVV"
    "VVVVVVVVVVVVVVVG";

struct cursor {
    const uint8_t *bytes;
    uint32_t at, room;
    bool lack;
};

static uint8_t next_byte(struct cursor *cursor) {
    if (cursor->at >= cursor->room) {
        cursor->lack = true;
        return 0;
    }
    return cursor->bytes[cursor->at++];
}

static int64_t next_number(struct cursor *cursor, uint32_t size) {
    uint64_t value = 0;
    uint32_t i;
    for (i = 0; i < size; i++)
        value |= (uint64_t)next_byte(cursor) << 8 * i;
    return size == 0 || size == 8 ? (int64_t)value : (int64_t)(value << (64 - 8 * size)) >> (64 - 8 * size);
}

static void read_prefixes(struct instruction *it, struct cursor *cursor) {
    for (;;) {
        uint8_t byte = next_byte(cursor);
        char what = one_byte[byte];
        if (cursor->lack)
            return;
        if (what == 'p') {
            it->operand_size |= byte == 0x66;
            it->short_address |= byte == 0x67;
            it->repeats |= byte == 0xF2 || byte == 0xF3;
            if (byte == 0xF2 || byte == 0xF3)
                it->prefix = byte == 0xF3 ? PREFIX_F3 : PREFIX_F2;
            else if (byte == 0x66 && it->prefix == NO_PREFIX)
                it->prefix = PREFIX_66;
            if (byte == 0x64 || byte == 0x65)
                it->segment = byte & 7;
        } else if (what == 'r') {
            if (cursor->at < cursor->room && (one_byte[cursor->bytes[cursor->at]] == 'p'
                                              || one_byte[cursor->bytes[cursor->at]] == 'r'))
                continue;        /* REX counts right before the opcode alone */
            it->wide = byte & 8;
            it->r = byte & 4;
            it->x = byte & 2;
            it->b = byte & 1;
            return;
        } else {
            cursor->at--;
            return;
        }
    }
}

/* VEX prefixes; the opcode follows. Returns the register in vvvv. */
static int read_vex(struct instruction *it, struct cursor *cursor, bool two) {
    uint8_t first = next_byte(cursor), second;
    it->encoding = VEX;
    it->r = !(first & 0x80);
    it->map = TWO_BYTES;
    second = first;
    if (!two) {
        it->x = !(first & 0x40);
        it->b = !(first & 0x20);
        it->map = first & 0x1F;
        second = next_byte(cursor);
        it->wide = second & 0x80;
    }
    it->prefix = second & 3;
    it->vector_length = second >> 2 & 1;
    return ~(second >> 3) & 15;
}

/* EVEX prefixes (volume 2, 2.7.1). Returns the register in vvvv; NO_BYTE: a fixed bit is wrong. */
static int read_evex(struct instruction *it, struct cursor *cursor) {
    uint8_t first = next_byte(cursor), second = next_byte(cursor), third = next_byte(cursor);
    it->encoding = EVEX;
    it->r = !(first & 0x80);
    it->x = !(first & 0x40);
    it->b = !(first & 0x20);
    it->map = first & 7;
    it->wide = second & 0x80;
    it->prefix = second & 3;
    it->vector_length = third >> 5 & 3;
    it->broadcast = third & 0x10;
    it->high_index = !(third & 8);
    it->mask = third & 7;
    return first & 8 || !(second & 4) ? NO_BYTE : ~(second >> 3) & 15;
}

/* The letter of the opcode, after its escapes; sets map and opcode. */
static char read_opcode(struct instruction *it, struct cursor *cursor, int *vvvv) {
    uint8_t byte = next_byte(cursor);
    *vvvv = NO_BYTE;
    if (byte == 0xC4 || byte == 0xC5) {
        *vvvv = read_vex(it, cursor, byte == 0xC5);
        if (it->map < TWO_BYTES || it->map > MAP_3A)
            return 'x';
    } else if (byte == 0x62) {
        *vvvv = read_evex(it, cursor);
        if (*vvvv == NO_BYTE || it->map < TWO_BYTES || it->map > MAP_6 || it->map == 4)
            return 'x';
    } else if (byte == 0x0F) {
        it->map = TWO_BYTES;
        byte = next_byte(cursor);
        if (byte == 0x38 || byte == 0x3A)
            it->map = byte == 0x38 ? MAP_38 : MAP_3A;
        else
            cursor->at--;
    } else
        cursor->at--;
    it->opcode_at = (uint8_t)cursor->at;
    it->opcode = next_byte(cursor);
    switch (it->map) {
    case ONE_BYTE:
        return one_byte[it->opcode];
    case TWO_BYTES:
        return two_bytes[it->opcode];
    default:
        return it->map == MAP_3A ? 'M' : 'm';
    }
}

/* ModR/M with SIB and displacement (volume 2, tables 2-2 and 2-3). */
static void read_modrm(struct instruction *it, struct cursor *cursor) {
    int mod, rm, sib;
    it->modrm_at = (uint8_t)cursor->at;
    it->modrm = next_byte(cursor);
    mod = it->modrm >> 6;
    rm = it->modrm & 7;
    if (mod == 3 || (it->map == TWO_BYTES && (it->opcode & 0xFC) == 0x20 && it->encoding == LEGACY))
        return;                  /* moves of control registers have no other form */
    it->memory = true;
    it->displacement_size = mod == 1 ? 1 : mod == 2 ? 4 : 0;
    if (rm == 4) {
        sib = next_byte(cursor);
        if (mod == 0 && (sib & 7) == 5)
            it->displacement_size = 4;
        else
            it->registers |= 1 << ((sib & 7) | it->b << 3);
        if (((sib >> 3 & 7) | it->x << 3) != 4)
            it->registers |= 1 << ((sib >> 3 & 7) | it->x << 3);
    } else if (mod == 0 && rm == 5) {
        it->relative = true;
        it->displacement_size = 4;
    } else
        it->registers |= 1 << (rm | it->b << 3);
    it->displacement_at = (uint8_t)cursor->at;
    it->displacement = (int32_t)next_number(cursor, it->displacement_size);
}

static bool fields_are_vectors(const struct instruction *it) {
    if (it->map == TWO_BYTES)
        return two_bytes_class[it->opcode] == 'V' && !(it->encoding != LEGACY && (it->opcode & 0xF0) == 0x90)
            && !(it->encoding == EVEX && it->opcode == 0x7B);
    if (it->map == MAP_38)
        return (it->opcode < 0x80 && !(it->encoding == EVEX && it->opcode >= 0x7A && it->opcode <= 0x7C))
            || (it->opcode >= 0x8C && it->opcode < 0xF0);
    if (it->map == MAP_3A)
        return it->opcode < 0x14 || (it->opcode >= 0x38 && it->opcode < 0xF0);
    return it->map == ONE_BYTE && it->opcode >= 0xD8 && it->opcode <= 0xDF;
}

static void find_registers(struct instruction *it, int vvvv) {
    bool in_opcode = it->map == ONE_BYTE
        ? (it->opcode & 0xF0) == 0x50 || (it->opcode & 0xF8) == 0x90 || (it->opcode & 0xF0) == 0xB0
        : it->map == TWO_BYTES && (it->opcode & 0xF8) == 0xC8;
    if (in_opcode && it->encoding == LEGACY)
        it->registers |= 1 << ((it->opcode & 7) | it->b << 3);
    if (it->modrm != NO_BYTE && !fields_are_vectors(it)) {
        it->registers |= 1 << field_reg(it);
        if (!it->memory)
            it->registers |= 1 << field_rm(it);
        if (it->encoding != LEGACY && vvvv >= 0)
            it->registers |= 1 << vvvv;
    }
}

static bool is_string(const struct instruction *it) {
    return (it->opcode >= 0xA4 && it->opcode <= 0xA7) || (it->opcode >= 0xAA && it->opcode <= 0xAF);
}

static uint8_t kind_of_one_byte(const struct instruction *it) {
    int reg = it->modrm == NO_BYTE ? 0 : it->modrm >> 3 & 7;
    if ((it->opcode & 0xF0) == 0x70)
        return CONDITIONAL;
    if (is_string(it))
        return it->repeats ? STRING : PLAIN;
    switch (it->opcode) {
    case 0xE0: case 0xE1: case 0xE2: case 0xE3:
        return LOOP;
    case 0xE8:
        return CALL;
    case 0xE9: case 0xEB:
        return JUMP;
    case 0xC2: case 0xC3:
        return RETURN;
    case 0xFF:
        return reg == 2 ? INDIRECT_CALL : reg == 4 ? INDIRECT_JUMP : reg == 3 || reg == 5 ? UNSUPPORTED
            : reg == 7 ? ILLEGAL : PLAIN;
    case 0xCC: case 0xF1: case 0xF4: case 0x6C: case 0x6D: case 0x6E: case 0x6F:
    case 0xE4: case 0xE5: case 0xE6: case 0xE7: case 0xEC: case 0xED: case 0xEE: case 0xEF: case 0xFA: case 0xFB:
        return TRAP;             /* int3, int1, hlt; in and out; cli, sti: privileged */
    case 0xCD: case 0xCA: case 0xCB: case 0xCF:
        return UNSUPPORTED;      /* int; far returns */
    case 0x8F:
        return reg ? ILLEGAL : PLAIN;                        /* XOP */
    case 0x8E:
        return UNSUPPORTED;      /* a segment register */
    case 0xC6: case 0xC7:
        return reg ? ILLEGAL : PLAIN;                        /* transactions */
    default:
        return PLAIN;
    }
}

static uint8_t kind_of_two_bytes(const struct instruction *it) {
    int reg = it->modrm == NO_BYTE ? 0 : it->modrm >> 3 & 7;
    switch (it->opcode) {
    case 0x05:
        return SYSTEM_CALL;
    case 0x34: case 0x35: case 0x07:
        return UNSUPPORTED;      /* sysenter, sysexit, sysret */
    case 0x31:
        return RDTSC;
    case 0x33:
        return READ_COUNTER;
    case 0xA2:
        return CPUID;
    case 0x01:
        return it->modrm == 0xF9 ? RDTSCP : it->modrm == 0xD0 ? XGETBV : PLAIN;
    case 0x0B: case 0xB9: case 0xFF: case 0x20: case 0x21: case 0x22: case 0x23:
        return TRAP;
    case 0xAE:                   /* xsave, xrstor */
        return it->memory && (reg == 4 || reg == 5) && it->prefix == NO_PREFIX ? SAVE_STATE : PLAIN;
    default:
        return (it->opcode & 0xF0) == 0x80 ? CONDITIONAL : PLAIN;
    }
}

static bool is_gather(const struct instruction *it) {
    return it->map == MAP_38 && it->opcode >= 0x90 && (it->opcode <= 0x93 || (it->encoding == EVEX && it->opcode >= 0xA0
                                                                              && it->opcode <= 0xA3));
}

static uint8_t kind_of(const struct instruction *it) {
    if (it->encoding != LEGACY)
        return is_gather(it) ? GATHER : PLAIN;
    return it->map == ONE_BYTE ? kind_of_one_byte(it) : it->map == TWO_BYTES ? kind_of_two_bytes(it) : PLAIN;
}

/* Sizes of the immediate operands that a letter stands for. */
static uint32_t immediate_size(const struct instruction *it, char what) {
    uint32_t sized = it->operand_size && !it->wide ? 2 : 4;
    bool test = it->modrm != NO_BYTE && (it->modrm >> 3 & 7) < 2;
    switch (what) {
    case 'b': case 'M': case 'j':
        return 1;
    case 'w':
        return 2;
    case 'e':
        return 3;
    case 'z': case 'Z':
        return sized;
    case 'v':
        return it->wide ? 8 : sized;
    case 'o':
        return it->short_address ? 4 : 8;
    case 'J':
        return 4;
    case 'f':
        return test ? 1 : 0;
    case 'F':
        return test ? sized : 0;
    default:
        return 0;
    }
}

bool decode(struct instruction *it, const uint8_t *bytes, uint32_t room) {
    struct cursor cursor = {bytes, 0, room < MAX_INSTRUCTION ? room : MAX_INSTRUCTION, false};
    const struct encoding *row;
    int vvvv;
    char what;
    memset(it, 0, sizeof(*it));
    it->bytes = bytes;
    it->modrm = NO_BYTE;
    read_prefixes(it, &cursor);
    what = read_opcode(it, &cursor, &vvvv);
    it->third = (int8_t)vvvv;
    if (what == 'm' || what == 'M' || what == 'Z' || what == 'f' || what == 'F')
        read_modrm(it, &cursor);
    it->immediate = next_number(&cursor, immediate_size(it, what));
    it->length = (uint8_t)cursor.at;
    if (what == 'x' || what == 'p' || what == 'r' || what == '*')
        it->kind = ILLEGAL;
    else {
        row = find_encoding(it);
        it->feature = feature_of(it, row);
        it->kind = kind_of(it);
        find_registers(it, vvvv);
        if (it->encoding == EVEX && row && it->displacement_size == 1) {
            it->displacement *= displacement_scale(it, row);
            it->compressed = true;
        }
    }
    if (cursor.lack && room >= MAX_INSTRUCTION)
        it->kind = ILLEGAL;      /* too long */
    return !cursor.lack || room >= MAX_INSTRUCTION;
}
