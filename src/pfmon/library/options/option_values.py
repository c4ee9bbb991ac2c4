"""Parsers of option values: numbers, sizes, durations."""

from __future__ import annotations

from os.path import isdir

from pfmon.errors import BadValueError

UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
MAX_SIZE = 1 << 63
"""Bytes: more than a program can have addresses for."""
MAX_PRELOAD = (1 << 32) - 1
"""The largest value that a counter can be loaded with (PowerPC 604 manual section 9.1)."""


def directory(option: str, text: str) -> str:
    """Return a directory of the host, checked."""
    if not isdir(text):
        raise BadValueError(f"--{option}={text}: a directory is wanted")
    return text


def variable(option: str, text: str) -> str:
    """Return an environment variable, checked."""
    if not text or text.startswith("="):
        raise BadValueError(f"--{option}={text}: NAME=VALUE or NAME is wanted")
    return text


def whole_number(option: str, text: str, low: int = 0, high: int = (1 << 64) - 1, given: str = "") -> int:
    """Parse a decimal number, or a hexadecimal one with 0x. ``given``: the option's value, of which it is a part."""
    try:
        value = int(text, 0)
    except ValueError:
        value = low - 1
    if not low <= value <= high:
        place = f", not {text!r}" if given and given != text else ""
        raise BadValueError(f"--{option}={given or text}: a whole number from {low} to {high} is wanted{place}")
    return value


def size(option: str, text: str) -> int:
    """Parse a number of bytes, with k, M, G or T for powers of 1024."""
    digits = text.rstrip("kKmMgGtT")
    unit = text[len(digits) :].lower()
    if not digits.isdecimal() or unit not in UNITS or int(digits) == 0:
        raise BadValueError(f"--{option}={text}: a size such as 512M or 8G is wanted")
    number = int(digits) * UNITS[unit] if len(digits) <= len(str(MAX_SIZE)) else MAX_SIZE + 1
    if number > MAX_SIZE:
        raise BadValueError(f"--{option}={text}: at most {MAX_SIZE >> 40}T is wanted")
    return number


def milliseconds(option: str, text: str) -> int:
    """Parse a positive number of milliseconds, possibly fractional, and return nanoseconds."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 1e-6 <= value < 1e12:
        raise BadValueError(f"--{option}={text}: a positive number of milliseconds is wanted")
    return round(value * 1_000_000)


def seconds(option: str, text: str) -> float:
    """Parse a positive number of seconds, possibly fractional."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1e9:
        raise BadValueError(f"--{option}={text}: a positive number of seconds is wanted")
    return value


def names(text: str) -> list[str]:
    """Split a comma-separated list, except at commas in brackets, which belong to C++ names: ``add(int, int)``."""
    from pfmon.program.demangle import brackets

    commas = [place for place, (sign, depth) in enumerate(brackets(text)) if sign == "," and depth <= 0]
    starts = [0, *(place + 1 for place in commas)]
    return [text[start:end].strip() for start, end in zip(starts, [*commas, len(text)], strict=True)]


def pattern(option: str, text: str) -> str:
    """Return a regular expression, checked."""
    import re

    try:
        re.compile(text)
    except re.error as error:
        raise BadValueError(f"--{option}={text}: {error}; a regular expression is wanted").about(
            f"--{option}"
        ) from None
    return text
