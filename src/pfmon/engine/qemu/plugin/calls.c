/* The intercepted system calls, by target: those relevant for following, and those that map files. */

#include <string.h>

#include "follow.h"
#include "parts.h"

enum { MAX_CLOSING_CALLS = 5, MAP_ARGUMENTS = 6 };

static const struct system {
    const char *name;            /* qemu's */
    struct abi abi;
    int execve, execveat, exit, exit_group;
    int closing[MAX_CLOSING_CALLS];   /* calls that may close files: close, dup2, dup3, close_range */
    int mmap, mmap2, munmap, mremap, mprotect;
    bool mmap_by_list;           /* the arguments of mmap are in memory */
} systems[] = {
    {"x86_64", {62, true, false}, 59, 322, 60, 231, {3, 33, 292, 436, -1}, 9, -1, 11, 25, 10, false},
    {"i386", {3, false, false}, 11, 358, 1, 252, {6, 63, 330, 436, -1}, 90, 192, 91, 163, 125, true},
    {"ppc", {20, false, true}, 11, 362, 1, 234, {6, 63, 316, 436, -1}, 90, 192, 91, 163, 125, false},
    {"ppc64", {21, true, true}, 11, 362, 1, 234, {6, 63, 316, 436, -1}, 90, -1, 91, 163, 125, false},
    {"ppc64le", {21, true, false}, 11, 362, 1, 234, {6, 63, 316, 436, -1}, 90, -1, 91, 163, 125, false},
};

static const struct system *host = systems;

bool know_target(const char *name) {
    size_t i;
    for (i = 0; i < sizeof(systems) / sizeof(*systems); i++)
        if (strcmp(systems[i].name, name) == 0) {
            host = &systems[i];
            return true;
        }
    return false;
}

/* The effect of a call on the process, as far as its number tells. */
uint64_t executing_of(int64_t number) {
    return number == host->execve || number == host->execveat ? EXECUTES_NATIVELY : NOT_EXECUTING;
}

void keep_status(int64_t number, uint64_t status) {
    if (number == host->exit || number == host->exit_group)
        area->status = EXITED | (status & 0xFF);
}

/* A call begins. Executing a program under qemu does not return. */
void before_call(int64_t number, const uint64_t *arguments) {
    const uint64_t *a = arguments;
    if (!(following & FOLLOW_EXECS) || is_child)
        return;
    if (number == host->execve)
        execute(&host->abi, -1, a[0], a[1], a[2], 0);
    else if (number == host->execveat)
        execute(&host->abi, (int)a[0], a[1], a[2], a[3], (int)a[4]);
}

void after_call(int64_t number) {
    int i;
    if (is_child)
        return;
    for (i = 0; i < MAX_CLOSING_CALLS; i++)
        if (number == host->closing[i])
            follow_keep();
}

/* ---------------------------------------------------------------- mapped files */

bool is_map_call(int64_t number) {
    return number == host->mmap || number == host->mmap2 || number == host->munmap || number == host->mremap
        || number == host->mprotect;
}

static uint64_t most_address(void) {
    return host->abi.is_64 ? ~(uint64_t)0 : UINT32_MAX;
}

/* The arguments of a mapping call, some of which may be in memory. */
static bool map_arguments(int64_t number, const uint64_t *given, uint64_t *arguments) {
    uint32_t list[MAP_ARGUMENTS];
    int i;
    memcpy(arguments, given, MAP_ARGUMENTS * sizeof(*arguments));
    if (number != host->mmap || !host->mmap_by_list)
        return true;
    if (!read_guest(given[0] & most_address(), list, sizeof(list)))
        return false;
    for (i = 0; i < MAP_ARGUMENTS; i++)
        arguments[i] = list[i];
    return true;
}

/* mremap: its moves and extensions are not tracked. */
void before_map_call(unsigned int cpu, int64_t number, const uint64_t *given) {
    uint64_t a[MAP_ARGUMENTS];
    struct mapping call = {0};
    if (!is_map_call(number))
        return;
    if (!map_arguments(number, given, a))
        memset(a, 0, sizeof(a));         /* the call will fail */
    call.address = a[0] & most_address();
    call.length = a[1] & most_address();
    call.protection = (uint32_t)a[2];
    call.kind = number == host->mprotect ? PROTECTS : number == host->mmap || number == host->mmap2 ? MAPS : UNMAPS;
    if (call.kind == MAPS) {
        call.flags = (uint32_t)a[3];
        call.file = (int)a[4];
        call.offset = number == host->mmap2 ? (a[5] & most_address()) * MAPPED_PAGE : a[5] & most_address();
    }
    before_mapping(cpu, &call);
}

void after_map_call(unsigned int cpu, int64_t result) {
    after_mapping(cpu, result, most_address());
}
