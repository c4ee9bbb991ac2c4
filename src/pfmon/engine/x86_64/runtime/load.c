/* Loads the program and its interpreter, and lays out the initial stack (System V ABI for AMD64, 3.4.1). */

#include <asm/unistd.h>
#include <linux/auxvec.h>
#include <linux/elf.h>
#include <linux/fcntl.h>
#include <linux/mman.h>
#include <linux/prctl.h>
#include <linux/resource.h>

#include "runtime.h"
#include "world/world.h"

enum {
    MAX_SEGMENTS = 64,
    SIGNAL_BYTES = 1216,         /* of a signal's frame without the state of vectors, and room to align both */
    STACK_BEGINNING = 1 << 17    /* bytes that Linux maps below the arguments (setup_arg_pages) */
};

struct loaded {
    uint64_t bias, entry, headers, end;
    uint16_t count;
    bool moved;                  /* position-independent */
    bool executable_stack;
};

const char *program_path;
static const char *executed_path;
struct program_stack program_stack;

static int open_file(const char *path, int opened) {
    int64_t file = opened != NO_FILE ? opened : KERNEL3(__NR_open, path, O_RDONLY | O_CLOEXEC, 0);
    if (failed(file))
        give_up(CANNOT_LOAD);
    return (int)file;
}

static void read_at(int file, void *to, uint64_t bytes, uint64_t offset) {
    if (KERNEL4(__NR_pread64, file, to, bytes, offset) != (int64_t)bytes)
        give_up(CANNOT_LOAD);
}

static int protection_of(uint32_t flags) {
    return (flags & PF_R ? PROT_READ : 0) | (flags & PF_W ? PROT_WRITE : 0) | (flags & PF_X ? PROT_EXEC : 0);
}

/* Map one segment: the file's part, then zeros. */
static void map_segment(int file, const struct elf64_phdr *it, uint64_t bias) {
    uint64_t start = (bias + it->p_vaddr) & -(uint64_t)PAGE, file_end = bias + it->p_vaddr + it->p_filesz;
    uint64_t end = bias + it->p_vaddr + it->p_memsz, mapped = whole_pages(file_end);
    int protection = protection_of(it->p_flags);
    if (it->p_filesz) {
        int64_t place = KERNEL6(__NR_mmap, start, mapped - start, protection, MAP_PRIVATE | MAP_FIXED, file,
                                it->p_offset & -(uint64_t)PAGE);
        if (failed(place))
            give_up(CANNOT_LOAD);
    } else
        mapped = start;
    if (it->p_memsz > it->p_filesz && protection & PROT_WRITE && mapped > file_end)
        memset((void *)file_end, 0, mapped - file_end);
    if (whole_pages(end) > mapped
        && failed(KERNEL6(__NR_mmap, mapped, whole_pages(end) - mapped, protection,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0)))
        give_up(NO_MEMORY);
    add_mapping(start, whole_pages(end) - start, protection);
}

static void reserve_room(uint64_t at, uint64_t bytes) {
    if (is_own(at, bytes) || KERNEL6(__NR_mmap, at, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0)
                                 != (int64_t)at)
        give_up(CANNOT_LOAD);
}

/* Load an ELF file; `at`: where one that is position-independent goes. */
static void load_file(const char *path, int opened, uint64_t at, struct loaded *it) {
    static struct elf64_phdr headers[MAX_SEGMENTS];
    struct elf64_hdr head;
    int file = open_file(path, opened), i;
    uint64_t first = ~(uint64_t)0, end = 0;
    read_at(file, &head, sizeof(head), 0);
    if (head.e_phnum > MAX_SEGMENTS || head.e_machine != EM_X86_64)
        give_up(CANNOT_LOAD);
    read_at(file, headers, head.e_phnum * sizeof(headers[0]), head.e_phoff);
    for (i = 0; i < head.e_phnum; i++) {
        if (headers[i].p_type == PT_LOAD && headers[i].p_vaddr < first)
            first = headers[i].p_vaddr & -(uint64_t)PAGE;
        if (headers[i].p_type == PT_LOAD && headers[i].p_vaddr + headers[i].p_memsz > end)
            end = headers[i].p_vaddr + headers[i].p_memsz;
    }
    it->moved = head.e_type == ET_DYN;
    reserve_room(it->moved ? at : first, whole_pages(end) - first);
    it->bias = it->moved ? at - first : 0;
    it->headers = 0;
    it->executable_stack = false;
    for (i = 0; i < head.e_phnum; i++)
        if (headers[i].p_type == PT_GNU_STACK)
            it->executable_stack = headers[i].p_flags & PF_X;
        else if (headers[i].p_type == PT_LOAD) {
            map_segment(file, &headers[i], it->bias);
            if (headers[i].p_offset <= head.e_phoff && head.e_phoff < headers[i].p_offset + headers[i].p_filesz)
                it->headers = it->bias + headers[i].p_vaddr + head.e_phoff - headers[i].p_offset;
        }
    it->entry = it->bias + head.e_entry;
    it->count = head.e_phnum;
    it->end = it->bias + end;
    KERNEL1(__NR_close, file);
}

/* ---------------------------------------------------------------- the stack */

static uint64_t push_bytes(uint64_t *sp, const void *bytes, uint64_t size) {
    *sp -= size;
    memcpy((void *)*sp, bytes, size);
    return *sp;
}

static uint64_t count_of(char **texts) {
    uint64_t count = 0;
    while (texts[count])
        count++;
    return count;
}

static void push_texts(uint64_t *sp, char **texts, uint64_t count, uint64_t *places) {
    while (count--)
        places[count] = push_bytes(sp, texts[count], strlen(texts[count]) + 1);
}

/* The stack grows to the process's limit. */
static void map_stack(uint64_t begun, uint64_t most, bool executable) {
    int protection = PROT_READ | PROT_WRITE | (executable ? PROT_EXEC : 0);
    uint64_t bytes = whole_pages(begun) + STACK_BEGINNING, limits[2];
    KERNEL4(__NR_prlimit64, 0, RLIMIT_STACK, 0, limits);
    limits[0] = most < limits[1] ? most : limits[1];
    KERNEL4(__NR_prlimit64, 0, RLIMIT_STACK, limits, 0);
    if (failed(KERNEL6(__NR_mmap, GUEST_STACK_END - bytes, bytes, protection,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN | MAP_FIXED_NOREPLACE, -1, 0)))
        give_up(NO_MEMORY);
    add_mapping(GUEST_HIGH_END, GUEST_STACK_END - GUEST_HIGH_END, protection);
}

static uint64_t bytes_of_texts(char **texts) {
    uint64_t bytes = 0;
    for (; *texts; texts++)
        bytes += strlen(*texts) + 1 + sizeof(uint64_t);
    return bytes;
}

static uint64_t make_stack(char **arguments, char **environment, uint64_t bytes, struct loaded *program,
                           const struct loaded *interpreter) {
    uint64_t argument_count = count_of(arguments), variable_count = count_of(environment), i = 0, registers[4] = {1};
    uint64_t *words = reserve((argument_count + variable_count + 64) * sizeof(uint64_t)), sp = GUEST_STACK_END;
    uint64_t random[2], at_random, at_path, at_platform, *argument_at, *variable_at;
    map_stack(bytes_of_texts(arguments) + bytes_of_texts(environment), bytes, program->executable_stack);
    random[0] = next_random(&world.seed);
    random[1] = next_random(&world.seed);
    sp -= 16;
    at_path = push_bytes(&sp, executed_path, strlen(executed_path) + 1);
    argument_at = reserve((argument_count + variable_count + 1) * sizeof(uint64_t));
    variable_at = argument_at + argument_count;
    program_stack.end = sp;
    push_texts(&sp, environment, variable_count, variable_at);
    program_stack.environment = sp;
    push_texts(&sp, arguments, argument_count, argument_at);
    program_stack.arguments = sp;
    at_platform = push_bytes(&sp, "x86_64", 7);
    at_random = push_bytes(&sp, random, sizeof(random));
    emulate_cpuid(registers);
    words[i++] = argument_count;
    memcpy(words + i, argument_at, argument_count * 8), i += argument_count + 1;
    memcpy(words + i, variable_at, variable_count * 8), i += variable_count + 1;
    {
        const uint64_t auxiliary[][2] = {
            {AT_HWCAP, registers[RDX]}, {AT_PAGESZ, PAGE}, {AT_CLKTCK, 100}, {AT_PHDR, program->headers},
            {AT_PHENT, sizeof(struct elf64_phdr)}, {AT_PHNUM, program->count}, {AT_BASE, interpreter ? interpreter->bias : 0},
            {AT_FLAGS, 0}, {AT_ENTRY, program->entry}, {AT_UID, user_id()}, {AT_EUID, user_id()}, {AT_GID, group_id()},
            {AT_EGID, group_id()}, {AT_SECURE, 0}, {AT_RANDOM, at_random}, {AT_HWCAP2, 0}, {AT_EXECFN, at_path},
            {AT_PLATFORM, at_platform}, {AT_MINSIGSTKSZ, xstate_bytes + SIGNAL_BYTES}, {AT_NULL, 0},
        };
        memcpy(words + i, auxiliary, sizeof(auxiliary));
        program_stack.auxiliary = words + i;
        program_stack.auxiliary_bytes = sizeof(auxiliary);
        i += sizeof(auxiliary) / 8;
    }
    sp = (sp - i * 8) & -(uint64_t)16;
    memcpy((void *)sp, words, i * 8);
    return sp;
}

static const char *base_name(const char *path) {
    const char *name = path;
    for (; *path; path++)
        if (*path == '/')
            name = path + 1;
    return name;
}

/* Load the program; returns where it begins. */
uint64_t load_program(const struct places *places, char **arguments, char **environment, uint64_t stack_bytes) {
    static struct loaded program, interpreter;
    bool interpreted = *places->interpreter;
    program_path = places->program;
    executed_path = places->executed;
    KERNEL2(__NR_prctl, PR_SET_NAME, base_name(executed_path));
    load_file(places->program, places->program_file, places->program_at, &program);
    set_break(program.moved ? GUEST_BREAK : program.end);
    if (interpreted) {
        load_file(places->interpreter, places->interpreter_file, places->interpreter_at, &interpreter);
        map_below(places->interpreter_at);
    }
    state->registers[RSP] = make_stack(arguments, environment, whole_pages(stack_bytes), &program,
                                       interpreted ? &interpreter : NULL);
    state->flags = 0x202;
    return interpreted ? interpreter.entry : program.entry;
}
