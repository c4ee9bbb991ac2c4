/* rdpmc: its translation faults (translate.c), so that the stream ends exactly before it, and the counter is read then. It
   retires in a block of its own. */

#include <linux/signal.h>

#include "countdown.h"
#include "performance.h"
#include "runtime.h"

enum { FIRST_BYTE = 0x0F, SECOND_BYTE = 0x33 };

static struct code_block wanted;         /* the instruction; no length: none is executed */

/* Whether a fault at a host address in a block is that of an rdpmc. */
bool is_counter_read(const struct block *block, uint64_t host_ip) {
    const struct announcement *it = block->announced;
    const uint8_t *code = sizes_of(it) + it->length + it->bytes;
    return has_pmu() && instruction_of_code(block, host_ip) == block->length - 1u && code[-2] == FIRST_BYTE
        && code[-1] == SECOND_BYTE;
}

/* In the handler of the fault. */
void want_counter(const struct block *block) {
    const struct announcement *it = block->announced;
    uint8_t size = sizes_of(it)[it->length - 1];
    wanted.bytes = size & SIZE_BITS;
    wanted.ip = it->last_ip;
    wanted.length = 1;
    wanted.cut = CUT_WHOLE;
    wanted.file = it->file;
    wanted.sizes[0] = size;
    memcpy(wanted.code, sizes_of(it) + it->length + it->bytes - wanted.bytes, wanted.bytes);
}

/* Behind the handler, at the instruction. */
void read_wanted_counter(void) {
    int64_t arguments[REQUEST_ARGUMENTS] = {(int64_t)(uint32_t)state->registers[RCX]};
    uint64_t value;
    if (!wanted.length)
        return;
    wanted.length = 0;
    stand_at(wanted.ip);
    if (ask(ASK_COUNTER, arguments, NULL, 0) || answered_bytes() < sizeof(value)) {
        put_mark(MARK_FAULT, NO_INSTRUCTION, 0);
        raise_fault(SIGSEGV, SI_KERNEL, 0);
        return;
    }
    memcpy(&value, answered_data(), sizeof(value));
    state->registers[RAX] = (uint32_t)value;
    state->registers[RDX] = value >> 32;
    wanted.length = 1;
    put_word(announce(&wanted)->number);
    wanted.length = 0;
    if (counts_down())
        take_off_instructions(1);
    state->target = wanted.ip + wanted.bytes;
}
