"""Option parsing as by GNU getopt_long: unique prefixes, ``--name=value`` or ``--name value``, grouped short options,
optional values attached to their option; parsing ends at the first word that is no option."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from pfmon.errors import PfmonError

WITH_VALUE = {"append": "cmdline"}
"""Flags that are another option's name with a value: --append=TEXT is what emulators call a kernel's command line."""


class Syntax(Protocol):
    """How an option is written. ``value`` names its value, "" for none; ``optional``: it may be left out."""

    @property
    def long(self) -> str: ...
    @property
    def short(self) -> str: ...
    @property
    def value(self) -> str: ...
    @property
    def optional(self) -> bool: ...


class ParsedOption(NamedTuple):
    """An option on the command line; ``value`` is None without a value; ``typed`` is the user's spelling."""

    name: str
    value: str | None
    typed: str = ""


def parse(
    options: Iterable[Syntax], words: Sequence[str], mistaken: Callable[[PfmonError, str], None] | None = None
) -> tuple[list[ParsedOption], list[str]]:
    """Return the options at the beginning of ``words``, in order, and the remaining words. Raises PfmonError, or calls
    ``mistaken`` with the error and its word, and continues."""
    table = {option.long: option for option in options}
    rest = list(words)
    given: list[ParsedOption] = []
    while rest:
        word = rest[0]
        if word == "--":
            return given, rest[1:]
        if word == "-" or not word.startswith("-"):
            break
        rest.pop(0)
        try:
            given += [_long(table, word[2:], rest)] if word.startswith("--") else _short(table, word[1:], rest)
        except PfmonError as error:
            if mistaken is None:
                raise
            mistaken(error, word)
    return given, rest


def _long(table: Mapping[str, Syntax], text: str, rest: list[str]) -> ParsedOption:
    name, equals, value = text.partition("=")
    option = _named(table, name)
    if not option.value:
        if equals and WITH_VALUE.get(option.long) in table:
            return ParsedOption(WITH_VALUE[option.long], value, f"--{name}")
        if equals:
            raise PfmonError(f"option --{name} takes no value")
        return ParsedOption(option.long, None, f"--{name}")
    if equals:
        return ParsedOption(option.long, value, f"--{name}")
    return ParsedOption(option.long, None if option.optional else _next(f"--{name}", option, rest), f"--{name}")


def _named(table: Mapping[str, Syntax], name: str) -> Syntax:
    if name in table:
        return table[name]
    matches = [option for long, option in table.items() if long.startswith(name)]
    if len(matches) == 1:
        from pfmon.cli.hp_options import INSTEAD, unknown

        if name in INSTEAD:
            raise unknown(f"--{name}", ())
        return matches[0]
    if matches:
        choices = ", ".join(f"--{option.long}" for option in matches)
        raise PfmonError(f"option --{name} is ambiguous: {choices}")
    from pfmon.cli.hp_options import unknown

    raise unknown(f"--{name}", list(table))


def _short(table: Mapping[str, Syntax], letters: str, rest: list[str]) -> list[ParsedOption]:
    given = []
    while letters:
        letter, letters = letters[0], letters[1:]
        option = next((option for option in table.values() if option.short == letter), None)
        if option is None:
            from pfmon.cli.hp_options import unknown

            raise unknown(f"-{letter}", [])
        if not option.value:
            given.append(ParsedOption(option.long, None, f"-{letter}"))
            continue
        value = letters or (None if option.optional else _next(f"-{letter}", option, rest))
        return [*given, ParsedOption(option.long, value, f"-{letter}")]
    return given


def _next(shown: str, option: Syntax, rest: list[str]) -> str:
    if not rest:
        raise PfmonError(f"option {shown} wants a value: {option.value}")
    return rest.pop(0)
