/* struct kernel_names, as begin_names() puts it at NAMES_AT: the filter of a confined process takes no other pointer to a name from
   it (call_filter.c). */

#include "kernel_names.h"

    .macro descriptor number
    .balign NAME_BYTES
    .asciz "/proc/self/fd/\number"
    .endm

    .macro descriptor_info number
    .balign NAME_BYTES
    .asciz "/proc/self/fdinfo/\number"
    .endm

    .macro socket_address number /* struct sockaddr_un, AF_UNIX */
    .balign NAME_BYTES
    .short 1
    .asciz "/proc/self/fd/\number"
    .endm

    .macro for_descriptors what
    .altmacro
    .set number, 0
    .rept DESCRIPTORS
    \what %number
    .set number, number + 1
    .endr
    .noaltmacro
    .endm

    .macro name text
    .balign NAME_BYTES
    .asciz "\text"
    .endm

    .macro lookup flags          /* struct open_how: RESOLVE_IN_ROOT, RESOLVE_NO_MAGICLINKS */
    .balign NAME_BYTES
    .quad \flags, 0, 0x12
    .endm

    .section .names, "a", @progbits
    .balign NAME_BYTES
    .globl first_names
first_names:
    for_descriptors descriptor
    for_descriptors descriptor_info
    name "/proc/self/maps"
    name "/dev/null"
    name "/dev/zero"
    name "/dev/full"
    name "/dev/random"
    name "/dev/urandom"
    name "/proc/self/cwd"
    name "/proc/self/exe"
    name ""
    for_descriptors socket_address
    lookup 0x280000              /* O_PATH, O_CLOEXEC */
    lookup 0x2A0000              /* and O_NOFOLLOW */
    lookup 0x290000              /* or O_DIRECTORY */
    .balign NAME_BYTES
    .globl first_names_end
first_names_end:

    .section .note.GNU-stack, "", @progbits
