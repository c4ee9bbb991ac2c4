/* Counting without a stream: translated code itself counts how often blocks begin, and how often they get behind each
   instruction that may fault. That is all that totals need, and costs no call.

   A block's counters stand behind its announcement: one for its beginning, one for each instruction that may fault and is
   not its last, and one for the last: the accesses that it made, or the iterations of a string instruction, which are no
   runs of their own. */

#include "parts.h"
#include "qemu_plugin.h"

/* How many counters a block has: `marks` instructions before the last may fault. */
uint32_t counters_for(uint32_t marks) {
    return marks + 2;
}

/* A block begins of whose last instruction no counter says that it retired; qemu calls before it adds to `begun`. If
   it is a string instruction, and nothing else has begun since it did before, this is another iteration. `own`: the
   block. */
static void on_doubtful(unsigned int cpu, void *own) {
    const struct announcement *block = own;
    (void)cpu;
    if (block->tail == REPEATED && area->doubtful == block->last_ip && area->begun == area->doubtful_at + 1)
        counters_of(block)[block->counters - 1]++;
    area->doubtful = block->last_ip;
    area->doubtful_at = area->begun;
}

/* Have a translation block counted, which is `block`; `without_list`: its last accesses count as made (plugin.c). */
void count_block(struct qemu_plugin_tb *tb, const struct announcement *block, const struct code_block *wanted,
                 bool without_list) {
    uint64_t *counters = counters_of(block), *tail = counters + block->counters - 1;
    struct qemu_plugin_insn *last = qemu_plugin_tb_get_insn(tb, wanted->length - 1);
    uint32_t i;
    qemu_plugin_register_vcpu_tb_exec_inline(tb, ADD, counters, 1);
    qemu_plugin_register_vcpu_tb_exec_inline(tb, ADD, &area->begun, 1);
    for (i = 1; i < wanted->length; i++)
        if (wanted->sizes[i - 1] & MAY_FAULT)
            qemu_plugin_register_vcpu_insn_exec_inline(qemu_plugin_tb_get_insn(tb, i), ADD, ++counters, 1);
    if (wanted->end.tail == REPEATED || (wanted->end.tail == SUCCESSOR && !wanted->end.slots))
        qemu_plugin_register_vcpu_tb_exec_cb(tb, on_doubtful, NO_REGISTERS, (void *)block);
    else if (wanted->end.tail == COUNTED && wanted->end.accesses && without_list)
        qemu_plugin_register_vcpu_insn_exec_inline(last, ADD, tail, wanted->end.accesses);
    else if (wanted->end.tail == COUNTED ? wanted->end.accesses : wanted->end.tail == SUCCESSOR)
        qemu_plugin_register_vcpu_mem_inline(last, READS | WRITES, ADD, tail, 1);
}
