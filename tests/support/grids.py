"""One test for a whole grid of cases, which tries all of them and names each that fails."""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, TypeVar

import pytest
from open_files import close_collected

LINES = 12
"""Lines of a failing case's message that are repeated."""
TEXT = 80
"""Characters of a value in the name of a case."""
ARGUMENT = "chosen_cases"
"""The argument of a test whose cases are divided among several."""

T = TypeVar("T")
Test = Callable[..., None]


class Case(NamedTuple):
    """Arguments of one case, its name, and whether it is left out of the quick part."""

    values: Mapping[str, Any]
    name: str
    slow: bool

    def __add__(self, other: "Case") -> "Case":  # type: ignore[override]  # a case is no plain tuple: their sum is a case
        return Case({**self.values, **other.values}, f"{self.name}, {other.name}", self.slow or other.slow)


def for_each(cases: Iterable[T], check: Callable[[T], object], name: Callable[[T], str] = repr) -> None:
    """Check every case; AssertionError: the names of all that fail, with what each said. Skipped: all were skipped."""
    failing: list[str] = []
    first: BaseException | None = None
    skipped: list[str] = []
    tried = 0
    for tried, case in enumerate(cases, 1):  # noqa: B007
        try:
            check(case)
        except pytest.skip.Exception as reason:
            skipped.append(str(reason.msg))
        except (Exception, pytest.fail.Exception) as failure:
            first = first or failure
            failing.append(f"{name(case)}: {_said(failure)}")
        close_collected()
    if failing:
        raise AssertionError("\n".join([f"{len(failing)} of {tried} cases fail:", *failing])) from first
    assert tried, "no cases"
    if len(skipped) == tried:
        pytest.skip("; ".join(sorted(set(skipped))))


def _said(failure: BaseException) -> str:
    notes: list[str] = getattr(failure, "__notes__", [])  # hypothesis puts the example there
    lines = "\n".join([str(failure), *notes]).splitlines()
    return "\n  ".join([type(failure).__name__, *lines[:LINES]])


def each(names: str | Sequence[str], values: Iterable[Any], ids: Any = None) -> Callable[[Test], Test]:
    """As pytest.mark.parametrize, for one test that tries all values; several multiply to a grid.

    Values that are marked slow are a test of their own; ValueError: another mark. Every case has a folder of its own as
    ``tmp_path``, and what it changes by ``monkeypatch`` ends with it.
    """
    split = _names(names)
    several = not isinstance(names, str) or len(split) > 1
    axis = list(_axis(split, several, values, ids))

    def decorate(test: Test) -> Test:
        made: Grid = getattr(test, "grid", None) or Grid(test, (), None)
        return made.beside(axis).as_test(test)

    return decorate


def sampled(count: int) -> Callable[[Test], Test]:
    """Of the grid below, try the first, the last and ``count`` cases drawn with a fixed seed; all under exhaustive."""

    def decorate(test: Test) -> Test:
        made: Grid = test.grid  # type: ignore[attr-defined]  # set below
        return made._replace(count=count).as_test(test)

    return decorate


def diagonal(test: Test) -> Test:
    """Of the parametrizations below, or of the grid, try each value of each axis: the first values of all axes, then
    the second ones. The other combinations are exhaustive. ValueError: a parametrization is indirect."""
    if hasattr(test, "grid"):
        made: Grid = test.grid
        return made._replace(along=True).as_test(test)
    marks = [mark for mark in test.pytestmark if mark.name == "parametrize"]  # type: ignore[attr-defined]
    axes = [_parameters(*mark.args, **mark.kwargs) for mark in marks]
    usual = [[n for n, one in enumerate(axis) if not _is_exhaustive(one)] for axis in axes]
    kept = set(_along(usual))
    joined = []
    for places in product(*(range(len(axis)) for axis in axes)):
        one = _joined([axis[n] for n, axis in zip(places, axes, strict=True)])
        joined.append(one if places in kept or _is_exhaustive(one) else _marked(one, pytest.mark.exhaustive))
    test.pytestmark = [mark for mark in test.pytestmark if mark not in marks]  # type: ignore[attr-defined]
    return pytest.mark.parametrize([name for mark in marks for name in _names(mark.args[0])], joined)(test)


def _along(axes: Sequence[Sequence[T]]) -> list[tuple[T, ...]]:
    """The diagonal: of a shorter axis each value comes several times."""
    return [tuple(axis[n % len(axis)] for axis in axes) for n in range(max(map(len, axes)))]


def _names(names: str | Sequence[str]) -> list[str]:
    return [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)


def _parameters(names: str | Sequence[str], values: Iterable[Any], ids: Any = None, **others: Any) -> list[Any]:
    """Values of pytest.mark.parametrize, each as a pytest.param of its own."""
    if others:
        raise ValueError(f"{others}: a diagonal does not know it")
    single = isinstance(names, str) and len(_names(names)) == 1
    listed = list(values)
    given = list(ids) if ids is not None and not callable(ids) else [None] * len(listed)
    made = []
    for value, name in zip(listed, given, strict=True):
        one = value if isinstance(value, type(pytest.param())) else pytest.param(*([value] if single else value))
        name = name or ("-".join(str(ids(part)) for part in one.values) if callable(ids) else None)
        made.append(one if one.id else one._replace(id=name))
    return made


def _joined(parts: Sequence[Any]) -> Any:
    """The combination of parameters; it has a name of its own where one of them has."""
    name = "-".join(str(one.id or "-".join(map(str, one.values))) for one in parts)
    values = [value for one in parts for value in one.values]
    marks = [mark for one in parts for mark in one.marks]
    return pytest.param(*values, marks=marks, id=name if any(one.id for one in parts) else None)


def _is_exhaustive(parameter: Any) -> bool:
    return any(mark.name == "exhaustive" for mark in parameter.marks)


def _axis(names: Sequence[str], several: bool, values: Iterable[Any], ids: Any) -> Iterator[Case]:
    listed = list(values)
    given = [None] * len(listed) if ids is None or callable(ids) else list(ids)
    for value, name in zip(listed, given, strict=True):
        slow = False
        if isinstance(value, type(pytest.param())):
            marks = {mark.name for mark in value.marks}
            if not marks <= {"slow"}:
                raise ValueError(f"{value}: a case has the mark slow or none")
            slow = bool(marks)
            name = value.id or name
            value = value.values if several else value.values[0]
        arguments = dict(zip(names, value if several else (value,), strict=True))
        parts = [f"{key}={str(repr(one))[:TEXT]}" for key, one in arguments.items()]
        yield Case(arguments, str(name) if name else ", ".join(parts), slow)


class Grid(NamedTuple):
    """The function of a test, its axes, and which cases a run tries that is not exhaustive: ``count`` of them (None:
    all), or those ``along`` the diagonal."""

    function: Test
    axes: tuple[list[Case], ...]
    count: int | None
    along: bool = False

    def beside(self, axis: list[Case]) -> "Grid":
        """With one more axis."""
        return self._replace(axes=(*self.axes, axis))

    def cases(self) -> list[Case]:
        """All cases."""
        return [sum(others, first) for first, *others in product(*self.axes)]

    def drawn(self) -> list[Case]:
        """The cases of a run that is not exhaustive."""
        if self.along:
            return [sum(others, first) for first, *others in _along(self.axes)]
        whole = self.cases()
        if self.count is None or self.count + 2 >= len(whole):
            return whole
        inner = Random(self.function.__name__).sample(range(1, len(whole) - 1), self.count)
        return [whole[n] for n in (0, *sorted(inner), len(whole) - 1)]

    def parts(self) -> dict[str, tuple[list[Case], list[pytest.MarkDecorator]]]:
        """Cases by the name of the test that tries them, and its marks."""
        drawn = self.drawn()
        quick = [case for case in drawn if not case.slow]
        slow = [case for case in drawn if case.slow]
        found = {"quick": (quick, []), "slow": (slow, [pytest.mark.slow])}
        if len(drawn) < len(self.cases()):
            found["all"] = (self.cases(), [pytest.mark.exhaustive])
        return {name: part for name, part in found.items() if part[0]}

    def as_test(self, below: Test) -> Test:
        """The function that pytest collects; it has the marks of ``below``."""
        parts = self.parts()
        derived: list[Any] = []
        if len(parts) < 2:
            cases, marks = next(iter(parts.values()), ([], []))
            derived += [mark.mark for mark in marks]
        else:
            split = [pytest.param(part, id=name, marks=own) for name, (part, own) in parts.items()]
            derived.append(pytest.mark.parametrize(ARGUMENT, split).mark)

        def test(**fixtures: Any) -> None:
            chosen = fixtures.pop(ARGUMENT) if len(parts) > 1 else cases
            for_each(
                [*enumerate(chosen)], lambda one: _try(self.function, one[1], one[0], fixtures), lambda one: one[1].name
            )

        # pytest reads these attributes of the function, of which its type knows nothing
        test.__signature__ = self._signature(len(parts) > 1)  # type: ignore[attr-defined]
        test.__name__, test.__qualname__ = self.function.__name__, self.function.__qualname__
        test.__doc__, test.__module__ = self.function.__doc__, self.function.__module__
        own = [mark for mark in getattr(below, "pytestmark", []) if mark not in getattr(below, "derived", [])]
        test.pytestmark = [*own, *derived]  # type: ignore[attr-defined]
        test.derived = derived  # type: ignore[attr-defined]
        test.grid = self  # type: ignore[attr-defined]
        test.place_as = self.function  # type: ignore[attr-defined]  # where pytest says that it is
        test.has_examples = hasattr(self.function, "hypothesis")  # type: ignore[attr-defined]
        return test

    def _signature(self, parted: bool) -> inspect.Signature:
        """Of the arguments of the function, those that are fixtures."""
        varied = {name for axis in self.axes for case in axis for name in case.values}
        kept = [name for name in inspect.signature(self.function).parameters if name not in varied]
        names = [*([ARGUMENT] if parted else []), *kept]
        return inspect.Signature([inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in names])


def _try(function: Test, case: Case, number: int, fixtures: Mapping[str, Any]) -> None:
    own = dict(fixtures)
    if "tmp_path" in own:
        folder: Path = own["tmp_path"] / str(number)
        folder.mkdir()
        own["tmp_path"] = folder
    if "monkeypatch" not in own:
        function(**case.values, **own)
        return
    with own["monkeypatch"].context() as patch:
        function(**case.values, **own | {"monkeypatch": patch})


def few(values: Iterable[Any], count: int) -> list[Any]:
    """Values of a parametrization, of which only ``count`` are not exhaustive: first, last, others of a fixed seed."""
    listed = list(values)
    inner = range(1, len(listed) - 1)
    ends = {0} if count == 1 else {0, len(listed) - 1}
    kept = {*ends, *Random(count).sample(inner, min(len(inner), max(0, count - 2)))}
    return [one if n in kept else _marked(one, pytest.mark.exhaustive) for n, one in enumerate(listed)]


def first_quick(values: Iterable[Any], single: bool = False) -> list[Any]:
    """Values of a parametrization, of which all but the first are slow; ``single``: a tuple is one argument."""
    first, *others = values
    return [first, *(_marked(one, pytest.mark.slow, single) for one in others)]


def _marked(value: Any, mark: pytest.MarkDecorator, single: bool = False) -> Any:
    if isinstance(value, type(pytest.param())):
        return value._replace(marks=(*value.marks, mark))
    several = isinstance(value, tuple) and not single
    return pytest.param(*value, marks=mark) if several else pytest.param(value, marks=mark)
