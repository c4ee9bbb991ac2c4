/* The plugin that qemu loads: writes retired blocks as words of the stream (docs/dev/stream.md, docs/dev/engines.md).

   qemu executes translation blocks, and calls the plugin before each. A block that begins need not retire whole: an
   instruction in it may fault. So its word is written when the next block begins. Translated code adds to `progress`
   whenever it has passed an instruction that may fault; if the sum is not that of whole blocks, the word is that of the
   part which retired. */

#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "follow.h"
#include "parts.h"
#include "qemu_plugin.h"

static struct thread *first;     /* the program's first thread */
static const struct target *target;
static bool threaded;             /* code translated now may be executed by several threads */
static bool anew;                 /* so may all existing translations: older ones are gone */
static bool flushed;              /* qemu has flushed all translations before */

/* ---------------------------------------------------------------- what qemu calls */

static void begin(struct thread *thread, const struct announcement *block) {
    thread->before = thread->progress;
    area->retired += block->instructions;
    thread->last = block;
}

/* The bit of the last block's word for its taken branch. Branch-free: the host would often mispredict. */
static uint64_t taken(const struct announcement *last, uint64_t next_ip) {
    return last->taken & -(uint64_t)(next_ip != last->next_ip);
}

/* A block begins, and more than the last one's word may have to be written. */
static __attribute__((noinline)) void on_rare_block(struct thread *thread, const struct announcement *block) {
    if (!finish_last_block(thread, block->ip))
        return;
    put_block(thread, thread->last, taken(thread->last, block->ip));
    if (thread->last->tail == REPEATED)
        forget_accesses(thread);
    begin(thread, block);
}

/* A block begins in a program of one thread. */
static void on_block(unsigned int cpu, void *own) {
    const struct announcement *block = own, *last = first->last;
    uint64_t count = area->count;
    (void)cpu;
    if (__builtin_expect((first->progress - first->before != last->whole) | (count >= FULL), 0)) {
        on_rare_block(first, block);
        return;
    }
    words[count] = last->number | taken(last, block->ip);
    area->count = count + 1;
    begin(first, block);
}

/* The same with addresses of accesses. */
static void on_traced_block(unsigned int cpu, void *own) {
    const struct announcement *block = own, *last = first->last;
    uint64_t count = area->count, *to;
    uint32_t i;
    (void)cpu;
    if (__builtin_expect((first->progress - first->before != last->whole) | (count >= FULL), 0)) {
        on_rare_block(first, block);
        return;
    }
    to = words + count;
    to[0] = last->number | taken(last, block->ip);
    for (i = 0; i < last->slots; i++) {
        to[1 + i] = first->slots[i];
        first->slots[i] = 0;
    }
    area->count = count + 1 + last->slots;
    begin(first, block);
}

/* The same in a program of several threads. Translated code cannot add per thread itself, so it calls. */
static void on_block_of_thread(unsigned int cpu, void *own) {
    enter();
    on_rare_block(&area->threads[cpu], own);
    leave();
}

static void on_marker(unsigned int cpu, void *own) {
    area->threads[cpu].progress += (uintptr_t)own;
}

static void on_counted_access(unsigned int cpu, uint32_t what, uint64_t address, void *own) {
    (void)what, (void)address, (void)own;
    area->threads[cpu].progress += ACCESS;
}

static void on_syscall(plugin_id id, unsigned int cpu, int64_t number, uint64_t a1, uint64_t a2, uint64_t a3,
                       uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8) {
    struct thread *thread = &area->threads[cpu];
    const struct announcement *last = thread->last;
    const uint64_t arguments[] = {a1, a2, a3, a4, a5, a6};
    (void)id, (void)a7, (void)a8;
    enter();
    put_block(thread, last, 0);
    thread->last = &area->nothing;
    put_mark(MARK_SYSTEM_CALL, last->parts ? (last->instructions - 1) % MAX_BLOCK_LENGTH : NO_INSTRUCTION,
             (uint64_t)number);
    area->executing = executing_of(number);
    keep_status(number, a1);
    before_map_call(cpu, number, arguments);
    if (following)
        before_call(number, arguments);
    leave();
}

static void on_syscall_return(plugin_id id, unsigned int cpu, int64_t number, int64_t result) {
    (void)id;
    area->executing = NOT_EXECUTING;
    if (is_map_call(number)) {
        enter();
        after_map_call(cpu, result);
        leave();
    }
    if (following)
        after_call(number);
}

static void take_part(plugin_id id);

/* All translations are gone, and with them the plugin's callbacks. */
static void on_reset(plugin_id id) {
    anew = true;
    take_part(id);
}

/* A thread begins. qemu translates everything anew for a program's second thread, but not at once. */
static void on_thread(plugin_id id, unsigned int cpu) {
    static uint32_t created;
    (void)id;
    if (cpu >= MAX_GUEST_THREADS)
        give_up(TOO_MANY_THREADS);
    thread_numbers[cpu] = __atomic_fetch_add(&created, 1, __ATOMIC_RELAXED) % THREAD_NUMBERS;
    area->threads[cpu].last = &area->nothing;
    forget_accesses(&area->threads[cpu]);
    if (cpu > 0 && !threaded && flushed)
        qemu_plugin_reset(id, on_reset);
    threaded |= cpu > 0;
    threads = cpu >= threads ? cpu + 1 : threads;
}

/* qemu has flushed all translations: with a second thread, because they must now serve several; with one, because the
   program shares memory with others, after which a new thread causes no further flush, or because the translation
   buffer was full. */
static void on_flush(plugin_id id) {
    (void)id;
    flushed = true;
    anew |= threaded;
}

static void mark(struct qemu_plugin_insn *instruction, uint64_t passed) {
    if (threaded)
        qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_marker, NO_REGISTERS, (void *)(uintptr_t)passed);
    else
        add_at_instruction(instruction, &first->progress, passed);
}

/* qemu 7 uses a thread's last list of access callbacks even after freeing it with all translations, and calls and
   returns through registers leave such lists behind. So code that a second thread may execute before the flush has no
   such list: accesses there count as made. */
static bool leaves_no_list(void) {
    return threaded ? !anew : flushed;
}

static void mark_accesses(struct qemu_plugin_insn *instruction, uint8_t accesses) {
    if (leaves_no_list())
        mark(instruction, accesses * ACCESS);
    else if (threaded)
        qemu_plugin_register_vcpu_mem_cb(instruction, on_counted_access, NO_REGISTERS, READS | WRITES, NULL);
    else
        add_at_access(instruction, &first->progress, ACCESS);
}

/* Instructions of a block, without one that qemu gave up because it crosses the page (x86_length.c). */
static uint32_t length_of(const struct qemu_plugin_tb *tb) {
    uint32_t length = (uint32_t)qemu_plugin_tb_n_insns(tb);
    uint8_t end[MAX_INSTRUCTION_BYTES];
    size_t size;
    if (length < 2)
        return length;
    size = copy_bytes(qemu_plugin_tb_get_insn(tb, length - 1), end);
    return length - !target->is_whole(end, size);
}

/* Translated code adds to `progress` before the instruction after each that may fault: the sum is the number of the
   first instruction not known to have retired. */
static void on_translate(plugin_id id, struct qemu_plugin_tb *tb) {
    static struct code_block wanted;
    uint32_t length = length_of(tb), i, count = 0, marked = 0, marks = 0, slot = 0, gathered = 0;
    struct code code = {false, false, CERTAIN, 0, 0, false};
    bool totals = area->totals && !threaded;
    (void)id;
    if (length == 0)
        return;
    if (length > MAX_TRANSLATED_INSTRUCTIONS)
        give_up(AREA_FULL);
    if (!guest_base)
        guest_base = (uint64_t)(uintptr_t)qemu_plugin_insn_haddr(qemu_plugin_tb_get_insn(tb, 0))
                     - qemu_plugin_tb_vaddr(tb);
    enter();
    for (i = 0; i < length; i++) {
        struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(tb, i);
        size_t size;
        if (code.may_fault) {    /* the previous one */
            if (!totals)
                mark(instruction, i - marked);
            marked = i;
            marks++;
        }
        size = copy_bytes(instruction, wanted.bytes + count);
        code = target->code(wanted.bytes + count, size);
        gathered += code.elements ? code.slots : 0;
        if (code.elements && gathered > MAX_GATHER_SLOTS) {
            code.elements = false;                  /* the block has no room: the address of its first element */
            code.slots = 1;
        }
        wanted.sizes[i] = (uint8_t)(size | (code.may_fault ? MAY_FAULT : 0) | slots_code(&code) << SLOTS_SHIFT);
        count += (uint32_t)size;
        if (area->traced && code.slots)
            trace(instruction, &code, i == length - 1, slot, threaded);
        slot += code.slots;
        if (!totals && i == length - 1 && code.tail == COUNTED && code.accesses > 0)
            mark_accesses(instruction, code.accesses);
    }
    wanted.ip = qemu_plugin_tb_vaddr(tb);
    wanted.length = length;
    wanted.cut = CUT_WHOLE;
    wanted.file = mapped_at(wanted.ip);
    wanted.end = code;
    wanted.whole = marked + (code.tail == COUNTED ? code.accesses * ACCESS : 0)
        + (code.tail == SUCCESSOR || code.tail == REPEATED || length > MAX_BLOCK_LENGTH ? LOOK : 0);
    wanted.counters = totals ? counters_for(marks) : 0;
    if (totals) {
        count_block(tb, block_of(&wanted), &wanted, leaves_no_list());
        leave();
        return;
    }
    qemu_plugin_register_vcpu_tb_exec_cb(tb, threaded ? on_block_of_thread : area->traced ? on_traced_block : on_block,
                                         NO_REGISTERS, block_of(&wanted));
    leave();
}

/* ---------------------------------------------------------------- setting up */

static ssize_t keep_message(void *own, const char *text, size_t size) {
    size_t room = MAX_MESSAGE_BYTES - area->message_length, taken = size < room ? size : room;
    (void)own;
    memcpy(area->message + area->message_length, text, taken);
    area->message_length += (uint32_t)taken;
    return (ssize_t)size;
}

/* The plugin's callbacks. */
static void take_part(plugin_id id) {
    qemu_plugin_register_vcpu_init_cb(id, on_thread);
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
    qemu_plugin_register_flush_cb(id, on_flush);
    qemu_plugin_register_vcpu_syscall_cb(id, on_syscall);
    qemu_plugin_register_vcpu_syscall_ret_cb(id, on_syscall_return);
}

EXPORTED int qemu_plugin_install(plugin_id id, const struct plugin_info *info, int argc, char **argv) {
    static cookie_io_functions_t keeping = {NULL, keep_message, NULL, NULL};
    struct files files = {-1, -1};
    char name[64] = "";
    int what = 0, i;
    FILE *messages;
    for (i = 0; i < argc; i++)
        if (sscanf(argv[i], "ring=%d", &files.ring) + sscanf(argv[i], "area=%d", &files.area)
                + sscanf(argv[i], "reader=%63s", name)
                + sscanf(argv[i], "follow=%d", &what) < 0)
            continue;
    know_interface(info->version);
    target = target_of(info->target);
    if (!target || !know_target(info->target))
        return -1;
    if (*name) {
        files = follow_start(name, what);
        remember_command();
    }
    ring = map_file(files.ring, sizeof(struct ring));
    area_bytes = bytes_of(files.area);
    area = area_bytes < MIN_AREA_BYTES ? NULL : map_file(files.area, area_bytes);
    if (!ring || !area || !watch_the_end(files.area) || memcmp(ring->magic, "pfmonrng", 8))
        return -1;
    close(files.ring);
    close(files.area);
    words = ring->buffers[0].words;
    area->base = area;
    first = &area->threads[0];
    first->last = &area->nothing;
    forget_accesses(first);
    area->nothing.whole = LOOK;
    pthread_atfork(before_child, NULL, in_child);
    messages = fopencookie(NULL, "w", keeping);
    if (messages) {
        setvbuf(messages, NULL, _IONBF, 0);
        stderr = messages;       /* separates qemu's messages from the program's */
    }
    take_part(id);
    return 0;
}
