/* Addresses of a block's memory accesses: collected while it executes, written after its word when it has retired. */

#include <string.h>

#include "parts.h"
#include "qemu_plugin.h"

/* The first access of an operand: one access of many bytes, or a read and a write, arrive as several. */
static void note_access(unsigned int cpu, uint32_t what, uint64_t address, void *own) {
    uint64_t *slot = &area->threads[cpu].slots[(uintptr_t)own];
    (void)what;
    if (*slot == 0)
        *slot = address;
}

/* The same in a program of one thread. */
static void note_only_access(unsigned int cpu, uint32_t what, uint64_t address, void *own) {
    uint64_t *slot = own;
    (void)cpu, (void)what;
    if (*slot == 0)
        *slot = address;
}

/* The first accesses of two operands, in program order. */
static void note_two_accesses(unsigned int cpu, uint32_t what, uint64_t address, void *own) {
    uint64_t *slot = &area->threads[cpu].slots[(uintptr_t)own];
    (void)what;
    slot[*slot != 0] = address;
}

/* An access of an element of a gather or a scatter; `own`: its first slot, and above 16 bits their number. */
static void note_element(unsigned int cpu, uint32_t what, uint64_t address, void *own) {
    uint64_t *slot = &area->threads[cpu].slots[(uintptr_t)own & 0xFFFF];
    uint32_t i = 0, count = (uint32_t)((uintptr_t)own >> 16);
    (void)what;
    while (i < count && slot[i])
        i++;
    if (i < count)
        slot[i] = address;
}

/* An access of an iteration of a string instruction; `own`: accesses per iteration. */
static void note_string(unsigned int cpu, uint32_t what, uint64_t address, void *own) {
    struct thread *thread = &area->threads[cpu];
    struct string *string = &thread->strings[thread->turn];
    (void)what;
    if (address < string->first)
        string->first = address;
    if (address > string->last)
        string->last = address;
    thread->turn = (thread->turn + 1) % (uintptr_t)own;
}

/* Register callbacks for an instruction's accesses; `slot`: the number of its first; `last`: it ends its block;
   `threaded`: several threads may execute it. */
void trace(struct qemu_plugin_insn *instruction, const struct code *code, bool last, uint32_t slot, bool threaded) {
    uintptr_t own = slot;
    on_access call = code->slots == 2 ? note_two_accesses : note_access;
    if (code->elements) {
        own |= (uintptr_t)code->slots << 16;
        call = note_element;
    } else if (last && code->tail == REPEATED) {
        own = code->slots;
        call = note_string;
    } else if (!threaded && call == note_access) {
        own = (uintptr_t)&area->threads[0].slots[slot];
        call = note_only_access;
    }
    qemu_plugin_register_vcpu_mem_cb(instruction, call, NO_REGISTERS, READS | WRITES, (void *)own);
}

/* Write the addresses of accesses and clear them. */
void put_slots(uint64_t *slots, uint32_t count) {
    uint32_t i;
    for (i = 0; i < count; i++) {
        put(slots[i]);
        slots[i] = 0;
    }
}

/* A repeated string instruction has the lowest addresses of its accesses; a mark gives their number of bytes. */
void put_string(struct thread *thread, const struct announcement *block, uint32_t slots) {
    uint32_t i;
    for (i = 0; i < slots; i++)
        put(thread->strings[i].last ? thread->strings[i].first : 0);
    if (slots && thread->strings[0].last > thread->strings[0].first)
        put_mark(MARK_STRING, (block->instructions - 1) % MAX_BLOCK_LENGTH,
                 thread->strings[0].last - thread->strings[0].first);
}

/* Discard the accesses since the last block began. */
void forget_accesses(struct thread *thread) {
    const struct announcement *part = thread->last;
    uint32_t i, count = 0;
    for (i = 0; i < thread->last->parts; i++, part = part_behind(part))
        count += part->slots;
    memset(thread->slots, 0, count * sizeof(uint64_t));
    for (i = 0; i < 2; i++)
        thread->strings[i] = (struct string){~(uint64_t)0, 0};
    thread->turn = 0;
}
