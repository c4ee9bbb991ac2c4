/* The signals of overflows: to the process that F_SETOWN has named, SIGIO or the signal of F_SETSIG (fcntl(2)). */

#include <asm/siginfo.h>
#include <asm/unistd.h>
#include <linux/fcntl.h>
#include <linux/signal.h>

#include "performance.h"
#include "runtime.h"
#include "threads/thread.h"
#include "world/world.h"

enum { IN = 1, HANGUP = 6, BAND_IN = 0x41, BAND_HANGUP = 0x410 };

static int code_of(int signal, int code) {
    if (!signal)
        return SI_KERNEL;
    return is_fault_signal(signal) ? SI_SIGIO : code;        /* a positive code would be a fault's (host_signals.c) */
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
