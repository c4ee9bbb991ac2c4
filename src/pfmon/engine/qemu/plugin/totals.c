/* Counting without a stream: translated code counts how often blocks begin, and how often each instruction that may
   fault is passed. Totals need nothing else, and this costs no call.

   A block's counters follow its announcement: one for its beginning, one for each instruction that may fault and is not
   its last, and one for the last: its accesses, or the iterations of a string instruction, which are no runs of their
   own. */

#include "parts.h"
#include "qemu_plugin.h"

/* The number of a block's counters: `marks` instructions before the last may fault. */
uint32_t counters_for(uint32_t marks) {
    return marks + 2;
}

/* A block begins whose last instruction has no counter; qemu calls before it adds to `begun` (qemu 7 makes all calls
   first, newer ones keep the order of registration). If it is a string instruction, and no other block began in between,
   this is another iteration. `own`: the block. */
static void on_doubtful(unsigned int cpu, void *own) {
    const struct announcement *block = own;
    (void)cpu;
    if (block->tail == REPEATED && area->doubtful == block->last_ip && area->begun == area->doubtful_at + 1)
        counters_of(block)[block->counters - 1]++;
    area->doubtful = block->last_ip;
    area->doubtful_at = area->begun;
}

/* Instrument a translation block that is `block`; `without_list`: its last accesses count as made (plugin.c). */
void count_block(struct qemu_plugin_tb *tb, const struct announcement *block, const struct code_block *wanted,
                 bool without_list) {
    uint64_t *counters = counters_of(block), *tail = counters + block->counters - 1;
    struct qemu_plugin_insn *last = qemu_plugin_tb_get_insn(tb, wanted->length - 1);
    uint32_t i;
    bool doubtful = wanted->end.tail == REPEATED || (wanted->end.tail == SUCCESSOR && !wanted->end.slots);
    if (doubtful)
        qemu_plugin_register_vcpu_tb_exec_cb(tb, on_doubtful, NO_REGISTERS, (void *)block);
    add_at_block(tb, counters, 1);
    add_at_block(tb, &area->begun, 1);
    for (i = 1; i < wanted->length; i++)
        if (wanted->sizes[i - 1] & MAY_FAULT)
            add_at_instruction(qemu_plugin_tb_get_insn(tb, i), ++counters, 1);
    if (doubtful)
        return;
    if (wanted->end.tail == COUNTED && wanted->end.accesses && without_list)
        add_at_instruction(last, tail, wanted->end.accesses);
    else if (wanted->end.tail == COUNTED ? wanted->end.accesses : wanted->end.tail == SUCCESSOR)
        add_at_access(last, tail, 1);
}
