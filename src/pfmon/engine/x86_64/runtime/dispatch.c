/* Goes on when translated code is left: finds or translates the next block, and executes what the runtime executes in
   place of the guest. */

#include <asm/siginfo.h>
#include <linux/signal.h>

#include "countdown.h"
#include "interpreter/python.h"
#include "performance/performance.h"
#include "runtime.h"
#include "threads/thread.h"
#include "world/world.h"

static bool is_reserved(int reg) {
    return reg == temporary_register || (reg == ring_register && !area->totals);
}

/* The place of the next word, from a register of translated code. */
static void take_next_word(uint64_t place) {
    if (!is_in_buffer(place))
        give_up(INTERRUPTED);
    state->ring = place;
}

/* Take the guest's registers over from those that the host's had when translated code was left between two blocks. */
static void take_registers(void) {
    int reg;
    for (reg = 0; reg < 16; reg++)
        if (!is_reserved(reg))
            state->registers[reg] = state->saved[reg];
    if (!area->totals)
        take_next_word(state->saved[ring_register]);
}

static uint64_t one_at;          /* guest address of an instruction to execute alone; 0: none */

/* Execute the instruction at a guest address as a block of its own, which may write to its own page. */
void execute_one_at(uint64_t ip) {
    one_at = ip;
}

static struct block *next_block(uint64_t ip, bool indirectly) {
    struct block *block = ip == one_at ? block_of_one(ip) : block_at(ip, indirectly);
    one_at = 0;
    return block;
}

/* Set the host's registers for translated code, with the place of the next word in one of them. */
static void set_registers(const uint8_t *code, int ring_at) {
    int reg;
    state->next = (uint64_t)code;
    for (reg = 0; reg < 16; reg++)
        state->saved[reg] = state->registers[reg];
    if (!area->totals)
        state->saved[ring_at] = state->ring;
}

/* Set the host's registers for the block at a guest address, or for a signal's handler; returns the block. `indirectly`: an
   indirect branch goes there. */
static struct block *continue_at(uint64_t ip, bool indirectly) {
    struct block *block;
    for (;;) {
        while (state->pending)
            ip = deliver_signals(ip);
        if (is_vsyscall(ip)) {
            ip = vsyscall(ip);
            continue;
        }
        block = next_block(ip, indirectly);
        if (block)
            break;
        raise_fault(SIGSEGV, is_readable(ip) ? SEGV_ACCERR : SEGV_MAPERR, ip);
    }
    if (counting_down && state->countdown > 0 && state->countdown < block->length)
        block = part_at(ip, (uint32_t)state->countdown);     /* a timer expires, or the turn ends, within the block */
    set_registers(block->entry, ring_register);
    return block;
}

/* Instructions of a path up to a block. */
static uint64_t instructions_of(const struct block *block) {
    uint64_t instructions, slots;
    measure_word(block->word, &instructions, &slots);
    return instructions;
}

/* Go on in a path, in place of the exit that it was left by: its record is not complete yet. */
static bool go_on_in_path(struct exit *exit) {
    const struct block *before = exit->block;
    struct block *block = state->pending ? NULL : extend_path(exit);
    if (!block)
        return false;
    if (counting_paths)
        give_back_instructions(instructions_of(before));
    if (!area->totals) {
        take_next_word(state->ring - (uint64_t)before->recorded);
        *(uint64_t *)state->ring = 0;
    } else if (before->counter)
        --*before->counter;
    set_registers(block->entry, before->ring);
    return true;
}

/* The guest's registers at a fault of a block's body, from those of the host. */
void take_registers_in_block(const struct block *block, const uint64_t *host) {
    int reg;
    for (reg = 0; reg < 16; reg++)
        if (reg != block->temporary && (reg != block->ring || area->totals))
            state->registers[reg] = host[reg];
    if (!area->totals)
        take_next_word(host[block->ring]);
}

/* ---------------------------------------------------------------- string instructions */

static void put_range(uint64_t before, uint64_t after, uint64_t size, uint64_t times) {
    put_word(times == 0 ? 0 : before < after ? before : after + size);
}

/* Begin the record of a block whose last instruction has that many addresses, which the runtime writes: `state->ring` is
   their place. Returns that instruction. */
const uint8_t *begin_record(const struct block *block, uint32_t slots) {
    const struct announcement *it = block->announced;
    uint64_t *record = (uint64_t *)state->ring, words = (uint64_t)block->recorded / sizeof(uint64_t);
    if (in_guard((uint64_t)(record + words - 1))) {          /* the record stays in one buffer */
        continue_in_next_buffer((uint64_t)(record + words - 1), record);
        record = next_words();
    }
    *record = block->word;
    if (counting_paths && !counting_down)
        take_off_instructions(instructions_of(block));
    state->ring = (uint64_t)(record + words - slots);
    return sizes_of(it) + it->length + (it->last_ip - it->ip);
}

/* The record of a repeated string instruction and the block that it ends: the lowest address of each operand, and the
   bytes that its iterations passed. */
static void record_string(const struct block *block) {
    const struct announcement *it = block->announced;
    const uint8_t *sizes = sizes_of(it);
    struct instruction string;
    uint64_t *registers = state->registers, times = state->string[0] - registers[RCX], size;
    uint32_t slots = sizes[it->length - 1] >> SLOTS_SHIFT & 3;
    decode(&string, begin_record(block, slots), sizes[it->length - 1] & SIZE_BITS);
    size = string.opcode & 1 ? (string.wide ? 8 : string.operand_size ? 2 : 4) : 1;
    if (string.short_address)
        times = (uint32_t)times;
    if (slots == 2 && string.opcode >= 0xA6) {
        put_range(state->string[2], registers[RDI], size, times);
        put_range(state->string[1], registers[RSI], size, times);
    } else {
        if (string.opcode <= 0xA7 || (string.opcode & 0xFE) == 0xAC)
            put_range(state->string[1], registers[RSI], size, times);
        if (string.opcode <= 0xA5 || (string.opcode & 0xFE) == 0xAA || string.opcode >= 0xAE)
            put_range(state->string[2], registers[RDI], size, times);
    }
    if (times > 1)
        put_mark(MARK_STRING, it->instructions - 1u, (times - 1) * size);
}

/* ---------------------------------------------------------------- exits */

static void execute_for_guest(uint8_t kind) {
    uint64_t *registers = state->registers, now;
    switch (kind) {
    case EXIT_CPUID:
        emulate_cpuid(registers);
        return;
    case EXIT_XGETBV:
        registers[RAX] = components;
        registers[RDX] = 0;
        return;
    default:
        now = instructions_retired();
        registers[RAX] = (uint32_t)now;
        registers[RDX] = now >> 32;
        if (kind == EXIT_RDTSCP)
            registers[RCX] = 0;
    }
}

/* The guest address at which to go on. */
static uint64_t after_exit(const struct exit *exit) {
    switch (exit->kind) {
    case EXIT_MISS:
        return state->target;
    case EXIT_DIRECT:
        return exit->target;
    case EXIT_SYSTEM_CALL:
        return system_call(exit->target, exit->block->announced->instructions - 1u);
    case EXIT_STRING:
        record_string(exit->block);
        return exit->target;
    case EXIT_GATHER:
        record_gather(exit->block);
        return exit->target;
    case EXIT_REGION:
        record_region_mark(exit->block);
        return exit->target;
    case EXIT_UNSUPPORTED:
        give_up(NOT_SUPPORTED);
    case EXIT_COUNTDOWN:         /* the block has not begun */
        stand_at(exit->target);
        give_back_instructions(exit->block->length);
        pass_countdown();
        return exit->target;
    case EXIT_PYTHON:            /* nor has this one */
        if (counting_down)
            give_back_instructions(exit->block->length);
        follow_python(exit->block);
        return exit->target;
    default:
        execute_for_guest(exit->kind);
        return exit->target;
    }
}

/* Called when translated code is left (entry.S). */
void leave_code(void) {
    struct exit *exit = exit_numbered(state->exit);      /* translated code has written the number */
    uint64_t turns = turns_so_far(), target;
    struct block *block;
    take_registers();
    take_signalled_block();
    target = after_exit(exit);
    if (counting_paths && state->countdown < 0) {
        stand_at(target);
        pass_countdown();
    }
    if (turns != turns_so_far() || forget_when_full()) {     /* others may have forgotten the exit meanwhile */
        continue_at(target, false);
        return;
    }
    if (go_on_in_path(exit))
        return;
    block = continue_at(target, exit->kind == EXIT_MISS);
    if (block != translated_block(target) || block->checked)         /* a signal's handler, or a block that executes once */
        return;
    if (exit->kind == EXIT_MISS)
        enter_in_table(block);
    else if (exit->kind == EXIT_DIRECT && is_passed_often(exit))
        link_exit(exit, block);
}

/* Called after a fault of translated code: the guest's registers are in `state`, and raise_fault() was called. */
void continue_after_fault(void) {
    take_signalled_block();
    read_wanted_counter();
    forget_when_full();
    continue_at(state->target, false);
}

/* The first block. */
void begin_at(uint64_t ip) {
    continue_at(ip, false);
    enter_code();
}
