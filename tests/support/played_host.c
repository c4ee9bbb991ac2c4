/* The first process of a played host (played_hosts.py): loads the modules of the folder /modules in the order of their
   names, mounts the real host's root, and in it a folder that it may write to, runs the file `commands` of that folder by
   /bin/sh, and powers off.

   Its argument is the folder. What it prints goes to the kernel's console. */

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MODULES "/modules"
#define ROOT "/host"
#define OPTIONS "trans=virtio,version=9p2000.L,msize=1048576"    /* of 9p */

static void check(int result, const char *what) {
    if (result < 0) {
        perror(what);
        reboot(RB_POWER_OFF);
    }
}

static void load_modules(void) {
    struct dirent **names;
    int i, count = scandir(MODULES, &names, NULL, alphasort);
    check(chdir(MODULES), MODULES);
    for (i = 0; i < count; i++)
        if (names[i]->d_name[0] != '.') {
            int file = open(names[i]->d_name, O_RDONLY);
            check((int)syscall(SYS_finit_module, file, "", 0), names[i]->d_name);
            close(file);
        }
}

static void enter_root(void) {
    mkdir(ROOT, 0755);
    check(mount("root", ROOT, "9p", MS_RDONLY, OPTIONS ",cache=loose"), "root");
    check(mount("dev", ROOT "/dev", "devtmpfs", 0, NULL), "devtmpfs");
    mkdir(ROOT "/dev/shm", 01777);
    check(mount("shm", ROOT "/dev/shm", "tmpfs", 0, NULL), "tmpfs");
    check(mount("proc", ROOT "/proc", "proc", 0, NULL), "proc");
    check(mount("sys", ROOT "/sys", "sysfs", 0, NULL), "sysfs");
    check(chroot(ROOT), "chroot");
    check(chdir("/"), "chdir");
}

static void run_commands(const char *folder) {
    char commands[PATH_MAX];
    pid_t child;
    check(mount("folder", folder, "9p", 0, OPTIONS), folder);
    snprintf(commands, sizeof(commands), "%s/commands", folder);
    child = fork();
    check(child, "fork");
    if (!child) {
        setsid();
        execl("/bin/sh", "sh", commands, (char *)NULL);
        _exit(127);
    }
    while (wait(NULL) != child)
        continue;
}

int main(int argc, char **argv) {
    setvbuf(stderr, NULL, _IONBF, 0);
    load_modules();
    enter_root();
    run_commands(argv[argc - 1]);
    sync();
    return reboot(RB_POWER_OFF);
}
