/* Ways between translated code and the runtime. Registers are in `state` at an absolute address, which any code reaches
   without a register. Each instruction has that of the first slide, and is in a list, by which image.c corrects it. */

#include "state.h"

#define S(offset) FIRST_STATE + offset
/* Behind an instruction whose address is followed by so many bytes. */
#define LISTED(behind) \
8:  .pushsection .low_addresses, "a"; \
    .long 8b - 4 - behind - .; \
    .popsection
#define ALIGNMENT_CHECK 0x40000
#define ALWAYS_SET 2
#define SAVE(number, register) mov register, S(STATE_SAVED + 8 * number); LISTED(0)
#define LOAD(number, register) mov S(STATE_SAVED + 8 * number), register; LISTED(0)

/* Those of the guest's that C does not expect: direction, and AC, with which the runtime's own accesses would have to be aligned. */
#define CLEAR_FLAGS \
    cld; \
    testl $ALIGNMENT_CHECK, S(STATE_FLAGS); \
    LISTED(4); \
    jz 9f; \
    pushq $ALWAYS_SET; \
    popfq; \
9:

/* wrpkru, where the host has protection keys (protection_key.c): eax becomes the rights. */
#define SET_RIGHTS(label) \
    mov $0, %ecx; \
    mov $0, %edx; \
    .globl label; \
label: \
    .byte 0x0F, 0x1F, 0x00
#define OPEN(label) \
    mov $0, %eax; \
    SET_RIGHTS(label)

    .section .low_addresses, "a"
    .globl low_addresses
low_addresses:

    .text
    .globl _start
_start:
    xor %ebp, %ebp
    mov %rsp, %rbx
    and $-16, %rsp
    call move_image                  /* by so many bytes */
    lea begin(%rip), %rdx
    add %rax, %rdx
    mov %rbx, %rdi
    lea __ehdr_start(%rip), %rsi
    call *%rdx
    ud2

    /* Translated code ends at an exit: S(STATE_EXIT) has its number. */
    .globl on_exit
on_exit:
    SAVE(0, %rax)
    SAVE(1, %rcx)
    SAVE(2, %rdx)
    SAVE(3, %rbx)
    SAVE(4, %rsp)
    SAVE(5, %rbp)
    SAVE(6, %rsi)
    SAVE(7, %rdi)
    SAVE(8, %r8)
    SAVE(9, %r9)
    SAVE(10, %r10)
    SAVE(11, %r11)
    SAVE(12, %r12)
    SAVE(13, %r13)
    SAVE(14, %r14)
    SAVE(15, %r15)
    OPEN(open_after_code)
    mov runtime_stack(%rip), %rsp
    pushfq
    popq S(STATE_FLAGS); LISTED(0)
    CLEAR_FLAGS
    call leave_code
    jmp resume

    /* An indirect branch whose target is not in the table: S(STATE_TARGET) has its address. */
    .globl on_miss
on_miss:
    movq $0, S(STATE_EXIT); LISTED(4)
    jmp on_exit

    /* After a fault: the signal handler has filled `state`. */
    .globl on_fault
on_fault:
    OPEN(open_after_fault)
    mov runtime_stack(%rip), %rsp
    CLEAR_FLAGS
    call continue_after_fault
    jmp resume

    /* Begin the first block. */
    .globl enter_code
enter_code:
    mov %rsp, runtime_stack(%rip)
    .globl resume
resume:
    mov runtime_stack(%rip), %rsp
    pushq S(STATE_FLAGS); LISTED(0)
    mov guest_rights(%rip), %eax
    SET_RIGHTS(close_for_code)
    cmp guest_rights(%rip), %eax     /* who jumped to wrpkru has other ones */
    jne 1f
    popfq
    LOAD(0, %rax)
    LOAD(1, %rcx)
    LOAD(2, %rdx)
    LOAD(3, %rbx)
    LOAD(5, %rbp)
    LOAD(6, %rsi)
    LOAD(7, %rdi)
    LOAD(8, %r8)
    LOAD(9, %r9)
    LOAD(10, %r10)
    LOAD(11, %r11)
    LOAD(12, %r12)
    LOAD(13, %r13)
    LOAD(14, %r14)
    LOAD(15, %r15)
    LOAD(4, %rsp)
    jmp *S(STATE_NEXT); LISTED(0)
1:  ud2

    /* int64_t guarded_call(const uint64_t *arguments): a system call, or -EINTR at once when signals wait. A signal
       that arrives between the test and `syscall` moves the return address to `interrupted` (host_signals.c). */
    .globl guarded_call
guarded_call:
    push %rbx
    mov %rdi, %rbx
    mov (%rbx), %rax
    mov 8(%rbx), %rdi
    mov 16(%rbx), %rsi
    mov 24(%rbx), %rdx
    mov 32(%rbx), %r10
    mov 40(%rbx), %r8
    mov 48(%rbx), %r9
    .globl guarded_begin
guarded_begin:
    cmpq $0, S(STATE_PENDING); LISTED(1)
    jne interrupted
    .globl guarded_syscall
guarded_syscall:
    syscall
    pop %rbx
    ret
    .globl interrupted
interrupted:
    mov $-4, %rax
    pop %rbx
    ret

    /* int64_t clone_sharing(flags, stack, parent_id, child_id, tls): clone; the child goes on in its parent's memory, on the
       stack. */
    .globl clone_sharing
clone_sharing:
    mov %rcx, %r10
    mov $56, %eax
    syscall
    test %rax, %rax
    jz 1f
    ret
1:  mov %rsp, runtime_stack(%rip)
    call begin_child
    jmp resume

    /* Handlers of all signals: the kernel takes away all rights when it delivers one. */
    .globl enter_handler
enter_handler:
    pushq $ALWAYS_SET
    popfq
    mov %rdx, %r8
    OPEN(open_for_signal)
    mov %r8, %rdx
    jmp handle_signal

    .globl return_from_signal
return_from_signal:
    mov $15, %eax
    syscall

    .section .low_addresses, "a"
    .globl low_addresses_end
low_addresses_end:

    .section .note.GNU-stack, "", @progbits
