/* Retired blocks as words of the stream; of a block that did not retire whole, the retired part. */

#include <string.h>

#include "parts.h"

/* Names the thread whose block follows, where another one's is before. The first block is the first thread's. */
static void put_thread(const struct thread *thread) {
    static const struct thread *before = NULL;
    if (before != NULL && before != thread)
        put_mark(MARK_THREAD, NO_INSTRUCTION, thread_numbers[thread - area->threads]);
    before = thread;
}

/* The retired block, in its parts, with the addresses of its accesses; `taken`: the bit for its taken branch. */
void put_block(struct thread *thread, const struct announcement *block, uint64_t taken) {
    const struct announcement *part = block;
    uint64_t *slots = thread->slots;
    uint32_t i;
    if (area->count >= FULL)
        hand_over();
    if (block->parts)
        put_thread(thread);
    for (i = 1; i <= block->parts; i++) {
        bool last = i == block->parts, repeats = last && block->tail == REPEATED;
        uint32_t strings = repeats && area->traced ? sizes_of(part)[part->length - 1] >> SLOTS_SHIFT & 3 : 0;
        put(part->number | (last ? taken : 0));
        if (area->traced) {
            put_slots(slots, part->slots - strings);
            slots += part->slots;
            put_string(thread, block, strings);
        }
        part = last ? part : part_behind(part);
    }
}

/* The sizes and bytes of a block's first instructions, over all its parts. */
static void copy_start(struct code_block *to, const struct announcement *from, uint32_t length) {
    uint32_t done_bytes = 0;
    to->ip = from->ip;
    to->file = from->file;
    to->length = 0;
    while (to->length < length) {
        uint32_t here = part_of(length - to->length), bytes = sum_of(sizes_of(from), here);
        memcpy(to->sizes + to->length, sizes_of(from), here);
        memcpy(to->bytes + done_bytes, sizes_of(from) + from->length, bytes);
        to->length += here;
        done_bytes += bytes;
        from = part_behind(from);
    }
}

/* The number of a block's instructions retired before the faulting one, when `done` markers were passed. */
static uint32_t retired_before_fault(const struct announcement *block, uint32_t done) {
    static struct code_block all;
    copy_start(&all, block, block->instructions);
    while (done < all.length - 1 && !(all.sizes[done] & MAY_FAULT))
        done++;
    return done;
}

/* Write the words of the last block's retired part. */
static void put_cut(struct thread *thread, uint32_t retired, uint64_t next_ip) {
    static struct code_block part;
    const struct announcement *last = thread->last;
    uint64_t stopped;
    area->retired -= last->instructions - retired;
    copy_start(&part, last, retired);
    stopped = part.ip + sum_of(part.sizes, retired);
    part.cut = stopped == next_ip ? CUT_EDGE : CUT_FAULT;      /* changed code continues at the next instruction */
    part.end = (struct code){false, false, CERTAIN, 0, 0, false};
    part.whole = 0;
    if (retired)
        put_block(thread, block_of(&part), 0);
    forget_accesses(thread);
    if (part.cut == CUT_FAULT)
        put_mark(MARK_FAULT, NO_INSTRUCTION, 0);
    thread->last = &area->nothing;
}

/* Whether the last instruction of the last block retired, after all others. */
static bool is_whole(const struct announcement *last, uint64_t passed, uint64_t next_ip) {
    switch (last->tail) {
    case COUNTED:
        return passed >> 32 >= last->accesses;
    case REPEATED:
    case SUCCESSOR:
        return next_ip == last->next_ip;
    default:
        return true;
    }
}

/* Finish a thread's last block, now that one at `next_ip` begins. False: it is another iteration of a string
   instruction, not a new block. */
bool finish_last_block(struct thread *thread, uint64_t next_ip) {
    const struct announcement *last = thread->last;
    uint64_t passed = thread->progress - thread->before;
    bool all = (uint32_t)passed >= (uint32_t)last->whole;
    if (all && last->tail == REPEATED && next_ip == last->last_ip) {
        thread->before = thread->progress - (uint32_t)last->whole;
        return false;
    }
    if (is_child) {
        forget_accesses(thread);
        thread->last = &area->nothing;
    } else if (!all)
        put_cut(thread, retired_before_fault(last, (uint32_t)passed), next_ip);
    else if (!is_whole(last, passed, next_ip))
        put_cut(thread, last->instructions - 1, next_ip);
    return true;
}
