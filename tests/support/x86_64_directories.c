/* Reads the directory of its argument in all ways, and removes what is in it; prints what does not depend on the order. */

#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROOM = 700 };            /* at least three names of 200 bytes */

struct old {
    unsigned long inode, place;
    unsigned short length;
    char name[];
};

static long list(int file, void *to, unsigned long room, long call) {
    return syscall(call, file, to, room);
}

static int count(DIR *folder) {
    int found = 0;
    while (readdir(folder))
        found++;
    return found;
}

/* Entries from here to the end, a few at a time. */
static int count_rest(int file, long call) {
    char bytes[ROOM];
    long length, at;
    int found = 0;
    while ((length = list(file, bytes, ROOM, call)) > 0)
        for (at = 0; at < length; at += ((struct old *)(bytes + at))->length)
            found++;
    return found;
}

static void positions(const char *path) {
    DIR *folder = opendir(path);
    char name[256];
    long place;
    int first;
    readdir(folder);
    place = telldir(folder);
    strcpy(name, readdir(folder)->d_name);
    first = 2 + count(folder);
    seekdir(folder, place);
    printf("same after seekdir %d\n", !strcmp(readdir(folder)->d_name, name));
    rewinddir(folder);
    printf("%d entries, as many again %d\n", first, count(folder) == first);
    closedir(folder);
}

/* Copies of a descriptor, and a child, go on where the other one was. */
static void copies(const char *path) {
    int file = open(path, O_RDONLY | O_DIRECTORY), copy = dup(file), other = open(path, O_RDONLY | O_DIRECTORY), status;
    char bytes[ROOM];
    int all = count_rest(other, SYS_getdents64);
    list(file, bytes, 80, SYS_getdents64);
    close(file);
    if (fork() == 0) {
        list(copy, bytes, 24, SYS_getdents64);
        _exit(0);
    }
    wait(&status);
    printf("old layout %d\n", count_rest(copy, SYS_getdents) > all - 6);
    lseek(copy, 0, SEEK_SET);
    printf("again %d\n", count_rest(copy, SYS_getdents64) == all);
    close(copy);
    close(other);
}

static void kinds(const char *path) {
    DIR *folder = opendir(path);
    struct dirent *entry;
    int folders = 0, files = 0, right = 0;
    while ((entry = readdir(folder))) {
        folders += entry->d_type == DT_DIR;
        files += entry->d_type == DT_REG;
        right += entry->d_name[0] != '.' && entry->d_ino != 0;
    }
    printf("%d folders, %d files, %d with numbers\n", folders, files, right);
    closedir(folder);
}

static void errors(const char *path) {
    int file = open(path, O_RDONLY | O_DIRECTORY), source = open("/proc/self/exe", O_RDONLY), ends[2];
    char bytes[ROOM];
    pipe(ends);
    printf("small %d", list(file, bytes, 10, SYS_getdents64) < 0 ? errno : 0);
    printf(", no directory %d", list(source, bytes, ROOM, SYS_getdents64) < 0 ? errno : 0);
    printf(", pipe %d", list(ends[0], bytes, ROOM, SYS_getdents64) < 0 ? errno : 0);
    printf(", closed %d", list(99, bytes, ROOM, SYS_getdents64) < 0 ? errno : 0);
    printf(", no memory %d\n", list(file, (void *)8, ROOM, SYS_getdents64) < 0 ? errno : 0);
}

static void remove_all(const char *path) {
    DIR *folder = opendir(path);
    struct dirent *entry;
    int removed = 0;
    chdir(path);
    while ((entry = readdir(folder)))
        removed += entry->d_name[0] != '.' && unlink(entry->d_name) == 0;
    rewinddir(folder);
    printf("removed %d, then %d\n", removed, count(folder));
}

int main(int words, char **word) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    positions(word[1]);
    copies(word[1]);
    kinds(word[1]);
    errors(word[1]);
    remove_all(word[1]);
    return 0;
}
