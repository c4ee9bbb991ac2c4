/* The exits of translated blocks: the record of the path that ends there, the registers that are given back, and the jump.
   A path goes on behind one of its exits without them. */

#include "exits.h"
#include "countdown.h"
#include "emit.h"

int ring_register = R11, temporary_register = R10;

/* ---------------------------------------------------------------- registers */

static int unused_register(uint16_t used) {
    int reg;
    for (reg = R15; reg >= R8; reg--)
        if (!(used & 1 << reg))
            return reg;
    return NO_REGISTER;
}

/* The two registers that a block leaves to recording: those of the block before, unless its instructions name them. */
void choose_registers(struct block *block, uint16_t used) {
    int ring = block->before ? block->before->ring : ring_register;
    int temporary = block->before ? block->before->temporary : temporary_register;
    if (used & 1 << ring && !area->totals)
        ring = unused_register((uint16_t)(used | 1 << temporary));
    used |= (uint16_t)(1 << ring);
    if (used & 1 << temporary)
        temporary = unused_register(used);
    block->ring = (uint8_t)ring;
    block->temporary = (uint8_t)temporary;
}

static uint64_t state_of(int reg) {
    return STATE_AT + STATE_REGISTERS + 8 * (uint64_t)reg;
}

/* Take two other registers for recording: the guest's values of those that are taken are in `state`. */
static void put_switch(int ring, int temporary, int new_ring, int new_temporary) {
    if (new_ring != ring && new_ring != temporary)
        put_store(state_of(new_ring), new_ring);
    if (new_temporary != temporary && new_temporary != ring)
        put_store(state_of(new_temporary), new_temporary);
    if (new_ring != ring)
        put_move(new_ring, ring);
    if (ring != new_ring && ring != new_temporary)
        put_load(ring, state_of(ring));
    if (temporary != new_temporary && temporary != new_ring)
        put_load(temporary, state_of(temporary));
}

void put_entry(const struct block *block) {
    if (block->before)
        put_switch(block->before->ring, block->before->temporary, block->ring, block->temporary);
    else
        put_switch(ring_register, temporary_register, block->ring, block->temporary);
}

static void put_leave(const struct block *block) {
    put_switch(block->ring, block->temporary, ring_register, temporary_register);
}

/* ---------------------------------------------------------------- records */

static void put_counter(const struct block *block) {
    uint64_t counter = (uint64_t)block->counter;
    put_load(block->temporary, counter);
    put_lea(block->temporary, block->temporary, 1);
    put_store(counter, block->temporary);
}

/* Take the instructions of a path off the countdown, and read at that place (countdown.c). No flags change. */
static void put_path_countdown(const struct block *block) {
    uint64_t instructions, slots;
    measure_word(block->word, &instructions, &slots);
    put_load(block->temporary, STATE_AT + STATE_COUNTDOWN);
    put_lea(block->temporary, block->temporary, -(int32_t)instructions);
    put_store(STATE_AT + STATE_COUNTDOWN, block->temporary);
    put_based(LOAD_BYTE, block->temporary, block->temporary, COUNT_AT);
}

/* The word of a path that ends behind a block, after the end of the words behind its record; or its counter. */
void put_record(const struct block *block, bool taken) {
    if (counting_paths && !counting_down)
        put_path_countdown(block);
    if (!area->totals) {
        put_store_number(1, block->ring, block->recorded, 0);
        put_store_number(1, block->ring, 0, block->word | (taken ? TAKEN_IN_LINE : 0));
        put_lea(block->ring, block->ring, block->recorded);
    } else if (block->counter)
        put_counter(block);
}

/* ---------------------------------------------------------------- exits */

static void put_jump_of_exit(const struct block *block, struct exit *exit) {
    exit->code = emitted;
    put_record(block, exit->taken);
    put_leave(block);
    put_byte(0xE9);
    exit->site = emitted;
    put_32(0);
}

/* The exit to a guest address that is known now: a jump, to the stub until it is linked. */
void put_direct_exit(struct block *block, uint64_t target, bool taken) {
    uint32_t number = new_exit(EXIT_DIRECT, target, block);
    struct exit *exit = exit_numbered(number);
    uint8_t *blocks_end;
    exit->taken = taken;
    put_jump_of_exit(block, exit);
    blocks_end = begin_apart();
    put_stub(number);
    end_apart(blocks_end);
    aim(exit->site, exit->stub);
}

/* The exit to the runtime, which goes on at `next`. */
void put_service_exit(struct block *block, uint8_t kind, uint64_t next) {
    uint32_t number = new_exit(kind, next, block);
    put_leave(block);
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

/* jmp [ways->on_miss], and a nop: as many bytes */
void put_way_to_runtime(void) {
    put_jump_through(WAYS_AT + WAYS_ON_MISS);
    put_byte(0x90);
}

/* The exit to the address in state->target. */
void put_indirect_exit(struct block *block) {
    int reg = temporary_register;
    uint32_t number = new_exit(EXIT_MISS, 0, block);
    put_record(block, false);
    put_leave(block);
    put_rex(0, reg, 0);          /* movzx reg, word [state->target] */
    put_byte(0x0F);
    put_byte(0xB7);
    put_byte((uint32_t)(0x04 | (reg & 7) << 3));
    put_byte(0x25);
    put_32(STATE_AT + STATE_TARGET);
    exit_numbered(number)->site = emitted;
    put_jump_by_table();
}

/* ---------------------------------------------------------------- paths */

/* Where the jump of an exit goes. */
static uint8_t *jump_target(const struct exit *exit) {
    int32_t distance;
    memcpy(&distance, exit->site, sizeof(distance));
    return exit->site + sizeof(distance) + distance;
}

/* jncc over the exit for a taken branch, in place of jcc over the other one */
static void put_taken_exit_first(struct block *block, struct exit *taken) {
    uint8_t *target = jump_target(taken), *site;
    emitted = block->branch_at + 1;
    put_byte(*emitted ^ 1u);
    site = emitted;
    put_32(0);
    put_jump_of_exit(block, taken);
    aim(taken->site, target);
    aim(site, emitted);
}

/* Remove an exit of the block that was translated last, so that its path goes on at `emitted`. */
static void remove_exit(struct exit *exit) {
    struct block *block = exit->block;
    if (!block->taken_at)
        emitted = block->branch_at;
    else if (exit == exit_numbered(block->first_exit))
        put_taken_exit_first(block, exit + 1);
    else
        emitted = block->taken_at;
    block->code_end = emitted;
}

static void put_jump_to_end(uint8_t *code) {
    *code = 0xE9;
    aim(code + 1, emitted);
}

/* Let a path go on at `emitted` behind an exit. */
void open_exit(struct exit *exit) {
    if (exit->block->code_end == emitted && !exit->block->behind)
        remove_exit(exit);
    else
        put_jump_to_end(exit->code);
    exit->kind = EXIT_NONE;
}
