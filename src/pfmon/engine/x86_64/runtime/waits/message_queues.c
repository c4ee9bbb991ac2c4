/* Waits for messages of POSIX (mq_receive(3), mq_send(3)). Their limits are times of the guest's clock of real time. */

#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/time.h>

#include "waits.h"

static int64_t attempt_message(const struct wait *it, uint64_t limit) {
    struct __kernel_timespec time;
    if (limit != 0 && limit != NEVER)
        limit += host_time(CLOCK_REALTIME);
    return call(it->number, it->a[0], it->a[1], it->a[2], it->a[3], (uint64_t)time_of(limit, &time), 0);
}

bool message_queue_call(int64_t number, const uint64_t *a, int64_t *result) {
    const struct wait wait = {.attempt = attempt_message, .is_inside = without_processes, .number = number, .a = a,
                              .nothing = -ETIMEDOUT};
    uint64_t start = clock_start(CLOCK_REALTIME), deadline = NEVER;
    if (number != __NR_mq_timedsend && number != __NR_mq_timedreceive)
        return false;
    if (a[4] && !read_time(a[4], &deadline, result))
        return true;
    if (deadline != NEVER)
        deadline = deadline > start ? deadline - start : 0;
    *result = wait_until(&wait, deadline);
    return true;
}
