/* What the guest sees of processor, system and files, and its time (world/). Each `..._call` returns whether it has executed
   the system call. */

#ifndef PFMON_X86_64_WORLD_H
#define PFMON_X86_64_WORLD_H

#include <asm/siginfo.h>

#include "kernel.h"
#include "text.h"

/* system_identity.c: random bytes, names */
enum { HOST_CLOCK = 1, HOST_RANDOM = 2, HOST_IDS = 4, CONFINED = 8, HAS_NETWORK = 16, EXECUTED_BY_GUEST = 32, COUNTS_EXECUTED = 64, HAS_PMU = 128, HAS_REGIONS = 256,
       REGIONS_ALONE = 512 };

struct world {                   /* what the guest sees of the host; fixed by default */
    uint64_t flags;              /* HOST_... */
    uint64_t seed, epoch, boot, release;
};

#define HOST_NAME "pfmon"
#define SYSTEM_VERSION "#1 SMP"
static const uint64_t MEMORY_BYTES = (uint64_t)8 << 30;

extern struct world world;
bool world_call(int64_t number, const uint64_t *a, int64_t *result);
uint64_t next_random(uint64_t *seed);
int64_t fill_randomly(uint64_t to, uint64_t bytes);

/* clock.c: times are in nanoseconds */
static const int64_t BILLION = 1000000000;
static const uint64_t NEVER = INT64_MAX;
uint64_t instructions_retired(void);
uint64_t host_time(uint64_t clock);       /* of the host's clock */
void clock_begin(void);
uint64_t elapsed(void);          /* since the program began */
uint64_t elapsed_at(uint64_t retired);
void pass_time(uint64_t nanoseconds);
void set_elapsed(uint64_t nanoseconds);
bool is_clock(uint64_t clock);
bool is_processor_time(uint64_t clock);
uint64_t clock_start(uint64_t clock);
uint64_t clock_time(uint64_t clock);
uint64_t nanoseconds_of(uint64_t seconds, uint64_t rest);
bool read_time(uint64_t from, uint64_t *nanoseconds, int64_t *error);
bool clock_call(int64_t number, const uint64_t *a, int64_t *result);

/* clock_state.c */
bool clock_state_call(int64_t number, const uint64_t *a, int64_t *result);

/* timers.c */
uint64_t next_timer(void);
void fire_timers(void);
void forget_timers(void);
void give_timer_to_host(bool to_host);

/* timer_calls.c */
bool timer_call(int64_t number, const uint64_t *a, int64_t *result);

/* file_status.c */
struct stat;
struct statx;
void fix_status(struct stat *it);
void fix_extended_status(struct statx *it);

/* users.c */
void users_begin(void);
uint32_t user_id(void);
uint32_t group_id(void);
uint32_t seen_user(uint32_t user);
bool status_call(int64_t number, const uint64_t *a, int64_t *result);
bool user_call(int64_t number, const uint64_t *a, int64_t *result);

/* ids.c */
int64_t seen_process(int64_t number);
int64_t seen_group(int64_t number);
uint32_t process_id(void);
uint32_t seen_parent(uint32_t process, uint32_t parent);
uint32_t parent_id(void);
uint32_t process_group(void);
uint32_t process_session(void);
int64_t write_number(uint64_t to, uint32_t number);   /* -EFAULT: the guest cannot write there */
void show_sender(siginfo_t *info);
bool id_call(int64_t number, const uint64_t *a, int64_t *result);

/* memory_files.c */
int64_t without_memory_file(int64_t number, int64_t file);

/* paths.c, proc_files.c, directories.c */
void paths_begin(void);
void path_of_file(int file, struct text *to);
bool is_random(uint64_t file);
const char *own_part(const char *path);
bool path_call(int64_t *number, uint64_t *a, int64_t *result);
bool random_call(int64_t number, const uint64_t *a, int64_t *result);
bool open_proc_file(const char *path, const char *own, uint64_t flags, int64_t *result);
bool directory_call(int64_t number, const uint64_t *a, int64_t *result);

#endif
