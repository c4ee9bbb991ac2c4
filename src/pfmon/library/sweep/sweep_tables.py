"""The tables of a sweep file: their keys, and lists of values to try."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from pfmon.bounded_files import read_bounded
from pfmon.errors import PfmonError, nearest_names, reason

OF_RUNS = ("sysroot", "environment", "seed", "quantum", "schedule_seed")
"""Options of a run that a program may have, with Python's values."""
KEYS = {
    "": {"events", "cpi", "figures", "pairs", "pmu", "program", "machine"},
    "program": {"name", "command", "arguments", "input", "recording", *OF_RUNS},
    "machine": {"name", "label", "set", "events", "figures"},
}
"""The permitted keys of each table."""

Choice = tuple[tuple[str, Any], ...]
"""Names with a value each, which change together."""


def read_tree(path: str) -> dict[str, Any]:
    """Return the contents of a file. PfmonError: it cannot be read, is not TOML, or has an unknown key."""
    try:
        tree = tomllib.loads(read_bounded(path).decode())
    except OSError as error:
        raise PfmonError(f"{path}: {reason(error)}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PfmonError(f"{path}: not TOML: {error}") from None
    try:
        check_keys("", tree)
    except PfmonError as error:
        raise PfmonError(f"{path}: {error}") from None
    return tree


def check_keys(table: str, content: Mapping[str, Any]) -> None:
    """Raise PfmonError for a key that a table does not have."""
    for key in content:
        if key not in KEYS[table]:
            near = nearest_names(key, KEYS[table])
            hint = f"; nearest: {', '.join(near)}" if near else f"; there are: {', '.join(sorted(KEYS[table]))}"
            raise PfmonError(f"unknown key {f'{table}.' if table else ''}{key}{hint}")


def tables(tree: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """Return the tables [[name]], at least one."""
    found = tree.get(name, [])
    if not isinstance(found, list) or not found or not all(isinstance(one, dict) for one in found):
        raise PfmonError(f"at least one [[{name}]] is wanted")
    for one in found:
        check_keys(name, one)
    return found


def text_of(table: Mapping[str, Any], where: str, key: str) -> str:
    """Return a text, "" if there is none."""
    found = table.get(key, "")
    if not isinstance(found, str):
        raise PfmonError(f"{where}.{key} = {found!r}: a text is wanted")
    return found


def settings_of(found: object) -> tuple[str, ...]:
    """Return FIGURE=VALUE strings, from a list of these or a table."""
    if isinstance(found, dict):
        return tuple(f"{name}={value}" for name, value in _flat(found))
    if isinstance(found, list) and all(isinstance(text, str) for text in found):
        return tuple(found)
    raise PfmonError(f'machine.set = {found!r}: ["FIGURE=VALUE", ...] is wanted')


def figures_of(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values to try, by figure."""
    figures = table.get("figures", {})
    if not isinstance(figures, dict):
        raise PfmonError("figures is a table: FIGURE = [VALUE, ...]")
    return dict(_flat(figures))


def _flat(table: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield figures with their values: l3.size as a key, or size in a table l3."""
    for key, value in table.items():
        name = f"{before}.{key}" if before else key
        if isinstance(value, dict):
            yield from _flat(value, name)
        else:
            yield name, value


def choices(what: str, wanted: Mapping[str, Any]) -> Iterator[list[Choice]]:
    """Yield the choices of each name; for "a,b" the pairs of values of a and b."""
    for key, values in wanted.items():
        names = [name.strip() for name in key.split(",")]
        if not isinstance(values, list) or not values:
            raise PfmonError(f"{what}: {key} = {values!r}: a list of values is wanted")
        found = []
        for value in values:
            several = value if len(names) > 1 else [value]
            if not isinstance(several, list) or len(several) != len(names):
                raise PfmonError(f"{what}: {key}: {value!r}: a list of {len(names)} values is wanted")
            found.append(tuple(zip(names, several, strict=True)))
        yield found


def setting_text(value: object) -> str:
    """Return a value in the syntax of --set."""
    return str(value).lower() if isinstance(value, bool) else str(value)
