"""A process that forks a command for each request: it has pfmon loaded and nothing else, so that a fork copies few page
tables (fork(2)). A worker of pytest has ten times as much memory.

Started with the descriptor of a socket. A request: a JSON object with ``words``, ``environment``, ``umask`` and
``ends`` (whether the command ends its process itself, as it does for users), and the descriptors of standard input,
output, error and of the directory. The answer: the exit status.
"""

import json
import os
import socket
import sys
from importlib import import_module
from typing import Any

from command import become, end_as_the_command, load_everything, main, status_of

REQUEST = 1 << 18
"""Bytes of a request at most."""
LIBRARIES = ("capstone", "elftools.dwarf.dwarfinfo", "elftools.elf.elffile", "rich.table", "logging")
"""Those that many commands import."""


def serve(requests: socket.socket) -> None:
    """Answer until the other end is closed."""
    while True:
        data, files, *_ = socket.recv_fds(requests, REQUEST, 4)
        if not data:
            return
        child = os.fork()
        if not child:
            requests.close()
            begin(json.loads(data), *files)
        for file in files:
            os.close(file)
        requests.send(str(status_of(child)).encode())


def begin(request: dict[str, Any], given: int, out: int, err: int, folder: int) -> None:
    """The child becomes the command."""
    os.fchdir(folder)
    os.umask(request["umask"])
    os.environ.clear()
    os.environ.update(request["environment"])
    os.dup2(given, 0)
    for file in (given, out, err, folder):
        os.set_inheritable(file, False)
    words = tuple(request["words"])
    sys.argv[1:] = words
    become(end_as_the_command if request["ends"] else lambda: main(words), out, err)


if __name__ == "__main__":
    for name in LIBRARIES:
        import_module(name)
    load_everything()
    serve(socket.socket(fileno=int(sys.argv[1])))
