"""Names in ranges: looked up in the program that is to run, and only if there are any."""

from __future__ import annotations

from pfmon.errors import PfmonError
from pfmon.library.request import NO_SYMBOLS, Symbols

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from pfmon.pmu.options import Resolve
    from pfmon.program.image import Program


def with_symbol_file(load: Callable[[], Program], path: str) -> Callable[[], Program]:
    """What loads a program so that another file has its symbols and lines; "": it has them itself."""
    if not path:
        return load

    def loaded() -> Program:
        program = load()
        return program._replace(image=program.image._replace(symbol_file=_contents(path)))

    return loaded


def symbols_of(load: Callable[[], Program] | None) -> Symbols:
    """How names become addresses in the program that ``load`` gives; None: there is none."""
    if load is None:
        return NO_SYMBOLS
    approximated: set[str] = set()
    code, data = (_when_asked(load, kind, approximated) for kind in ("code", "data"))
    return Symbols(code, data, approximated)


def _when_asked(load: Callable[[], Program], kind: str, approximated: set[str]) -> Resolve:
    """A resolver that reads the program when it is called."""

    def resolve(text: str) -> tuple[int, int]:
        from pfmon.session.ranges import resolver

        return resolver(load(), kind, approximated)(text)

    return resolve


def _contents(path: str) -> bytes:
    from pathlib import Path  # takes long to load, and is wanted for files only

    try:
        return Path(path).read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise PfmonError(f"--symbol-file={path}: {reason.lower()}") from None
