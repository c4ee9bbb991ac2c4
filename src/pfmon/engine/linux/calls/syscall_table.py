"""The table of implemented system calls, filled by the modules of this package."""

from __future__ import annotations

from collections.abc import Callable

from pfmon.engine.linux.abi.ia64.syscall_numbers import NUMBERS

# None if it has set the result itself; it fails by an exception (see errors.py).
Handler = Callable[..., int | None]

HANDLERS: dict[int, tuple[Handler, int]] = {}


def system_call(*names: str) -> Callable[[Handler], Handler]:
    """Register a function as the handler of the calls of these names."""

    def register(handler: Handler) -> Handler:
        for name in names:
            HANDLERS[NUMBERS[name]] = (handler, handler.__code__.co_argcount - 1)
        return handler

    return register
