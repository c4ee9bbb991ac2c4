/* Programs for which this program executes itself anew: those that a guest with a root executes, so that they have that root,
   too, uncounted; those that the program itself executes in its own process, where counting begins anew with them; and those that
   are followed. */

#include <asm/stat.h>
#include <asm/unistd.h>
#include <linux/elf.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/futex.h>
#include <linux/signal.h>
#include <linux/stat.h>

#include "arguments.h"
#include "root.h"
#include "runtime.h"
#include "tasks/following.h"
#include "tasks/schedule.h"
#include "world/timers.h"
#include "world/world.h"

enum { OPENING = O_RDONLY | O_NONBLOCK | O_CLOEXEC, MAY_EXECUTE = 1, HEAD_BYTES = 256, MOST_SCRIPTS = 5, NUMBER_BYTES = 24, MOST_WORDS = 3 * MOST_SCRIPTS + 1, NATIVE = 1 << 20 };

struct program {                 /* to be executed */
    int64_t file, interpreter_file;
    uint64_t interpreter_at;
    struct text name, host, interpreter;         /* its path as given, the host's names */
    const char *words[MOST_WORDS];               /* arguments in the place of the first one: of scripts' interpreters */
    uint32_t first_word;
};

static struct program executed;
static enum { UNCOUNTED, COUNTED_ANEW /* another reader takes this process */, FOLLOWED } how;
static struct text script_words[MOST_SCRIPTS][2];
static char **own_arguments;

static uint32_t schedule_owner, schedule_file;

void execution_begin(char **arguments) {
    const char *owner = arguments[SCHEDULE_OWNER], *file = owner;
    own_arguments = arguments;
    schedule_owner = (uint32_t)take_number(&file);
    file += *file == '/';
    schedule_file = (uint32_t)take_number(&file);
}

/* ---------------------------------------------------------------- files */

static int64_t open_named(int directory, const char *path, bool follow) {
    static struct text host;
    int64_t file;
    if (root.confined) {
        file = look_for(directory, path, follow);
        return failed(file) ? file : KERNEL3(__NR_open, descriptor_name((int)file), OPENING, 0);
    }
    return KERNEL4(__NR_openat, directory, host_name(path, true, &host) ? host.bytes : path,
                   OPENING | (follow ? 0 : O_NOFOLLOW), 0);
}

/* Whether a program gives the process another user's or group's rights. */
static bool gives_rights(const struct stat *status) {
    return (status->st_mode & S_ISUID && status->st_uid != (uint32_t)KERNEL0(__NR_geteuid))
        || ((status->st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) && status->st_gid != (uint32_t)KERNEL0(__NR_getegid));
}

/* A descriptor of a file that may be executed; NATIVE: the host executes it. */
static int64_t open_executable(int directory, const char *path, bool follow) {
    struct stat status;
    static struct text room;
    int64_t file = hold(*path ? open_named(directory, path, follow)
                              : KERNEL3(__NR_open, name_of_descriptor(directory, &room), OPENING, 0)), result;
    if (failed(file))
        return file == -ENXIO ? -EACCES : file;
    result = KERNEL2(__NR_fstat, file, &status);
    if (result == 0 && (status.st_mode & S_IFMT) != S_IFREG)
        result = -EACCES;
    if (result == 0)
        result = KERNEL4(__NR_faccessat2, file, no_name, MAY_EXECUTE, AT_EMPTY_PATH | AT_EACCESS);
    if (result == 0 && !root.length && gives_rights(&status))
        result = NATIVE;
    return result ? result : file;
}

static bool is_separator(char it) {
    return it == ' ' || it == '\t';
}

/* Copy a word, or with `whole` the rest of the line; returns where it ends. */
static const char *take_word(const char *at, bool whole, struct text *to) {
    const char *end;
    while (is_separator(*at))
        at++;
    for (end = at; *end && *end != '\n' && (whole || !is_separator(*end));)
        end++;
    begin_text(to, NO_FILE);
    put_bytes(to, at, (uint64_t)(end - at));
    while (to->length && is_separator(to->bytes[to->length - 1]))
        to->bytes[--to->length] = 0;
    return end;
}

static void put_word_before(const char *word) {
    executed.words[--executed.first_word] = word;
}

/* Take a script's interpreter and its argument from its first line; the former is executed. */
static int64_t take_script(const char *head, int script) {
    struct text *interpreter = &script_words[script][0], *argument = &script_words[script][1];
    static struct text names[MOST_SCRIPTS];
    take_word(take_word(head + 2, false, interpreter), true, argument);
    if (!interpreter->length)
        return -ENOEXEC;
    memcpy(&names[script], &executed.name, sizeof(names[script]));
    if (script)
        executed.first_word++;   /* the interpreter's own name gives way to its interpreter's */
    put_word_before(names[script].bytes);
    if (argument->length)
        put_word_before(argument->bytes);
    put_word_before(interpreter->bytes);
    memcpy(&executed.name, interpreter, sizeof(executed.name));
    return 0;
}

/* ---------------------------------------------------------------- ELF files */

static bool is_program(const struct elf64_hdr *head) {
    return !memcmp(head->e_ident, ELFMAG, SELFMAG) && head->e_ident[EI_CLASS] == ELFCLASS64 && head->e_machine == EM_X86_64
        && (head->e_type == ET_EXEC || head->e_type == ET_DYN) && head->e_phentsize == sizeof(struct elf64_phdr);
}

static bool read_header(int64_t file, const struct elf64_hdr *head, uint32_t i, struct elf64_phdr *to) {
    return KERNEL4(__NR_pread64, file, to, sizeof(*to), head->e_phoff + i * sizeof(*to)) == sizeof(*to);
}

/* Where an interpreter goes that ends where files are mapped downwards from. */
static int64_t place_interpreter(int64_t file) {
    struct elf64_hdr head;
    struct elf64_phdr it;
    uint64_t first = ~(uint64_t)0, end = 0;
    uint32_t i;
    if (KERNEL4(__NR_pread64, file, &head, sizeof(head), 0) != sizeof(head) || !is_program(&head))
        return -ELIBBAD;
    for (i = 0; i < head.e_phnum && read_header(file, &head, i, &it); i++)
        if (it.p_type == PT_LOAD) {
            first = it.p_vaddr < first ? it.p_vaddr & -(uint64_t)PAGE : first;
            end = it.p_vaddr + it.p_memsz > end ? it.p_vaddr + it.p_memsz : end;
        }
    if (!end || end - first > GUEST_LOW_END - GUEST_PIE)
        return -ELIBBAD;
    executed.interpreter_at = GUEST_LOW_END - (whole_pages(end) - first);
    return 0;
}

/* Open the interpreter that a program names. */
static int64_t take_interpreter(const struct elf64_hdr *head) {
    static struct text name;
    struct elf64_phdr it;
    uint32_t i;
    executed.interpreter_file = -1;
    for (i = 0; i < head->e_phnum && read_header(executed.file, head, i, &it); i++) {
        if (it.p_type != PT_INTERP)
            continue;
        begin_text(&name, NO_FILE);
        if (!it.p_filesz || it.p_filesz >= TEXT_ROOM
            || KERNEL4(__NR_pread64, executed.file, name.bytes, it.p_filesz, it.p_offset) != (int64_t)it.p_filesz)
            return -ENOEXEC;
        name.bytes[it.p_filesz] = 0;
        executed.interpreter_file = open_executable(AT_FDCWD, name.bytes, true);
        if (failed(executed.interpreter_file) || executed.interpreter_file == NATIVE)
            return executed.interpreter_file;
        path_of_file((int)executed.interpreter_file, &executed.interpreter);
        return place_interpreter(executed.interpreter_file);
    }
    return 0;
}

/* Find what is to be executed. NATIVE: a program of another kind. */
static int64_t find_program(int directory, bool follow) {
    static char head[HEAD_BYTES + 1];
    int64_t bytes, result;
    int script;
    for (script = 0;; script++) {
        executed.file = open_executable(directory, executed.name.bytes, follow);
        if (failed(executed.file) || executed.file == NATIVE)
            return executed.file;
        bytes = KERNEL4(__NR_pread64, executed.file, head, HEAD_BYTES, 0);
        if (failed(bytes))
            return bytes;
        head[bytes] = 0;
        path_of_file((int)executed.file, &executed.host);
        if (bytes < 2 || head[0] != '#' || head[1] != '!')
            break;
        if (script == MOST_SCRIPTS)
            return -ELOOP;
        result = take_script(head, script);
        if (result)
            return result;
        directory = AT_FDCWD;
        follow = true;
    }
    if (bytes < (int64_t)sizeof(struct elf64_hdr) || !is_program((const struct elf64_hdr *)head))
        return root.confined ? -ENOEXEC : NATIVE;
    return take_interpreter((const struct elf64_hdr *)head);
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
    executed.first_word = MOST_WORDS;
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
