/* Files of /proc that the runtime makes (proc(5)): each function writes the content of one. */

#ifndef PFMON_X86_64_PROC_FILES_H
#define PFMON_X86_64_PROC_FILES_H

#include "runtime.h"
#include "world.h"

enum { TICK = 10000000, KILO = 10 };      /* nanoseconds of a clock tick; binary digits */

/* process_files.c */
void put_arguments(struct text *to);
void put_environment(struct text *to);
void put_auxiliary(struct text *to);
void put_comm(struct text *to);
void put_stat(struct text *to);
void put_statm(struct text *to);
void put_status(struct text *to);

/* other_process_files.c */
const char *other_part(const char *path);
void put_other_arguments(struct text *to);
void put_other_stat(struct text *to);
void put_other_status(struct text *to);

/* maps_file.c */
void put_mappings(struct text *to);
uint64_t memory_bytes(void);

/* cpuinfo_file.c */
void put_processor(struct text *to);

static inline void put_field(struct text *to, const char *name, uint64_t value, const char *end) {
    put_text(to, name);
    put_number(to, value);
    put_text(to, end);
}

#endif
