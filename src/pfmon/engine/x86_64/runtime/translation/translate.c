/* Translates basic blocks into the code cache.

   Between blocks one host register holds the place of the next word of the stream, and another one is free; the guest's
   values of both are in `state`. A block that uses one of them takes another register instead, which it does not use, and
   moves the values at its beginning and its exits. So a block's instructions are copied as they are. */

#include "code.h"
#include "encoding_rows.h"
#include "operands.h"
#include "runtime.h"
#include "world/world.h"

enum { EXTENDED = 0xFF00, SPARE = 2 };

uint8_t *emitted = (uint8_t *)CODE_AT;
int ring_register = R11, temporary_register = R10;
/* ---------------------------------------------------------------- a block's instructions */

struct work {                    /* a block that is translated */
    struct code_block block;
    struct instruction instructions[MAX_BLOCK];
    uint16_t registers;          /* that its encodings name */
    int ring, temporary;         /* registers in its body; NO_REGISTER: not needed */
    bool traced, totals, alone;
    int32_t recorded;            /* bytes of its record: the word and its addresses */
};

static int count_bits(uint32_t bits) {
    int count = 0;
    for (; bits; bits &= bits - 1)
        count++;
    return count;
}

static bool ends_block(uint8_t kind) {
    return kind != PLAIN && kind != SAVE_STATE;
}

static uint32_t in_page(uint64_t ip) {
    return (uint32_t)(PAGE - ip % PAGE);
}

/* Instructions that the guest's processor lacks are illegal; lzcnt and tzcnt are bsr and bsf. */
static void fit_to_processor(struct instruction *it) {
    if (it->feature > processor_level)
        it->kind = ILLEGAL;
    it->ignores_repeat = processor_level < AVX2 && it->encoding == LEGACY && it->map == TWO_BYTES
        && (it->opcode & 0xFE) == 0xBC && it->prefix == PREFIX_F3;
}

/* Decode a block's instructions, at most `most`, up to a branch or as many as leave two registers free. */
static void decode_block(struct work *work, uint64_t ip, uint32_t most) {
    struct code_block *to = &work->block;
    uint16_t used = 0;
    uint64_t at = ip;
    to->ip = ip;
    to->length = to->bytes = to->slots = 0;
    to->cut = CUT_WHOLE;
    to->conditional = false;
    to->file = file_at(ip);
    while (to->length < most) {
        struct instruction *it = &work->instructions[to->length];
        struct code code;
        if (at / PAGE != ip / PAGE && to->length)
            break;               /* a block begins and ends in one page, but for its last instruction */
        if (!decode(it, (const uint8_t *)at, in_page(at)) && is_readable(at + in_page(at)))
            decode(it, (const uint8_t *)at, MAX_INSTRUCTION);
        if (it->length == 0)
            break;
        fit_to_processor(it);
        if (count_bits((used | it->registers) & EXTENDED) > 8 - SPARE && to->length)
            break;
        if ((it->kind == ILLEGAL || it->kind == UNSUPPORTED) && to->length)
            break;
        if (it->kind != ILLEGAL)
            note_processor_result(it);
        used |= it->registers;
        code = x86_code(it->bytes, it->length, true);
        to->sizes[to->length] = (uint8_t)(it->length | slots_code(&code) << SLOTS_SHIFT);
        to->conditional = code.conditional;
        to->slots += code.slots;
        memcpy(to->code + to->bytes, it->bytes, it->length);
        to->bytes += it->length;
        to->length++;
        at += it->length;
        if (ends_block(it->kind))
            break;
    }
    work->registers = used;
}

static int unused_register(uint16_t used) {
    int reg;
    for (reg = R15; reg >= R8; reg--)
        if (!(used & 1 << reg))
            return reg;
    return NO_REGISTER;
}

static void choose_registers(struct work *work) {
    uint16_t used = (uint16_t)(work->registers | 1 << ring_register | 1 << temporary_register);
    work->ring = ring_register;
    work->temporary = temporary_register;
    if (work->registers & 1 << ring_register)
        work->ring = unused_register(used);
    used |= (uint16_t)(1 << work->ring);
    if (work->registers & 1 << temporary_register)
        work->temporary = unused_register(used);
}

static uint64_t state_of(int reg) {
    return STATE_AT + STATE_REGISTERS + 8 * (uint64_t)reg;
}

static void put_entry(const struct work *work) {
    if (work->ring != ring_register) {
        put_store(state_of(work->ring), work->ring);
        put_move(work->ring, ring_register);
        put_load(ring_register, state_of(ring_register));
    }
    if (work->temporary != temporary_register) {
        put_store(state_of(work->temporary), work->temporary);
        put_load(temporary_register, state_of(temporary_register));
    }
}

static void put_leave(const struct work *work) {
    if (work->ring != ring_register) {
        put_store(state_of(ring_register), ring_register);
        put_move(ring_register, work->ring);
        put_load(work->ring, state_of(work->ring));
    }
    if (work->temporary != temporary_register) {
        put_store(state_of(temporary_register), temporary_register);
        put_load(work->temporary, state_of(work->temporary));
    }
}

/* ---------------------------------------------------------------- records and exits */

static const struct announcement *announced;

static void put_record(const struct work *work, bool taken) {
    if (work->totals)
        return;
    if (taken || announced->number > INT32_MAX) {
        put_store_number(0, work->ring, 0, announced->number);
        put_store_number(0, work->ring, 4, taken);
    } else
        put_store_number(1, work->ring, 0, announced->number);
    put_lea(work->ring, work->ring, work->recorded);
}

/* A block's beginning is counted before anything of it executes. */
static void put_counter(int temporary) {
    uint64_t counter = (uint64_t)counter_of(announced);
    put_load(temporary, counter);
    put_lea(temporary, temporary, 1);
    put_store(counter, temporary);
}

/* The exit to a guest address that is known now: a jump, to the stub until it is linked. */
static void put_direct_exit(const struct work *work, uint64_t target, bool taken, struct block *block) {
    uint32_t number = new_exit(EXIT_DIRECT, target, block);
    struct exit *exit = exit_numbered(number);
    uint8_t *blocks_end;
    put_record(work, taken);
    put_leave(work);
    put_byte(0xE9);
    exit->site = emitted;
    put_32(0);
    blocks_end = begin_apart();
    put_stub(number);
    end_apart(blocks_end);
    aim(exit->site, exit->stub);
}

/* The exit to the runtime, which goes on at `next`. */
static void put_service_exit(const struct work *work, uint8_t kind, uint64_t next, struct block *block) {
    uint32_t number = new_exit(kind, next, block);
    put_leave(work);
    put_stub(number);
}

/* jmp [TABLE_AT + 8 temporary_register], of 8 bytes */
void put_jump_by_table(void) {
    put_byte((uint32_t)(0x40 | (temporary_register >> 3) << 1));
    put_byte(0xFF);
    put_byte(0x24);
    put_byte((uint32_t)(0xC0 | (temporary_register & 7) << 3 | 5));
    put_32(TABLE_AT);
}

/* The exit to the address in state->target. */
static void put_indirect_exit(const struct work *work, struct block *block) {
    int reg = temporary_register;
    uint32_t number = new_exit(EXIT_MISS, 0, block);
    put_record(work, false);
    put_leave(work);
    put_rex(0, reg, 0);          /* movzx reg, word [state->target] */
    put_byte(0x0F);
    put_byte(0xB7);
    put_byte((uint32_t)(0x04 | (reg & 7) << 3));
    put_byte(0x25);
    put_32(STATE_AT + STATE_TARGET);
    exit_numbered(number)->site = emitted;
    put_jump_by_table();
}

/* ---------------------------------------------------------------- the last instruction */

/* Push a return address; the stack pointer changes when the store has succeeded. */
static void put_push_address(const struct work *work, uint64_t address) {
    put_lea(work->temporary, RSP, -8);
    if (fits_signed(address))
        put_store_number(1, work->temporary, 0, address);
    else {
        put_store_number(0, work->temporary, 0, address);
        put_store_number(0, work->temporary, 4, address >> 32);
    }
    put_move(RSP, work->temporary);
}

static void put_branch_target(const struct work *work, const struct instruction *it) {
    if (it->memory) {
        put_memory_operand(0x8B, work->temporary, it, true);
        put_store(STATE_AT + STATE_TARGET, work->temporary);
    } else
        put_store(STATE_AT + STATE_TARGET, field_rm(it));
}

static void put_conditional(const struct work *work, const struct instruction *it, uint64_t next, uint64_t target,
                            struct block *block) {
    uint8_t *site;
    if (it->kind == LOOP) {      /* loop +5; jmp not taken */
        if (it->short_address)
            put_byte(0x67);
        put_byte(it->opcode);
        put_byte(5);
        put_byte(0xE9);
        site = emitted;
        put_32(0);
        put_direct_exit(work, target, target != next, block);
        aim(site, emitted);
        put_direct_exit(work, next, false, block);
        return;
    }
    put_byte(0x0F);
    put_byte((uint32_t)(0x80 | (it->opcode & 15)));
    site = emitted;
    put_32(0);
    put_direct_exit(work, next, false, block);
    aim(site, emitted);
    put_direct_exit(work, target, target != next, block);
}

static void put_return(const struct work *work, const struct instruction *it, struct block *block) {
    put_based(0x8B, work->temporary, RSP, 0);
    put_store(STATE_AT + STATE_TARGET, work->temporary);
    put_lea(RSP, RSP, 8 + (it->opcode == 0xC2 ? (uint16_t)it->immediate : 0));
    put_indirect_exit(work, block);
}

static const uint8_t service_of[] = {
    [SYSTEM_CALL] = EXIT_SYSTEM_CALL, [CPUID] = EXIT_CPUID, [RDTSC] = EXIT_RDTSC, [RDTSCP] = EXIT_RDTSCP,
    [XGETBV] = EXIT_XGETBV, [UNSUPPORTED] = EXIT_UNSUPPORTED,
};

static void put_string(const struct work *work, const struct instruction *it, uint64_t next, struct block *block) {
    if (!work->traced) {
        put_copy(it, work->temporary);
        put_direct_exit(work, next, false, block);
        return;
    }
    if (!work->alone) {          /* else they are those from before the fault */
        put_store(STATE_AT + STATE_STRING, RCX);
        put_store(STATE_AT + STATE_STRING + 8, RSI);
        put_store(STATE_AT + STATE_STRING + 16, RDI);
    }
    put_copy(it, work->temporary);
    put_service_exit(work, EXIT_STRING, next, block);        /* writes the record */
}

/* A gather or a scatter: its record, which the runtime writes, needs what selects its elements. */
static void put_gather(const struct work *work, const struct instruction *it, uint64_t next, struct block *block) {
    if (!work->traced) {
        put_copy(it, work->temporary);
        put_direct_exit(work, next, false, block);
        return;
    }
    put_gather_operands(it);
    put_copy(it, work->temporary);
    put_service_exit(work, EXIT_GATHER, next, block);
}

/* The instruction that ends a block, and the exits. */
static void put_end(const struct work *work, const struct instruction *it, uint64_t ip, struct block *block) {
    uint64_t next = ip + it->length, target = next + (uint64_t)it->immediate;
    switch (it->kind) {
    case JUMP:
        put_direct_exit(work, target, false, block);
        return;
    case CONDITIONAL: case LOOP:
        put_conditional(work, it, next, target, block);
        return;
    case CALL:
        put_push_address(work, next);
        put_direct_exit(work, target, false, block);
        return;
    case RETURN:
        put_return(work, it, block);
        return;
    case INDIRECT_CALL:
        put_branch_target(work, it);
        put_push_address(work, next);
        put_indirect_exit(work, block);
        return;
    case INDIRECT_JUMP:
        put_branch_target(work, it);
        put_indirect_exit(work, block);
        return;
    case STRING:
        put_string(work, it, next, block);
        return;
    case GATHER:
        put_gather(work, it, next, block);
        return;
    case SYSTEM_CALL: case CPUID: case RDTSC: case RDTSCP: case XGETBV:
        put_record(work, false);
        put_service_exit(work, service_of[it->kind], next, block);
        return;
    case UNSUPPORTED:
        put_service_exit(work, EXIT_UNSUPPORTED, ip, block);
        return;
    case ILLEGAL:                /* of later processors: ud2 */
        put_byte(0x0F);
        put_byte(0x0B);
        return;
    default:                     /* plain, or a trap */
        if (it->kind != SAVE_STATE)
            put_copy(it, work->temporary);
        put_direct_exit(work, next, false, block);
    }
}

/* xsave, xrstor: edx:eax select components, of which the guest's processor has three. */
static void put_save_state(const struct work *work, const struct instruction *it) {
    put_memory_operand(0x8D, work->temporary, it, true);
    put_store(STATE_AT + STATE_RAX, RAX);
    put_store(STATE_AT + STATE_RDX, RDX);
    put_byte(0x0F);              /* movzx eax, al */
    put_byte(0xB6);
    put_byte(0xC0);
    put_byte(0x8B);              /* mov eax, [state->components + 4 rax] */
    put_byte(0x04);
    put_byte(0x85);
    put_32(STATE_AT + STATE_COMPONENTS);
    put_byte(0xBA);              /* mov edx, 0 */
    put_32(0);
    put_rex(it->wide, 0, work->temporary);
    put_byte(0x0F);
    put_byte(it->opcode);
    put_base(it->modrm >> 3 & 7, work->temporary, 0);
    put_load(RAX, STATE_AT + STATE_RAX);
    put_load(RDX, STATE_AT + STATE_RDX);
}

/* ---------------------------------------------------------------- blocks */

/* Take the block's instructions off the countdown, and read at that place: below 0 this faults, and the handler goes on at
   the block's countdown exit. No flags change. */
static void put_countdown(const struct block *block) {
    put_load(temporary_register, STATE_AT + STATE_COUNTDOWN);
    put_lea(temporary_register, temporary_register, -(int32_t)block->length);
    put_store(STATE_AT + STATE_COUNTDOWN, temporary_register);
    put_based(0x8B, temporary_register, temporary_register, COUNT_AT);
}

static void put_countdown_exit(struct block *block) {
    uint32_t number = new_exit(EXIT_COUNTDOWN, block->ip, block);
    uint8_t *blocks_end = begin_apart();
    block->on_countdown = emitted;
    put_stub(number);
    end_apart(blocks_end);
}

static void put_body(const struct work *work, struct block *block) {
    uint32_t i, last = work->block.length - 1;
    int32_t place = 8;
    uint64_t ip = work->block.ip;
    if (counting_down)
        put_countdown(block);
    if (work->totals && !shares_memory)
        put_counter(temporary_register);
    put_entry(work);
    for (i = 0; i <= last; i++) {
        const struct instruction *it = &work->instructions[i];
        uint32_t slots = slots_of_size(work->block.sizes[i], it->bytes);
        block->offsets[i] = (uint16_t)(emitted - block->entry);
        if (work->traced && it->kind != STRING && it->kind != GATHER) {
            put_addresses(it, slots, work->ring, work->temporary, place);
            place += (int32_t)(8 * slots);
        }
        if (it->kind == SAVE_STATE)
            put_save_state(work, it);
        else if (i < last)
            put_copy(it, work->temporary);
        if (i == last)
            put_end(work, it, ip, block);
        ip += it->length;
    }
    if (counting_down)
        put_countdown_exit(block);
}

/* Translate the code at a guest address, at most `most` instructions; NULL: there is none. `alone`: its first instruction,
   which a fault has interrupted; `indirectly`: an indirect branch has reached it. */
struct block *translate(uint64_t ip, uint32_t most, bool alone, bool indirectly) {
    static struct work work;
    struct block *block;
    work.alone = alone;
    decode_block(&work, ip, most);
    if (work.block.length == 0)
        return NULL;
    announced = announce(&work.block);
    work.traced = area->traced;
    work.totals = area->totals;
    work.recorded = (int32_t)(8 * (1 + (work.traced ? work.block.slots : 0)));
    choose_registers(&work);
    if (work.totals)
        work.ring = ring_register;
    block = new_block(work.block.length);
    block->offsets = (uint16_t *)(block + 1);
    block->ip = ip;
    block->end = ip + work.block.bytes;
    block->announced = announced;
    block->in_table = 0;
    block->check = NULL;
    if (indirectly)
        put_check(block);
    block->checked = is_shared(ip) || is_shared(block->end - 1);
    block->length = (uint16_t)work.block.length;
    block->ring = (uint8_t)work.ring;
    block->temporary = (uint8_t)work.temporary;
    block->entry = emitted;
    block->first_exit = exits_so_far();
    put_body(&work, block);
    block->exits = (uint8_t)(exits_so_far() - block->first_exit);
    block->code_end = emitted;
    return block;
}

