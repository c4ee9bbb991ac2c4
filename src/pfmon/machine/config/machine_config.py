"""Machines as data: a TOML file of figures with their sources, checked.

A file has tables of figures ([l1d], [l3], [latency.alu] ...); ``source`` names the source of a table's figures and
a sub-table ``sources`` those of single ones. ``base = "itanium2"`` inherits missing figures from another machine.
``[variants.NAME]`` are machines that differ in a few figures, given by their full names.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from os.path import dirname, join
from typing import Any, TypeGuard

from pfmon.bounded_files import read_bounded
from pfmon.errors import BadValueError, PfmonError, UnknownNameError, nearest_names
from pfmon.machine.config.figure_checks import cache_problems, problems
from pfmon.machine.config.figures import OPTIONAL_TABLES, figures
from pfmon.machine.config.machine_figures import FILES, HOST, IN_ORDER, OUT_OF_ORDER, MachineFigures, Value

COMMAND_LINE = "--set"
KIND = "predictor.kind"
KINDS = {"hybrid": "nehalem", "tage": "skylake", "itanium": "itanium", "itanium2": "itanium2"}
"""The machine whose figures a predictor of this kind has where another machine is given one."""

Tree = dict[str, Any]


class _Reading:
    """Figures read so far, and the source of each. ``core``: the kind of core that they belong to."""

    def __init__(self, core: str) -> None:
        self.core = core
        self.values: dict[str, Value] = {}
        self.sources: dict[str, str] = {}
        self.files: dict[str, str] = {}

    def put(self, where: str, name: str, raw: object, source: str) -> None:
        """Enters one figure. PfmonError: there is none of that name, or its value is not legal."""
        known = figures(self.core)
        if name not in known:
            near = nearest_names(name, known)
            hint = f"; nearest: {', '.join(near)}" if near else "; pfmon -I lists a machine's figures"
            raise PfmonError(f"{where}: unknown figure {name}{hint}")
        try:
            self.values[name] = known[name].parse(raw)
        except BadValueError as error:
            raise BadValueError(f"{where}: {name} = {raw}: {error}") from None
        self.sources[name] = source
        self.files[name] = where

    def put_table(self, where: str, table: str, content: Tree, source: str, sources: Mapping[str, str]) -> None:
        """Enters a table and the tables in it."""
        source = _text(where, f"{table}.source", content.get("source", source))
        sources = {**sources, **_sources(where, table, content)}
        for key, raw in content.items():
            name = f"{table}.{key}"
            if key in ("source", "sources"):
                continue
            if isinstance(raw, dict):
                self.put_table(where, name, raw, source, sources)
                continue
            own = sources.get(name, source)
            if not own:
                raise PfmonError(f'{where}: {name} has no source: [{table}] wants source = "..."')
            self.put(where, name, raw, own)
        _check_sources(where, table, sources, self.values)


def _text(where: str, name: str, raw: object) -> str:
    if not isinstance(raw, str):
        raise PfmonError(f"{where}: {name} = {raw}: a text is wanted")
    return raw


def _sources(where: str, table: str, content: Tree) -> dict[str, str]:
    """Sources of single figures, by full name; keys with dots may be written as tables."""
    found: dict[str, str] = {}

    def walk(prefix: str, level: object) -> None:
        if isinstance(level, dict):
            for key, value in level.items():
                walk(f"{prefix}.{key}", value)
        else:
            found[prefix] = _text(where, f"source of {prefix}", level)

    sources = content.get("sources", {})
    if not isinstance(sources, dict):
        raise PfmonError(f"{where}: {table}.sources: a table of figures and their sources is wanted")
    walk(table, sources)
    return found


def _check_sources(where: str, table: str, sources: Mapping[str, str], values: Mapping[str, Value]) -> None:
    for name in sources:
        if "." not in table and name not in values:
            raise PfmonError(f"{where}: [{table}.sources] names {name}, which is not set")


def load(machine: str, overrides: Sequence[str] = (), option: str = COMMAND_LINE) -> MachineFigures:
    """A machine by name, variant or file, with figures changed (``l3.size=9M``). PfmonError: the error in them, with
    the ``option`` that changes them."""
    tree = _tree(machine)
    reading = _Reading(_core(tree))
    place = _read(reading, machine, tree)
    for override in overrides:
        name, equals, text = override.partition("=")
        if not equals:
            raise PfmonError(f"{option} {override}: FIGURE=VALUE is wanted, such as l3.size=9M").about(option)
        known = figures(reading.core)
        if name.partition(".")[0] in OPTIONAL_TABLES[reading.core] and name in known and name not in reading.values:
            raise PfmonError(f"{option} {override}: {machine} has no {name.partition('.')[0]}").about(option)
        reading.put(option, name.strip(), text.strip(), "the command line")
    if reading.files.get(KIND) == option:
        _adopt_kind(reading, option)
    _check_complete(place, reading)
    for problem in (problems if reading.core == IN_ORDER else cache_problems)(reading.values):
        raise PfmonError(f"{reading.files[problem.name]}: {problem.name}: {problem.text}")
    given = [name for name, where in reading.files.items() if where == option]
    return MachineFigures(machine, reading.values, reading.sources, given)


def _adopt_kind(reading: _Reading, option: str) -> None:
    """Give the predictor of another kind its figures: those that were not given are the ones of a prebuilt machine
    that has such a predictor. Figures of the former kind go."""
    kind = str(reading.values[KIND])
    donor = _builtin(KINDS[kind]) if kind in KINDS else {}
    for name, figure in figures(reading.core).items():
        if not figure.when.startswith(f"{KIND}=") or reading.files.get(name) == option:
            continue
        if not figure.needed(reading.values):
            for known in (reading.values, reading.sources, reading.files):
                known.pop(name, None)
        elif name not in reading.values and donor:
            table, _, key = name.partition(".")
            own = donor[table].get("sources", {}).get(key, donor[table].get("source", ""))
            reading.put(f"{KINDS[kind]}.toml", name, donor[table][key], f"as {KINDS[kind]}: {own}")


def names() -> list[str]:
    """The prebuilt machines and their variants."""
    return [*FILES, *_variants(), HOST]


def is_known(name: object) -> TypeGuard[str]:
    """Whether a machine is prebuilt. Other files are read only for names that are not."""
    return name in FILES or name in names()


@cache
def _variants() -> dict[str, str]:
    """Variant -> machine whose file defines it."""
    return {name: base for base in FILES for name in _builtin(base).get("variants", {})}


@cache
def _builtin(name: str) -> Tree:
    return _read_toml(join(dirname(__file__), f"{name}.toml"))


def _tree(machine: str) -> Tree:
    """Contents of a named machine or a file; for a variant those of the machine's file."""
    if machine in FILES:
        return _builtin(machine)
    if machine in _variants():
        return _builtin(_variants()[machine])
    if machine == HOST:
        from pfmon.machine.config.host_caches import host_tree

        return host_tree()
    if "/" in machine or machine.endswith(".toml"):
        return _parse(machine)
    raise UnknownNameError("machine", machine, names())


def _core(tree: Tree) -> str:
    """The kind of core of a machine: its own figure, or that of its base."""
    own = tree.get("machine")
    if isinstance(own, dict) and "core" in own:
        return OUT_OF_ORDER if own["core"] == OUT_OF_ORDER else IN_ORDER
    base = tree.get("base")
    return _core(_tree(base)) if base is not None and is_known(base) and base != HOST else IN_ORDER


def _read(reading: _Reading, machine: str, tree: Tree) -> str:
    """Reads all figures of a name or file; returns the path, for messages."""
    if machine not in FILES and machine in _variants():
        place = f"{_variants()[machine]}.toml"
        _read_tree(reading, place, tree)
        _read_variant(reading, place, machine, tree["variants"][machine])
        return place
    place = f"{machine}.toml" if machine in FILES else machine
    _read_tree(reading, place, tree)
    return place


def _read_toml(path: str) -> Tree:
    return tomllib.loads(read_bounded(path).decode())


def _parse(path: str) -> Tree:
    try:
        return _read_toml(path)
    except OSError as error:
        raise PfmonError(f"{path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PfmonError(f"{path}: not TOML: {error}") from None


def _read_tree(reading: _Reading, where: str, tree: Tree) -> None:
    base = tree.get("base")
    if base is not None:
        if not is_known(base):
            raise PfmonError(f"{where}: base = {base}: one of {', '.join(names())} is wanted")
        _read(reading, base, _tree(base))
    tables = {name.partition(".")[0] for name in figures(reading.core)}
    for table, content in tree.items():
        if table in ("base", "variants"):
            continue
        if not isinstance(content, dict):
            raise PfmonError(f"{where}: {table} = {content}: figures are in tables, such as [l3]")
        if table not in tables:
            raise PfmonError(f"{where}: unknown table [{table}]; there are: {', '.join(sorted(tables))}")
        reading.put_table(where, table, content, "", {})


def _read_variant(reading: _Reading, where: str, variant: str, content: Tree) -> None:
    source, sources = content["source"], content.get("sources", {})
    for name, raw in content.items():
        if name not in ("source", "sources"):
            reading.put(f"{where}, {variant}", name, raw, sources.get(name, source))


def _check_complete(where: str, reading: _Reading) -> None:
    """PfmonError for a figure that the machine needs and lacks, or has and cannot use."""
    values = reading.values
    tables = {name.partition(".")[0] for name in values}
    in_order = reading.core == IN_ORDER
    if in_order and (("l2" in tables) == ("l2d" in tables) or ("l2d" in tables) != ("l2i" in tables)):
        raise PfmonError(f"{where}: a machine has [l2], or [l2d] and [l2i]")
    for name, figure in figures(reading.core).items():
        table = name.partition(".")[0]
        if table not in tables and table in OPTIONAL_TABLES[reading.core]:
            continue
        if name not in values and figure.needed(values):
            raise PfmonError(f"{where}: {name} is missing: {figure.wanted().rstrip(',')}, {figure.meaning}")
        if name in values and not figure.needed(values):
            raise PfmonError(f"{reading.files[name]}: {name} has a meaning only with {figure.when}")
