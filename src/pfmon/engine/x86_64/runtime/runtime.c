/* The process of the x86_64 engine: a program of its own, without a C library, at an address that no guest uses. It maps
   what it shares with the reader, loads the program, and executes its translations.

   The program's environment is among its arguments (arguments.h): the dynamic linkers of what starts it would obey variables of
   its own. */

#include <asm/unistd.h>
#include <linux/mman.h>
#include <linux/signal.h>

#include "arguments.h"
#include "interpreter/python.h"
#include "performance/performance.h"
#include "root/root.h"
#include "runtime.h"
#include "tasks/following.h"
#include "tasks/schedule.h"
#include "threads/thread.h"
#include "world/timers.h"
#include "world/world.h"

enum { STATE_BYTES = 1 << 16, RESERVE_STEP = 1 << 20 };

uint32_t most_instructions = MAX_BLOCK;

static uint8_t *reserved, *reserved_end;

void give_up(enum trouble why) {
    if (area && !in_child)
        area->trouble = why;
    if (schedule)
        leave_run();
    KERNEL2(__NR_kill, KERNEL0(__NR_getpid), SIGKILL);
    for (;;)
        KERNEL0(__NR_pause);
}

static uint8_t *map_own(uint64_t at, uint64_t bytes) {
    int64_t place = KERNEL6(__NR_mmap, at, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (place != (int64_t)at)
        give_up(NO_MEMORY);
    return (uint8_t *)place;
}

void *reserve(size_t bytes) {
    uint8_t *it;
    bytes = (bytes + 15) & ~(size_t)15;
    if (bytes > RESERVE_STEP / 4)
        return new_memory(bytes);
    if (bytes > (size_t)(reserved_end - reserved)) {
        reserved = new_memory(RESERVE_STEP);
        reserved_end = reserved + RESERVE_STEP;
    }
    it = reserved;
    reserved += bytes;
    return it;
}

/* The first `count` of these pointers, and NULL. */
static char **first_of(char **texts, uint64_t count) {
    char **copy = reserve((count + 1) * sizeof(*copy));
    memcpy(copy, texts, count * sizeof(*copy));
    return copy;
}

/* Memory that the kernel writes when the guest executes: a stack for signal handlers. */
void *reserve_open(size_t bytes) {
    return map_own(own_address(bytes), whole_pages(bytes));
}

static void ways_begin(void) {
    uint32_t i;
    map_own(WAYS_AT, PAGE);
    ways->on_exit = (uint64_t)on_exit;
    ways->on_miss = (uint64_t)on_miss;
    for (i = 0; i < 256; i++)
        ways->components[i] = i & components;
    keep_from_guest(WAYS_AT, PAGE, PROT_READ | PROT_WRITE);
}

static int file_of(const char *number) {
    return *number ? (int)number_of(number) : NO_FILE;
}

/* The schedule of the run. Without pfmon's file, or where processes execute in the host's time, it is for numbers alone. */
static void begin_schedule(char **arguments, uint64_t flags) {
    int file = file_of(arguments[SCHEDULE_FILE]);
    uint32_t first = (uint32_t)number_of(arguments[FIRST_PROCESS]);
    bool on = *arguments[SCHEDULE_OWNER] && !(flags & (HOST_CLOCK | CONFINED));
    if (on && file == NO_FILE) {
        int64_t opened = open_schedule();
        file = failed(opened) ? NO_FILE : (int)opened;
    }
    run_begin(file, on && file != NO_FILE);
    if (file == NO_FILE && first)
        know_first(first, (uint32_t)number_of(arguments[FIRST_GROUP]), (uint32_t)number_of(arguments[FIRST_SESSION]));
}

/* What is shared with the reader. A program that the guest executes is not counted. */
static void begin_stream(char **arguments, uint64_t flags) {
    if (*arguments[READER_NAME])
        following_begin(arguments[READER_NAME], (uint32_t)number_of(arguments[FOLLOWING]));
    if (flags & EXECUTED_BY_GUEST) {
        in_child = true;
        begin_private_area();
        begin_private_ring();
    } else if (following)
        begin_counted(ask_to_begin());
    else
        begin_counted((struct files){.ring = file_of(arguments[RING_FILE]), .area = file_of(arguments[AREA_FILE])});
}

/* What the guest sees of the host, and its threads. */
static void begin_world(char **arguments, uint64_t flags) {
    world = (struct world){flags, number_of(arguments[SEED]), number_of(arguments[EPOCH]),
                           number_of(arguments[BOOT]), (uint64_t)arguments[RELEASE]};
    clock_begin();
    users_begin();
    threads_begin();
    schedule_begin(number_of(arguments[QUANTUM]), number_of(arguments[SCHEDULE_SEED]));
    if (others_exist())
        begin_turns();
    root_begin(arguments[ROOT_DIRECTORY], flags & CONFINED);
    pmu_begin(arguments);
    python_begin(number_of(arguments[PYTHON_VERSION]), number_of(arguments[PYTHON_BEGIN]), number_of(arguments[PYTHON_END]));
}

/* Load the program, and confine it unless it is already; returns where it begins. */
static uint64_t load(char **arguments, uint64_t flags) {
    struct places places = {arguments[PROGRAM], arguments[EXECUTED], arguments[INTERPRETER], file_of(arguments[PROGRAM_FILE]),
                            file_of(arguments[INTERPRETER_FILE]), number_of(arguments[PROGRAM_AT]),
                            number_of(arguments[INTERPRETER_AT])};
    char **variables = arguments + ARGUMENTS;
    uint64_t count = number_of(arguments[VARIABLES]), begins_at;
    bool begins_confined = flags & CONFINED && !(flags & EXECUTED_BY_GUEST);
    if (begins_confined)
        open_root();
    if (begins_confined && *places.interpreter)
        places.interpreter_file = open_interpreter(places.interpreter);
    paths_begin();
    begins_at = load_program(&places, variables + count, first_of(variables, count), number_of(arguments[STACK_BYTES]));
    if (begins_confined)
        confine(flags & HAS_NETWORK);
    return begins_at;
}

/* From here on, the runtime is where it stays. `sp`: the stack as the kernel laid it out; `image`: where it mapped the file (entry.S). */
void begin(uint64_t *sp, const void *image) {
    char **arguments = (char **)(sp + 1);
    uint64_t flags, begins_at;
    unmap_first_image(image);
    begin_names();
    key_begin((uint64_t)sp);
    if (sp[0] <= ARGUMENTS || !choose_processor(arguments[PROCESSOR]))
        KERNEL1(__NR_exit_group, 127);
    flags = number_of(arguments[WORLD_FLAGS]);
    map_own(STATE_AT, STATE_BYTES);
    ways_begin();
    begin_stream(arguments, flags);
    pass_time(number_of(arguments[ELAPSED]));
    execution_begin(arguments);
    begin_schedule(arguments, flags);
    translation_begin();
    signals_begin();
    most_instructions = (uint32_t)number_of(arguments[MOST_INSTRUCTIONS]);
    begin_world(arguments, flags);
    record_as_region_wants();
    begins_at = load(arguments, flags);
    if (!(flags & HOST_CLOCK))
        keep_alarm(number_of(arguments[ALARM_LEFT]), number_of(arguments[ALARM_INTERVAL]));
    begin_at(begins_at);
}
