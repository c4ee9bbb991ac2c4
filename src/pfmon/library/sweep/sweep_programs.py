"""The programs of a sweep: commands, with each combination of the values of their arguments, and recordings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from pfmon.engine.registry import instruction_set_of
from pfmon.errors import PfmonError
from pfmon.library.resolving.command_program import find_program
from pfmon.library.sweep.sweep_tables import OF_RUNS, choices, text_of
from pfmon.machine.config.machine_figures import Value
from pfmon.pmu import get
from pfmon.session.run.supported import PROCESSORS
from pfmon.stream._stream import InstructionSet
from pfmon.stream.recording.recording_file import RecordingReader

COLUMNS = frozenset({"program", "machine", "pmu", "error", "status", "instructions", "seconds", "beside", "thread"})
"""Columns of a sweep's table, which no argument is called."""


class SweepProgram(NamedTuple):
    """A program to run and record once, or an existing recording. ``name``: with the values of its arguments;
    ``title``: without; ``options``: of the run; ``arguments``: the values that the sweep varies."""

    name: str
    command: Sequence[str]
    input: str
    options: Mapping[str, Any]
    recording: str
    title: str
    arguments: tuple[tuple[str, Value], ...] = ()

    def instruction_set(self) -> InstructionSet | None:
        """Return the instruction set of the program or of the recording, None if it is unknown."""
        if self.command:
            return instruction_set_of(find_program(self.command[0]))
        return InstructionSet(int(RecordingReader(self.recording).head["instruction_set"]))

    def machine(self) -> str:
        """Return the machine that a run of the program has by default."""
        instructions = self.instruction_set()
        if instructions is None:
            raise PfmonError(f"{self.name}: its instruction set is unknown: a [[machine]] is wanted")
        return get(PROCESSORS[instructions].pmu).target.machine()


def programs_of(table: Mapping[str, Any]) -> Iterator[SweepProgram]:
    """Yield the program of a table, for each combination of its arguments' values."""
    command, recording = table.get("command", []), text_of(table, "program", "recording")
    command = [command] if isinstance(command, str) else command
    if not isinstance(command, list) or not all(isinstance(word, str) for word in command):
        raise PfmonError(f"program.command = {command!r}: a list of texts is wanted")
    if bool(command) == bool(recording):
        raise PfmonError('a program has a command = ["...", ...] or a recording = "..."')
    _check_files(command, table, recording)
    arguments = _arguments(table, command)
    for chosen in product(*choices("arguments", arguments)):
        values = tuple(pair for part in chosen for pair in part)
        yield _program(table, command, recording, values)


def _program(
    table: Mapping[str, Any], command: Sequence[str], recording: str, values: tuple[tuple[str, Value], ...]
) -> SweepProgram:
    known = [*command[:1], *(_filled(word, values) for word in command[1:])]
    fixed = [word for word in command[1:] if not any(_place(name) in word for name, _ in values)]
    words = [Path(word).name for word in command[:1]]
    title = text_of(table, "program", "name") or " ".join([*words, *fixed]) or Path(recording).name
    name = " ".join([title, *(f"{name}={value}" for name, value in values)])
    options = {key: table[key] for key in OF_RUNS if key in table}
    return SweepProgram(name, known, text_of(table, "program", "input"), options, recording, title, values)


def _arguments(table: Mapping[str, Any], command: Sequence[str]) -> Mapping[str, Any]:
    """Return the values to try, by argument; each has its place in the command."""
    wanted = table.get("arguments", {})
    if not isinstance(wanted, dict):
        raise PfmonError("program.arguments is a table: NAME = [VALUE, ...]")
    for name in (name.strip() for key in wanted for name in key.split(",")):
        if not any(_place(name) in word for word in command[1:]):
            raise PfmonError(f"program.arguments: the command has no {_place(name)}")
        if name in COLUMNS or "." in name:
            raise PfmonError(f"program.arguments: {name} is the name of another column")
    for values in wanted.values():
        flat = [one for value in values for one in (value if isinstance(value, list) else [value])]
        if not all(isinstance(one, (str, int)) for one in flat):
            raise PfmonError(f"program.arguments: {values!r}: texts and whole numbers are wanted")
    return wanted


def _place(name: str) -> str:
    return f"{{{name}}}"


def _filled(word: str, values: Sequence[tuple[str, Value]]) -> str:
    for name, value in values:
        word = word.replace(_place(name), str(value))
    return word


def _check_files(command: Sequence[str], table: Mapping[str, Any], recording: str) -> None:
    if recording and not Path(recording).is_file():
        raise PfmonError(f"program.recording = {recording!r}: there is no such file")
    if command and not Path(find_program(command[0])).is_file():
        raise PfmonError(f"program.command: {command[0]}: there is no such program")
    if (path := text_of(table, "program", "input")) and not Path(path).is_file():
        raise PfmonError(f"program.input = {path!r}: there is no such file")
