/* The kernel holds a confined guest, whatever code it gets to execute: Landlock keeps it to the files below the root (their
   contents, what is made, moved and removed), the filter of system calls to names that lead nowhere else (call_filter.c). */

#include <asm/unistd.h>
#include <linux/capability.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/landlock.h>
#include <linux/mman.h>
#include <linux/openat2.h>
#include <linux/prctl.h>
#include <linux/resource.h>

#include "root.h"
#include "runtime.h"

enum { NR_MSEAL = 462, ALL_RIGHTS = 16 };

/* Since ABI 6; older headers lack them. */
struct ruleset {
    uint64_t files, network, scopes;
};

enum { SCOPE_ABSTRACT_SOCKETS = 1, SCOPE_SIGNALS = 2, IOCTL_DEVICES = 1 << 15 };

static const uint64_t READS = LANDLOCK_ACCESS_FS_READ_FILE, WRITES = LANDLOCK_ACCESS_FS_WRITE_FILE | 1 << 14 /* truncate */;
static const uint64_t NOT_BELOW_ROOT =
    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK | IOCTL_DEVICES;

extern const char first_names[] __attribute__((visibility("hidden"))), first_names_end[] __attribute__((visibility("hidden")));

/* Nobody changes the names that the filter knows, nor maps anything else there: a process that executes this program anew may have the
   filter already. */
void begin_names(void) {
    const uint64_t bytes = offsetof(struct kernel_names, end), pages = whole_pages(bytes);
    int64_t place = KERNEL6(__NR_mmap, NAMES_AT, pages, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    int64_t sealed;
    if (place != (int64_t)NAMES_AT || (uint64_t)(first_names_end - first_names) != bytes)
        KERNEL1(__NR_exit_group, 127);
    memcpy((char *)NAMES_AT, first_names, bytes);
    sealed = KERNEL3(__NR_mprotect, NAMES_AT, pages, PROT_READ) ? -1 : KERNEL3(NR_MSEAL, NAMES_AT, pages, 0);
    if (sealed && sealed != -ENOSYS)
        KERNEL1(__NR_exit_group, 127);
}

static void check(int64_t result) {
    if (failed(result))
        give_up(CANNOT_CONFINE);
}

static void allow(int64_t rules, const char *path, uint64_t rights) {
    struct landlock_path_beneath_attr it = {.allowed_access = rights};
    int64_t file = KERNEL3(__NR_open, path, O_PATH | O_CLOEXEC, 0);
    if (failed(file))
        return;
    it.parent_fd = (int)file;
    check(KERNEL4(__NR_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &it, 0));
    KERNEL1(__NR_close, file);
}

static void restrict_files(void) {
    const uint64_t all = ((uint64_t)1 << ALL_RIGHTS) - 1;
    struct ruleset wanted = {.files = all, .scopes = SCOPE_ABSTRACT_SOCKETS | SCOPE_SIGNALS};
    int64_t rules = KERNEL3(__NR_landlock_create_ruleset, &wanted, sizeof(wanted), 0);
    check(rules);
    allow(rules, descriptor_name(ROOT_FILE), all & ~NOT_BELOW_ROOT);
    allow(rules, exe_name, READS | LANDLOCK_ACCESS_FS_EXECUTE);      /* this program, which executes others */
    allow(rules, "/proc", READS);                                    /* the filter leaves maps and fdinfo of that */
    allow(rules, null_name, READS | WRITES);
    allow(rules, zero_name, READS | WRITES);
    allow(rules, full_name, READS | WRITES);
    allow(rules, random_name, READS | WRITES);
    allow(rules, urandom_name, READS | WRITES);
    check(KERNEL2(__NR_landlock_restrict_self, rules, 0));
    KERNEL1(__NR_close, rules);
}

/* The root gets its descriptor; there are as many others as have names. */
void open_root(void) {
    uint64_t limits[2] = {DESCRIPTORS, DESCRIPTORS};
    int64_t file = KERNEL3(__NR_open, root.length ? root.directory : "/", O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
    check(file);
    check(KERNEL4(__NR_prlimit64, 0, RLIMIT_NOFILE, limits, 0));
    check(KERNEL3(__NR_dup3, file, ROOT_FILE, 0));
    KERNEL1(__NR_close, file);
}

/* The interpreter of the program, by its name on the host, is below the root whatever is renamed meanwhile. */
int open_interpreter(const char *path) {
    const struct open_how how = {.flags = O_RDONLY | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
    int64_t file;
    if (!is_below_root(path))
        give_up(CANNOT_CONFINE);
    file = KERNEL4(__NR_openat2, ROOT_FILE, path + root.length, &how, sizeof(how));
    check(file);
    return (int)file;
}

static void enter_root(void) {
    static struct text path;
    int64_t length = KERNEL3(__NR_readlink, cwd_name, path.bytes, TEXT_ROOM - 1);
    check(length);
    path.bytes[length] = 0;
    if (!is_below_root(path.bytes))
        check(KERNEL1(__NR_fchdir, ROOT_FILE));
}

/* Of root's rights, those to its files, its processes and its ids: file systems have calls of their own for others (ioctl(2)). */
static void drop_rights(void) {
    static const uint32_t kept = 1 << CAP_CHOWN | 1 << CAP_DAC_OVERRIDE | 1 << CAP_FOWNER | 1 << CAP_FSETID | 1 << CAP_KILL
        | 1 << CAP_SETGID | 1 << CAP_SETUID;
    struct __user_cap_header_struct version = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct rights[2];
    int i;
    check(KERNEL2(__NR_capget, &version, rights));
    for (i = 0; i < 2; i++) {
        rights[i].effective &= i ? 0 : kept;
        rights[i].permitted &= i ? 0 : kept;
        rights[i].inheritable = 0;
    }
    check(KERNEL2(__NR_capset, &version, rights));
}

/* Before the guest begins, and after all that the runtime opens by other names. */
void confine(bool with_network) {
    enter_root();
    check(KERNEL6(__NR_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0));
    drop_rights();
    restrict_files();
    if (!filter_calls(with_network))
        give_up(CANNOT_CONFINE);
}
