/* Calls that can be asked not to wait: of locks, messages and pipes. They are tried until they succeed, while others execute. */

#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/ipc.h>

#include "waits.h"

enum {
    SPLICE_WITHOUT_WAIT = 2,     /* splice(2): SPLICE_F_NONBLOCK */
    BETWEEN_TRIES = 1000000      /* nanoseconds of the host */
};

/* A call whose argument number `at` asks not to wait with this bit. */
static const struct immediate {
    int16_t number;
    int8_t at;
    uint64_t bit;
    int64_t nothing;
    const char *text;
} immediates[] = {
    {__NR_flock, 1, LOCK_NB, -EAGAIN, "for a lock of a file"},
    {__NR_msgrcv, 4, IPC_NOWAIT, -ENOMSG, "for a message"},
    {__NR_msgsnd, 3, IPC_NOWAIT, -EAGAIN, "for room for a message"},
    {__NR_splice, 5, SPLICE_WITHOUT_WAIT, -EAGAIN, "for a pipe"},
    {__NR_tee, 3, SPLICE_WITHOUT_WAIT, -EAGAIN, "for a pipe"},
};

static int64_t attempt_immediately(const struct wait *it, uint64_t limit) {
    int64_t result = pass_on(it->number, it->a);
    if (result != it->nothing || limit == 0)
        return result;
    rest_for(limit < BETWEEN_TRIES ? limit : BETWEEN_TRIES);
    return pass_on(it->number, it->a);
}

int64_t wait_trying(int64_t number, const uint64_t *a, int64_t nothing, const char *text) {
    const struct wait wait = {.attempt = attempt_immediately, .is_inside = never_inside, .number = number, .a = a,
                              .nothing = nothing, .text = text};
    return wait_until(&wait, NEVER);
}

static bool record_lock_call(const uint64_t *a, int64_t *result) {
    uint64_t own[6];
    if (a[1] != F_SETLKW && a[1] != F_OFD_SETLKW)
        return false;
    memcpy(own, a, sizeof(own));
    own[1] = a[1] == F_SETLKW ? F_SETLK : F_OFD_SETLK;
    *result = wait_trying(__NR_fcntl, own, -EAGAIN, "for a lock of a file");
    return true;
}

bool immediate_call(int64_t number, const uint64_t *a, int64_t *result) {
    uint64_t own[6];
    uint32_t i;
    if (number == __NR_fcntl)
        return record_lock_call(a, result);
    for (i = 0; i < sizeof(immediates) / sizeof(immediates[0]); i++) {
        const struct immediate *it = &immediates[i];
        if (it->number != number || a[it->at] & it->bit)
            continue;
        memcpy(own, a, sizeof(own));
        own[it->at] |= it->bit;
        *result = wait_trying(number, own, it->nothing, it->text);
        return true;
    }
    return false;
}
