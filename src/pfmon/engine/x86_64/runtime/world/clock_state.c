/* adjtimex(2): the state of the clock, as Linux has it while nobody adjusts it (kernel/time/ntp.c). */

#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/time.h>
#include <linux/timex.h>

#include "runtime.h"
#include "world.h"

enum {
    ERROR = 16000000,            /* microseconds: the largest and the estimated one */
    CONSTANT = 2, PRECISION = 1, TICK = 10000,       /* of the loop; microseconds */
    TOLERANCE = 500 << 16        /* parts of a million */
};

static int64_t tell_state(uint64_t to) {
    struct __kernel_timex *it = (struct __kernel_timex *)to;
    uint64_t now = clock_time(CLOCK_REALTIME);
    if (!is_writable(to, sizeof(*it)))
        return -EFAULT;
    if (it->modes && it->modes != ADJ_OFFSET_SS_READ)
        return -EPERM;
    *it = (struct __kernel_timex){.modes = it->modes, .maxerror = ERROR, .esterror = ERROR, .status = STA_UNSYNC,
                                  .constant = CONSTANT, .precision = PRECISION, .tolerance = TOLERANCE, .tick = TICK};
    it->time.tv_sec = (int64_t)(now / BILLION);
    it->time.tv_usec = (int64_t)(now % BILLION / 1000);
    return TIME_ERROR;
}

bool clock_state_call(int64_t number, const uint64_t *a, int64_t *result) {
    switch (number) {
    case __NR_adjtimex:
        *result = tell_state(a[0]);
        return true;
    case __NR_clock_adjtime:
        *result = (uint32_t)a[0] == CLOCK_REALTIME ? tell_state(a[1]) : is_clock(a[0]) ? -EOPNOTSUPP : -EINVAL;
        return true;
    default:
        return false;
    }
}
