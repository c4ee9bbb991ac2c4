/* Translates basic blocks into the code cache.

   Between paths one host register holds the place of the next word of the stream, and another one is free; the guest's
   values of both are in `state`. A block that uses one of them takes another register instead, which it does not use, and
   moves the values at its beginning and its exits. So a block's instructions are copied as they are. */

#include "code.h"
#include "countdown.h"
#include "exits.h"
#include "encoding_rows.h"
#include "interpreter/python.h"
#include "interpreter_sites.h"
#include "operands.h"
#include "runtime.h"
#include "world/world.h"

uint8_t *emitted;

/* ---------------------------------------------------------------- a block's instructions */

struct work {                    /* a block that is translated */
    struct code_block block;
    struct instruction instructions[MAX_BLOCK];
    uint16_t registers;          /* that its encodings name */
    bool alone;
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
    if (is_region_mark(it))
        it->kind = REGION_MARK;
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
        if (count_bits((used | it->registers) & EXTENDED_REGISTERS) > 8 - SPARE_REGISTERS && to->length)
            break;
        if ((it->kind == ILLEGAL || it->kind == UNSUPPORTED || it->kind == REGION_MARK || is_python_site(it, at)) && to->length)
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

/* ---------------------------------------------------------------- the last instruction */

/* Push a return address; the stack pointer changes when the store has succeeded. */
static void put_push_address(int temporary, uint64_t address) {
    put_lea(temporary, RSP, -8);
    if (fits_signed(address))
        put_store_number(1, temporary, 0, address);
    else {
        put_store_number(0, temporary, 0, address);
        put_store_number(0, temporary, 4, address >> 32);
    }
    put_move(RSP, temporary);
}

static void put_branch_target(int temporary, const struct instruction *it) {
    if (it->memory) {
        put_memory_operand(0x8B, temporary, it, true);
        put_store(STATE_AT + STATE_TARGET, temporary);
    } else
        put_store(STATE_AT + STATE_TARGET, field_rm(it));
}

/* loop +5; jmp not taken */
static void put_loop(struct block *block, const struct instruction *it, uint64_t next, uint64_t target) {
    uint8_t *site;
    block->branch_at = NULL;
    if (it->short_address)
        put_byte(0x67);
    put_byte(it->opcode);
    put_byte(5);
    put_byte(0xE9);
    site = emitted;
    put_32(0);
    put_direct_exit(block, target, target != next);
    aim(site, emitted);
    put_direct_exit(block, next, false);
}

static void put_conditional(struct block *block, const struct instruction *it, uint64_t next, uint64_t target) {
    uint8_t *site;
    put_byte(0x0F);
    put_byte((uint32_t)(0x80 | (it->opcode & 15)));
    site = emitted;
    put_32(0);
    put_direct_exit(block, next, false);
    aim(site, emitted);
    block->taken_at = emitted;
    put_direct_exit(block, target, target != next);
}

/* The return from a call of the same path: most go on behind it. */
static void put_expected_return(struct block *block) {
    uint8_t *equal;
    put_difference(block->open_call->end, block->temporary);
    put_byte(0xE3);              /* jrcxz */
    equal = emitted;
    put_byte(0);
    put_load(RCX, STATE_AT + STATE_RCX);
    put_indirect_exit(block);
    *equal = (uint8_t)(emitted - (equal + 1));
    put_load(RCX, STATE_AT + STATE_RCX);
    block->branch_at = emitted;
    put_direct_exit(block, block->open_call->end, false);
}

static void put_return(struct block *block, const struct instruction *it) {
    put_based(0x8B, block->temporary, RSP, 0);
    put_store(STATE_AT + STATE_TARGET, block->temporary);
    put_lea(RSP, RSP, 8 + (it->opcode == 0xC2 ? (uint16_t)it->immediate : 0));
    if (block->open_call) {
        block->returns = true;
        put_expected_return(block);
    } else
        put_indirect_exit(block);
}

static const uint8_t service_of[] = {
    [SYSTEM_CALL] = EXIT_SYSTEM_CALL, [CPUID] = EXIT_CPUID, [RDTSC] = EXIT_RDTSC, [RDTSCP] = EXIT_RDTSCP,
    [XGETBV] = EXIT_XGETBV, [UNSUPPORTED] = EXIT_UNSUPPORTED,
};

static void put_string(const struct work *work, struct block *block, const struct instruction *it, uint64_t next) {
    if (!area->traced) {
        put_copy(it, block->temporary);
        block->branch_at = emitted;
        put_direct_exit(block, next, false);
        return;
    }
    if (!work->alone) {          /* else they are those from before the fault */
        put_store(STATE_AT + STATE_STRING, RCX);
        put_store(STATE_AT + STATE_STRING + 8, RSI);
        put_store(STATE_AT + STATE_STRING + 16, RDI);
    }
    put_copy(it, block->temporary);
    put_service_exit(block, EXIT_STRING, next);      /* writes the record */
}

/* A gather or a scatter: its record, which the runtime writes, needs what selects its elements. */
static void put_gather(struct block *block, const struct instruction *it, uint64_t next) {
    if (!area->traced) {
        put_copy(it, block->temporary);
        block->branch_at = emitted;
        put_direct_exit(block, next, false);
        return;
    }
    put_gather_operands(it);
    put_copy(it, block->temporary);
    put_service_exit(block, EXIT_GATHER, next);
}

/* A mark of a region: its record, which the runtime writes, begins or ends with the region. */
static void put_region_mark(struct block *block, const struct instruction *it, uint64_t next) {
    if (!wants_regions()) {
        put_copy(it, block->temporary);
        block->branch_at = emitted;
        put_direct_exit(block, next, false);
        return;
    }
    put_service_exit(block, EXIT_REGION, next);
}

/* The instruction that ends a block, and the exits. */
static void put_end(const struct work *work, struct block *block, const struct instruction *it, uint64_t ip) {
    uint64_t next = ip + it->length, target = next + (uint64_t)it->immediate;
    block->branch_at = emitted;
    switch (it->kind) {
    case JUMP:
        put_direct_exit(block, target, false);
        return;
    case CONDITIONAL:
        put_conditional(block, it, next, target);
        return;
    case LOOP:
        put_loop(block, it, next, target);
        return;
    case CALL:
        put_push_address(block->temporary, next);
        block->calls = true;
        block->branch_at = emitted;
        put_direct_exit(block, target, false);
        return;
    case RETURN:
        put_return(block, it);
        return;
    case INDIRECT_CALL:
        put_branch_target(block->temporary, it);
        put_push_address(block->temporary, next);
        put_indirect_exit(block);
        return;
    case INDIRECT_JUMP:
        put_branch_target(block->temporary, it);
        put_indirect_exit(block);
        return;
    case STRING:
        put_string(work, block, it, next);
        return;
    case GATHER:
        put_gather(block, it, next);
        return;
    case SYSTEM_CALL: case CPUID: case RDTSC: case RDTSCP: case XGETBV:
        put_record(block, false);
        put_service_exit(block, service_of[it->kind], next);
        return;
    case REGION_MARK:
        put_region_mark(block, it, next);
        return;
    case UNSUPPORTED:
        put_service_exit(block, EXIT_UNSUPPORTED, ip);
        return;
    case ILLEGAL:                /* of later processors: ud2 */
        put_byte(0x0F);
        put_byte(0x0B);
        return;
    case READ_COUNTER:           /* hlt faults as rdpmc may (performance/counter_reads.c) */
        put_byte(0xF4);
        return;
    default:                     /* plain, or a trap */
        if (it->kind != SAVE_STATE)
            put_copy(it, block->temporary);
        block->branch_at = emitted;
        put_direct_exit(block, next, false);
    }
}

/* xsave, xrstor: edx:eax select components, of which the guest's processor has three. */
static void put_save_state(int temporary, const struct instruction *it) {
    put_memory_operand(0x8D, temporary, it, true);
    put_store(STATE_AT + STATE_RAX, RAX);
    put_store(STATE_AT + STATE_RDX, RDX);
    put_byte(0x0F);              /* movzx eax, al */
    put_byte(0xB6);
    put_byte(0xC0);
    put_byte(0x8B);              /* mov eax, [ways->components + 4 rax] */
    put_byte(0x04);
    put_byte(0x85);
    put_32(WAYS_AT + WAYS_COMPONENTS);
    put_byte(0xBA);              /* mov edx, 0 */
    put_32(0);
    put_rex(it->wide, 0, temporary);
    put_byte(0x0F);
    put_byte(it->opcode);
    put_base(it->modrm >> 3 & 7, temporary, 0);
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
    put_based(LOAD_BYTE, temporary_register, temporary_register, COUNT_AT);
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
    int32_t place = block->place;
    uint64_t ip = work->block.ip;
    if (counting_down)
        put_countdown(block);
    put_python(block, work->alone ? NULL : &work->instructions[0]);
    put_entry(block);
    for (i = 0; i <= last; i++) {
        const struct instruction *it = &work->instructions[i];
        uint32_t slots = slots_of_size(work->block.sizes[i], it->bytes);
        block->offsets[i] = (uint16_t)(emitted - block->entry);
        if (area->traced && it->kind != STRING && it->kind != GATHER) {
            put_addresses(it, slots, block->ring, block->temporary, place);
            place += (int32_t)(8 * slots);
        }
        if (it->kind == SAVE_STATE)
            put_save_state(block->temporary, it);
        else if (i < last)
            put_copy(it, block->temporary);
        if (i == last)
            put_end(work, block, it, ip);
        ip += it->length;
    }
    if (counting_down)
        put_countdown_exit(block);
    put_python_exit(block);
}

/* Describe the first block of a path. */
static void begin_path(struct block *block) {
    block->word = (uint32_t)block->announced->number;
    block->blocks = 1;
    block->place = 8;
    block->counter = area->totals && !shares_memory ? counter_of(block->announced) : NULL;
}

/* Describe a block of a path behind another one. */
static void continue_path(struct block *block, struct block *before, bool taken) {
    const struct path *path = announce_path(before, taken, block->announced);
    block->before = before;
    block->open_call = before->calls ? before : before->returns ? before->open_call->open_call : before->open_call;
    block->beside = before->behind;
    before->behind = block;
    block->word = PATH_IN_LINE | path->number;
    block->word_before = path->word_before;
    block->blocks = (uint16_t)(before->blocks + 1);
    block->place = before->recorded;
    block->counter = shares_memory ? NULL : path->counter;
}

static struct work work;

static struct block *new_description(void) {
    struct block *block = new_block(work.block.length);
    uint8_t *end = block->code_end;
    memset(block, 0, sizeof(*block));
    block->code_end = end;
    block->offsets = (uint16_t *)(block + 1);
    block->ip = work.block.ip;
    block->end = work.block.ip + work.block.bytes;
    block->announced = announce(&work.block);
    block->length = (uint16_t)work.block.length;
    return block;
}

static void put_block(struct block *block) {
    block->recorded = block->place + (int32_t)(area->traced ? 8 * work.block.slots : 0);
    block->checked = changes_unnoticed(block->ip) || changes_unnoticed(block->end - 1);
    choose_registers(block, work.registers);
    block->entry = emitted;
    block->first_exit = exits_so_far();
    put_body(&work, block);
    block->exits = (uint8_t)(exits_so_far() - block->first_exit);
    block->code_end = emitted;
    enter_in_pages(block);
}

/* Translate the code at a guest address, at most `most` instructions; NULL: there is none. `alone`: its first instruction,
   which a fault has interrupted; `indirectly`: an indirect branch has reached it. */
struct block *translate(uint64_t ip, uint32_t most, bool alone, bool indirectly) {
    struct block *block;
    work.alone = alone;
    decode_block(&work, ip, most);
    if (work.block.length && (is_compared(ip) || is_compared(ip + work.block.bytes - 1)))
        decode_block(&work, ip, 1);
    if (work.block.length == 0)
        return NULL;
    block = new_description();
    begin_path(block);
    if (indirectly)
        put_check(block);
    put_block(block);
    return block;
}

/* Whether the runtime writes the record of a block, which so begins a path. */
static bool begins_with_region(const struct work *it) {
    return it->instructions[0].kind == REGION_MARK && wants_regions();
}

/* Translate the code that an exit of the last block leads to, as the next one of its path; NULL: there is none. */
struct block *translate_behind(struct exit *exit) {
    struct block *block;
    work.alone = false;
    decode_block(&work, exit->target, most_instructions);
    if (work.block.length == 0 || is_python_site(&work.instructions[0], exit->target) || begins_with_region(&work))
        return NULL;
    open_exit(exit);
    block = new_description();
    continue_path(block, exit->block, exit->taken);
    put_block(block);
    return block;
}
