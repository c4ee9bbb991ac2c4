/* The arguments of the runtime: numbers and texts in this order, then the program's environment and its arguments, from argv[0]
   on (x86_64_guest.py). */

#ifndef PFMON_X86_64_ARGUMENTS_H
#define PFMON_X86_64_ARGUMENTS_H

enum argument {
    RING_FILE = 1, AREA_FILE, SEED, STACK_BYTES, MOST_INSTRUCTIONS, WORLD_FLAGS, EPOCH, BOOT, RELEASE, PROCESSOR,
    PROGRAM_AT, INTERPRETER_AT, INTERPRETER, PROGRAM, EXECUTED,
    ROOT_DIRECTORY,              /* root/root.h */
    ELAPSED, FIRST_PROCESS, FIRST_GROUP, FIRST_SESSION,      /* of a program that a guest executes (executed_programs.c): */
    PROGRAM_FILE, INTERPRETER_FILE,                          /* nanoseconds, the host's numbers, descriptors */
    ALARM_LEFT, ALARM_INTERVAL,  /* nanoseconds of ITIMER_REAL, which a counted program keeps */
    PYTHON_VERSION, PYTHON_BEGIN, PYTHON_END,        /* 311; addresses of its evaluation loop. 0: no Python functions are wanted */
    READER_NAME, FOLLOWING,      /* of a socket, empty: nothing is followed (tasks/following.h); FOLLOW_... */
    SCHEDULE_OWNER, SCHEDULE_FILE,   /* process and descriptor of pfmon's, as in 12/34, empty: there is none; a descriptor of it */
    QUANTUM, SCHEDULE_SEED,      /* instructions of a thread's turn (threads/schedule.c) */
    PMU_SIGNATURE, PMU_COUNTERS, PMU_LACKS, PMU_FIXED_COUNTERS, PMU_FILES,   /* performance/pmu.c */
    VARIABLES, ARGUMENTS         /* how many there are; the first of them */
};

#endif
