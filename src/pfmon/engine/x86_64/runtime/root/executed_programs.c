/* Programs for which this program executes itself anew: those that a guest with a root executes, so that they have that root,
   too, uncounted; those that the program itself executes in its own process, where counting begins anew with them; and those that
   are followed. */

#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/futex.h>
#include <linux/signal.h>

#include "arguments.h"
#include "executed_programs.h"
#include "root.h"
#include "runtime.h"
#include "tasks/following.h"
#include "tasks/schedule.h"
#include "world/timers.h"
#include "world/world.h"

enum { NUMBER_BYTES = 24 };

static enum { UNCOUNTED, COUNTED_ANEW /* another reader takes this process */, FOLLOWED } how;
static char **own_arguments;
static uint32_t schedule_owner, schedule_file;

void execution_begin(char **arguments) {
    const char *owner = arguments[SCHEDULE_OWNER], *file = owner;
    own_arguments = arguments;
    schedule_owner = (uint32_t)take_number(&file);
    file += *file == '/';
    schedule_file = (uint32_t)take_number(&file);
}

/* ---------------------------------------------------------------- arguments of this program */

static char *number_text(uint64_t value) {
    static char texts[ARGUMENTS][NUMBER_BYTES];
    static uint32_t next;
    static struct text number;
    char *to = texts[next++ % ARGUMENTS];
    begin_text(&number, NO_FILE);
    put_number(&number, value);
    memcpy(to, number.bytes, number.length + 1);
    return to;
}

/* How many texts an array of the guest's has; -EFAULT: it cannot be read. */
static int64_t count_texts(uint64_t at) {
    int64_t count = 0;
    if (!at)
        return 0;
    for (;; count++, at += 8) {
        if ((count == 0 || at % PAGE < 8) && !are_readable(at, 8))
            return -EFAULT;
        if (!*(const uint64_t *)at)
            return count;
    }
}

/* Room for so many pointers, which is used again. */
static const char **room_for(uint64_t pointers) {
    static const char **room;
    static uint64_t bytes;
    if (pointers * 8 > bytes) {
        int64_t place = map_kept(pointers * 8);
        if (failed(place))
            return NULL;
        if (bytes)
            KERNEL2(__NR_munmap, room, bytes);
        room = (const char **)place;
        bytes = whole_pages(pointers * 8);
    }
    return room;
}

/* ---------------------------------------------------------------- a counted program */

/* A descriptor of one of a process's files; an error. */
static int64_t open_file_of(uint32_t process, uint32_t file) {
    static struct text path;
    name_in_process(process, "/fd/", &path);
    put_number(&path, file);
    return KERNEL3(__NR_open, path.bytes, O_RDWR, 0);
}

static char *open_file_of_reader(int32_t file) {
    int64_t opened = open_file_of((uint32_t)area->handover.reader, (uint32_t)file);
    if (failed(opened))
        give_up(CANNOT_LOAD);
    return number_text((uint64_t)opened);
}

static int64_t opened_schedule;

/* The file of the run's schedule, which pfmon has. */
int64_t open_schedule(void) {
    return open_file_of(schedule_owner, schedule_file);
}

/* Tell the reader what is executed, and wait until another one has its files for this process. */
static void wait_for_reader(void) {
    uint32_t bytes = executed.host.length < MAX_MESSAGE_BYTES ? executed.host.length : MAX_MESSAGE_BYTES;
    publish_count();
    memcpy(area->message, executed.host.bytes, bytes);
    area->message_length = bytes;
    __atomic_store_n(&area->executing, EXECUTES_ANEW, __ATOMIC_RELEASE);
    KERNEL6(__NR_futex, &ring->filling, FUTEX_WAKE, 1 << 30, 0, 0, 0);
    while (!__atomic_load_n(&area->handover.ready, __ATOMIC_ACQUIRE)) {
        KERNEL6(__NR_futex, &area->handover.ready, FUTEX_WAIT, 0, 0, 0, 0);
        if (area->stopping)
            KERNEL2(__NR_kill, KERNEL0(__NR_getpid), SIGKILL);
    }
}

static void put_alarm(const char **to) {
    uint64_t interval, left = alarm_left(&interval);
    to[ALARM_LEFT] = number_text(left);
    to[ALARM_INTERVAL] = number_text(interval);
    give_timer_to_host(false);   /* it is the program's again */
}

static void put_files(const char **to) {
    wait_for_reader();
    to[RING_FILE] = open_file_of_reader(area->handover.ring_file);
    to[AREA_FILE] = open_file_of_reader(area->handover.area_file);
    to[PYTHON_VERSION] = number_text(area->handover.python[0]);
    to[PYTHON_BEGIN] = number_text(area->handover.python[1]);
    to[PYTHON_END] = number_text(area->handover.python[2]);
}

static void put_own_arguments(const char **to, uint64_t variables) {
    memcpy(to, own_arguments, ARGUMENTS * sizeof(*to));
    put_alarm(to);
    to[RING_FILE] = to[AREA_FILE] = "";
    to[PYTHON_VERSION] = to[PYTHON_BEGIN] = to[PYTHON_END] = "0";
    if (how == COUNTED_ANEW)
        put_files(to);
    else if (how == UNCOUNTED) {
        to[SEED] = number_text(world.seed);
        to[WORLD_FLAGS] = number_text(world.flags | EXECUTED_BY_GUEST);
        to[READER_NAME] = "";
    }
    to[PROGRAM_AT] = number_text(GUEST_PIE);
    to[INTERPRETER_AT] = number_text(executed.interpreter_at);
    to[INTERPRETER] = executed.interpreter_file >= 0 ? executed.interpreter.bytes : "";
    to[PROGRAM] = executed.host.bytes;
    to[EXECUTED] = executed.name.bytes;
    to[ELAPSED] = number_text(elapsed());
    to[FIRST_PROCESS] = number_text(schedule->first);
    to[FIRST_GROUP] = number_text(schedule->group);
    to[FIRST_SESSION] = number_text(schedule->session);
    to[SCHEDULE_FILE] = schedule->on ? number_text((uint64_t)opened_schedule) : "";
    to[PROGRAM_FILE] = number_text((uint64_t)executed.file);
    to[INTERPRETER_FILE] = executed.interpreter_file >= 0 ? number_text((uint64_t)executed.interpreter_file) : "";
    to[VARIABLES] = number_text(variables);
}

/* For the kernel to execute a program. */
int64_t execute_natively(int64_t number, const uint64_t *a) {
    int64_t result;
    become_native(true);
    return_memory(false);
    result = KERNEL6(number, a[0], a[1], a[2], a[3], a[4], 0);
    become_native(false);
    return_memory(true);
    return result;
}

/* Execute this program with its arguments, the guest's environment and the guest's arguments. */
static int64_t execute_self(uint64_t arguments, uint64_t environment) {
    int64_t words = count_texts(arguments), variables = count_texts(environment);
    uint64_t replacing = MOST_WORDS - executed.first_word, left = words > 0 ? (uint64_t)words : 0, skipped = replacing && left;
    const char **to, *none = NULL;
    if (words < 0 || variables < 0)
        return -EFAULT;
    to = room_for(ARGUMENTS + (uint64_t)variables + replacing + left + 2);
    if (!to)
        return -ENOMEM;
    put_own_arguments(to, (uint64_t)variables);
    memcpy(to + ARGUMENTS, (const void *)environment, (uint64_t)variables * 8);
    words = ARGUMENTS + variables;
    memcpy(to + words, executed.words + executed.first_word, replacing * 8);
    memcpy(to + words + replacing, (const uint64_t *)arguments + skipped, (left - skipped) * 8);
    words += (int64_t)(replacing + left - skipped);
    if (replacing + left == 0)
        to[words++] = "";
    to[words] = NULL;
    KERNEL3(__NR_fcntl, executed.file, F_SETFD, 0);
    if (executed.interpreter_file >= 0)
        KERNEL3(__NR_fcntl, executed.interpreter_file, F_SETFD, 0);
    if (how == FOLLOWED)
        area->executing = EXECUTES_FOLLOWED;
    schedule->clock = elapsed();
    return_memory(false);
    words = KERNEL3(__NR_execve, exe_name, to, &none);
    return_memory(true);
    if (how == COUNTED_ANEW)
        give_up(CANNOT_LOAD);    /* the reader has gone on */
    give_timer_to_host(true);
    return words;
}

/* Whether this program executes itself for what the guest executes. */
bool is_executed_by_runtime(void) {
    how = in_child || root.confined ? UNCOUNTED : world.flags & COUNTS_EXECUTED ? COUNTED_ANEW
        : following & FOLLOW_EXECS ? FOLLOWED : UNCOUNTED;
    return root.length || root.confined || how != UNCOUNTED || schedule->on;
}

/* For the message about a program that goes on uncounted. */
static void tell_program(void) {
    uint32_t bytes = executed.name.length < MAX_PATH_BYTES ? executed.name.length : MAX_PATH_BYTES - 1;
    if (in_child)
        return;
    memcpy(area->executed, executed.name.bytes, bytes);
    area->executed[bytes] = 0;
}

/* execve, execveat. */
int64_t execute_translated(int64_t number, const uint64_t *a) {
    bool at = number == __NR_execveat, by_descriptor = at && a[4] & AT_EMPTY_PATH;
    int64_t result = take_name(a[at], &executed.name);
    if (result)
        return result;
    if (at && a[4] & ~(uint64_t)(AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW))
        return -EINVAL;
    if (!executed.name.length && !by_descriptor)
        return -ENOENT;
    tell_program();
    result = find_program(at ? (int)a[0] : AT_FDCWD, !(at && a[4] & AT_SYMLINK_NOFOLLOW));
    if (result && !root.length)          /* also errors, which the kernel reports */
        return execute_natively(number, a);
    if (result == NATIVE)
        return execute_natively(__NR_execve, (const uint64_t[6]){(uint64_t)executed.host.bytes, a[1 + at], a[2 + at]});
    if (result)
        return result;
    opened_schedule = schedule->on ? open_schedule() : NO_FILE;
    if (schedule->on && failed(opened_schedule))
        return execute_natively(number, a);                  /* pfmon has ended: the process was detached */
    result = execute_self(a[1 + at], a[2 + at]);
    KERNEL1(__NR_close, opened_schedule);
    return result;
}
