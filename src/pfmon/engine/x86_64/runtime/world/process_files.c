/* Files of /proc of the guest's process. */

#include <asm/unistd.h>

#include "proc_files.h"
#include "threads/thread.h"

enum { FIELDS = 52 };

/* Bytes of the guest's memory, as far as it can be read. */
static void put_memory(struct text *to, uint64_t start, uint64_t end) {
    uint64_t next;
    for (; start < end && is_readable(start); start = next) {
        next = (start & -(uint64_t)PAGE) + PAGE;
        put_bytes(to, (const char *)start, (next < end ? next : end) - start);
    }
}

void put_arguments(struct text *to) {
    put_memory(to, program_stack.arguments, program_stack.environment);
}

void put_environment(struct text *to) {
    put_memory(to, program_stack.environment, program_stack.end);
}

void put_auxiliary(struct text *to) {
    put_bytes(to, (const char *)program_stack.auxiliary, program_stack.auxiliary_bytes);
}

/* The name of the process, or of a thread. */
static void put_name(struct text *to) {
    char name[16] = {0};
    take_name_of(named_thread(), name);
    put_text(to, name);
}

void put_comm(struct text *to) {
    put_name(to);
    put_text(to, "\n");
}

/* The 52 fields of /proc/PID/stat; those that are not known are 0. */
void put_stat(struct text *to) {
    uint64_t fields[FIELDS + 1] = {0}, bytes = memory_bytes();
    int i;
    fields[4] = parent_id();
    fields[5] = process_group();
    fields[6] = process_session();
    fields[14] = instructions_retired() / TICK;
    fields[18] = 20;
    fields[20] = thread_count();
    fields[22] = world.boot * (BILLION / TICK);
    fields[23] = bytes;
    fields[24] = bytes / PAGE;
    fields[25] = ~(uint64_t)0;
    fields[38] = 17;             /* SIGCHLD */
    put_number(to, named_thread()->id);
    put_text(to, " (");
    put_name(to);
    put_text(to, ") R");
    for (i = 4; i <= FIELDS; i++) {
        put_text(to, " ");
        if (i == 8)
            put_text(to, "-1");  /* no foreground group */
        else
            put_number(to, fields[i]);
    }
    put_text(to, "\n");
}

void put_statm(struct text *to) {
    uint64_t pages = memory_bytes() / PAGE;
    put_number(to, pages);
    put_text(to, " ");
    put_number(to, pages);
    put_text(to, " 0 0 0 ");
    put_number(to, pages);
    put_text(to, " 0\n");
}

static void put_four(struct text *to, const char *name, uint64_t value) {
    int i;
    put_text(to, name);
    for (i = 0; i < 4; i++)
        put_field(to, "\t", value, i == 3 ? "\n" : "");
}

static void put_mask(struct text *to, const char *name, uint64_t mask) {
    put_text(to, name);
    put_digits(to, mask, 16, 16);
    put_text(to, "\n");
}

void put_status(struct text *to) {
    uint64_t kilobytes = memory_bytes() >> KILO;
    put_text(to, "Name:\t");
    put_name(to);
    put_text(to, "\nState:\tR (running)\n");
    put_field(to, "Tgid:\t", process_id(), "\n");
    put_field(to, "Pid:\t", named_thread()->id, "\n");
    put_field(to, "PPid:\t", parent_id(), "\n");
    put_text(to, "TracerPid:\t0\n");
    put_four(to, "Uid:", user_id());
    put_four(to, "Gid:", group_id());
    put_field(to, "Groups:\t", group_id(), " \n");
    put_field(to, "VmSize:\t", kilobytes, " kB\n");
    put_field(to, "VmRSS:\t", kilobytes, " kB\n");
    put_field(to, "Threads:\t", thread_count(), "\n");
    put_mask(to, "SigBlk:\t", mask_of(named_thread()));
    put_text(to, "Cpus_allowed:\t1\nCpus_allowed_list:\t0\nMems_allowed:\t1\nMems_allowed_list:\t0\n");
}
