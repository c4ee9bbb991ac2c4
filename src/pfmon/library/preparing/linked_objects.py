"""Addresses of a program's shared objects, obtained from the dynamic linker before the program runs.

With LD_TRACE_LOADED_OBJECTS set (ld.so(8)), glibc's linker maps the objects that the program is linked with, and exits.
The run must then map the same objects at the same addresses; objects of dlopen are not known in advance.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from pfmon.engine import api, registry
from pfmon.engine.system_settings import SystemSettings
from pfmon.errors import LostError, PfmonError
from pfmon.library.resolving.run_parts import Guest
from pfmon.program import elf
from pfmon.program.image import Program, read_file
from pfmon.program.mapped_files import MappedFile
from pfmon.stream._stream import Consumer

VARIABLE = b"LD_TRACE_LOADED_OBJECTS"
KNOWN_BY = b"TRACE_LOADED_OBJECTS"
"""Text in the file of a dynamic linker that supports the variable; another linker would run the program."""
NOWHERE = Path(os.devnull)


def linked_objects(guest: Guest, pmu: str, program: Program) -> Sequence[MappedFile]:
    """Return the objects that the dynamic linker maps before the program begins, on a processor with this PMU; none if
    it cannot list them. PfmonError: it does not find all."""
    interpreter = program.interpreter
    if interpreter is None or KNOWN_BY not in interpreter.data:
        return ()
    with NOWHERE.open("r+b") as nowhere:
        wanted = api.StartRequest(
            program=program,
            arguments=guest.arguments,
            environment=[*guest.variables, VARIABLE + b"=1"],
            settings=guest.settings._replace(standard_files=(nowhere.fileno(),) * 3),
            memory_limit=guest.memory_limit,
            processor=pmu,
            totals=True,
            engine=guest.engine,
        )
        engine = registry.start(wanted)
        try:
            ending = engine.run(Consumer())
            if ending is None or ending.status:
                raise PfmonError(f"{interpreter.path} does not find all shared objects of {program.image.path}")
            return list(engine.mapped)
        finally:
            engine.close()


def packed_program(system: SystemSettings) -> Sequence[MappedFile]:
    """Return the program that a kernel runs, at its addresses; none if the kernel chooses these. PfmonError: it cannot
    be read."""
    program = system.boot.program if system.boot else None
    if program is None:
        return ()
    parsed = elf.parse(read_file(program.path), program.path)
    code = [one for one in parsed.segments if one.flags & elf.PF_X]
    if parsed.position_independent:
        return ()
    return [MappedFile(one.address, one.address + one.memory_size, one.offset, program.path) for one in code]


def check_places(relied: Sequence[MappedFile], mapped: Sequence[MappedFile]) -> None:
    """Raise LostError if an object that the counts rely on was mapped at another address."""
    for wanted in relied:
        for one in mapped:
            is_there = (one.path, one.offset) == (wanted.path, wanted.offset)
            if is_there and one.start != wanted.start:
                raise LostError(f"{one.path} was mapped at {one.start:#x}, and not at {wanted.start:#x} as expected")
            if not is_there and one.start < wanted.end and wanted.start < one.end:
                raise LostError(f"{one.path} was mapped where {wanted.path} was expected to be")
