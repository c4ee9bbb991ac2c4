/* Marks regions of a program for pfmon (docs/regions.md):

       PFMON_START("sort");
       ...
       PFMON_STOP("sort");

   and in C++ (from C++11 on), to the end of the scope:

       PFMON_REGION("sort");

   `pfmon --region sort ./program` counts what is between. A mark is a nop: one instruction, and one or two more that load the
   address of the name; without pfmon it does nothing. On processors other than x86-64 and IA-64 there is none.

   This file may be copied into other projects. */

#ifndef PFMON_H
#define PFMON_H

#if defined(__GNUC__) && defined(__x86_64__) && !defined(__ILP32__)

/* nop [rax + "pfm+"], nop [rax + "pfm-"]: bytes, as assemblers have two dialects */
#define PFMON_MARK(name, sign) \
    __asm__ volatile(".byte 0x0f, 0x1f, 0x80, 0x70, 0x66, 0x6d, " #sign : : "a"((const char *)(name)) : "memory")
#define PFMON_START(name) PFMON_MARK(name, 0x2b)
#define PFMON_STOP(name) PFMON_MARK(name, 0x2d)

#elif defined(__GNUC__) && defined(__ia64__) && defined(__LP64__)

/* nop 0x7066b, nop 0x7066e: the name's address is in r14 */
#define PFMON_MARK(name, number) do { \
        register const char *pfmon_name __asm__("r14") = (name); \
        __asm__ volatile(";;\n\tnop.m " #number "\n\t;;" : : "r"(pfmon_name) : "memory"); \
    } while (0)
#define PFMON_START(name) PFMON_MARK(name, 0x7066b)
#define PFMON_STOP(name) PFMON_MARK(name, 0x7066e)

#else

#define PFMON_START(name) ((void)(name))
#define PFMON_STOP(name) ((void)(name))

#endif

#ifdef __cplusplus

namespace pfmon {

class region {                   /* from its beginning to the end of its scope */
public:
    explicit region(const char *name) : name(name) { PFMON_START(name); }
    ~region() { PFMON_STOP(name); }
    region(const region &) = delete;
    region &operator=(const region &) = delete;

private:
    const char *name;
};

}

#define PFMON_JOINED_(a, b) a##b
#define PFMON_JOINED(a, b) PFMON_JOINED_(a, b)
#define PFMON_REGION(name) ::pfmon::region PFMON_JOINED(pfmon_region_, __COUNTER__)(name)

#endif

#endif
