"""Values of the library's keywords: Python's, in the form that the command line's have."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping

from pfmon.errors import BadValueError
from pfmon.library.options.option_values import whole_number

ANY_NUMBER = (1 << 64) - 1


def bad(option: str, value: object, wanted: str) -> BadValueError:
    """Return the error for a value of another type than is ``wanted``."""
    return BadValueError(f"--{option}={value!r}: {wanted} is wanted")


def flag(option: str, value: object) -> bool:
    """Return True; False means not given."""
    if value is not True:
        raise bad(option, value, "True or False")
    return True


def text(option: str, value: object) -> str:
    """Return a text or a path, which is not empty."""
    if not isinstance(value, str | os.PathLike) or not (found := os.fspath(value)) or not isinstance(found, str):
        raise bad(option, value, "a text")
    return found


def items(option: str, value: object) -> list[str]:
    """Return the items of a comma-separated string, a single value or a sequence."""
    if isinstance(value, str):
        found = value.split(",")
    elif isinstance(value, Iterable):
        found = [_word(option, item) for item in value]
    else:
        found = [_word(option, value)]
    found = [item.strip() for item in found]
    if not found or not all(found):
        raise bad(option, value, "a name, a number, or a sequence of them")
    return found


def _word(option: str, value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise bad(option, value, "a name, a number, or a sequence of them")
    return value if isinstance(value, str) else str(value)


def one_an_event(option: str, value: object) -> str:
    """Return one value an event, as the command line has it; None: it is left out."""
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple) and None in value:
        return ",".join("" if one is None else _word(option, one) for one in value)
    return ",".join(items(option, value))


def address_range(option: str, value: object) -> str:
    """Return a range given as START-END, a symbol or two numbers."""
    if isinstance(value, str) and value:
        return value
    if isinstance(value, tuple | list) and len(value) == 2 and all(type(limit) is int for limit in value):
        return f"{value[0]:#x}-{value[1]:#x}"
    raise bad(option, value, "START-END, a symbol, or a pair of addresses")


def address(option: str, value: object) -> str:
    """Return an address given as a number, or a text."""
    return f"{value:#x}" if type(value) is int else text(option, value)


def number(convert: Callable[[str, str], object]) -> Callable[[str, object], object]:
    """Return a converter of numbers, or of their text on the command line."""

    def converted(option: str, value: object) -> object:
        if isinstance(value, bool):
            raise bad(option, value, "a number")
        return convert(option, str(value))

    return converted


def numbers(example: str, high: int = ANY_NUMBER) -> Callable[[str, object], dict[str, int]]:
    """Return a converter of numbers by name, ignoring case."""

    def converted(option: str, value: object) -> dict[str, int]:
        if not isinstance(value, Mapping):
            raise bad(option, value, f"a mapping such as {example}")
        return {
            text(option, name).lower(): whole_number(f"{option}={name}", str(field), 0, high)
            for name, field in value.items()
        }

    return converted


def several(value: object) -> list[object]:
    """Return the members of a collection; a list of a single value."""
    return list(value) if isinstance(value, Iterable) else [value]


def is_list(value: object) -> bool:
    """Whether a value is a list, of one value for each event set."""
    return isinstance(value, list)


def is_nested(value: object) -> bool:
    """Whether a value is a sequence of sequences, or of None."""
    return isinstance(value, list | tuple) and all(one is None or isinstance(one, list | tuple) for one in value)


def is_nested_or_flags(value: object) -> bool:
    """Whether a value is a sequence of sequences, of True, False or None."""
    return isinstance(value, list | tuple) and all(one is None or isinstance(one, bool | list | tuple) for one in value)


def is_list_of_ranges(value: object) -> bool:
    """Whether a value is a list, and not a range of two numbers."""
    return isinstance(value, list) and not all(type(one) is int for one in value)
