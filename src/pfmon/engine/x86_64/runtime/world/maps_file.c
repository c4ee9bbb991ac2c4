/* /proc/PID/maps: the guest's mappings, without the runtime's and without the host's numbers of devices and files. */

#include <asm/unistd.h>
#include <linux/fcntl.h>

#include "proc_files.h"
#include "root/root.h"

enum { MAX_LINE = 512, NAME_AT = 73 };

struct mapping {
    uint64_t start, end;
    const char *rights, *offset, *name;      /* parts of its line */
};

/* Take a line of the host's maps apart; false: it is the runtime's. */
static bool take_mapping(char *line, struct mapping *it) {
    const char *at = line;
    it->start = take_hexadecimal(&at);
    at++;
    it->end = take_hexadecimal(&at);
    it->rights = ++at;
    it->offset = at + 5;
    it->name = it->offset;
    while (*it->name && *it->name != '/' && *it->name != '[')
        it->name++;
    return !is_own(it->start, PAGE);
}

/* Do something for each of the guest's mappings. */
static void for_mappings(void (*what)(const struct mapping *, void *), void *with) {
    static char line[MAX_LINE + TEXT_ROOM];
    static char piece[TEXT_ROOM];
    int64_t file = KERNEL3(__NR_open, maps_name, O_RDONLY | O_CLOEXEC, 0), bytes, i;
    uint32_t length = 0;
    struct mapping it;
    if (failed(file))
        return;
    while ((bytes = KERNEL3(__NR_read, file, piece, sizeof(piece))) > 0)
        for (i = 0; i < bytes; i++) {
            if (piece[i] != '\n') {
                if (length < sizeof(line) - 1)
                    line[length++] = piece[i];
                continue;
            }
            line[length] = 0;
            length = 0;
            if (take_mapping(line, &it))
                what(&it, with);
        }
    KERNEL1(__NR_close, file);
}

/* A line without the host's numbers of devices and files. */
static void put_mapping(const struct mapping *it, void *with) {
    struct text *to = with, line;
    const char *name = it->name;
    if (!*name && it->start <= heap_end() && it->end >= heap_start())
        name = "[heap]";
    else if (it->end == GUEST_STACK_END)
        name = "[stack]";
    begin_text(&line, NO_FILE);
    put_digits(&line, it->start, 16, 8);
    put_text(&line, "-");
    put_digits(&line, it->end, 16, 8);
    put_text(&line, " ");
    put_bytes(&line, it->rights, 4);
    put_text(&line, " ");
    put_bytes(&line, it->offset, length_of_word(it->offset));
    put_text(&line, " 00:00 0 ");
    while (*name && line.length < NAME_AT)
        put_text(&line, " ");
    put_bytes(to, line.bytes, line.length);
    put_text(to, root.length && is_below_root(name) && name[root.length] ? name + root.length : name);
    put_text(to, "\n");
}

void put_mappings(struct text *to) {
    release_all_code();          /* whose pages are not writable else */
    for_mappings(put_mapping, to);
}

static void add_bytes(const struct mapping *it, void *with) {
    *(uint64_t *)with += it->end - it->start;
}

uint64_t memory_bytes(void) {
    uint64_t bytes = 0;
    for_mappings(add_bytes, &bytes);
    return bytes;
}
