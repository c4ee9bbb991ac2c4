"""Tables of implemented system calls by name, filled by the modules that carry them out."""

from __future__ import annotations

from collections.abc import Callable

# None if it has set the result itself; it fails by an exception (syscall_errors.py).
Handler = Callable[..., int | None]
Numbered = dict[int, tuple[Handler, int]]
"""By number: a call's handler and its number of arguments."""


class CallTable(dict[str, Handler]):
    """Handlers by the call's name."""

    def register(self, *names: str) -> Callable[[Handler], Handler]:
        """Register a function as the handler of the calls of these names."""

        def register(handler: Handler) -> Handler:
            for name in names:
                self[name] = handler
            return handler

        return register


HANDLERS = CallTable()
"""The calls that are the same for all instruction sets."""

system_call = HANDLERS.register
