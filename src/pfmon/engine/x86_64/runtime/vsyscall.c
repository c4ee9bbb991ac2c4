/* Calls of the page of system calls at a fixed address, which old programs make. Nobody can execute the page: the kernel
   emulates its functions at the fault (Linux, arch/x86/entry/vsyscall/vsyscall_64.c), and so does the runtime. No instruction
   retires there. */

#include <asm/siginfo.h>
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/signal.h>

#include "runtime.h"

enum { FUNCTION_BYTES = 1 << 10 };

static const uint64_t VSYSCALL_AT = 0xFFFFFFFFFF600000;

/* The system call of a function's address; -1: none begins there. */
static int64_t number_of(uint64_t ip) {
    switch (ip - VSYSCALL_AT) {
    case 0:
        return __NR_gettimeofday;
    case FUNCTION_BYTES:
        return __NR_time;
    case 2 * FUNCTION_BYTES:
        return __NR_getcpu;
    default:
        return -1;
    }
}

bool is_vsyscall(uint64_t ip) {
    return number_of(ip) >= 0;
}

/* Execute a function; returns where to go on. A pointer that is none raises a fault there. */
uint64_t vsyscall(uint64_t ip) {
    uint64_t *registers = state->registers, sp = registers[RSP];
    uint64_t a[6] = {registers[RDI], registers[RSI], 0};
    int64_t result;
    if (!is_readable(sp) || !is_readable(sp + 7)) {
        raise_fault(SIGSEGV, SEGV_MAPERR, sp);
        return ip;
    }
    put_mark(MARK_SYSTEM_CALL, NO_INSTRUCTION, (uint64_t)number_of(ip));
    release_all_code();
    result = call_kernel(number_of(ip), a);
    if (result == -EFAULT) {
        raise_fault(SIGSEGV, SEGV_MAPERR, a[0] && !is_writable(a[0], 8) ? a[0] : a[1]);
        return ip;
    }
    registers[RAX] = (uint64_t)result;
    registers[RSP] = sp + 8;
    return *(const uint64_t *)sp;
}
