/* Calls with random paths, by a seed, and what each gives: the same after chroot(2) as confined. Working directories are not removed. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static unsigned long long seed;

static unsigned draw(unsigned below) {
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(seed >> 33) % below;
}

/* A path of up to four parts. */
static const char *path(void) {
    static const char *parts[] = {"a", "b", "c", "d", ".", "..", "a", "b"};
    static char texts[4][64];
    static unsigned next;
    char *text = texts[next++ % 4];
    unsigned i, count = 1 + draw(4);
    strcpy(text, draw(2) ? "/" : "");
    for (i = 0; i < count; i++) {
        strcat(text, i ? draw(12) ? "/" : "//" : "");
        strcat(text, parts[draw(8)]);
    }
    strcat(text, draw(10) ? "" : "/");
    return text;
}

static int flags(void) {
    static const int some[] = {O_CREAT, O_EXCL, O_TRUNC, O_DIRECTORY, O_NOFOLLOW, O_PATH, O_CLOEXEC, O_CREAT};
    int all = (int)draw(3) | O_NONBLOCK, i;
    for (i = 0; i < 2; i++)
        if (draw(2))
            all |= some[draw(8)];
    return all;
}

static long act(unsigned what, const char *one, const char *other, int directory, int extra, struct stat *status) {
    switch (what) {
    case 0:
        return syscall(SYS_openat, directory, one, extra, 0600);
    case 1:
        return syscall(SYS_mkdirat, directory, one, 0700);
    case 2:
        return syscall(SYS_unlinkat, directory, one, draw(2) ? AT_REMOVEDIR : 0);
    case 3:
        return syscall(SYS_symlinkat, other, directory, one);
    case 4:
        return syscall(SYS_linkat, AT_FDCWD, other, directory, one, draw(2) ? AT_SYMLINK_FOLLOW : 0);
    case 5:
        return syscall(SYS_renameat2, directory, one, AT_FDCWD, other, draw(3));
    case 6:
        return syscall(SYS_newfstatat, directory, one, status, draw(2) ? AT_SYMLINK_NOFOLLOW : 0);
    case 7:
        return syscall(SYS_faccessat, directory, one, draw(8));
    case 8:
        return syscall(SYS_fchmodat, directory, one, 0700 | draw(64));
    case 9:
        return syscall(SYS_truncate, one, draw(9));
    case 10:
        return syscall(SYS_mknodat, directory, one, draw(2) ? S_IFIFO | 0600 : S_IFREG | 0644, 0);
    case 11:
        return syscall(SYS_chdir, draw(3) ? "/" : draw(2) ? "/kept" : "/kept/more");
    default:
        return syscall(SYS_readlinkat, directory, one, (char[64]){0}, 64);
    }
}

int main(int count, char **words) {
    unsigned i, rounds = (unsigned)atoi(words[2]);
    int kept, more;
    seed = (unsigned long long)atoll(words[1]);
    umask(022);
    mkdir("/kept", 0700);
    mkdir("/kept/more", 0700);
    kept = open("/kept", O_PATH);
    more = open("/kept/more", O_RDONLY);
    for (i = 0; i < rounds; i++) {
        struct stat status = {0};
        unsigned what = draw(13);
        const char *one = path(), *other = path();
        int directory = draw(2) ? AT_FDCWD : draw(2) ? kept : more, extra = flags();
        long result = act(what, one, other, directory, extra, &status);
        printf("%u %d %s %s %o: %s %ld, %o %ld\n", what, directory, one, other, extra,
               result < 0 ? strerrorname_np(errno) : "done", result, status.st_mode, (long)status.st_nlink);
        if (what == 0 && result >= 0)
            close((int)result);
    }
    return 0;
}
