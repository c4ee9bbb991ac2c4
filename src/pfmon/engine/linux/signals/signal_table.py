"""The signals of Linux (asm-generic/signal.h), by number: name, default action, and a shell's description."""

from __future__ import annotations

from typing import NamedTuple

SIGHUP, SIGINT, SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGKILL, SIGUSR1 = range(1, 11)
SIGSEGV, SIGUSR2, SIGPIPE, SIGALRM, SIGTERM, SIGSTKFLT, SIGCHLD, SIGCONT, SIGSTOP = range(11, 20)
SIGTSTP, SIGTTIN, SIGTTOU, SIGURG, SIGXCPU, SIGXFSZ, SIGVTALRM, SIGPROF, SIGWINCH = range(20, 29)
SIGIO, SIGPWR, SIGSYS = range(29, 32)
FIRST_REAL_TIME, LAST = 32, 64


class SignalRow(NamedTuple):
    """One signal."""

    name: str
    default: str  # "end", "core" (end as well), "ignore" or "stop"
    text: str


_TABLE = """
1 HUP end Hangup
2 INT end Interrupt
3 QUIT core Quit
4 ILL core Illegal instruction
5 TRAP core Trace/breakpoint trap
6 ABRT core Aborted
7 BUS core Bus error
8 FPE core Floating point exception
9 KILL end Killed
10 USR1 end User defined signal 1
11 SEGV core Segmentation fault
12 USR2 end User defined signal 2
13 PIPE end Broken pipe
14 ALRM end Alarm clock
15 TERM end Terminated
16 STKFLT end Stack fault
17 CHLD ignore Child exited
18 CONT ignore Continued
19 STOP stop Stopped (signal)
20 TSTP stop Stopped
21 TTIN stop Stopped (tty input)
22 TTOU stop Stopped (tty output)
23 URG ignore Urgent I/O condition
24 XCPU core CPU time limit exceeded
25 XFSZ core File size limit exceeded
26 VTALRM end Virtual timer expired
27 PROF end Profiling timer expired
28 WINCH ignore Window changed
29 IO end I/O possible
30 PWR end Power failure
31 SYS core Bad system call
"""


def _rows() -> dict[int, SignalRow]:
    rows = {}
    for line in _TABLE.strip().splitlines():
        field, name, default, text = line.split(" ", 3)
        rows[int(field)] = SignalRow("SIG" + name, default, text)
    for number in range(FIRST_REAL_TIME, LAST + 1):
        rows[number] = SignalRow(f"SIGRT{number}", "end", f"Real-time signal {number - FIRST_REAL_TIME}")
    return rows


SIGNALS = _rows()
