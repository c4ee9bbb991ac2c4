/* Switches of the runtime's C stacks. */

#include "state.h"

    .text
    /* void switch_stacks(uint64_t *from, uint64_t to): goes on where the other stack was left. */
    .globl switch_stacks
switch_stacks:
    push %rbx
    push %rbp
    push %r12
    push %r13
    push %r14
    push %r15
    mov %rsp, (%rdi)
    mov %rsi, %rsp
    pop %r15
    pop %r14
    pop %r13
    pop %r12
    pop %rbp
    pop %rbx
    ret

    /* Where a new thread begins: its registers are in `state`, and state->target is its first instruction. */
    .globl first_of_thread
first_of_thread:
    mov %rsp, runtime_stack(%rip)
    call begin_thread
    jmp resume

    .section .note.GNU-stack, "", @progbits
