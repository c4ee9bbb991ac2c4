/* The guest's root, --sysroot: a directory of the host. What is below it is found there first; of a confined guest nothing else
   is found (docs/programs.md). */

#ifndef PFMON_X86_64_ROOT_H
#define PFMON_X86_64_ROOT_H

#include "kernel_names.h"
#include "world/text.h"

enum {
    ROOT_FILE = DESCRIPTORS - 1, /* of a confined guest: the descriptor of the root, which it cannot close */
    NO_DIRECTORY = -1
};

struct root {
    const char *directory;       /* without links; empty: the host's root. It ends with no slash */
    uint64_t length;
    bool confined;
};

extern struct root root;

/* sysroot.c */
void root_begin(const char *directory, bool confined);
bool is_below_root(const char *path);
void show_in_root(struct text *path);
bool host_name(const char *path, bool follow, struct text *to);
bool root_call(int64_t number, const uint64_t *a, int64_t *result);

/* held_files.c: files of a confined guest, by their names; errors are negative */
int64_t take_name(uint64_t from, struct text *to);
int64_t look_for(int directory, const char *path, bool follow);
int64_t look_above(int directory, const char *path, struct text *last);
int64_t hold(int64_t file);
void let_go(int64_t file);
void close_held(void);
void forget_held(void);
int64_t whole_name(int directory, const char *path, struct text *to);
int descriptor_in(const char *path);
const char *device_name(const char *path);

/* path_calls.c: system calls with paths */
struct path_call {               /* the arguments' numbers */
    int16_t number;
    int8_t directory, path;
    int8_t link;                 /* LINK_..., or the argument with flags */
    uint8_t use;
    int8_t second_directory, second_path;        /* of calls with two */
};

enum { LINK_FOLLOWED = -1, LINK_ITSELF = -2 };   /* a last link */

enum path_use {                  /* what a call does with what its path names */
    OPENS, LOOKS, READS_LINK, ENTERS, ASKS_SYSTEM, CUTS, SETS_MODE, SETS_OWNER, SETS_TIMES, HAS_ATTRIBUTES, WATCHES,
    EXECUTES, MAKES_DIRECTORY, MAKES_NODE, MAKES_LINK, REMOVES, JOINS, MOVES, ADMINISTERS, NAMES_HANDLE, IS_NEW
};

const struct path_call *path_call_numbered(int64_t number);
bool follows_link(const struct path_call *it, const uint64_t *a);

/* confined_calls.c, confined_open.c, socket_names.c */
bool confined_call(const struct path_call *it, int64_t *number, uint64_t *a, int64_t *result);
int64_t open_confined(int directory, uint64_t path, uint64_t flags, uint64_t mode);
bool guard_root(int64_t number, const uint64_t *a, int64_t *result);
bool socket_call(int64_t number, uint64_t *a, int64_t *result);

/* confinement.c, call_filter.c */
void begin_names(void);
void open_root(void);
int open_interpreter(const char *path);
void confine(bool with_network);
bool filter_calls(bool with_network);
void name_own_process(int64_t number, uint64_t *a);

/* executed_programs.c */
void execution_begin(char **arguments);
bool is_executed_by_runtime(void);
int64_t open_schedule(void);
int64_t execute_translated(int64_t number, const uint64_t *a);
int64_t execute_natively(int64_t number, const uint64_t *a);

#endif
