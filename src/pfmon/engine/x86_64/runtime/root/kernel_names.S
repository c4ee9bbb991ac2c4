/* The names that the runtime gives the kernel, as constants: the filter of a confined process takes no other pointer to a name
   from it (call_filter.c). Nobody can write here, nor map anything else here: begin() seals the pages (mseal(2)). */

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
    .balign NAME_BYTES
    .globl \what\()_names
\what\()_names:
    .altmacro
    .set number, 0
    .rept DESCRIPTORS
    \what %number
    .set number, number + 1
    .endr
    .noaltmacro
    .endm

    .macro name label, text
    .balign NAME_BYTES
    .globl \label
\label:
    .asciz "\text"
    .endm

    .macro lookup label, flags   /* struct open_how: RESOLVE_IN_ROOT, RESOLVE_NO_MAGICLINKS */
    .balign NAME_BYTES
    .globl \label
\label:
    .quad \flags, 0, 0x12
    .endm

    .macro mark label
    .balign NAME_BYTES
    .globl \label
\label:
    .endm

    .section .names, "a", @progbits
    .balign 4096
    mark names_begin
    for_descriptors descriptor
    mark opened_names
    for_descriptors descriptor_info
    name maps_name, "/proc/self/maps"
    name null_name, "/dev/null"
    name zero_name, "/dev/zero"
    name full_name, "/dev/full"
    name random_name, "/dev/random"
    name urandom_name, "/dev/urandom"
    mark linked_names
    name cwd_name, "/proc/self/cwd"
    mark other_names
    name exe_name, "/proc/self/exe"
    name no_name, ""
    for_descriptors socket_address
    mark lookups
    lookup look_through, 0x280000            /* O_PATH, O_CLOEXEC */
    lookup look_at, 0x2A0000                 /* and O_NOFOLLOW */
    lookup look_into, 0x290000               /* or O_DIRECTORY */
    mark lookups_end
    .balign 4096
    mark names_end

    .section .note.GNU-stack, "", @progbits
