/* The modelled PMU as the guest sees it (--guest-pmu): perf_event_open and what belongs to its descriptors, rdpmc, sysfs. The
   events are in pfmon's process (program_events.py), which is asked when something about them is done or wanted. */

#ifndef PFMON_X86_64_PERFORMANCE_H
#define PFMON_X86_64_PERFORMANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "layout.h"

enum { MAX_EVENTS = 1024, NO_EVENT = -1, BAD_EVENT = -2, NO_TASK = -3 };

enum pmu_request { ASK_OPEN = 1, ASK_CLOSE, ASK_READ, ASK_CONTROL, ASK_MAP, ASK_UNMAP, ASK_COUNTER, ASK_LOOK, ASK_SWITCH_ALL,
                   ASK_THREAD };

struct event_file {              /* an event, and what the guest's descriptors of it share */
    uint64_t number;             /* of the event; 0: unused */
    uint64_t device, inode;      /* of a pipe, by which it is known: what it holds makes it readable */
    int file;                    /* one of its descriptors */
    bool is_asynchronous;        /* O_ASYNC: overflows send a signal */
    bool is_readable, is_inherited;
    int signal, owner_kind, owner;
};

/* pmu.c */
bool has_pmu(void);
void pmu_begin(char **arguments);
void show_pmu(uint32_t leaf, uint64_t *registers);
struct text;
bool pmu_path(const char *path, struct text *of_host);

/* requests.c */
void stand_at(uint64_t ip);
int64_t ask(enum pmu_request what, const int64_t *arguments, const void *data, uint64_t bytes);
const void *answered_data(void);
uint64_t answered_bytes(void);
int64_t open_answered_file(int64_t file);
void look_at_events(void);
void hand_over_words(void);

/* event_files.c */
int64_t new_event_file(bool close_on_exec, struct event_file **to);
void forget_event_file(struct event_file *it);
struct event_file *event_of_file(int file);
struct event_file *event_numbered(uint64_t number);
bool has_event_files(void);
void inherit_event_files(void);
bool any_event_is_open(void);
void make_readable(struct event_file *it);
void clear_read_events(void);
void release_closed_events(void);
int64_t control_event_file(struct event_file *it, int file, uint64_t command, uint64_t argument);

/* event_signals.c */
void send_overflow_signal(const struct event_file *it, int code);

/* event_mappings.c */
int64_t map_event(const struct event_file *it, const uint64_t *a);
void forget_event_mappings(uint64_t start, uint64_t end);
bool is_event_mapped(uint64_t number);
void forget_all_event_mappings(void);
bool is_ring_read(uint64_t number);

/* event_calls.c */
void events_of_thread(uint32_t id);
bool performance_call(int64_t number, const uint64_t *a, int64_t *result);
bool may_lose_event(int64_t number, const uint64_t *a);
void release_lost_events(int64_t number, const uint64_t *a, int64_t result);

/* counter_reads.c */
struct block;
bool is_counter_read(const struct block *block, uint64_t host_ip);
void want_counter(const struct block *block);
void read_wanted_counter(void);

#endif
