/* Names that the runtime gives the kernel (kernel_names.S). A confined process can give it no others. */

#ifndef PFMON_X86_64_KERNEL_NAMES_H
#define PFMON_X86_64_KERNEL_NAMES_H

#define DESCRIPTORS 1024         /* that have names: a confined process has no more */
#define NAME_BYTES 32            /* of a name's place */

#ifndef __ASSEMBLER__

extern const char names_begin[], names_end[];        /* whole pages */
extern const char descriptor_names[];    /* /proc/self/fd/0, and so on; up to: */
extern const char opened_names[];        /* names that are opened, but for descriptors; up to: */
extern const char descriptor_info_names[];           /* /proc/self/fdinfo/0, and so on */
extern const char maps_name[], null_name[], zero_name[], full_name[], random_name[], urandom_name[];
extern const char linked_names[];        /* links that are read, but for descriptors; up to: */
extern const char cwd_name[];
extern const char other_names[], exe_name[];
extern const char no_name[];             /* empty: AT_EMPTY_PATH */
extern const char socket_address_names[];            /* addresses of UNIX sockets: /proc/self/fd/0, and so on; up to: */
extern const char lookups[], lookups_end[];          /* what openat2 gets */
extern const char look_through[], look_at[], look_into[];    /* struct open_how: through a last link, at it, into a directory */

/* Descriptors below DESCRIPTORS alone. */
static inline const char *descriptor_name(int file) {
    return descriptor_names + file * NAME_BYTES;
}

static inline const char *descriptor_info_name(int file) {
    return descriptor_info_names + file * NAME_BYTES;
}

static inline const char *socket_name(int file) {
    return socket_address_names + file * NAME_BYTES;
}

#endif
#endif
