"""contextmanager, nullcontext and ExitStack of the module contextlib, without importing it.

It and what it imports took 2 ms of the start of a run. A type checker sees those of contextlib.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from contextlib import ExitStack, contextmanager, nullcontext
    from types import TracebackType
    from typing import Any
else:

    class _Generated:
        """What a generator does: before its yield on the way in, behind it on the way out."""

        def __init__(self, generator: Generator[Any, None, None]) -> None:
            self._generator = generator

        def __enter__(self) -> Any:
            return next(self._generator)

        def __exit__(
            self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
        ) -> bool:
            if error is None:
                if next(self._generator, self) is not self:
                    raise RuntimeError("the generator yields twice")
                return False
            try:
                self._generator.throw(error)
            except StopIteration:
                return True  # it is content
            except BaseException as raised:
                if raised is not error:
                    raise
                error.__traceback__ = trace
                return False
            raise RuntimeError("the generator yields twice")

    def contextmanager(function: Callable[..., Generator[Any, None, None]]) -> Callable[..., _Generated]:
        """Of a function that yields once, one that gives a context."""

        def made(*values: Any, **named: Any) -> _Generated:
            return _Generated(function(*values, **named))

        made.__name__, made.__qualname__, made.__doc__ = function.__name__, function.__qualname__, function.__doc__
        return made

    class nullcontext:  # noqa: N801
        """A context that does nothing."""

        def __init__(self, value: Any = None) -> None:
            self._value = value

        def __enter__(self) -> Any:
            return self._value

        def __exit__(self, *_: object) -> None:
            pass

    class ExitStack:
        """Contexts that are left together, the last entered first."""

        def __init__(self) -> None:
            self._entered: list[Any] = []

        def enter_context(self, context: Any) -> Any:
            value = context.__enter__()
            self._entered.append(context)
            return value

        def close(self) -> None:
            """Leave them all: when one of them fails, those before it are told."""
            error: BaseException | None = None
            while self._entered:
                kind, trace = (type(error), error.__traceback__) if error else (None, None)
                try:
                    if self._entered.pop().__exit__(kind, error, trace):
                        error = None
                except BaseException as raised:
                    error = raised
            if error is not None:
                raise error


__all__ = ["ExitStack", "contextmanager", "nullcontext"]
