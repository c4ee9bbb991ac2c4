"""The types of options' values that several options have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pfmon.errors import BadValueError
from pfmon.library.options import python_values
from pfmon.library.options.option import Keep, Kind, Read, extend, once, put
from pfmon.library.options.option_values import directory, milliseconds, whole_number


def flag(value: object = True, keep: Keep = put, default: object = "") -> Kind:
    """An option without a value, which keeps this one; ``default``: "" for the opposite of a bool."""
    without = not value if isinstance(value, bool) and default == "" else default
    return Kind(
        lambda name, text: value,
        lambda name, given: value if python_values.flag(name, given) else None,
        keep,
        python_values.is_list,
        without,
        lambda name: value,
    )


def named(form: Callable[[str], object], keep: Keep, default: object = "") -> Kind:
    """An option without a value, of which its name is kept."""

    def accept(name: str, given: object) -> object:
        python_values.flag(name, given)
        return form(name)

    return Kind(lambda name, text: form(name), accept, keep, default=default, kept=form)


def of_command(read: Read, keep: Keep = put, default: object = "") -> Kind:
    """An option that the command line alone has."""
    return Kind(read, python_values.text, keep, default=default)


def converted(convert: Callable[[str, str], object], keep: Keep = put) -> Kind:
    """A number in the form of its text; without a default."""
    return Kind(convert, python_values.number(convert), keep, python_values.is_list, default=None)


def number(low: int = 0, high: int = python_values.ANY_NUMBER, keep: Keep = put, default: int | None = 0) -> Kind:
    """A whole number within limits."""
    return converted(lambda name, text: whole_number(name, text, low, high), keep)._replace(default=default)


def as_given(name: str, text: str | None) -> str:
    """Return a text, which may be empty."""
    return text or ""


def not_empty(name: str, text: str | None) -> str:
    """Return a text, checked."""
    if not text:
        raise BadValueError(f"--{name} wants a value").about(f"--{name}")
    return text


def file(name: str, text: str | None) -> str:
    """Return the name of a file, checked."""
    if not text:
        raise BadValueError(f"--{name}: a file is wanted").about(f"--{name}")
    return text


def _directories(name: str, value: Any) -> list[str]:
    given = [value] if isinstance(value, str) or not isinstance(value, list | tuple) else value
    if not isinstance(value, str | list | tuple) and not hasattr(value, "__fspath__"):
        raise python_values.bad(name, value, "a directory, or several")
    return [directory(name, python_values.text(name, one)) for one in given]


FLAG = flag()
NAME = named(lambda name: [name], extend, [])
TEXT = Kind(as_given, python_values.text, put)
WORD = Kind(not_empty, python_values.text, put)
FILE = of_command(file)
MILLISECONDS = converted(milliseconds)
DIRECTORY = Kind(directory, lambda name, value: directory(name, python_values.text(name, value)), put, default=None)
DIRECTORIES = Kind(lambda name, text: [directory(name, text)], _directories, extend, default=[])


def one_an_event(why: str = "it takes one value an event, separated by commas", read: Read = as_given) -> Kind:
    """A text with a value for each event of a set, which is read when the events are known."""
    return Kind(read, python_values.one_an_event, once(why), python_values.is_nested)
