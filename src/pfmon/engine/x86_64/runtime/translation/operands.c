/* Operands in memory: their addresses are computed by `lea` into the temporary register and stored behind the place of
   the block's word, before the instruction executes. */

#include "operands.h"
#include "runtime.h"

enum { LEA = 0x8D };

/* The address of an operand relative to rip. */
static uint64_t relative_address(const struct instruction *it) {
    return (uint64_t)it->bytes + it->length + (uint64_t)(int64_t)it->displacement;
}

/* An operand relative to rip is more than 2 GB from the code cache. */
static bool is_far(const struct instruction *it) {
    uint64_t distance = relative_address(it) - (uint64_t)emitted;
    return it->relative && !(fits_signed(distance) && fits_signed(distance - 2 * MAX_INSTRUCTION));
}

/* The bytes of ModR/M, SIB and displacement, with another register field; relative to rip: as a displacement from what
   follows, `rest` bytes behind it; one that EVEX compresses, which instructions without EVEX do not: in 32 bits. */
static void put_operand_bytes(const struct instruction *it, int reg, uint64_t rest) {
    uint8_t from = (uint8_t)(it->modrm_at + 1), to = (uint8_t)(it->displacement_at + it->displacement_size);
    put_byte((uint32_t)((it->compressed ? 0x80 : it->modrm & 0xC0) | (reg & 7) << 3 | (it->modrm & 7)));
    if (it->relative) {
        put_32(relative_address(it) - ((uint64_t)emitted + 4 + rest));
        return;
    }
    if (it->compressed)
        to--;
    for (; from < to; from++)
        put_byte(it->bytes[from]);
    if (it->compressed)
        put_32((uint32_t)it->displacement);
}

/* opcode reg, [the instruction's operand]; 64 bits. */
void put_memory_operand(uint32_t opcode, int reg, const struct instruction *it, bool with_segment) {
    if (is_far(it)) {
        if (it->segment)
            give_up(NOT_SUPPORTED);
        put_load_number(reg, relative_address(it));
        if (opcode != LEA)
            put_based(opcode, reg, reg, 0);
        return;
    }
    if (with_segment && it->segment)
        put_byte(it->segment == 4 ? 0x64 : 0x65);
    if (it->short_address)
        put_byte(0x67);
    put_byte((uint32_t)(0x48 | (reg >> 3) << 2 | it->x << 1 | it->b));
    put_byte(opcode);
    put_operand_bytes(it, reg, 0);
}

/* Where the base of an instruction's segment is. */
static uint64_t segment_base(const struct instruction *it) {
    return it->segment == 4 ? STATE_AT + STATE_FS : STATE_AT + STATE_GS;
}

/* The address of an operand relative to fs or gs. */
static void put_segment_address(const struct instruction *it, int temporary) {
    int sib = (it->modrm & 7) == 4 ? it->bytes[it->modrm_at + 1] : NO_BYTE;
    int base = sib == NO_BYTE ? field_rm(it) : (sib & 7) | it->b << 3;
    int index = sib == NO_BYTE ? 4 : (sib >> 3 & 7) | it->x << 3;
    bool has_base = sib == NO_BYTE ? !it->relative : !((sib & 7) == 5 && it->modrm >> 6 == 0);
    put_load(temporary, segment_base(it));
    if (has_base)
        put_lea_index(temporary, temporary, base, 0, 0);
    if (index != 4)
        put_lea_index(temporary, temporary, index, sib >> 6, 0);
    if (it->displacement)
        put_lea(temporary, temporary, it->displacement);
}

/* vmovdqu [address], a vector: with EVEX 64 bytes of zmm0 to zmm31, else 32 bytes of ymm0 to ymm15 */
static void put_vector_store(bool evex, uint64_t address, int vector) {
    uint32_t high = (uint32_t)((vector & 8 ? 0 : 0x80) | 0x60 | TWO_BYTES);
    if (evex) {
        put_byte(0x62);
        put_byte(high | (vector & 16 ? 0 : 0x10));
        put_byte(0xFE);
        put_byte(0x48);
    } else {
        put_byte(0xC4);
        put_byte(high);
        put_byte(0x7E);
    }
    put_byte(0x7F);
    put_byte((uint32_t)(0x04 | (vector & 7) << 3));
    put_byte(0x25);
    put_32(address);
}

/* kmovw [address], k */
static void put_mask_store(uint64_t address, int mask) {
    put_byte(0xC5);
    put_byte(0xF8);
    put_byte(0x91);
    put_byte((uint32_t)(0x04 | mask << 3));
    put_byte(0x25);
    put_32(address);
}

/* Store the indices and the mask of a gather or a scatter. */
void put_gather_operands(const struct instruction *it) {
    int sib = it->bytes[it->modrm_at + 1], index = (sib >> 3 & 7) | it->x << 3;
    bool evex = it->encoding == EVEX;
    put_vector_store(evex, STATE_AT + STATE_VECTOR, index | (evex ? it->high_index << 4 : 0));
    if (evex)
        put_mask_store(STATE_AT + STATE_MASK, it->mask);
    else
        put_vector_store(false, STATE_AT + STATE_MASK, it->third);
}

struct recorder {                /* where addresses go */
    int ring, temporary;
    int32_t place;               /* bytes from the block's word */
};

static void put_slot(struct recorder *to, int reg) {
    put_based(0x89, reg, to->ring, to->place);
    to->place += 8;
}

static void record_operand(struct recorder *to, const struct instruction *it, int32_t more) {
    if (it->segment)
        put_segment_address(it, to->temporary);
    else
        put_memory_operand(0x8D, to->temporary, it, false);
    if (more)
        put_lea(to->temporary, to->temporary, more);
    put_slot(to, to->temporary);
}

/* Below the stack pointer. */
static void record_push(struct recorder *to, const struct instruction *it) {
    put_lea(to->temporary, RSP, it->operand_size ? -2 : -8);
    put_slot(to, to->temporary);
}

static void record_offset(struct recorder *to, const struct instruction *it) {
    if (it->segment) {
        put_load(to->temporary, segment_base(it));
        put_lea(to->temporary, to->temporary, (int32_t)it->immediate);
    } else
        put_load_number(to->temporary, (uint64_t)it->immediate);
    put_slot(to, to->temporary);
}

/* rbx + al */
static void record_table(struct recorder *to) {
    put_rex(1, to->temporary, RAX);
    put_byte(0x0F);
    put_byte(0xB6);
    put_byte((uint32_t)(0xC0 | (to->temporary & 7) << 3));
    put_lea_index(to->temporary, to->temporary, RBX, 0, 0);
    put_slot(to, to->temporary);
}

static bool base_is_stack(const struct instruction *it) {
    return (it->modrm & 7) == 4 && (it->bytes[it->modrm_at + 1] & 7) == 4 && !it->b;
}

static void record_one_byte(struct recorder *to, const struct instruction *it, uint32_t slots) {
    uint8_t opcode = it->opcode;
    int reg = it->modrm == NO_BYTE ? 0 : it->modrm >> 3 & 7;
    if (opcode == 0xFF && (reg == 2 || reg == 6)) {          /* call, push */
        if (it->memory)
            record_operand(to, it, 0);
        record_push(to, it);
    } else if (opcode == 0x8F) { /* pop: its address is computed with the stack pointer after it */
        put_slot(to, RSP);
        if (it->memory)
            record_operand(to, it, base_is_stack(it) ? (it->operand_size ? 2 : 8) : 0);
    } else if (it->memory)
        record_operand(to, it, 0);
    else if ((opcode & 0xF8) == 0x50 || opcode == 0x68 || opcode == 0x6A || opcode == 0x9C || opcode == 0xE8
             || opcode == 0xC8)
        record_push(to, it);
    else if (opcode == 0xC9)
        put_slot(to, RBP);
    else if (opcode == 0xA4 || opcode == 0xA5 || opcode == 0xA6 || opcode == 0xA7) {
        put_slot(to, opcode < 0xA6 ? RSI : RDI);
        put_slot(to, opcode < 0xA6 ? RDI : RSI);
    } else if (opcode == 0xAC || opcode == 0xAD)
        put_slot(to, RSI);
    else if (opcode == 0xAA || opcode == 0xAB || opcode == 0xAE || opcode == 0xAF)
        put_slot(to, RDI);
    else if (opcode >= 0xA0 && opcode <= 0xA3)
        record_offset(to, it);
    else if (opcode == 0xD7)
        record_table(to);
    else if (slots)
        put_slot(to, RSP);       /* pop, popf, return */
}

/* Emit what records the addresses of an instruction; `place`: of the first, in bytes from the block's word. */
void put_addresses(const struct instruction *it, uint32_t slots, int ring_at, int temporary, int32_t place) {
    struct recorder to = {ring_at, temporary, place};
    if (slots == 0)
        return;
    if (it->map == ONE_BYTE)
        record_one_byte(&to, it, slots);
    else if (it->memory)
        record_operand(&to, it, 0);
    else if (it->map == TWO_BYTES && it->opcode == 0xF7)
        put_slot(&to, RDI);      /* maskmovq */
    else if (it->opcode == 0xA0 || it->opcode == 0xA8)
        record_push(&to, it);    /* push of a segment */
    else
        put_slot(&to, RSP);
}

/* ---------------------------------------------------------------- the instruction itself */

/* Whether a register field names ah, ch, dh or bh, which no instruction with a REX prefix does. */
static bool names_high_byte(const struct instruction *it) {
    bool bytes = it->map == ONE_BYTE ? (it->opcode < 0x40 || (it->opcode >= 0x84 && it->opcode <= 0x8A)) && !(it->opcode & 1)
        : it->map == TWO_BYTES && (it->opcode == 0xB0 || it->opcode == 0xC0);
    return bytes && (it->modrm >> 3 & 7) >= 4;
}

/* Prefixes and opcode, with the high bit of the base register: of r8 to r15. */
static void put_opcode_of_high_base(const struct instruction *it) {
    uint8_t escapes = it->map == ONE_BYTE ? 0 : it->map == TWO_BYTES ? 1 : 2, i;
    uint8_t first = (uint8_t)(it->opcode_at - escapes), prefixes = first;
    uint32_t rex = 0x40;
    if (first > 0 && (it->bytes[first - 1] & 0xF0) == 0x40)
        rex = it->bytes[--prefixes];
    else if (names_high_byte(it))
        give_up(NOT_SUPPORTED);
    for (i = 0; i < prefixes; i++)
        put_byte(it->bytes[i]);
    put_byte(rex | 1);
    for (i = first; i <= it->opcode_at; i++)
        put_byte(it->bytes[i]);
}

/* The same by VEX, of three bytes: its bits are inverted (SDM volume 2, 2.3.5). */
static void put_vex_of_high_base(const struct instruction *it) {
    uint8_t i = 0;
    while (it->bytes[i] != 0xC4 && it->bytes[i] != 0xC5)
        put_byte(it->bytes[i++]);
    put_byte(0xC4);
    if (it->bytes[i] == 0xC4) {
        put_byte(it->bytes[i + 1] & ~0x20u);
        put_byte(it->bytes[i + 2]);
    } else {
        put_byte((it->bytes[i + 1] & 0x80u) | 0x41);         /* no high index; 0F */
        put_byte(it->bytes[i + 1] & 0x7Fu);
    }
    put_byte(it->opcode);
}

/* The same by EVEX (SDM volume 2, 2.7.1). */
static void put_evex_of_high_base(const struct instruction *it) {
    uint8_t i = 0;
    while (it->bytes[i] != 0x62)
        put_byte(it->bytes[i++]);
    put_byte(0x62);
    put_byte(it->bytes[i + 1] & ~0x20u);
    for (i = (uint8_t)(i + 2); i <= it->opcode_at; i++)
        put_byte(it->bytes[i]);
}

/* An instruction with the operand [temporary] in place of one relative to rip. */
static void put_far_copy(const struct instruction *it, int temporary) {
    uint8_t i;
    put_load_number(temporary, relative_address(it));
    if (it->encoding == EVEX)
        put_evex_of_high_base(it);
    else if (it->encoding == VEX)
        put_vex_of_high_base(it);
    else
        put_opcode_of_high_base(it);
    put_base(it->modrm >> 3 & 7, temporary, 0);
    for (i = (uint8_t)(it->displacement_at + 4); i < it->length; i++)
        put_byte(it->bytes[i]);
}

/* Emit the instruction itself; an operand relative to rip keeps its address. */
void put_copy(const struct instruction *it, int temporary) {
    uint8_t i, first = it->relative ? it->modrm_at : it->length;
    if (is_far(it)) {
        put_far_copy(it, temporary);
        return;
    }
    for (i = 0; i < first; i++)
        if (!(it->ignores_repeat && i < it->opcode_at && it->bytes[i] == 0xF3))
            put_byte(it->bytes[i]);
    if (!it->relative)
        return;
    put_operand_bytes(it, it->modrm >> 3 & 7, (uint64_t)(it->length - it->displacement_at - 4));
    for (i = (uint8_t)(it->displacement_at + 4); i < it->length; i++)
        put_byte(it->bytes[i]);
}
