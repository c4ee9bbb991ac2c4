/* The signals of overflows: to the process that F_SETOWN has named, SIGIO or the signal of F_SETSIG (fcntl(2)). */

#include <asm/siginfo.h>
#include <asm/unistd.h>
#include <linux/fcntl.h>
#include <linux/signal.h>

#include "performance.h"
#include "runtime.h"
#include "threads/thread.h"
#include "world/world.h"

#define FAULT_SIGNALS ((uint64_t)1 << SIGSEGV | (uint64_t)1 << SIGBUS | (uint64_t)1 << SIGFPE | (uint64_t)1 << SIGILL \
                       | (uint64_t)1 << SIGTRAP)

enum { IN = 1, HANGUP = 6, BAND_IN = 0x41, BAND_HANGUP = 0x410, ALSO_FAULTS = 32 };

static int code_of(int signal, int code) {
    if (!signal)
        return SI_KERNEL;
    return signal < ALSO_FAULTS && FAULT_SIGNALS >> signal & 1 ? SI_SIGIO : code;    /* the handler of faults knows it so */
}

void send_overflow_signal(const struct event_file *it, int code) {
    siginfo_t info;
    if (!it->is_asynchronous || !it->owner || (code != IN && code != HANGUP))
        return;
    memset(&info, 0, sizeof(info));
    info.si_signo = it->signal ? it->signal : SIGIO;
    info.si_code = code_of(it->signal, code);
    if (it->signal) {
        info.si_band = code == IN ? BAND_IN : BAND_HANGUP;
        info.si_fd = it->file;
    }
    if (threaded && it->owner_kind != F_OWNER_PGRP && (it->owner_kind == F_OWNER_TID || it->owner != (int)process_id())) {
        send_to_thread((uint32_t)it->owner, &info);
        return;
    }
    publish_count();             /* it may end the process */
    KERNEL3(__NR_rt_sigqueueinfo, KERNEL0(__NR_getpid), info.si_signo, &info);
}
