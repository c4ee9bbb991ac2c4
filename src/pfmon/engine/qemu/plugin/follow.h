/* Following of child processes and executed programs (docs/dev/engines.md). */

#ifndef PFMON_QEMU_FOLLOW_H
#define PFMON_QEMU_FOLLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FOLLOW_FORKS = 1, FOLLOW_EXECS = 2 };

enum ask {
    ASK_START = 0,               /* a program begins */
    ASK_CHILD = 1,               /* a child begins */
    ASK_LINE = 2                 /* a new line is needed */
};

struct files {                   /* descriptors */
    int ring, area;
};

#pragma GCC visibility push(hidden)

extern int following;            /* FOLLOW_... flags */

/* Questions and lines (follow.c). */
struct files follow_start(const char *name, int what);
void follow_fork(void);
struct files follow_child(void);
void follow_no_more(void);
void follow_keep(void);

/* System calls (calls.c). */
bool know_target(const char *name);
uint64_t executing_of(int64_t number);
void keep_status(int64_t number, uint64_t status);
void before_call(int64_t number, const uint64_t *arguments);
void after_call(int64_t number);
bool is_map_call(int64_t number);
void before_map_call(unsigned int cpu, int64_t number, const uint64_t *arguments);
void after_map_call(unsigned int cpu, int64_t result);

/* Programs that are executed (execute.c). */
struct abi {                     /* memory layout of a target's programs */
    uint16_t machine;            /* e_machine */
    bool is_64, big;
};
extern uint64_t guest_base;      /* added to the program's addresses */
bool read_guest(uint64_t address, void *to, size_t bytes);
void remember_command(void);
void execute(const struct abi *abi, int directory, uint64_t path, uint64_t arguments, uint64_t environment, int flags);

#pragma GCC visibility pop

#endif
