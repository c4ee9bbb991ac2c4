/* Files of /proc of the other processes of the run: those of the host would show the runtime. */

#include <asm/unistd.h>
#include <linux/fcntl.h>

#include "arguments.h"
#include "proc_files.h"
#include "tasks/schedule.h"

enum {
    STATE_AFTER_NAME = 2, STATE_BYTES = 3 /* of its place in stat, with spaces */, MOST_BYTES = 512,
    STAT_PARENT = 4, STAT_SESSION = 6                                /* fields of stat: proc(5) */
};

#define STATE_LINE "State:\t"    /* in status */

static uint32_t shown;           /* the host's number of the process */

static int64_t open_of_host(const char *name) {
    struct text path;
    return KERNEL3(__NR_open, name_in_process(shown, name, &path), O_RDONLY | O_CLOEXEC, 0);
}

/* The beginning of a file of the host's, with a zero at its end. */
static void read_of_host(const char *name, char *to, uint64_t room) {
    int64_t file = open_of_host(name), bytes = failed(file) ? 0 : KERNEL3(__NR_read, file, to, room - 1);
    to[bytes > 0 ? bytes : 0] = 0;
    if (!failed(file))
        KERNEL1(__NR_close, file);
}

/* The state of the process, of which the host's says only whether it has ended or stopped: one that can execute may wait for its
   turn there. */
static char shown_state(char host) {
    const struct process *it = process_of_host(shown);
    if (!it || it->stage == OUTSIDE || (host != 'R' && host != 'S' && host != 'D'))
        return host;
    return it->stage == ABLE ? 'R' : it->stage == LENDS ? 'D' : 'S';
}

/* The guest's arguments are behind those of the runtime and the variables (arguments.h). */
void put_other_arguments(struct text *to) {
    static char bytes[PAGE];
    uint64_t word = 0, variables = 0, i;
    int64_t file = open_of_host("/cmdline"), got;
    while (!failed(file) && (got = KERNEL3(__NR_read, file, bytes, sizeof(bytes))) > 0)
        for (i = 0; i < (uint64_t)got; i++) {
            if (word >= ARGUMENTS + variables)
                put_bytes(to, bytes + i, 1);
            if (word == VARIABLES && bytes[i])
                variables = variables * 10 + (uint64_t)(bytes[i] - '0');
            word += !bytes[i];
        }
    if (!failed(file))
        KERNEL1(__NR_close, file);
}

/* The host's, with the run's numbers of the process, its parent, its group and its session. */
void put_other_stat(struct text *to) {
    char text[MOST_BYTES];
    const char *at = text, *end;
    uint64_t field, number;
    read_of_host("/stat", text, sizeof(text));
    for (end = text + strlen(text); end > text && *end != ')'; end--)
        ;
    if (*end != ')')
        return;                  /* it has just ended */
    while (*at && *at != ' ')
        at++;
    put_number(to, (uint64_t)seen_process(shown));
    put_bytes(to, at, (uint64_t)(end - at) + STATE_AFTER_NAME);
    put_bytes(to, (const char[]){shown_state(end[STATE_AFTER_NAME])}, 1);
    at = end + STATE_BYTES;
    for (field = STAT_PARENT; field <= STAT_SESSION && *at == ' '; field++) {
        at++;
        number = take_number(&at);
        put_field(to, " ", field == STAT_PARENT ? seen_parent(shown, (uint32_t)number) : (uint64_t)seen_group((int64_t)number), "");
    }
    put_text(to, at);
}

/* The numbers in status: of the process, twice, and of its parent. */
static void put_status_number(struct text *to, const char *name, uint64_t host, bool is_parent) {
    put_field(to, name, is_parent ? seen_parent(shown, (uint32_t)host) : (uint64_t)seen_process((int64_t)host), "\n");
}

static void put_state_line(struct text *to, const char *line, uint64_t bytes) {
    char host = line[strlen(STATE_LINE)], seen = shown_state(host);
    if (seen == host)
        put_bytes(to, line, bytes);
    else
        put_text(to, seen == 'R' ? STATE_LINE "R (running)\n" : seen == 'S' ? STATE_LINE "S (sleeping)\n" : STATE_LINE "D (disk sleep)\n");
}

static bool is_of_namespaces(const char *line) {
    return begins_with(line, "NSpid:") || begins_with(line, "NStgid:") || begins_with(line, "NSpgid:") || begins_with(line, "NSsid:");
}

/* The host's, with the run's numbers and state. */
void put_other_status(struct text *to) {
    static const char *const numbers[] = {"Tgid:\t", "Pid:\t", "PPid:\t"};
    char text[PAGE];
    const char *at = text, *next;
    uint32_t i;
    read_of_host("/status", text, sizeof(text));
    for (; *at; at = next) {
        next = after_line(at);
        for (i = 0; i < 3 && !begins_with(at, numbers[i]); i++)
            ;
        if (i < 3) {
            at += strlen(numbers[i]);
            put_status_number(to, numbers[i], take_number(&at), i == 2);
        } else if (begins_with(at, STATE_LINE))
            put_state_line(to, at, (uint64_t)(next - at));
        else if (!is_of_namespaces(at))
            put_bytes(to, at, (uint64_t)(next - at));
    }
}

/* What follows the number of another process of the run in a path; NULL: it is in no such directory. */
const char *other_part(const char *path) {
    const char *end;
    uint64_t number, host;
    if (world.flags & HOST_IDS || !begins_with(path, "/proc/"))
        return NULL;
    end = path + 6;
    number = take_number(&end);
    if (end == path + 6 || *end != '/')
        return NULL;
    host = host_of_number(number);
    if (!is_of_run((uint32_t)host) || number_of_host((int64_t)host) != (int64_t)number)
        return NULL;
    shown = (uint32_t)host;
    return end + 1;
}
