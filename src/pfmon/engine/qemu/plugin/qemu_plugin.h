/* The functions of qemu's plugin interface that pfmon uses, from the documentation of its versions: 1 (qemu 6.0 to 8.2),
   2 (9.0), and 3 and newer (9.1 on). qemu resolves them when it loads the plugin; those that some version lacks are weak
   (interface.c). */

#ifndef PFMON_QEMU_PLUGIN_H
#define PFMON_QEMU_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORTED __attribute__((visibility("default")))
#define WEAK __attribute__((weak))

typedef uint64_t plugin_id;
struct qemu_plugin_tb;           /* a translation block, while it is translated */
struct qemu_plugin_insn;         /* one of its instructions */
struct qemu_plugin_scoreboard;   /* from version 2 on: an array with an element for each vCPU */

struct scoreboard_entry {        /* qemu_plugin_u64 */
    struct qemu_plugin_scoreboard *board;
    size_t offset;               /* bytes in an element */
};

struct plugin_info {
    const char *target;          /* "x86_64" */
    int least_version, version;
    bool system;
    int cpus, most_cpus;
};

enum { NO_REGISTERS = 0 };       /* a callback does not read the guest's registers */
enum { READS = 1, WRITES = 2 };  /* accesses that call back */
enum { ADD = 0 };                /* inline operation of translated code */

typedef void (*on_event)(plugin_id);
typedef void (*on_cpu)(plugin_id, unsigned int cpu);
typedef void (*on_translation)(plugin_id, struct qemu_plugin_tb *);
typedef void (*on_execution)(unsigned int cpu, void *own);
typedef void (*on_access)(unsigned int cpu, uint32_t what, uint64_t address, void *own);
typedef void (*on_call)(plugin_id, unsigned int cpu, int64_t number, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                        uint64_t, uint64_t, uint64_t);
typedef void (*on_return)(plugin_id, unsigned int cpu, int64_t number, int64_t result);

void qemu_plugin_reset(plugin_id, on_event);
void qemu_plugin_register_vcpu_init_cb(plugin_id, on_cpu);
void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id, on_translation);
void qemu_plugin_register_flush_cb(plugin_id, on_event);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *, on_execution, int registers, void *own);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *, on_execution, int registers, void *own);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *, on_access, int registers, int accesses, void *own);
void qemu_plugin_register_vcpu_syscall_cb(plugin_id, on_call);
void qemu_plugin_register_vcpu_syscall_ret_cb(plugin_id, on_return);

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *);

/* The bytes of an instruction, to version 2; copied, from version 3 on. */
const void *bytes_of_insn(const struct qemu_plugin_insn *) __asm__("qemu_plugin_insn_data");
size_t copy_of_insn(const struct qemu_plugin_insn *, void *to, size_t size) __asm__("qemu_plugin_insn_data");

/* Version 1 alone. */
WEAK void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *, int operation, void *place, uint64_t value);
WEAK void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *, int operation, void *place,
                                                     uint64_t value);
WEAK void qemu_plugin_register_vcpu_mem_inline(struct qemu_plugin_insn *, int accesses, int operation, void *place,
                                               uint64_t value);

/* From version 2 on. */
WEAK struct qemu_plugin_scoreboard *qemu_plugin_scoreboard_new(size_t element_bytes);
WEAK void *qemu_plugin_scoreboard_find(struct qemu_plugin_scoreboard *, unsigned int cpu);
WEAK void qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(struct qemu_plugin_tb *, int operation,
                                                            struct scoreboard_entry, uint64_t value);
WEAK void qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(struct qemu_plugin_insn *, int operation,
                                                              struct scoreboard_entry, uint64_t value);
WEAK void qemu_plugin_register_vcpu_mem_inline_per_vcpu(struct qemu_plugin_insn *, int accesses, int operation,
                                                        struct scoreboard_entry, uint64_t value);

#pragma GCC visibility push(hidden)

/* The same for all versions (interface.c). */
void know_interface(int version);

/* Have translated code add to a place in memory, before a block or an instruction, or at each access. Only the
   program's first thread executes such code. */
void add_at_block(struct qemu_plugin_tb *, uint64_t *place, uint64_t value);
void add_at_instruction(struct qemu_plugin_insn *, uint64_t *place, uint64_t value);
void add_at_access(struct qemu_plugin_insn *, uint64_t *place, uint64_t value);

/* Copy an instruction, of at most 15 bytes. Returns its size. */
size_t copy_bytes(const struct qemu_plugin_insn *, uint8_t *to);

#pragma GCC visibility pop

#endif
