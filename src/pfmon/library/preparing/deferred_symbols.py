"""Deferred symbols: names in shared objects that the program opens itself, resolved when it maps these.

Until then a range or a trigger has a placeholder address that no program uses, so nothing counts there, which is exact:
the object's code and data are not mapped. The address may therefore become known at any instruction before the first of
the object.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pfmon.errors import PfmonError, UnknownObjectError
from pfmon.library.preparing.symbol_lookup import SharedObjects, symbols_of
from pfmon.library.resolving.request_builder import NOWHERE, Symbols
from pfmon.pmu.model.options import Resolve
from pfmon.pmu.qualify.breakpoint_ranges import BUNDLE
from pfmon.program.image import DebugDirectories, Program
from pfmon.program.mapped_files import MappedFile
from pfmon.session.run.run_plan import ResolvedAddresses

APART = 2 * BUNDLE
"""Bytes between the placeholder addresses of different names."""


class DeferredSymbols:
    """The unresolved names of a run. ``load`` returns the program; ``objects`` are the shared objects that it is linked
    with, whose addresses the counts rely on; ``addresses``: resolves ranges and triggers with the names known so far;
    ``followed``: children are counted too."""

    def __init__(
        self,
        load: Callable[[], Program],
        objects: SharedObjects,
        debug: DebugDirectories,
        addresses: Callable[[Symbols], ResolvedAddresses],
        followed: bool,
    ) -> None:
        self._load, self._objects, self._debug = load, objects, debug
        self._addresses, self._followed = addresses, followed
        self._known: dict[tuple[str, str], tuple[int, int]] = {}
        self._waiting: dict[tuple[str, str], UnknownObjectError] = {}

    @property
    def waits(self) -> bool:
        """Whether there are unresolved names."""
        return bool(self._waiting)

    def symbols(self, linked: Symbols) -> Symbols:
        """Return a resolver that defers names which ``linked`` does not know and a dynamically linked program may open.
        PfmonError: children are counted too, which may map the object elsewhere."""
        return Symbols(self._resolve("code", linked.code), self._resolve("data", linked.data), linked.approximated)

    def _resolve(self, kind: str, known: Resolve) -> Resolve:
        def resolve(text: str) -> tuple[int, int]:
            name = kind, text
            if name not in self._known:
                try:
                    self._known[name] = known(text)
                except UnknownObjectError as error:
                    return self._nowhere(name, error)
                self._waiting.pop(name, None)
            return self._known[name]

        return resolve

    def _nowhere(self, name: tuple[str, str], error: UnknownObjectError) -> tuple[int, int]:
        if self._load().interpreter is None:
            raise error
        if self._followed:
            raise PfmonError(f"{error}; names in what a program opens itself do not go with --follow-...")
        self._waiting[name] = error
        start = NOWHERE + APART * list(self._waiting).index(name)
        return start, start + BUNDLE

    def place(self, mapped: Sequence[MappedFile]) -> ResolvedAddresses | None:
        """Resolve the names in these mapped files; None: no further name is resolved. PfmonError: an object lacks the
        name."""
        before = len(self._waiting)
        if not before:
            return None
        there = SharedObjects(lambda: mapped)
        placed = self._addresses(self.symbols(symbols_of(self._load, there, self._debug)))
        self._objects.rely_on(there.relied)
        return placed if len(self._waiting) < before else None

    def notes(self) -> list[str]:
        """Return a note for each name that was never resolved."""
        return [
            f"{text}: the program mapped no shared object of that name, so nothing was in it"
            + (f"; nearest: {', '.join(error.nearest)}" if error.nearest else "")
            for (_, text), error in self._waiting.items()
        ]
