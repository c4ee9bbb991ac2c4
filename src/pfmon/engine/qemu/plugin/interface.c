/* What differs between qemus with versions of the plugin interface: additions in translated code, an instruction's
   bytes, the order of the environment. One plugin serves all of them: it says the version when it is loaded, by the functions that qemu has. */

#include <string.h>

#include "parts.h"
#include "qemu_plugin.h"

EXPORTED int qemu_plugin_version = 1;

static struct qemu_plugin_scoreboard *board;
static bool copies_bytes;        /* qemu does; else it returns where they are */

/* Before qemu reads qemu_plugin_version. */
__attribute__((constructor)) static void choose_version(void) {
    if (qemu_plugin_scoreboard_new)
        qemu_plugin_version = 2;
}

void know_interface(int version) {
    copies_bytes = version >= 3;
    if (qemu_plugin_version == 2)
        board = qemu_plugin_scoreboard_new(sizeof(uint64_t));
}

/* The address as an entry of the scoreboard: translated code adds the offset to where the scoreboard is, and the number
   of the vCPU times the size of an element, which is 0 for the first one. */
static struct scoreboard_entry entry_at(uint64_t *place) {
    struct scoreboard_entry entry = {board, (uintptr_t)place - (uintptr_t)qemu_plugin_scoreboard_find(board, 0)};
    return entry;
}

void add_at_block(struct qemu_plugin_tb *tb, uint64_t *place, uint64_t value) {
    if (board)
        qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(tb, ADD, entry_at(place), value);
    else
        qemu_plugin_register_vcpu_tb_exec_inline(tb, ADD, place, value);
}

void add_at_instruction(struct qemu_plugin_insn *instruction, uint64_t *place, uint64_t value) {
    if (board)
        qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(instruction, ADD, entry_at(place), value);
    else
        qemu_plugin_register_vcpu_insn_exec_inline(instruction, ADD, place, value);
}

void add_at_access(struct qemu_plugin_insn *instruction, uint64_t *place, uint64_t value) {
    if (board)
        qemu_plugin_register_vcpu_mem_inline_per_vcpu(instruction, READS | WRITES, ADD, entry_at(place), value);
    else
        qemu_plugin_register_vcpu_mem_inline(instruction, READS | WRITES, ADD, place, value);
}

bool reverses_environment(void) {
    return qemu_plugin_version == 1;
}

size_t copy_bytes(const struct qemu_plugin_insn *instruction, uint8_t *to) {
    size_t size = qemu_plugin_insn_size(instruction);
    if (copies_bytes)
        copy_of_insn(instruction, to, size);
    else
        memcpy(to, bytes_of_insn(instruction), size);
    return size;
}
