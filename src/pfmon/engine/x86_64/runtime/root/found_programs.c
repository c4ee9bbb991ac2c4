/* What a path executes: a program and its interpreter, which the first line of a script may name. */

#include <asm/stat.h>
#include <asm/unistd.h>
#include <linux/elf.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/stat.h>

#include "executed_programs.h"
#include "root.h"
#include "runtime.h"
#include "world/world.h"

enum { OPENING = O_RDONLY | O_NONBLOCK | O_CLOEXEC, MAY_EXECUTE = 1, HEAD_BYTES = 256 };

struct program executed;

static struct text script_words[MOST_SCRIPTS][2];

static int64_t open_named(int directory, const char *path, bool follow) {
    static struct text host;
    int64_t file;
    if (root.confined) {
        file = look_for(directory, path, follow);
        return failed(file) ? file : KERNEL3(__NR_open, descriptor_name((int)file), OPENING, 0);
    }
    return KERNEL4(__NR_openat, directory, host_name(path, true, &host) ? host.bytes : path,
                   OPENING | (follow ? 0 : O_NOFOLLOW), 0);
}

/* Whether a program gives the process another user's or group's rights. */
static bool gives_rights(const struct stat *status) {
    return (status->st_mode & S_ISUID && status->st_uid != (uint32_t)KERNEL0(__NR_geteuid))
        || ((status->st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) && status->st_gid != (uint32_t)KERNEL0(__NR_getegid));
}

/* A descriptor of a file that may be executed; NATIVE: the host executes it. */
static int64_t open_executable(int directory, const char *path, bool follow) {
    struct stat status;
    static struct text room;
    int64_t file = hold(*path ? open_named(directory, path, follow)
                              : KERNEL3(__NR_open, name_of_descriptor(directory, &room), OPENING, 0)), result;
    if (failed(file))
        return file == -ENXIO ? -EACCES : file;
    result = KERNEL2(__NR_fstat, file, &status);
    if (result == 0 && (status.st_mode & S_IFMT) != S_IFREG)
        result = -EACCES;
    if (result == 0)
        result = KERNEL4(__NR_faccessat2, file, no_name, MAY_EXECUTE, AT_EMPTY_PATH | AT_EACCESS);
    if (result == 0 && !root.length && gives_rights(&status))
        result = NATIVE;
    return result ? result : file;
}

/* ---------------------------------------------------------------- scripts */

static bool is_separator(char it) {
    return it == ' ' || it == '\t';
}

/* Copy a word, or with `whole` the rest of the line; returns where it ends. */
static const char *take_word(const char *at, bool whole, struct text *to) {
    const char *end;
    while (is_separator(*at))
        at++;
    for (end = at; *end && *end != '\n' && (whole || !is_separator(*end));)
        end++;
    begin_text(to, NO_FILE);
    put_bytes(to, at, (uint64_t)(end - at));
    while (to->length && is_separator(to->bytes[to->length - 1]))
        to->bytes[--to->length] = 0;
    return end;
}

static void put_word_before(const char *word) {
    executed.words[--executed.first_word] = word;
}

/* Take a script's interpreter and its argument from its first line; the former is executed. */
static int64_t take_script(const char *head, int script) {
    struct text *interpreter = &script_words[script][0], *argument = &script_words[script][1];
    static struct text names[MOST_SCRIPTS];
    take_word(take_word(head + 2, false, interpreter), true, argument);
    if (!interpreter->length)
        return -ENOEXEC;
    memcpy(&names[script], &executed.name, sizeof(names[script]));
    if (script)
        executed.first_word++;   /* the interpreter's own name gives way to its interpreter's */
    put_word_before(names[script].bytes);
    if (argument->length)
        put_word_before(argument->bytes);
    put_word_before(interpreter->bytes);
    memcpy(&executed.name, interpreter, sizeof(executed.name));
    return 0;
}

/* ---------------------------------------------------------------- ELF files */

static bool is_program(const struct elf64_hdr *head) {
    return !memcmp(head->e_ident, ELFMAG, SELFMAG) && head->e_ident[EI_CLASS] == ELFCLASS64 && head->e_machine == EM_X86_64
        && (head->e_type == ET_EXEC || head->e_type == ET_DYN) && head->e_phentsize == sizeof(struct elf64_phdr);
}

static bool read_header(int64_t file, const struct elf64_hdr *head, uint32_t i, struct elf64_phdr *to) {
    return KERNEL4(__NR_pread64, file, to, sizeof(*to), head->e_phoff + i * sizeof(*to)) == sizeof(*to);
}

/* Where an interpreter goes that ends where files are mapped downwards from. */
static int64_t place_interpreter(int64_t file) {
    struct elf64_hdr head;
    struct elf64_phdr it;
    uint64_t first = ~(uint64_t)0, end = 0;
    uint32_t i;
    if (KERNEL4(__NR_pread64, file, &head, sizeof(head), 0) != sizeof(head) || !is_program(&head))
        return -ELIBBAD;
    for (i = 0; i < head.e_phnum && read_header(file, &head, i, &it); i++)
        if (it.p_type == PT_LOAD) {
            first = it.p_vaddr < first ? it.p_vaddr & -(uint64_t)PAGE : first;
            end = it.p_vaddr + it.p_memsz > end ? it.p_vaddr + it.p_memsz : end;
        }
    if (!end || end - first > GUEST_LOW_END - GUEST_PIE)
        return -ELIBBAD;
    executed.interpreter_at = GUEST_LOW_END - (whole_pages(end) - first);
    return 0;
}

/* Open the interpreter that a program names. */
static int64_t take_interpreter(const struct elf64_hdr *head) {
    static struct text name;
    struct elf64_phdr it;
    uint32_t i;
    executed.interpreter_file = -1;
    for (i = 0; i < head->e_phnum && read_header(executed.file, head, i, &it); i++) {
        if (it.p_type != PT_INTERP)
            continue;
        begin_text(&name, NO_FILE);
        if (!it.p_filesz || it.p_filesz >= TEXT_ROOM
            || KERNEL4(__NR_pread64, executed.file, name.bytes, it.p_filesz, it.p_offset) != (int64_t)it.p_filesz)
            return -ENOEXEC;
        name.bytes[it.p_filesz] = 0;
        executed.interpreter_file = open_executable(AT_FDCWD, name.bytes, true);
        if (failed(executed.interpreter_file) || executed.interpreter_file == NATIVE)
            return executed.interpreter_file;
        path_of_file((int)executed.interpreter_file, &executed.interpreter);
        return place_interpreter(executed.interpreter_file);
    }
    return 0;
}

/* Find what is to be executed. NATIVE: a program of another kind. */
int64_t find_program(int directory, bool follow) {
    static char head[HEAD_BYTES + 1];
    int64_t bytes, result;
    int script;
    executed.first_word = MOST_WORDS;
    for (script = 0;; script++) {
        executed.file = open_executable(directory, executed.name.bytes, follow);
        if (failed(executed.file) || executed.file == NATIVE)
            return executed.file;
        bytes = KERNEL4(__NR_pread64, executed.file, head, HEAD_BYTES, 0);
        if (failed(bytes))
            return bytes;
        head[bytes] = 0;
        path_of_file((int)executed.file, &executed.host);
        if (bytes < 2 || head[0] != '#' || head[1] != '!')
            break;
        if (script == MOST_SCRIPTS)
            return -ELOOP;
        result = take_script(head, script);
        if (result)
            return result;
        directory = AT_FDCWD;
        follow = true;
    }
    if (bytes < (int64_t)sizeof(struct elf64_hdr) || !is_program((const struct elf64_hdr *)head))
        return root.confined ? -ENOEXEC : NATIVE;
    return take_interpreter((const struct elf64_hdr *)head);
}
