/* Files of /proc that show or change the memory of processes, the runtime's too: they are not the guest's. `mem` and map_files are
   refused, the others are missing, as in a kernel without CONFIG_PROC_PAGE_MONITOR. */

#include <asm/statfs.h>
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/magic.h>

#include "root/root.h"
#include "runtime.h"
#include "world.h"

static const struct {
    const char *name;
    int64_t error;
} memory_files[] = {
    {"mem", -EACCES}, {"map_files", -EACCES}, {"smaps", -ENOENT}, {"smaps_rollup", -ENOENT}, {"numa_maps", -ENOENT},
    {"pagemap", -ENOENT}, {"clear_refs", -ENOENT},
};

static bool is_in_proc(int file) {
    struct statfs of;
    return KERNEL2(__NR_fstatfs, file, &of) == 0 && of.f_type == PROC_SUPER_MAGIC;
}

static const char *last_part(const char *path) {
    const char *part = path;
    for (; *path; path++)
        if (*path == '/')
            part = path + 1;
    return part;
}

static int64_t error_of(const char *name) {
    uint32_t i;
    for (i = 0; i < sizeof(memory_files) / sizeof(memory_files[0]); i++)
        if (!strcmp(name, memory_files[i].name))
            return memory_files[i].error;
    return 0;
}

/* The result of a call that has opened a file: its descriptor, or an error if it is one of those. */
int64_t without_memory_file(int64_t number, int64_t file) {
    const struct path_call *it = path_call_numbered(number);
    struct text path;
    int64_t error;
    if (failed(file) || !it || it->use != OPENS || !is_in_proc((int)file))
        return file;
    path_of_file((int)file, &path);
    error = error_of(last_part(path.bytes));
    if (!error)
        return file;
    KERNEL1(__NR_close, file);
    return error;
}
