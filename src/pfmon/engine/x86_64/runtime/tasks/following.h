/* Following of children and executed programs: each is a task with a ring, an area and a reader of its own (engine/tasks/). */

#ifndef PFMON_X86_64_FOLLOWING_H
#define PFMON_X86_64_FOLLOWING_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel.h"

enum { FOLLOW_FORKS = 1, FOLLOW_EXECS = 2 };

struct files {                   /* descriptors */
    int ring, area;
};

struct line {                    /* a socket: when pfmon closes its end, the kernel kills the process */
    int file;
    uint64_t number;             /* its inode: the program may close it and open another file there */
};

extern uint32_t following;       /* FOLLOW_... */
extern struct line line;

void following_begin(const char *name, uint32_t what);
struct files ask_to_begin(void);
struct files ask_for_child(uint32_t parent, uint32_t child);
void follow_no_more(void);
void keep_line(int64_t number);

#endif
