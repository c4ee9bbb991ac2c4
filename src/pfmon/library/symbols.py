"""Names in ranges: looked up in the program that is to run, and only if there are any."""

from __future__ import annotations

from pfmon.bounded_files import read_bounded
from pfmon.errors import BadValueError, PfmonError, reason
from pfmon.library.request import NO_SYMBOLS, Symbols
from pfmon.program.image import NO_DIRECTORIES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pfmon.pmu.options import Resolve
    from pfmon.program.image import DebugDirectories, Program
    from pfmon.program.mapped import Mapped


class SharedObjects:
    """Those of a program that is to be run: where they will be. ``look`` finds out, when somebody asks."""

    def __init__(self, look: Callable[[], Sequence[Mapped]]) -> None:
        self._look = look
        self._found: Sequence[Mapped] | None = None
        self.relied: list[Mapped] = []
        """Of which something was looked up."""

    def find(self) -> Sequence[Mapped]:
        """Where they will be. PfmonError."""
        if self._found is None:
            self._found = self._look()
        return self._found

    def rely_on(self, mapped: Sequence[Mapped]) -> None:
        """A range of addresses is meant as what will be there."""
        self.relied += mapped

    def check(self, mapped: Callable[[], Sequence[Mapped]]) -> None:
        """LostError: what the program has mapped is elsewhere than it was expected to be."""
        if self.relied:
            from pfmon.library.linked import check_places  # few runs rely on any

            check_places(self.relied, mapped())


def with_symbol_file(load: Callable[[], Program], path: str) -> Callable[[], Program]:
    """What loads a program so that another file has its symbols and lines; "": it has them itself."""
    if not path:
        return load

    def loaded() -> Program:
        program = load()
        named = program.image._replace(symbol_file=_contents(path), symbol_path="the file of --symbol-file")
        return program._replace(image=named)

    return loaded


def symbols_of(
    load: Callable[[], Program] | None, objects: SharedObjects | None = None, debug: DebugDirectories = NO_DIRECTORIES
) -> Symbols:
    """How names become addresses in the program that ``load`` gives, and in its shared objects, if it may have some;
    None: there is no program."""
    if load is None:
        return NO_SYMBOLS
    approximated: set[str] = set()
    code, data = (_when_asked(load, objects, debug, kind, approximated) for kind in ("code", "data"))
    return Symbols(code, data, approximated)


def _when_asked(
    load: Callable[[], Program],
    objects: SharedObjects | None,
    debug: DebugDirectories,
    kind: str,
    approximated: set[str],
) -> Resolve:
    """A resolver that reads the program when it is called, and shared objects when they are needed: before the program
    itself is run, the dynamic linker has to say where they will be."""

    def resolve(text: str) -> tuple[int, int]:
        from pfmon.program.objects import Objects
        from pfmon.session.ranges import resolver

        program = load()
        own = Objects(program, debug=debug).own
        try:
            return resolver(own[:1], kind, approximated)(text)
        except BadValueError:
            raise
        except PfmonError:
            if len(own) == 1:  # it is static
                raise
        found = Objects(program, objects.find if objects else tuple, debug)
        place = resolver(found.everything(), kind, approximated)(text)
        if objects:
            objects.rely_on(found.mapped_around(place[0]))
        return place

    return resolve


def _contents(path: str) -> bytes:
    try:
        return read_bounded(path)
    except (OSError, ValueError) as error:
        raise PfmonError(f"--symbol-file={path}: {reason(error)}") from None
