/* The guest's timers, which a process that shares the memory has for itself. */

#ifndef PFMON_X86_64_TIMERS_H
#define PFMON_X86_64_TIMERS_H

#include <stdbool.h>
#include <stdint.h>

enum { INTERVAL_TIMERS = 3, MAX_TIMERS = 256, NO_SIGNAL = 0 };

enum timer_kind { UNUSED, INTERVAL, POSIX, TIMER_FILE };

struct timer {
    uint8_t kind;
    bool of_processor;           /* its clock does not go on while the guest waits */
    bool sent;
    uint64_t clock;
    uint64_t expiry, interval;   /* nanoseconds since the program began; expiry 0: not set */
    int signal;                  /* NO_SIGNAL: none */
    uint32_t thread;             /* the number of the one that it is for; 0: any */
    uint64_t value;              /* that the signal carries */
    uint64_t overrun;
    int file;                    /* the eventfd whose counter is the timer's */
    uint64_t file_id;
};

/* timers.c */
extern struct timer timers[MAX_TIMERS];      /* the first ones: ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF */
bool eventfd_number(int file, uint64_t *number);
void set_timer(struct timer *it, uint64_t interval, uint64_t value, bool absolute);
uint64_t time_left(const struct timer *it);
void set_look(uint64_t retired);
void forget_look(void);
uint64_t alarm_left(uint64_t *interval);
void keep_alarm(uint64_t left, uint64_t interval);
void save_timers(struct timer *to);
void restore_timers(const struct timer *from);

#endif
