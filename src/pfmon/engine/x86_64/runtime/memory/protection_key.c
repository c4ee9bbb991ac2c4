/* What the guest reads but must not write, on hosts with protection keys (pkeys(7)): the code cache, the table of indirect branches,
   the runtime's data, lists and stacks have a key, whose rights to write are taken away while translated code executes. What
   translated code itself writes has none: `state`, buffers of the stream, counters. The runtime checks what it uses of that. */

#include <asm/unistd.h>
#include <linux/elf.h>
#include <linux/mman.h>

#include "runtime.h"

enum { WRITE_DISABLED = 2, RIGHTS_BITS = 2, WRPKRU_BYTES = 3 };

extern const Elf64_Ehdr __ehdr_start __attribute__((visibility("hidden")));
extern uint8_t open_after_code[], open_after_fault[], open_for_signal[], close_for_code[];

uint64_t runtime_stack;
uint32_t guest_rights;           /* PKRU while translated code executes */
static int64_t key = -1;

/* Let the guest read these bytes, and nothing else. */
void keep_from_guest(uint64_t at, uint64_t bytes, int protection) {
    if (key >= 0 && KERNEL4(__NR_pkey_mprotect, at, bytes, protection, key))
        give_up(NO_MEMORY);
}

/* Put wrpkru in the place of a nop. */
static void put_wrpkru(uint8_t *site) {
    static const uint8_t wrpkru[WRPKRU_BYTES] = {0x0F, 0x01, 0xEF};
    uint64_t page = (uint64_t)site & -(uint64_t)PAGE;
    KERNEL3(__NR_mprotect, page, 2 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
    memcpy(site, wrpkru, sizeof(wrpkru));
    KERNEL3(__NR_mprotect, page, 2 * PAGE, PROT_READ | PROT_EXEC);
}

static void keep_data(void) {
    const Elf64_Ehdr *head = &__ehdr_start;
    const Elf64_Phdr *part = (const Elf64_Phdr *)((const uint8_t *)head + head->e_phoff);
    int i;
    for (i = 0; i < head->e_phnum; i++, part++)
        if (part->p_type == PT_LOAD && part->p_flags & PF_W) {
            uint64_t first = (uint64_t)head + part->p_vaddr, start = first & -(uint64_t)PAGE;
            keep_from_guest(start, whole_pages(first + part->p_memsz) - start, PROT_READ | PROT_WRITE);
        }
}

/* The stack with which the kernel began the process, with the program's arguments. */
static void keep_stack(uint64_t stack) {
    const uint64_t *words = (const uint64_t *)stack;
    const char *last = NULL;
    uint64_t i, end;
    for (i = 1; i <= words[0] || words[i]; i++)      /* arguments, and NULL */
        last = words[i] ? (const char *)words[i] : last;
    for (i++; words[i]; i++)                         /* variables */
        last = (const char *)words[i];
    end = whole_pages((uint64_t)last + strlen(last));
    keep_from_guest(stack & -(uint64_t)PAGE, end - (stack & -(uint64_t)PAGE), PROT_READ | PROT_WRITE | PROT_GROWSDOWN);
}

/* At the beginning: `stack` is as the kernel laid it out. */
void key_begin(uint64_t stack) {
    uint8_t *const sites[] = {open_after_code, open_after_fault, open_for_signal, close_for_code};
    uint32_t i;
    key = KERNEL2(__NR_pkey_alloc, 0, 0);
    if (failed(key)) {
        key = -1;
        return;
    }
    for (i = 0; i < sizeof(sites) / sizeof(sites[0]); i++)
        put_wrpkru(sites[i]);
    guest_rights = (uint32_t)WRITE_DISABLED << (RIGHTS_BITS * (uint32_t)key);
    keep_data();
    keep_stack(stack);
}
