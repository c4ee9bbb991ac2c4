"""Options as GNU getopt_long reads them: unique prefixes, ``--name=value`` or ``--name value``, grouped
short options, optional values attached to their option, and an end at the first word that is no option."""

from __future__ import annotations

from pfmon.errors import PfmonError, nearest_names
from pfmon.light_typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Option(NamedTuple):
    """One option. ``value`` names its value in the help, "" for none; ``optional``: it may be left out."""

    long: str
    help: str
    value: str = ""
    short: str = ""
    optional: bool = False


class Given(NamedTuple):
    """An option as it was given; ``value`` is None where there is none."""

    name: str
    value: str | None


def parse(options: Iterable[Option], words: Sequence[str]) -> tuple[list[Given], list[str]]:
    """The options at the beginning of ``words``, in order, and what follows them. Raises PfmonError."""
    table = list(options)
    rest = list(words)
    given: list[Given] = []
    while rest:
        word = rest[0]
        if word == "--":
            return given, rest[1:]
        if word == "-" or not word.startswith("-"):
            break
        rest.pop(0)
        if word.startswith("--"):
            given.append(_long(table, word[2:], rest))
        else:
            given.extend(_short(table, word[1:], rest))
    return given, rest


def _long(table: list[Option], text: str, rest: list[str]) -> Given:
    name, equals, value = text.partition("=")
    option = _named(table, name)
    if not option.value:
        if equals:
            raise PfmonError(f"option --{option.long} takes no value")
        return Given(option.long, None)
    if equals:
        return Given(option.long, value)
    return Given(option.long, None if option.optional else _next(f"--{option.long}", option, rest))


def _named(table: list[Option], name: str) -> Option:
    matches = [option for option in table if option.long.startswith(name)]
    exact = [option for option in matches if option.long == name]
    if exact:
        return exact[0]
    if len(matches) == 1:
        return matches[0]
    if matches:
        choices = ", ".join(f"--{option.long}" for option in matches)
        raise PfmonError(f"option --{name} is ambiguous: {choices}")
    near = nearest_names(name, (option.long for option in table))
    hint = f"; nearest: {', '.join(f'--{other}' for other in near)}" if near else "; pfmon --help lists all"
    raise PfmonError(f"unknown option --{name}{hint}")


def _short(table: list[Option], letters: str, rest: list[str]) -> list[Given]:
    given = []
    while letters:
        letter, letters = letters[0], letters[1:]
        option = next((option for option in table if option.short == letter), None)
        if option is None:
            raise PfmonError(f"unknown option -{letter}; pfmon --help lists all")
        if not option.value:
            given.append(Given(option.long, None))
            continue
        value = letters or (None if option.optional else _next(f"-{letter}", option, rest))
        return [*given, Given(option.long, value)]
    return given


def _next(shown: str, option: Option, rest: list[str]) -> str:
    if not rest:
        raise PfmonError(f"option {shown} wants a value: {option.value}")
    return rest.pop(0)
