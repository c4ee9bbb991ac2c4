/* Code apart from the blocks, which so lie close together: the ways to the runtime, and the checks of indirect branches'
   targets. */

#include "runtime.h"

enum { CODE_STEP = 1 << 16 };    /* more bytes than a block's translation takes */

static uint8_t *exits_end;

/* Emit what follows apart from the blocks, which so lie close together; returns where they go on. */
uint8_t *begin_apart(void) {
    uint8_t *blocks_end = emitted;
    emitted = exits_end;
    return blocks_end;
}

void end_apart(uint8_t *blocks_end) {
    exits_end = emitted;
    emitted = blocks_end;
}

/* The way to the runtime. */
void put_stub(uint32_t number) {
    exit_numbered(number)->stub = emitted;
    put_number_at(STATE_AT + STATE_EXIT, number);
    put_jump_through(WAYS_AT + WAYS_ON_EXIT);
}

/* Where the last check of an entry of the table goes on. */
static uint8_t *after_last_check;

static void put_after_last_check(void) {
    uint8_t *blocks_end = begin_apart();
    after_last_check = emitted;
    put_load(RCX, STATE_AT + STATE_RCX);
    put_jump_through(WAYS_AT + WAYS_ON_MISS);
    end_apart(blocks_end);
}

/* No check is behind this one. */
void make_last_check(const struct block *block) {
    aim(block->otherwise, after_last_check);
}

/* rcx becomes state->target less an address; state->rcx has its value. */
void put_difference(uint64_t ip, int temporary) {
    put_store(STATE_AT + STATE_RCX, RCX);
    if (fits_signed(-ip)) {
        put_load(RCX, STATE_AT + STATE_TARGET);
        put_lea(RCX, RCX, (int32_t)-ip);
    } else {
        put_load(temporary, STATE_AT + STATE_TARGET);
        put_load_number(RCX, -ip);
        put_lea_index(RCX, RCX, temporary, 0, 0);
    }
}

/* The check of an indirect branch's target: if state->target is the block's address, what follows is executed, else the
   next check, whose displacement is at `otherwise`. */
void put_check(struct block *block) {
    uint8_t *equal;
    block->check = emitted;
    put_difference(block->ip, temporary_register);
    put_byte(0xE3);              /* jrcxz */
    equal = emitted;
    put_byte(0);
    put_byte(0xE9);
    block->otherwise = emitted;
    put_32(0);
    make_last_check(block);
    *equal = (uint8_t)(emitted - (equal + 1));
    put_load(RCX, STATE_AT + STATE_RCX);
}

/* The check of a block that has begun without one. */
void put_target_check(struct block *block) {
    uint8_t *blocks_end = begin_apart();
    put_check(block);
    put_byte(0xE9);
    put_32(0);
    aim(emitted - 4, block->entry);
    end_apart(blocks_end);
}

/* Whether there may not be enough room for another block's translation, or check. */
bool is_code_full(void) {
    return emitted + CODE_STEP > (uint8_t *)CODE_AT + CODE_ROOM || exits_end + CODE_STEP > (uint8_t *)EXITS_AT + EXITS_ROOM;
}

void empty_code(void) {
    emitted = (uint8_t *)CODE_AT;
    exits_end = (uint8_t *)EXITS_AT;
    put_after_last_check();
}

/* Whether translated code outside of blocks is at a host address: a way to the runtime, or a check. */
bool is_outside_blocks(uint64_t address) {
    return address >= EXITS_AT && address < (uint64_t)exits_end;
}
