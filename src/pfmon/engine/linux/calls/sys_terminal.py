"""ioctl: terminals, and requests for every descriptor."""

from __future__ import annotations

import errno
import fcntl
import os
import termios

from pfmon.engine.linux.abi.structures import INT, TERMIOS, WINSIZE
from pfmon.engine.linux.calls.syscall_table import system_call
from pfmon.engine.linux.memory.user_memory import int32
from pfmon.engine.linux.process.process import Process
from pfmon.engine.linux.process.syscall_errors import fail
from pfmon.engine.linux.signals.fasync import NotifyingFile

FIONREAD, FIONBIO, FIONCLEX, FIOCLEX = 0x541B, 0x5421, 0x5450, 0x5451

# Requests (include/uapi/asm-generic/ioctls.h) that move a structure: the host's request and the structure's size.
READS = {
    0x5401: (termios.TCGETS, TERMIOS.size),
    0x540F: (termios.TIOCGPGRP, INT.size),
    0x5411: (termios.TIOCOUTQ, INT.size),
    0x5413: (termios.TIOCGWINSZ, WINSIZE.size),
    0x541B: (termios.FIONREAD, INT.size),
}
WRITES = {
    0x5402: (termios.TCSETS, TERMIOS.size),
    0x5403: (termios.TCSETSW, TERMIOS.size),
    0x5404: (termios.TCSETSF, TERMIOS.size),
    0x5414: (termios.TIOCSWINSZ, WINSIZE.size),
}
# Requests with a plain number.
PLAIN = {0x5409: termios.TCSBRK, 0x540A: termios.TCXONC, 0x540B: termios.TCFLSH}
TIOCGPGRP, TIOCSPGRP, TIOCGSID = 0x540F, 0x5410, 0x5429


@system_call("ioctl")
def ioctl(p: Process, fd: int, request: int, argument: int) -> int:
    number, what = int32(fd), request & 0xFFFFFFFF
    host = p.files.host(number)
    file = p.files.get(number)
    own = file.ioctl(p, what, argument) if isinstance(file, NotifyingFile) else None
    if own is not None:
        return own
    if what in (FIOCLEX, FIONCLEX):
        p.files.set_close_on_exec(number, what == FIOCLEX)
        return 0
    if what == FIONBIO:
        os.set_blocking(host, p.user.unpack(INT, argument)[0] == 0)
        return 0
    if what in (TIOCGPGRP, TIOCSPGRP, TIOCGSID):
        return _job_control(p, host, what, argument)
    if what in READS:
        code, size = READS[what]
        p.user.write(argument, fcntl.ioctl(host, code, bytes(size)))
        return 0
    if what in WRITES:
        code, size = WRITES[what]
        fcntl.ioctl(host, code, p.user.read(argument, size))
        return 0
    if what in PLAIN:
        fcntl.ioctl(host, PLAIN[what], int32(argument))
        return 0
    return fail(errno.ENOTTY)


def _job_control(p: Process, host: int, request: int, argument: int) -> int:
    """The program's foreground process group, while pfmon's group is in the foreground. Use by other groups never stops
    them."""
    if not os.isatty(host):
        fail(errno.ENOTTY)
    if request == TIOCSPGRP:
        group = p.user.unpack(INT, argument)[0]
        if not any(one.family.group == group for one in p.system.processes.values()):
            fail(errno.EPERM)
        p.system.foreground = group
        return 0
    p.user.pack(INT, argument, p.family.session if request == TIOCGSID else p.system.foreground)
    return 0
