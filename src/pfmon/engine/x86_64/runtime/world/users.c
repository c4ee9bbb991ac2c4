/* The guest's user and group, which own its files. */

#include <asm/stat.h>
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/stat.h>

#include "runtime.h"
#include "world.h"

enum { USER_ID = 1000, UNCHANGED = -1 };

static uint32_t host_user, host_user_group;

void users_begin(void) {
    host_user = (uint32_t)KERNEL0(__NR_getuid);
    host_user_group = (uint32_t)KERNEL0(__NR_getgid);
}

uint32_t user_id(void) {
    return world.flags & HOST_IDS ? host_user : USER_ID;
}

uint32_t group_id(void) {
    return world.flags & HOST_IDS ? host_user_group : USER_ID;
}

static int64_t write_three(const uint64_t *a, uint32_t number) {
    int i;
    for (i = 0; i < 3; i++)
        if (write_number(a[i], number))
            return -EFAULT;
    return 0;
}

/* The process is in its own group only. */
static int64_t get_groups(int32_t room, uint64_t to) {
    if (room < 0)
        return -EINVAL;
    return room && write_number(to, USER_ID) ? -EFAULT : 1;
}

/* Setting an id succeeds without a change only. */
static int64_t become(const uint64_t *a, int count) {
    while (count--)
        if ((int32_t)a[count] != USER_ID && (int32_t)a[count] != UNCHANGED)
            return -EPERM;
    return 0;
}

/* ---------------------------------------------------------------- owners of files */

/* A user of the host, as the guest sees it. */
uint32_t seen_user(uint32_t user) {
    return user == host_user ? user_id() : user;
}

static uint32_t seen_user_group(uint32_t group) {
    return group == host_user_group ? group_id() : group;
}

static uint64_t host_owner(uint64_t user, uint32_t own) {
    return (uint32_t)user == USER_ID ? own : user;
}

static int64_t show_status(int64_t result, uint64_t at) {
    struct stat *it = (struct stat *)at;
    if (result == 0) {
        it->st_uid = seen_user(it->st_uid);
        it->st_gid = seen_user_group(it->st_gid);
        fix_status(it);
    }
    return result;
}

static int64_t show_extended_status(int64_t result, uint64_t at) {
    struct statx *it = (struct statx *)at;
    if (result == 0) {
        it->stx_uid = seen_user(it->stx_uid);
        it->stx_gid = seen_user_group(it->stx_gid);
        fix_extended_status(it);
    }
    return result;
}

/* chown and its like; `at`: the argument that is the user. */
static int64_t change_owner(int64_t number, const uint64_t *a, int at) {
    uint64_t own[6];
    memcpy(own, a, sizeof(own));
    own[at] = host_owner(a[at], host_user);
    own[at + 1] = host_owner(a[at + 1], host_user_group);
    return pass_on(number, own);
}

/* ---------------------------------------------------------------- system calls */

bool status_call(int64_t number, const uint64_t *a, int64_t *result) {
    switch (number) {
    case __NR_stat: case __NR_lstat: case __NR_fstat:
        *result = show_status(pass_on(number, a), a[1]);
        return true;
    case __NR_newfstatat:
        *result = show_status(pass_on(number, a), a[2]);
        return true;
    case __NR_statx:
        *result = show_extended_status(pass_on(number, a), a[4]);
        return true;
    default:
        return false;
    }
}

/* While the host's numbers are not shown. */
bool user_call(int64_t number, const uint64_t *a, int64_t *result) {
    switch (number) {
    case __NR_getuid: case __NR_geteuid: case __NR_getgid: case __NR_getegid:
        *result = USER_ID;
        return true;
    case __NR_getresuid: case __NR_getresgid:
        *result = write_three(a, USER_ID);
        return true;
    case __NR_getgroups:
        *result = get_groups((int32_t)a[0], a[1]);
        return true;
    case __NR_setuid: case __NR_setgid:
        *result = (int32_t)a[0] == UNCHANGED ? -EINVAL : become(a, 1);
        return true;
    case __NR_setreuid: case __NR_setregid:
        *result = become(a, 2);
        return true;
    case __NR_setresuid: case __NR_setresgid:
        *result = become(a, 3);
        return true;
    case __NR_setfsuid: case __NR_setfsgid:
        *result = USER_ID;
        return true;
    case __NR_setgroups:
        *result = -EPERM;
        return true;
    case __NR_chown: case __NR_lchown: case __NR_fchown:
        *result = change_owner(number, a, 1);
        return true;
    case __NR_fchownat:
        *result = change_owner(number, a, 2);
        return true;
    default:
        return false;
    }
}
