/* What the guest maps of events: a page that describes the counter, and rings of records, in files of pfmon's process. */

#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/mman.h>

#include "performance.h"
#include "runtime.h"

enum { HEAD = 1024, TAIL = 1032 };       /* in the first page (linux/perf_event.h) */

struct event_mapping {
    uint64_t event;              /* 0: unused */
    uint64_t start, bytes;
};

static struct event_mapping mappings[MAX_EVENTS];

static struct event_mapping *mapping_of(uint64_t event) {
    uint32_t i;
    for (i = 0; i < MAX_EVENTS; i++)
        if (mappings[i].event == event)
            return &mappings[i];
    return NULL;
}

void forget_all_event_mappings(void) {
    memset(mappings, 0, sizeof(mappings));
}

bool is_event_mapped(uint64_t event) {
    return mapping_of(event);
}

/* Whether the guest has read all records; without a mapping there are none. */
bool is_ring_read(uint64_t event) {
    const struct event_mapping *it = mapping_of(event);
    if (!it || !are_readable(it->start + HEAD, TAIL + 8 - HEAD))
        return true;
    return *(const uint64_t *)(it->start + HEAD) == *(const uint64_t *)(it->start + TAIL);
}

static void unmapped(uint64_t event) {
    const int64_t arguments[REQUEST_ARGUMENTS] = {(int64_t)event};
    ask(ASK_UNMAP, arguments, NULL, 0);
}

/* mmap of an event's descriptor. */
int64_t map_event(const struct event_file *it, const uint64_t *a) {
    uint64_t bytes = whole_pages(a[1]), call[6];
    struct event_mapping *place = mapping_of(0);
    int64_t arguments[REQUEST_ARGUMENTS] = {(int64_t)it->number, (int64_t)bytes, (int64_t)a[5],
                                            (a[3] & MAP_TYPE) == MAP_SHARED || (a[3] & MAP_TYPE) == MAP_SHARED_VALIDATE,
                                            (a[2] & PROT_WRITE) != 0};
    int64_t file, result;
    if (!place)
        return -ENOMEM;
    result = ask(ASK_MAP, arguments, NULL, 0);
    if (failed(result))
        return result;
    file = open_answered_file(result);
    result = file;
    if (!failed(file)) {
        memcpy(call, a, sizeof(call));
        call[4] = (uint64_t)file;
        result = map_call(__NR_mmap, call);
        KERNEL1(__NR_close, file);
    }
    if (failed(result))
        unmapped(it->number);
    else
        *place = (struct event_mapping){it->number, (uint64_t)result, bytes};
    return result;
}

/* The guest has unmapped this, or mapped something else there. */
void forget_event_mappings(uint64_t start, uint64_t end) {
    uint32_t i;
    for (i = 0; i < MAX_EVENTS; i++) {
        struct event_mapping *it = &mappings[i];
        if (it->event && it->start < end && start < it->start + it->bytes) {
            uint64_t event = it->event;
            it->event = 0;
            unmapped(event);
        }
    }
}
