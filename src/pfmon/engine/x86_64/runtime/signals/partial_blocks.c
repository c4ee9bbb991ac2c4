/* Blocks that end early: a fault, or a store to their own code, is mapped back to the guest's instruction, and the part
   that has retired is recorded. */

#include <asm/sigcontext.h>
#include <asm/signal.h>
#include <asm/ucontext.h>

#include "countdown.h"
#include "runtime.h"
#include "signals.h"

static uint64_t *host_registers(struct ucontext *context, uint64_t *to) {
    const struct sigcontext *it = (const struct sigcontext *)&context->uc_mcontext;
    const uint64_t all[16] = {it->rax, it->rcx, it->rdx, it->rbx, it->rsp, it->rbp, it->rsi, it->rdi,
                              it->r8, it->r9, it->r10, it->r11, it->r12, it->r13, it->r14, it->r15};
    memcpy(to, all, sizeof(all));
    return to;
}

static uint64_t address_of(const struct block *block, uint32_t instruction) {
    const uint8_t *sizes = sizes_of(block->announced);
    uint64_t ip = block->ip;
    uint32_t i;
    for (i = 0; i < instruction; i++)
        ip += sizes[i] & SIZE_BITS;
    return ip;
}

/* Write the record of the path before a block of it; the block's addresses follow. */
static void put_record_before(const struct block *block) {
    if (!block->before)
        return;
    if (in_guard(state->ring)) {     /* nothing is stored yet */
        hand_over((uint64_t *)state->ring);
        state->ring = (uint64_t)next_words();
    }
    *(uint64_t *)state->ring = block->word_before;
    state->ring += (uint64_t)block->place;
}

/* Write the record of a block's retired part, whose addresses are stored: in the first block of a path behind the place of
   its word, in a later one at that place. */
static void put_partial_record(const struct block *block, const struct announcement *part) {
    static uint64_t addresses[2 * MAX_BLOCK + MAX_GATHER_SLOTS];
    uint64_t slots = area->traced ? part->slots : 0, i;
    memcpy(addresses, (const void *)(state->ring + (block->before ? 0 : 8)), slots * sizeof(uint64_t));
    if (in_guard(state->ring + 8 * slots)) {                 /* the record stays in one buffer */
        hand_over((uint64_t *)state->ring);
        state->ring = (uint64_t)next_words();
    }
    put_word(part->number);
    for (i = 0; i < slots; i++)
        put_word(addresses[i]);
}

static void count_partial(const struct block *block, const struct announcement *part) {
    if (!block->counter)
        return;
    if (block->before)
        ++*block->before->counter;
    if (part)
        ++*counter_of(part);
}

/* The countdown was taken down by the whole block, or by nothing of its path. */
static void count_partial_down(const struct block *block, uint32_t retired) {
    uint64_t instructions = 0, slots;
    if (counting_down)
        give_back_instructions(block->length - retired);
    else if (counting_paths) {
        if (block->before)
            measure_word(block->word_before, &instructions, &slots);
        take_off_instructions(instructions + retired);
    }
}

/* The stream, or the counters, at a block of which `retired` instructions retired. */
static void record_partial(const struct block *block, uint32_t retired, int cut) {
    const struct announcement *part = retired ? announce_start(block->announced, retired, cut) : NULL;
    count_partial_down(block, retired);
    if (area->totals) {
        count_partial(block, part);
        return;
    }
    put_record_before(block);
    if (part)
        put_partial_record(block, part);
    if (area->traced)
        end_words();
}

/* What translated code has in other places while an instruction executes. */
static void take_saved_operands(const struct block *block, uint32_t number) {
    const uint8_t *sizes = sizes_of(block->announced);
    struct instruction it;
    decode(&it, sizes + block->announced->length + (address_of(block, number) - block->ip), sizes[number] & SIZE_BITS);
    if (it.kind == SAVE_STATE) {
        state->registers[RAX] = state->rax;
        state->registers[RDX] = state->rdx;
    }
}

/* Leave a block at the instruction that has faulted, or behind the one that has trapped. */
void leave_block(const struct block *block, struct ucontext *context, bool trapped, int cut) {
    struct sigcontext *host = (struct sigcontext *)&context->uc_mcontext;
    uint32_t instruction = instruction_of_code(block, host->rip - trapped);
    uint64_t registers[16];
    take_registers_in_block(block, host_registers(context, registers));
    take_saved_operands(block, instruction);
    state->flags = host->eflags;
    record_partial(block, instruction + trapped, cut);
    state->target = address_of(block, instruction + trapped);
    host->rip = (uint64_t)on_fault;
}
