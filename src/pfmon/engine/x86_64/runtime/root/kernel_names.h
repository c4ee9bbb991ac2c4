/* Names that the runtime gives the kernel (kernel_names.S), at an address that every process of the runtime has them at: the filter of
   calls, which a confined process hands on to what it executes, knows them by that. A confined process can give the kernel no others. */

#ifndef PFMON_X86_64_KERNEL_NAMES_H
#define PFMON_X86_64_KERNEL_NAMES_H

#define DESCRIPTORS 1024         /* that have names: a confined process has no more */
#define NAME_BYTES 32            /* of a name's place */

#ifndef __ASSEMBLER__

#include <stddef.h>

#include "memory_map.h"

typedef char kernel_name[NAME_BYTES];

struct kernel_names {
    kernel_name descriptors[DESCRIPTORS];            /* /proc/self/fd/0, and so on */
    kernel_name descriptor_infos[DESCRIPTORS];       /* /proc/self/fdinfo/0, and so on */
    kernel_name maps, null, zero, full, random, urandom;
    kernel_name cwd;
    kernel_name exe;
    kernel_name none;                                /* empty: AT_EMPTY_PATH */
    kernel_name socket_addresses[DESCRIPTORS];       /* struct sockaddr_un: /proc/self/fd/0, and so on */
    kernel_name through, at, into;                   /* struct open_how: through a last link, at it, into a directory */
    kernel_name end;
};

#define KERNEL_NAME(member) ((const char *)NAMES_AT + offsetof(struct kernel_names, member))
#define descriptor_names KERNEL_NAME(descriptors)    /* up to: */
#define opened_names KERNEL_NAME(descriptor_infos)   /* names that are opened, but for descriptors; up to: */
#define linked_names KERNEL_NAME(cwd)                /* links that are read, but for descriptors; up to: */
#define other_names KERNEL_NAME(exe)
#define maps_name KERNEL_NAME(maps)
#define null_name KERNEL_NAME(null)
#define zero_name KERNEL_NAME(zero)
#define full_name KERNEL_NAME(full)
#define random_name KERNEL_NAME(random)
#define urandom_name KERNEL_NAME(urandom)
#define cwd_name KERNEL_NAME(cwd)
#define exe_name KERNEL_NAME(exe)
#define no_name KERNEL_NAME(none)
#define socket_address_names KERNEL_NAME(socket_addresses)       /* up to: */
#define lookups KERNEL_NAME(through)                 /* what openat2 gets; up to: */
#define lookups_end KERNEL_NAME(end)
#define look_through KERNEL_NAME(through)
#define look_at KERNEL_NAME(at)
#define look_into KERNEL_NAME(into)

/* Descriptors below DESCRIPTORS alone. */
static inline const char *descriptor_name(int file) {
    return descriptor_names + file * NAME_BYTES;
}

static inline const char *descriptor_info_name(int file) {
    return opened_names + file * NAME_BYTES;
}

static inline const char *socket_name(int file) {
    return socket_address_names + file * NAME_BYTES;
}

#endif
#endif
