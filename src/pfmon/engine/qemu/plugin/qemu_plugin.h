/* The functions of qemu's plugin interface that pfmon uses, from the documentation of its version 1 (qemu 6.0 and
   newer). qemu resolves them when it loads the plugin. */

#ifndef PFMON_QEMU_PLUGIN_H
#define PFMON_QEMU_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORTED __attribute__((visibility("default")))

typedef uint64_t plugin_id;
struct qemu_plugin_tb;           /* a translation block, while it is translated */
struct qemu_plugin_insn;         /* one of its instructions */

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
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *, int operation, void *place, uint64_t value);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *, on_execution, int registers, void *own);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *, on_access, int registers, int accesses, void *own);
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *, int operation, void *place, uint64_t value);
void qemu_plugin_register_vcpu_mem_inline(struct qemu_plugin_insn *, int accesses, int operation, void *place,
                                          uint64_t value);
void qemu_plugin_register_vcpu_syscall_cb(plugin_id, on_call);
void qemu_plugin_register_vcpu_syscall_ret_cb(plugin_id, on_return);

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *);

#endif
