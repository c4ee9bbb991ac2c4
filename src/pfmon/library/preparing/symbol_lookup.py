"""Resolution of names in ranges, in the program and its shared objects, on first use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

from pfmon.bounded_files import read_bounded
from pfmon.errors import BadValueError, PfmonError, UnknownNameError, UnknownObjectError, reason
from pfmon.library.resolving.request_builder import NO_SYMBOLS, Symbols
from pfmon.pmu.model.options import Resolve
from pfmon.program.image import NO_DIRECTORIES, DebugDirectories, Program
from pfmon.program.mapped_files import MappedFile
from pfmon.program.source_texts import SourceFile


class SharedObjects:
    """The shared objects of a program before its run. ``look`` finds their addresses on first use."""

    def __init__(self, look: Callable[[], Sequence[MappedFile]]) -> None:
        self._look = look
        self._found: Sequence[MappedFile] | None = None
        self.relied: list[MappedFile] = []
        """The objects in which names were looked up."""

    def find(self) -> Sequence[MappedFile]:
        """Return the objects with their expected addresses. Raises PfmonError."""
        if self._found is None:
            self._found = self._look()
        return self._found

    def rely_on(self, mapped: Sequence[MappedFile]) -> None:
        """Record that ranges depend on the addresses of these objects."""
        self.relied += mapped

    def check(self, mapped: Callable[[], Sequence[MappedFile]]) -> None:
        """Raise LostError if the program mapped such an object at another address."""
        if self.relied:
            from pfmon.library.preparing.linked_objects import check_places

            check_places(self.relied, mapped())


def with_symbol_file(load: Callable[[], Program], path: str) -> Callable[[], Program]:
    """Return a loader of the program with symbols and lines from another file; "": from its own."""
    if not path:
        return load

    def loaded() -> Program:
        program = load()
        named = program.image._replace(symbol_file=_contents(path), symbol_path="the file of --symbol-file")
        return program._replace(image=named)

    return loaded


def with_kernel_symbols(program: Program, path: str) -> Program:
    """Give the image of a system the symbols of a System.map, or, if it is a Linux kernel without any, those that it
    has for /proc/kallsyms. PfmonError: the file cannot be read, or is none."""
    from pfmon.program.kernel_symbols import has_symbols, kallsyms, symbol_file, system_map

    image = program.image
    if path:
        return _named(program, symbol_file(system_map(_contents(path, "sysmap-file"), path)), "the System.map")
    if has_symbols(image.data):
        return program
    found = kallsyms(image.data, image.elf)
    return _named(program, symbol_file(found), "the kernel's own symbols") if found else program


def _named(program: Program, symbols: bytes, name: str) -> Program:
    return program._replace(image=program.image._replace(symbol_file=symbols, symbol_path=name))


def symbols_of(
    load: Callable[[], Program] | None, objects: SharedObjects | None = None, debug: DebugDirectories = NO_DIRECTORIES
) -> Symbols:
    """Return resolvers of names in the program that ``load`` returns and in its shared objects; None: no program."""
    if load is None:
        return NO_SYMBOLS
    approximated: set[str] = set()
    code, data = (_when_asked(load, objects, debug, kind, approximated) for kind in ("code", "data"))

    def source(name: str) -> SourceFile | None:
        from pfmon.program.loaded_objects import LoadedObjects
        from pfmon.session.run.symbolic_ranges import SOURCE, source_file, source_names

        program = load()
        own = LoadedObjects(program, debug=debug).own[:1]
        with suppress(UnknownObjectError):
            if found := source_file(own, name):
                return found
        linked = LoadedObjects(program, objects.find if objects else tuple, debug)
        if found := source_file(linked.everything(), name):
            return found
        if SOURCE.search(name):
            raise UnknownNameError("source file", name, source_names(own))
        return None

    return Symbols(code, data, approximated, source)


def _when_asked(
    load: Callable[[], Program],
    objects: SharedObjects | None,
    debug: DebugDirectories,
    kind: str,
    approximated: set[str],
) -> Resolve:
    """Return a resolver that reads the program when called, and shared objects only if needed: finding their addresses
    requires a run of the dynamic linker."""

    def resolve(text: str) -> tuple[int, int]:
        from pfmon.program.loaded_objects import LoadedObjects
        from pfmon.session.run.symbolic_ranges import resolver

        program = load()
        own = LoadedObjects(program, debug=debug).own
        try:
            return resolver(own[:1], kind, approximated)(text)
        except BadValueError:
            raise
        except PfmonError:
            if len(own) == 1 and not program.image.elf.physical:  # it is static, and no kernel with a program
                raise
        found = LoadedObjects(program, objects.find if objects else tuple, debug)
        place = resolver(found.everything(), kind, approximated)(text)
        if objects:
            objects.rely_on(found.mapped_around(place[0]))
        return place

    return resolve


def _contents(path: str, option: str = "symbol-file") -> bytes:
    try:
        return read_bounded(path)
    except (OSError, ValueError) as error:
        raise PfmonError(f"--{option}={path}: {reason(error)}").about(f"--{option}") from None
