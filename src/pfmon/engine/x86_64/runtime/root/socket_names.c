/* Names of UNIX sockets in the guest's root. */

#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/fcntl.h>

#include "root.h"
#include "runtime.h"

enum { UNIX_FAMILY = 1, FAMILY_BYTES = 2, NAME_ROOM = 108, ADDRESS_BYTES = FAMILY_BYTES + NAME_ROOM };

struct address {                 /* struct sockaddr_un, and a zero behind it */
    uint16_t family;
    char name[NAME_ROOM + 1];
};

struct message {                 /* the beginning of struct msghdr (recvmsg(2)); with a sender's address in memory of the guest */
    uint64_t address;
    uint32_t address_bytes;
    uint64_t rest[5];
};

/* The name of a UNIX socket in an address of the guest's; false: it is another address. */
static bool take_address(uint64_t at, uint64_t bytes, struct address *to) {
    memset(to, 0, sizeof(*to));
    if (bytes <= FAMILY_BYTES || bytes > ADDRESS_BYTES || !are_readable(at, bytes))
        return false;
    memcpy(to, (const void *)at, bytes);
    return to->family == UNIX_FAMILY;
}

/* The length of a name as an address; an error if it has no room. */
static int64_t put_address(const char *name, struct address *to) {
    uint64_t length = strlen(name);
    if (length >= NAME_ROOM)
        return -ENAMETOOLONG;
    to->family = UNIX_FAMILY;
    memcpy(to->name, name, length + 1);
    return (int64_t)(FAMILY_BYTES + length + 1);
}

/* ---------------------------------------------------------------- without --confine */

/* The address of the file below the root, if there is one. */
static bool find_address(uint64_t *at, uint64_t *bytes, bool follow, struct address *room) {
    static struct text found;
    int64_t length;
    if (!take_address(*at, *bytes, room) || !host_name(room->name, follow, &found))
        return false;
    length = put_address(found.bytes, room);
    if (failed(length))
        return false;
    *at = (uint64_t)room;
    *bytes = (uint64_t)length;
    return true;
}

static void find_addresses(int64_t number, uint64_t *a) {
    static struct address room;
    static struct message message;
    uint64_t bytes;
    if (number == __NR_bind || number == __NR_connect)
        find_address(&a[1], &a[2], number == __NR_connect, &room);
    else if (number == __NR_sendto)
        find_address(&a[4], &a[5], true, &room);
    else if (number == __NR_sendmsg && are_readable(a[1], sizeof(message))) {
        memcpy(&message, (const void *)a[1], sizeof(message));
        bytes = message.address_bytes;
        if (message.address && find_address(&message.address, &bytes, true, &room)) {
            message.address_bytes = (uint32_t)bytes;
            a[1] = (uint64_t)&message;
        }
    }
}

/* ---------------------------------------------------------------- confined guests */

/* A name in a directory, by the descriptor of that. */
static int64_t bind_confined(uint64_t socket, struct address *it) {
    static struct text last, name, number;
    int64_t above = look_above(AT_FDCWD, it->name, &last), length;
    if (failed(above))
        return above;
    begin_text(&name, NO_FILE);
    put_text(&name, name_of_descriptor((int)above, &number));
    put_text(&name, "/");
    put_text(&name, last.bytes);
    length = put_address(name.bytes, it);
    return failed(length) ? length : pass_on(__NR_bind, (const uint64_t[6]){socket, (uint64_t)it, (uint64_t)length});
}

static int64_t connect_confined(uint64_t socket, const struct address *it) {
    int64_t file;
    if (!it->name[0])
        return -ECONNREFUSED;    /* a name without a path is of a socket outside */
    file = look_for(AT_FDCWD, it->name, true);
    if (failed(file))
        return file;
    return pass_on(__NR_connect, (const uint64_t[6]){socket, (uint64_t)socket_name((int)file),
                                                     FAMILY_BYTES + strlen(descriptor_name((int)file)) + 1});
}

static bool confined_socket_call(int64_t number, const uint64_t *a, int64_t *result) {
    struct address it;
    if ((number != __NR_bind && number != __NR_connect) || !take_address(a[1], a[2], &it))
        return false;
    if (number == __NR_bind && !it.name[0])
        return false;            /* without a path */
    *result = number == __NR_bind ? bind_confined(a[0], &it) : connect_confined(a[0], &it);
    return true;
}

bool socket_call(int64_t number, uint64_t *a, int64_t *result) {
    if (root.confined)
        return confined_socket_call(number, a, result);
    if (root.length)
        find_addresses(number, a);
    return false;
}
