/* Execution of another program by the program: under qemu with the plugin, if it is of the same target.

   In all failing cases, from a missing file to too long arguments, this does nothing, and qemu's own execve reports the
   error. A script's interpreter is found as the kernel finds it. */

#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "follow.h"
#include "parts.h"

enum {
    MAX_SCRIPT_DEPTH = 5,            /* scripts whose interpreters are scripts, at most */
    BINPRM_BYTES = 256,            /* bytes that the kernel reads */
    MAX_ARGUMENT_WORDS = 1 << 20,
    MAX_ARGUMENT_BYTES = 1 << 17,         /* bytes of one argument */
    PAGE = 1 << 12,
    AT_CURRENT = -1              /* the working directory */
};

struct texts {
    char **list;                 /* with a NULL at its end */
    size_t count;
};

static char *command;            /* qemu's own, up to the program */
static size_t command_length;
static char emulator[PATH_MAX], own_program[PATH_MAX];
uint64_t guest_base;             /* added to the program's addresses */

/* ---------------------------------------------------------------- qemu's own command */

static char *read_command(size_t *length) {
    FILE *file = fopen("/proc/self/cmdline", "re");
    char *text = NULL;
    size_t room = 0, got;
    *length = 0;
    if (!file)
        return NULL;
    do {
        char *more = realloc(text, room += PAGE);
        if (!more)
            break;
        text = more;
        *length += got = fread(text + *length, 1, PAGE, file);
    } while (got == PAGE);
    fclose(file);
    return text;
}

/* Called at the beginning, while these files surely have their names. */
void remember_command(void) {
    size_t length, at = 0;
    char *text = read_command(&length);
    ssize_t got = readlink("/proc/self/exe", emulator, sizeof(emulator) - 1);
    if (!text || got < 0)
        return;
    while (at < length && strcmp(text + at, "--"))
        at += strlen(text + at) + 1;
    at += strlen("--") + 1;
    if (at < length && realpath(text + at, own_program)) {
        command = text;
        command_length = at;
    }
}

/* ---------------------------------------------------------------- the program's memory */

bool read_guest(uint64_t address, void *to, size_t bytes) {
    struct iovec here = {to, bytes}, there = {(void *)(uintptr_t)(address + guest_base), bytes};
    return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)bytes;
}

static char *guest_text(uint64_t address) {
    char *text = NULL;
    size_t done = 0, step;
    for (; done < MAX_ARGUMENT_BYTES; done += step) {
        char *more;
        step = PAGE - (address + done) % PAGE;
        more = realloc(text, done + step);
        if (!more || !read_guest(address + done, more + done, step)) {
            free(more ? more : text);
            return NULL;
        }
        text = more;
        if (memchr(text + done, 0, step))
            return text;
    }
    free(text);
    return NULL;
}

static bool guest_pointer(const struct abi *abi, uint64_t address, uint64_t *value) {
    uint8_t bytes[8];
    size_t size = abi->is_64 ? 8 : 4, i;
    if (!read_guest(address, bytes, size))
        return false;
    for (*value = 0, i = 0; i < size; i++)
        *value = *value << 8 | bytes[abi->big ? i : size - 1 - i];
    return true;
}

static bool add(struct texts *texts, char *text) {
    char **more = realloc(texts->list, (texts->count + 2) * sizeof(char *));
    if (!more || !text)
        return false;
    texts->list = more;
    texts->list[texts->count++] = text;
    texts->list[texts->count] = NULL;
    return true;
}

/* A list of the program's strings; none at 0. */
static bool guest_texts(const struct abi *abi, uint64_t address, struct texts *texts) {
    uint64_t text;
    texts->list = calloc(1, sizeof(char *));
    texts->count = 0;
    for (; texts->list && address && texts->count < MAX_ARGUMENT_WORDS; address += abi->is_64 ? 8 : 4) {
        if (!guest_pointer(abi, address, &text))
            return false;
        if (text == 0)
            break;
        if (!add(texts, guest_text(text)))
            return false;
    }
    return texts->list && texts->count < MAX_ARGUMENT_WORDS;
}

static void release(struct texts *texts) {
    size_t i;
    for (i = 0; i < texts->count; i++)
        free(texts->list[i]);
    free(texts->list);
}

/* ---------------------------------------------------------------- the file */

/* The path of the executed file, as this process can open it. */
static char *path_of(int directory, uint64_t address, int flags) {
    char *path = guest_text(address), link[64], mine[64], *full = NULL;
    snprintf(mine, sizeof(mine), "/proc/%d/exe", (int)getpid());
    if (path && (!strcmp(path, "/proc/self/exe") || !strcmp(path, mine)))
        full = strdup(own_program);
    else if (!path || directory == AT_CURRENT || directory == AT_FDCWD || *path == '/')
        return path;
    else {
        snprintf(link, sizeof(link), "/proc/self/fd/%d", directory);
        full = realpath(link, NULL);
        if (full && *path) {
            char *joined = malloc(strlen(full) + strlen(path) + 2);
            if (joined)
                sprintf(joined, "%s/%s", full, path);
            free(full);
            full = joined;
        } else if (!(flags & AT_EMPTY_PATH)) {
            free(full);
            full = NULL;
        }
    }
    free(path);
    return full;
}

/* The first bytes of a file that is executable and readable, and not setuid or setgid. */
static bool read_start(const char *path, char *start) {
    struct stat status;
    ssize_t got;
    int file;
    memset(start, 0, BINPRM_BYTES + 1);
    if (stat(path, &status) || !S_ISREG(status.st_mode) || faccessat(AT_FDCWD, path, X_OK, AT_EACCESS))
        return false;
    if (((status.st_mode & S_ISUID) && status.st_uid != geteuid())
            || ((status.st_mode & S_ISGID) && (status.st_mode & S_IXGRP) && status.st_gid != getegid()))
        return false;
    file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    got = read(file, start, BINPRM_BYTES);
    close(file);
    return got > 2;
}

/* Whether an ELF file is a program of this target. */
static bool is_program(const struct abi *abi, const char *start) {
    const uint8_t *bytes = (const uint8_t *)start;
    int low = abi->big ? 1 : 0;
    uint16_t type = (uint16_t)(bytes[16 + low] | bytes[17 - low] << 8);
    return memcmp(start, ELFMAG, SELFMAG) == 0 && bytes[EI_CLASS] == (abi->is_64 ? ELFCLASS64 : ELFCLASS32)
        && bytes[EI_DATA] == (abi->big ? ELFDATA2MSB : ELFDATA2LSB) && (type == ET_EXEC || type == ET_DYN)
        && (uint16_t)(bytes[18 + low] | bytes[19 - low] << 8) == abi->machine;
}

/* A script's first line: its interpreter, and an argument or NULL. */
static bool interpreter_of(char *start, char **interpreter, char **argument) {
    char *end = strchr(start, '\n'), *rest;
    if (strncmp(start, "#!", 2))
        return false;
    if (end)
        *end = 0;
    for (end = start + strlen(start); end > start && (end[-1] == ' ' || end[-1] == '\t'); end--)
        end[-1] = 0;
    *interpreter = start + 2 + strspn(start + 2, " \t");
    rest = *interpreter + strcspn(*interpreter, " \t");
    *argument = NULL;
    if (*rest) {
        *argument = rest + strspn(rest, " \t");
        *rest = 0;
    }
    return **interpreter != 0;
}

/* Replace a script's name by its interpreter, its argument and its path. */
static bool put_interpreter(struct texts *words, const char *script, const char *interpreter, const char *argument) {
    struct texts made = {NULL, 0};
    size_t i;
    bool good = add(&made, strdup(interpreter)) && (!argument || add(&made, strdup(argument)))
        && add(&made, strdup(script));
    for (i = 1; good && i < words->count; i++)
        good = add(&made, strdup(words->list[i]));
    if (!good) {
        release(&made);
        return false;
    }
    release(words);
    *words = made;
    return true;
}

/* The program that executes a file, through the interpreters of scripts; NULL: none that can be followed. */
static char *program_of(const struct abi *abi, char *path, struct texts *words) {
    char start[BINPRM_BYTES + 1], *interpreter, *argument;
    int i;
    for (i = 0; i <= MAX_SCRIPT_DEPTH && read_start(path, start); i++) {
        if (is_program(abi, start))
            return path;
        if (!interpreter_of(start, &interpreter, &argument)
                || !put_interpreter(words, path, interpreter, argument))
            break;
        free(path);
        path = strdup(interpreter);
    }
    free(path);
    return NULL;
}

/* ---------------------------------------------------------------- executing */

/* A variable for the program's dynamic linker, not qemu's own. qemu splits values at commas. */
static bool is_for_the_linker(const char *variable) {
    return strncmp(variable, "LD_", 3) == 0 && !strchr(variable, ',');
}

/* Turn the variables for the program's dynamic linker into options of qemu; returns the number of words. */
static size_t put_options(struct texts *variables, char **all) {
    size_t i, count = 0, kept = 0;
    for (i = 0; i < variables->count; i++)
        if (is_for_the_linker(variables->list[i])) {
            all[count++] = "-E";
            all[count++] = variables->list[i];
        } else
            variables->list[kept++] = variables->list[i];
    variables->count = kept;
    variables->list[kept] = NULL;
    return count;
}

/* qemu's command: this process's one, with another program and other variables. */
static char **command_for(char *path, const struct texts *words, struct texts *variables) {
    size_t at, count = 0, given = words->count, i;
    char **all, *before = "";
    for (at = 0; at < command_length; at += strlen(command + at) + 1)
        count++;
    all = calloc(count + given + 2 * variables->count + 2, sizeof(char *));
    if (!all)
        return NULL;
    for (at = 0, count = 0; at < command_length; at += strlen(command + at) + 1) {
        if (!strcmp(command + at, "--"))
            count += put_options(variables, all + count);
        if (strcmp(command + at, "-E") && strcmp(before, "-E"))
            all[count++] = strcmp(before, "-0") ? command + at : given ? words->list[0] : path;
        before = command + at;
    }
    all[count++] = path;
    for (i = 1; i < given; i++)
        all[count++] = words->list[i];
    return all;
}

/* For a qemu that reverses the order of the environment. */
static void turn(struct texts *texts) {
    size_t i;
    for (i = 0; i < texts->count / 2; i++) {
        char *other = texts->list[texts->count - 1 - i];
        texts->list[texts->count - 1 - i] = texts->list[i];
        texts->list[i] = other;
    }
}

/* Execute a program under qemu. Returns when that is impossible. */
void execute(const struct abi *abi, int directory, uint64_t path, uint64_t arguments, uint64_t environment, int flags) {
    struct texts words = {NULL, 0}, variables = {NULL, 0};
    char *program = command ? path_of(directory, path, flags) : NULL, **all = NULL;
    if (program)
        snprintf(area->executed, sizeof(area->executed), "%s", program);
    if (program && guest_texts(abi, arguments, &words) && guest_texts(abi, environment, &variables)
            && (program = program_of(abi, program, &words)) && (all = command_for(program, &words, &variables))) {
        if (reverses_environment())
            turn(&variables);
        area->executing = EXECUTES_FOLLOWED;
        execve(emulator, all, variables.list);
        area->executing = EXECUTES_NATIVELY;
    }
    free(all);
    free(program);
    release(&words);
    release(&variables);
}
