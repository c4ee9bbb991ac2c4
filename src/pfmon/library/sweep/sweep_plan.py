"""Sweep files: TOML tables of programs, machines, figures and events, and the cells that they define."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations_with_replacement, product
from typing import Any, NamedTuple

from pfmon.errors import PfmonError
from pfmon.library.resolving.default_events import further_events
from pfmon.library.sweep.sweep_programs import SweepProgram, programs_of
from pfmon.library.sweep.sweep_tables import (
    check_keys,
    choices,
    figures_of,
    read_tree,
    setting_text,
    settings_of,
    tables,
    text_of,
)
from pfmon.machine.config.figures import figures as known_figures
from pfmon.machine.config.machine_config import load
from pfmon.machine.config.machine_figures import MachineFigures, Value
from pfmon.pmu import get
from pfmon.session.run.event_patterns import expand
from pfmon.session.run.supported import check_fits


class Cell(NamedTuple):
    """One program on one machine. ``program``: its title; ``run``: its name, which has the values of its arguments;
    ``machine``: its label; ``base`` and ``settings``: the machine and its changes; ``figures``: values of the arguments
    and figures that the sweep varies; ``cpi``: break the cycles down, too; ``beside``: the program on the core's second
    hardware thread ("": none)."""

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
    run: str = ""

    def __str__(self) -> str:
        changed = "".join(f" {name}={shown_value(self.content, name, value)}" for name, value in self.figures)
        beside = f" beside {self.beside}" if self.beside else ""
        return f"{self.program}{beside} on {self.machine}{changed}"

    def of(self, program: SweepProgram, beside: str = "") -> Cell:
        """Return the cell of a program on this machine."""
        figures = (*program.arguments, *self.figures)
        return self._replace(program=program.title, run=program.name, figures=figures, beside=beside)


def shown_value(content: Sequence[tuple[str, Value]], name: str, value: Value) -> str:
    """Return the value of a figure of such a machine as it is written in files: 16K; of an argument, as it is."""
    figure = known_figures(str(dict(content).get("machine.core", "in_order"))).get(name)
    return figure.show(value) if figure else str(value)


class Sweep(NamedTuple):
    """A sweep: programs by name, and the cells, grouped by program."""

    path: str
    programs: Mapping[str, SweepProgram]
    cells: Sequence[Cell]


def read(path: str) -> Sweep:
    """Read a sweep file. Raises PfmonError for all mistakes, before anything runs."""
    tree = read_tree(path)
    try:
        programs = _programs(tree)
        machines = _machines_by_program(tree, programs)
        pairs = _pairs(tree.get("pairs", False), programs, [one for some in machines.values() for one in some])
        for name, some in machines.items():
            for machine in some:
                _check_runs(programs[name], machine)
    except PfmonError as error:
        raise PfmonError(f"{path}: {error}") from None
    cells = [machine.of(programs[name]) for name, some in machines.items() for machine in some]
    cells += [machine.of(programs[one], beside=other) for one, other in pairs for machine in machines[one]]
    return Sweep(path, programs, list(dict.fromkeys(cells)))


def _programs(tree: Mapping[str, Any]) -> dict[str, SweepProgram]:
    found: dict[str, SweepProgram] = {}
    for program in (program for table in tables(tree, "program") for program in programs_of(table)):
        if program.name in found:
            raise PfmonError(f'two programs are called {program.name}; give one of them another name = "..."')
        found[program.name] = program
    return found


def _machines_by_program(tree: Mapping[str, Any], programs: Mapping[str, SweepProgram]) -> dict[str, list[Cell]]:
    """Return the cells, still without a program, of all machines; without [[machine]] of the PMU's, or of the one that
    a program runs on by default."""
    pmu = text_of(tree, "", "pmu")
    if "machine" in tree:
        if pmu:
            raise PfmonError("pmu stands for [[machine]]: leave one of them out")
        listed = list(_all_machines(tables(tree, "machine"), tree))
        return dict.fromkeys(programs, listed)
    names = {name: get(pmu).target.machine() if pmu else one.machine() for name, one in programs.items()}
    of_machine = {machine: list(_machines(tree, {"name": machine}, ())) for machine in dict.fromkeys(names.values())}
    return {name: of_machine[machine] for name, machine in names.items()}


def _all_machines(listed: Sequence[Mapping[str, Any]], tree: Mapping[str, Any]) -> Iterator[Cell]:
    """Yield the cells of the listed machines. The labels have the changes in which machines of one name differ."""
    fixed = [settings_of(table.get("set", [])) for table in listed]
    for table, own in zip(listed, fixed, strict=True):
        alike = [other for one, other in zip(listed, fixed, strict=True) if one.get("name") == table.get("name")]
        yield from _machines(tree, table, [one for one in own if not all(one in other for other in alike)])


def _machines(tree: Mapping[str, Any], table: Mapping[str, Any], named: Sequence[str]) -> Iterator[Cell]:
    """Yield cells for each combination of a machine's figure values; ``named``: changes that its label has."""
    check_keys("machine", table)
    base = text_of(table, "machine", "name")
    if not base:
        raise PfmonError('a machine has a name = "..."')
    events = table.get("events", tree.get("events"))
    if events is not None and not (events and isinstance(events, list) and all(isinstance(one, str) for one in events)):
        raise PfmonError(f'events = ["EVENT", ...] are wanted, for all machines or for {base}')
    fixed = settings_of(table.get("set", []))
    varied_figures = list(choices("figures", {**figures_of(tree), **figures_of(table)}))
    for chosen in product(*varied_figures):
        settings = (*fixed, *(f"{name}={setting_text(value)}" for part in chosen for name, value in part))
        figures = _loaded(base, settings)
        pmu = str(figures["machine.pmu"])
        expanded = _events(pmu, events)
        varied = tuple((name, figures[name]) for part in chosen for name, _ in part)
        label = text_of(table, "machine", "label") or ", ".join([base, *named])
        content = tuple(sorted(figures.items()))
        yield Cell("", label, base, settings, varied, content, pmu, expanded, bool(tree.get("cpi", False)))


SETTINGS = "machine.set"
"""The key of changed figures."""


def _loaded(base: str, settings: Sequence[str]) -> MachineFigures:
    """Return a machine's figures. PfmonError: unknown machine, or invalid figures."""
    try:
        return load(base, settings, SETTINGS)
    except PfmonError as error:
        raise PfmonError(f"machine {base}: {error}") from None


def _events(pmu: str, events: Sequence[str] | None) -> tuple[str, ...]:
    """Return the events that a PMU counts; None: those that a run counts by default. PfmonError: one of them cannot be
    counted."""
    from pfmon.counting.totals.countable import check_countable
    from pfmon.pmu.model.derived import plan

    model = get(pmu)
    if events is None:
        return (*model.target.default_events, *further_events(model))
    expanded = expand(model, events)
    for event in plan(model.events, list(expanded)).names:
        if event in model.events:
            check_countable(model, model.events[event])
    return tuple(expanded)


def _check_runs(program: SweepProgram, machine: Cell) -> None:
    """Raise PfmonError for a machine that cannot run the program."""
    instructions = program.instruction_set() if program.command else None
    if instructions is None:
        return
    try:
        check_fits(get(machine.pmu), instructions)
    except PfmonError as error:
        raise PfmonError(f"{program.name} on {machine.machine}: {error}") from None


def _pairs(wanted: object, programs: Mapping[str, SweepProgram], machines: Sequence[Cell]) -> list[tuple[str, str]]:
    """Return the pairs of programs that share a core: all, including each with itself, or those listed."""
    if wanted is False:
        return []
    for machine in machines:
        if "smt.policy" not in dict(machine.content):
            raise PfmonError(f"pairs: {machine.machine} has one hardware thread a core; montecito has two")
    for program in programs.values():
        if program.arguments:
            raise PfmonError(f"pairs: {program.title} has arguments, which pairs do not vary")
    if wanted is True:
        return list(combinations_with_replacement(programs, 2))
    if not isinstance(wanted, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in wanted):
        raise PfmonError(f'pairs = {wanted!r}: true, or a list of ["PROGRAM", "PROGRAM"] is wanted')
    for name in (name for pair in wanted for name in pair):
        if name not in programs:
            raise PfmonError(f"pairs: there is no program {name!r}; there are: {', '.join(programs)}")
    return [(one, other) for one, other in wanted]
