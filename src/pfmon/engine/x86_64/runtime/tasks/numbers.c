/* Numbers of processes: the run's own, in the order of their creation from 1000 on, and the host's. Groups and sessions have the
   numbers of the processes that began them. */

#include "runtime.h"
#include "schedule.h"
#include "world/world.h"

enum { NEIGHBOURS = 8 };

static struct known *slot_of(uint32_t host, uint32_t i) {
    return &schedule->known[(host + i) % KNOWN];
}

/* Of a host's number that is used again the later process is known. */
void know_number(uint32_t host, uint32_t number) {
    struct known *it = slot_of(host, 0);
    uint32_t i;
    for (i = 0; i < NEIGHBOURS; i++) {
        struct known *other = slot_of(host, i);
        if (other->host == host || other->host == 0) {
            it = other;
            break;
        }
    }
    *it = (struct known){host, number};
    schedule->hosts[number] = host;
}

/* NULL: it does not belong to the run. */
static const struct known *known_host(int64_t host) {
    uint32_t i;
    for (i = 0; i < NEIGHBOURS && host > 0; i++) {
        const struct known *it = slot_of((uint32_t)host, i);
        if (it->host == (uint32_t)host)
            return it;
        if (!it->host)
            break;
    }
    return NULL;
}

/* The run's number, or the host's of what does not belong to the run. */
int64_t number_of_host(int64_t host) {
    const struct known *it = known_host(host);
    return it ? it->number : host;
}

/* 0: no process of the run has had the number. */
static uint32_t host_of(uint64_t number) {
    uint32_t given = (uint32_t)number;
    return given >= FIRST_NUMBER && given < MAX_NUMBERS ? schedule->hosts[given] : 0;
}

/* The host's number for a process that the guest names: of those that do not belong to the run none has one. */
uint64_t host_of_number(uint64_t number) {
    if (world.flags & HOST_IDS || (int32_t)number <= 0)
        return number;
    return host_of(number) ? host_of(number) : NO_PROCESS;
}

/* For a group, which may be one outside of the run: that of a terminal's foreground. */
uint64_t host_of_group(uint64_t number) {
    if (world.flags & HOST_IDS)
        return number;
    if ((uint32_t)number == FIRST_NUMBER)
        return schedule->group;
    return host_of(number) ? host_of(number) : number;
}

/* Of kill(2) and wait4(2): a negative number is a group. */
uint64_t host_of_process_or_group(uint64_t number) {
    uint32_t group = (uint32_t)-(int32_t)number;
    if (world.flags & HOST_IDS || (int32_t)number >= -1)
        return host_of_number(number);
    return -(group == FIRST_NUMBER ? schedule->group : host_of_number(group));
}

/* Whether a process of the host belongs to the run: a group's or a session's number alone does not. */
bool is_of_run(uint32_t host) {
    const struct known *it = known_host(host);
    return it && schedule->hosts[it->number] == host;
}
