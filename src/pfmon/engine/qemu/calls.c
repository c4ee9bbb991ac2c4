/* The system calls that following looks at, by target. */

#include <string.h>

#include "follow.h"
#include "parts.h"

enum { MOST_CLOSING = 5 };

static const struct system {
    const char *name;            /* qemu's */
    struct abi abi;
    int execve, execveat, exit, exit_group;
    int closing[MOST_CLOSING];   /* calls that may close a file: close, dup2, dup3, close_range */
} systems[] = {
    {"x86_64", {62, true, false}, 59, 322, 60, 231, {3, 33, 292, 436, -1}},
    {"i386", {3, false, false}, 11, 358, 1, 252, {6, 63, 330, 436, -1}},
    {"ppc", {20, false, true}, 11, 362, 1, 234, {6, 63, 316, 436, -1}},
    {"ppc64", {21, true, true}, 11, 362, 1, 234, {6, 63, 316, 436, -1}},
    {"ppc64le", {21, true, false}, 11, 362, 1, 234, {6, 63, 316, 436, -1}},
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

/* What a call makes of the process, as far as its number tells. */
uint64_t executing_of(int64_t number) {
    return number == host->execve || number == host->execveat ? EXECUTES_NATIVELY : NOT_EXECUTING;
}

/* A call begins. It does not come back from a program that is executed under qemu. */
void before_call(int64_t number, const uint64_t *arguments) {
    const uint64_t *a = arguments;
    if (number == host->exit || number == host->exit_group)
        area->status = EXITED | (a[0] & 0xFF);
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
    for (i = 0; i < MOST_CLOSING; i++)
        if (number == host->closing[i])
            follow_keep();
}
