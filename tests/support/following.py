"""Runs that follow what a program starts, and programs for them."""

from pathlib import Path
from typing import Any

import pfmon
from pfmon.session.run.followed_tasks import TaskCounts

ENGINES = ("x86_64", "qemu")
"""Those that follow x86-64 programs."""
engine = ENGINES[0]
"""The one that `follow` takes (the fixture `each_engine`)."""
EVENT = "INSTRUCTIONS_RETIRED"
EXIT = "mov $60, %eax\n mov ${}, %edi\n syscall\n"
WAIT = "mov $61, %eax\n mov $-1, %rdi\n xor %esi, %esi\n xor %edx, %edx\n xor %r10d, %r10d\n syscall\n"
FORKING = f"""
_start: mov ${{call}}, %eax
 syscall
 test %eax, %eax
 jz 2f
 {WAIT}
 {EXIT.format(3)}
2: mov $1000, %ecx
1: dec %ecx
 jnz 1b
 {EXIT.format(7)}
"""
FORKING_PARENT, FORKING_CHILD = 13, 2006
"""Instructions of FORKING."""


CLOSING = """
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv) {
    for (int i = 3; i < 1024; i++) close(i);
    for (int i = 3; i < 1024; i++) dup2(0, i);
    for (int i = 3; i < 1024; i++) close(i);
    if (fork() == 0) {
        for (int i = 3; i < 1024; i++) close(i);
        if (open("/dev/null", O_RDONLY) != 3) _exit(1);
        if (argc > 1) for (;;) pause();
        _exit(6);
    }
    int status;
    wait(&status);
    return WEXITSTATUS(status);
}
"""
"""Closes all files, and has a child that does."""


def follow(*command: str | Path, **options: Any) -> pfmon.Run:
    """Run a program with everything that it starts; its output is kept."""
    usual = {"events": [EVENT], "follow_all": True, "capture": True, "engine": engine}
    return pfmon.run(list(command), **{**usual, **options})


def tasks(run: pfmon.Run) -> dict[str, TaskCounts]:
    """Name -> task."""
    assert run.tasks is not None
    return {task.name: task for task in run.tasks}


def counted(run: pfmon.Run) -> dict[str, int]:
    """Instructions by task; the event and the engine say the same, and the total is their sum."""
    found = {task.name: int(task.counts[0].value or 0) for task in run.tasks or ()}
    assert found == {task.name: task.retired for task in run.tasks or ()}
    assert run.counts[EVENT].value == run.retired == sum(found.values())
    return found
