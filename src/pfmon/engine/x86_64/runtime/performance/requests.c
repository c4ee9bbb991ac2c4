/* Requests to pfmon's process (layout.h, struct request): it answers when it has read the stream up to here. */

#include <asm/unistd.h>
#include <linux/fcntl.h>
#include <linux/futex.h>
#include <linux/signal.h>
#include <linux/time.h>

#include "performance.h"
#include "runtime.h"
#include "world/timers.h"
#include "world/world.h"

enum { READY = 0x100 };          /* code of a notice; others are those of signals (program_events.py) */

static uint64_t stands;          /* address of the guest's next instruction */

void stand_at(uint64_t ip) {
    stands = ip;
}

/* Nanoseconds between the instructions retired and the monotonic clock. */
static uint64_t offset_of_clock(void) {
    struct timespec now;
    if (!(world.flags & HOST_CLOCK))
        return clock_start(CLOCK_MONOTONIC) + elapsed_at(0);
    KERNEL2(__NR_clock_gettime, CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * BILLION + (uint64_t)now.tv_nsec - instructions_retired();
}

static void take_notices(const struct request *it) {
    uint32_t i, count = it->notices < MAX_REQUEST_NOTICES ? it->notices : MAX_REQUEST_NOTICES;
    for (i = 0; i < count; i++) {
        struct event_file *event = event_numbered(it->notice[i].event);
        if (event && it->notice[i].code == READY)
            make_readable(event);
        else if (event)
            send_overflow_signal(event, (int)it->notice[i].code);
    }
}

static void wait_for_answer(struct request *it, uint32_t asked) {
    uint32_t seen;
    while ((seen = __atomic_load_n(&it->answered, __ATOMIC_ACQUIRE)) != asked) {
        if (area->stopping)
            KERNEL2(__NR_kill, KERNEL0(__NR_getpid), SIGKILL);
        KERNEL6(__NR_futex, &it->answered, FUTEX_WAIT, seen, 0, 0, 0);
    }
}

static void ask_once(enum pmu_request what, const int64_t *arguments, const void *data, uint64_t bytes) {
    struct request *it = &area->request;
    uint32_t asked = ring->filling + 1;
    memset(it->arguments, 0, sizeof(it->arguments));
    if (arguments)
        memcpy(it->arguments, arguments, sizeof(it->arguments));
    if (bytes)
        memcpy(it->data, data, bytes);
    it->what = what;
    it->length = (uint32_t)bytes;
    it->ip = stands;
    it->clock_offset = offset_of_clock();
    __atomic_store_n(&it->asked, asked, __ATOMIC_RELEASE);
    hand_over((uint64_t *)state->ring);
    state->ring = (uint64_t)next_words();
    wait_for_answer(it, asked);
    set_look(it->stop);
    take_notices(it);
}

/* The result. `arguments`: REQUEST_ARGUMENTS numbers, or NULL; `data`: at most MAX_REQUEST_BYTES. */
int64_t ask(enum pmu_request what, const int64_t *arguments, const void *data, uint64_t bytes) {
    ask_once(what, arguments, data, bytes);
    return area->request.result;
}

/* The data of the last answer. */
const void *answered_data(void) {
    return area->request.data;
}

uint64_t answered_bytes(void) {
    return area->request.length < MAX_REQUEST_BYTES ? area->request.length : MAX_REQUEST_BYTES;
}

/* A descriptor of a file that pfmon's process has, by its number there. */
int64_t open_answered_file(int64_t file) {
    static struct text path;
    begin_text(&path, NO_FILE);
    put_text(&path, "/proc/");
    put_number(&path, (uint32_t)area->request.reader);
    put_text(&path, "/fd/");
    put_number(&path, (uint32_t)file);
    return KERNEL3(__NR_open, path.bytes, O_RDWR | O_CLOEXEC, 0);
}

/* Before another process runs, which may ask for this one's counts. */
void hand_over_words(void) {
    if (!has_pmu() || area->totals)
        return;
    hand_over((uint64_t *)state->ring);
    state->ring = (uint64_t)next_words();
}

/* The guest was stopped where an overflow may have something to tell it, or another group of events takes its turn. */
void look_at_events(void) {
    do
        ask_once(ASK_LOOK, NULL, NULL, 0);
    while (area->request.more);
}
