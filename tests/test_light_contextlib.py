"""Contexts of pfmon.light_contextlib do what those of contextlib do."""

import contextlib
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from pfmon import light_contextlib

BOTH = pytest.mark.parametrize("library", [contextlib, light_contextlib], ids=["contextlib", "light_contextlib"])


def history(library: Any, *, error: BaseException | None, instead: BaseException | None, content: bool) -> list[object]:
    """What happens, in order, when ``error`` is raised within a context that raises another, or is content."""
    seen: list[object] = []

    @library.contextmanager
    def context(value: int) -> Iterator[int]:
        seen.append("in")
        try:
            yield value
        except BaseException as raised:
            seen.append(("raised", raised))
            if instead is not None:
                raise instead from None
            if not content:
                raise
        finally:
            seen.append("out")

    try:
        with context(7) as value:
            seen.append(value)
            if error is not None:
                raise error
            seen.append("done")
    except BaseException as left:
        seen.append(("left", left))
    return seen


@BOTH
@pytest.mark.parametrize("content", [False, True])
@pytest.mark.parametrize("instead", [None, ValueError("other")])
@pytest.mark.parametrize("error", [None, KeyError("one"), KeyboardInterrupt()])
def test_a_generator_is_a_context(
    library: ModuleType, error: BaseException | None, instead: BaseException | None, content: bool
) -> None:
    expected: list[object] = ["in", 7]
    if error is None:
        expected += ["done", "out"]
    else:
        expected += [("raised", error), "out"]
        if instead is not None or not content:
            expected.append(("left", instead or error))
    assert history(library, error=error, instead=instead, content=content) == expected


@BOTH
@pytest.mark.parametrize("error", [None, KeyError("one")])
def test_a_generator_that_yields_twice_is_refused(library: Any, error: Exception | None) -> None:
    @library.contextmanager
    def context() -> Iterator[None]:
        with contextlib.suppress(KeyError):
            yield
        yield

    with pytest.raises(RuntimeError), context():
        if error is not None:
            raise error


@BOTH
def test_contexts_on_a_stack_are_left_in_reverse_even_when_one_fails(library: Any) -> None:
    seen: list[str] = []

    @library.contextmanager
    def context(name: str, error: Exception | None = None) -> Iterator[str]:
        try:
            yield name
        except OSError as told:
            seen.append(f"{name}: {told}")
            raise
        seen.append(name)
        if error is not None:
            raise error

    stack = library.ExitStack()
    failure = OSError("second")
    assert [stack.enter_context(one) for one in (context("a"), context("b", failure), context("c"))] == ["a", "b", "c"]
    with pytest.raises(OSError) as raised:
        stack.close()
    assert raised.value is failure and seen == ["c", "b", "a: second"]
    stack.close()
    assert seen == ["c", "b", "a: second"]


@BOTH
def test_no_context_gives_what_it_was_given(library: Any) -> None:
    with library.nullcontext(3) as value:
        assert value == 3
    with library.nullcontext() as value:
        assert value is None
