"""Sweep files: TOML tables of programs, machines, figures and events, and the cells that they define."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations_with_replacement, product
from pathlib import Path
from typing import Any, NamedTuple

from pfmon.bounded_files import read_bounded
from pfmon.engine.registry import instruction_set_of
from pfmon.errors import PfmonError, nearest_names, reason
from pfmon.library.resolving.command_program import find_program
from pfmon.machine.config.machine_config import load
from pfmon.machine.config.machine_figures import MachineFigures, Value
from pfmon.pmu import get
from pfmon.session.run.event_patterns import expand
from pfmon.session.run.supported import check_fits

OF_RUNS = ("sysroot", "environment", "seed", "quantum", "schedule_seed")
"""Options of a run that a program may have, with Python's values."""
KEYS = {
    "": {"events", "cpi", "figures", "pairs", "program", "machine"},
    "program": {"name", "command", "input", "recording", *OF_RUNS},
    "machine": {"name", "label", "set", "events", "figures"},
}
"""The permitted keys of each table."""


class SweepProgram(NamedTuple):
    """A program to run and record once, or an existing recording. ``options``: of the run."""

    name: str
    command: Sequence[str]
    input: str
    options: Mapping[str, Any]
    recording: str


class Cell(NamedTuple):
    """One program on one machine. ``machine``: its label; ``base`` and ``settings``: the machine and its changes;
    ``figures``: values of the figures that the sweep varies; ``cpi``: break the cycles down, too; ``beside``: the
    program on the core's second hardware thread ("": none)."""

    program: str
    machine: str
    base: str
    settings: tuple[str, ...]
    figures: tuple[tuple[str, Value], ...]
    content: tuple[tuple[str, Value], ...]
    pmu: str
    events: tuple[str, ...]
    cpi: bool
    beside: str = ""

    def __str__(self) -> str:
        changed = "".join(f" {name}={value}" for name, value in self.figures)
        beside = f" beside {self.beside}" if self.beside else ""
        return f"{self.program}{beside} on {self.machine}{changed}"


class Sweep(NamedTuple):
    """A sweep: programs by name, and the cells, grouped by program."""

    path: str
    programs: Mapping[str, SweepProgram]
    cells: Sequence[Cell]


def read(path: str) -> Sweep:
    """Read a sweep file. Raises PfmonError for all mistakes, before anything runs."""
    tree = _tree(path)
    try:
        _check_keys("", tree)
        programs = [_program(one) for one in _tables(tree, "program")]
        machines = [one for table in _tables(tree, "machine") for one in _machines(tree, table)]
        pairs = _pairs(tree.get("pairs", False), [program.name for program in programs], machines)
    except PfmonError as error:
        raise PfmonError(f"{path}: {error}") from None
    named = {program.name: program for program in programs}
    if len(named) < len(programs):
        twice = next(one.name for number, one in enumerate(programs) if one.name in {p.name for p in programs[:number]})
        raise PfmonError(f'{path}: two programs are called {twice}; give one of them another name = "..."')
    for program, machine in product(programs, machines):
        _check_runs(path, program, machine)
    cells = [machine._replace(program=program.name) for program in programs for machine in machines]
    cells += [machine._replace(program=one, beside=other) for one, other in pairs for machine in machines]
    return Sweep(path, named, list(dict.fromkeys(cells)))


def _pairs(wanted: object, programs: Sequence[str], machines: Sequence[Cell]) -> list[tuple[str, str]]:
    """Return the pairs of programs that share a core: all, including each with itself, or those listed."""
    if wanted is False:
        return []
    for machine in machines:
        if "smt.policy" not in dict(machine.content):
            raise PfmonError(f"pairs: {machine.machine} has one hardware thread a core; montecito has two")
    if wanted is True:
        return list(combinations_with_replacement(programs, 2))
    if not isinstance(wanted, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in wanted):
        raise PfmonError(f'pairs = {wanted!r}: true, or a list of ["PROGRAM", "PROGRAM"] is wanted')
    for name in (name for pair in wanted for name in pair):
        if name not in programs:
            raise PfmonError(f"pairs: there is no program {name!r}; there are: {', '.join(programs)}")
    return [(one, other) for one, other in wanted]


def _tree(path: str) -> dict[str, Any]:
    try:
        return tomllib.loads(read_bounded(path).decode())
    except OSError as error:
        raise PfmonError(f"{path}: {reason(error)}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PfmonError(f"{path}: not TOML: {error}") from None


def _check_keys(table: str, content: Mapping[str, Any]) -> None:
    for key in content:
        if key not in KEYS[table]:
            near = nearest_names(key, KEYS[table])
            hint = f"; nearest: {', '.join(near)}" if near else f"; there are: {', '.join(sorted(KEYS[table]))}"
            raise PfmonError(f"unknown key {f'{table}.' if table else ''}{key}{hint}")


def _tables(tree: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    found = tree.get(name, [])
    if not isinstance(found, list) or not found or not all(isinstance(one, dict) for one in found):
        raise PfmonError(f"at least one [[{name}]] is wanted")
    for one in found:
        _check_keys(name, one)
    return found


def _program(table: Mapping[str, Any]) -> SweepProgram:
    command, recording = table.get("command", []), _text(table, "program", "recording")
    command = [command] if isinstance(command, str) else command
    if not isinstance(command, list) or not all(isinstance(word, str) for word in command):
        raise PfmonError(f"program.command = {command!r}: a list of texts is wanted")
    if bool(command) == bool(recording):
        raise PfmonError('a program has a command = ["...", ...] or a recording = "..."')
    words = [Path(word).name for word in command[:1]] + list(command[1:])
    name = _text(table, "program", "name") or " ".join(words) or Path(recording).name
    options = {key: table[key] for key in OF_RUNS if key in table}
    if recording and not Path(recording).is_file():
        raise PfmonError(f"program.recording = {recording!r}: there is no such file")
    if command and not Path(find_program(command[0])).is_file():
        raise PfmonError(f"program.command: {command[0]}: there is no such program")
    if (path := _text(table, "program", "input")) and not Path(path).is_file():
        raise PfmonError(f"program.input = {path!r}: there is no such file")
    return SweepProgram(name, command, path, options, recording)


def _text(table: Mapping[str, Any], where: str, key: str) -> str:
    found = table.get(key, "")
    if not isinstance(found, str):
        raise PfmonError(f"{where}.{key} = {found!r}: a text is wanted")
    return found


def _machines(tree: Mapping[str, Any], table: Mapping[str, Any]) -> Iterator[Cell]:
    """Yield cells, still without a program, for each combination of a machine's figure values."""
    base, events = _text(table, "machine", "name"), table.get("events", tree.get("events", []))
    if not base:
        raise PfmonError('a machine has a name = "..."')
    if not isinstance(events, list) or not events or not all(isinstance(event, str) for event in events):
        raise PfmonError(f'events = ["EVENT", ...] are wanted, for all machines or for {base}')
    fixed = _settings(table.get("set", []))
    choices = list(_choices({**_figures(tree), **_figures(table)}))
    for chosen in product(*choices):
        settings = (*fixed, *(f"{name}={value}" for part in chosen for name, value in part))
        figures = _loaded(base, settings)
        pmu = str(figures["machine.pmu"])
        expanded = expand(get(pmu), events)
        _check_events(pmu, expanded)
        varied = tuple((name, figures[name]) for part in chosen for name, _ in part)
        label = _text(table, "machine", "label") or ", ".join([base, *fixed])
        content = tuple(sorted(figures.items()))
        yield Cell("", label, base, settings, varied, content, pmu, tuple(expanded), bool(tree.get("cpi", False)))


SETTINGS = "machine.set"
"""The key of changed figures."""


def _loaded(base: str, settings: Sequence[str]) -> MachineFigures:
    """Return a machine's figures. PfmonError: unknown machine, or invalid figures."""
    try:
        return load(base, settings, SETTINGS)
    except PfmonError as error:
        raise PfmonError(f"machine {base}: {error}") from None


def _settings(found: object) -> tuple[str, ...]:
    """Return FIGURE=VALUE strings, from a list of these or a table."""
    if isinstance(found, dict):
        return tuple(f"{name}={value}" for name, value in _flat(found))
    if isinstance(found, list) and all(isinstance(text, str) for text in found):
        return tuple(found)
    raise PfmonError(f'machine.set = {found!r}: ["FIGURE=VALUE", ...] is wanted')


def _flat(table: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield figures with their values: l3.size as a key, or size in a table l3."""
    for key, value in table.items():
        name = f"{before}.{key}" if before else key
        if isinstance(value, dict):
            yield from _flat(value, name)
        else:
            yield name, value


def _figures(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values to try, by figure."""
    figures = table.get("figures", {})
    if not isinstance(figures, dict):
        raise PfmonError("figures is a table: FIGURE = [VALUE, ...]")
    return dict(_flat(figures))


def _choices(figures: Mapping[str, Any]) -> Iterator[list[tuple[tuple[str, Any], ...]]]:
    """Yield the choices of each figure; for "a,b" the pairs of values of a and b."""
    for key, values in figures.items():
        names = [name.strip() for name in key.split(",")]
        if not isinstance(values, list) or not values:
            raise PfmonError(f"figures: {key} = {values!r}: a list of values is wanted")
        found = []
        for value in values:
            several = value if len(names) > 1 else [value]
            if not isinstance(several, list) or len(several) != len(names):
                raise PfmonError(f"figures: {key}: {value!r}: a list of {len(names)} values is wanted")
            found.append(tuple((name, _figure(one)) for name, one in zip(names, several, strict=True)))
        yield found


def _figure(value: object) -> str:
    """Return a value in the syntax of --set."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _check_events(pmu: str, events: Sequence[str]) -> None:
    """Raise PfmonError for an event that cannot be counted."""
    from pfmon.counting.totals.countable import check_countable
    from pfmon.pmu.model.derived import plan

    for event in plan(get(pmu).events, list(events)).names:
        if event in get(pmu).events:
            check_countable(get(pmu), get(pmu).events[event])


def _check_runs(path: str, program: SweepProgram, machine: Cell) -> None:
    """Raise PfmonError for a machine that cannot run the program."""
    if not program.command:
        return
    instructions = instruction_set_of(find_program(program.command[0]))
    if instructions is None:
        return
    try:
        check_fits(get(machine.pmu), instructions)
    except PfmonError as error:
        raise PfmonError(f"{path}: {program.name} on {machine.machine}: {error}") from None
