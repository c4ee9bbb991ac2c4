"""Programs on the engines of host processes, qemu if no other is named: the examples, and small ones that are assembled
here."""

import os
import platform
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypedDict, Unpack

import pytest
from host_programs import needs

from pfmon.counting._counting import Tally
from pfmon.engine import api, registry
from pfmon.engine.api import ExitReport
from pfmon.engine.guest_settings import GuestSettings
from pfmon.engine.qemu.process_guest import ProcessGuest
from pfmon.program import image
from pfmon.stream._stream import BlockTable, Mark, Recorder, Tee
from pfmon.stream.recording.block_records import InstructionRecord

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
QEMU = needs("qemu-x86_64")
ASSEMBLER = pytest.mark.skipif(
    shutil.which("cc") is None or platform.machine() != "x86_64", reason="no compiler for x86-64 programs is here"
)


class Ran(NamedTuple):
    """A run that has ended."""

    ending: ExitReport | None
    retired: int
    tally: Tally
    words: list[int]
    guest: ProcessGuest


class Options(TypedDict, total=False):
    """How a program runs: as api.Start has it; ``notices`` are added to a list."""

    slow: bool
    environment: Sequence[bytes]
    files: tuple[int, int, int]
    notices: list[str]
    addresses: bool
    totals: bool
    engine: str


def guest(command: Sequence[str | Path], **options: Unpack[Options]) -> ProcessGuest:
    """A program that has not begun."""
    words = [os.fsencode(word) for word in command]
    wanted = api.StartRequest(
        image.load(str(command[0])),
        words,
        options.get("environment", ()),
        GuestSettings(standard_files=options["files"]) if "files" in options else GuestSettings(),
        memory_limit=1 << 30,
        processor="intel_v2",
        slow=options.get("slow", False),
        addresses=options.get("addresses", False),
        totals=options.get("totals", False),
        on_notice=options.get("notices", []).append,
        engine=options.get("engine", "qemu"),
    )
    engine = registry.start(wanted)
    assert isinstance(engine, ProcessGuest)
    return engine


def run(command: Sequence[str | Path], **options: Unpack[Options]) -> Ran:
    """Run a program to its end, ``addresses`` of its accesses in the stream or not; its standard output goes nowhere
    unless ``files`` says where."""
    with Path(os.devnull).open("w") as nowhere:
        options.setdefault("files", (0, nowhere.fileno(), nowhere.fileno()))
        one = guest(command, **options)
        tally, recorder = Tally(one.table, options.get("addresses", False)), Recorder()
        ending = one.run(Tee(tally, recorder))
        one.close()
    return Ran(ending, one.retired, tally, recorder.words(), one)


def expected(architecture: str) -> dict[str, tuple[int, str]]:
    """Exit status and output of the examples for an architecture, without arguments."""
    lines = (EXAMPLES / "expected" / f"{architecture}.txt").read_text().splitlines()
    return {name: (int(status), output) for name, status, output in (line.split("|") for line in lines)}


def faults(ran: Ran) -> int:
    """FAULT marks in a stream."""
    return ran.tally.marks(Mark.FAULT)[0]


def instructions(ran: Ran) -> dict[int, InstructionRecord]:
    """Address -> what the block table has of the instruction there."""
    table = ran.guest.table
    return {one.address: one for number in table.numbers() for one in table.block(number).instructions}


def run_example(architecture: str, name: str, directory: Path) -> tuple[Ran, str]:
    """Run an example without arguments; the run, and what it printed."""
    with (directory / "output").open("w+") as file:
        ran = run([EXAMPLES / architecture / name], files=(0, file.fileno(), 2))
        file.seek(0)
        return ran, file.read().rstrip("\n")


class Access(NamedTuple):
    """One access: the instruction's address, its sort (block_table.AccessKind), the first byte, how many."""

    ip: int
    kind: int
    address: int
    size: int


def accesses(ran: Ran) -> Iterator[Access]:
    """The accesses of a traced run."""
    return accesses_in(ran.words, ran.guest.table)


def accesses_in(words: list[int], table: BlockTable) -> Iterator[Access]:
    """The accesses in a traced stream, in its order; those of a string instruction that repeats are one."""
    at = 0
    made: list[Access] = []
    indices: list[int] = []
    while at < len(words):
        word = words[at]
        at += 1
        if word >> 63:
            if word >> 56 & 0x7F == Mark.STRING:
                more, number = word & 0xFFFFFFFF, word >> 32 & 0xFF
                made = [
                    one._replace(size=one.size + more) if index == number else one
                    for one, index in zip(made, indices, strict=True)
                ]
            continue
        yield from made
        made, indices = [], []
        for index, one in enumerate(table.block(word & 0xFFFFFFFF).instructions):
            for kind in (one.access, *[one.second & 7] * (1 + (one.second >> 3))):
                if kind:
                    made.append(Access(one.address, kind, words[at], one.size))
                    indices.append(index)
                    at += 1
    yield from made


def counted(command: Sequence[str | Path]) -> Ran:
    """Run a program twice: with a stream, and with nothing but totals, which come to the same."""
    ran, totals = run(command), run(command, totals=True)
    assert ran.ending and totals.ending and totals.ending.where in ("", ran.ending.where)
    assert totals.ending[:3] == ran.ending[:3]
    assert (totals.retired, totals.tally.instructions()) == (ran.retired, ran.tally.instructions())
    return ran


def assemble(directory: Path, text: str, *options: str) -> Path:
    """A static program of this assembly source; it begins at _start."""
    source, program = directory / "program.s", directory / "program"
    source.write_text(f".globl _start\n{text}\n")
    subprocess.run(["cc", "-nostdlib", "-static", *options, "-o", program, source], check=True, capture_output=True)
    return program


def compile_c(directory: Path, text: str, *options: str) -> Path:
    """A dynamic program of this C source."""
    source, program = directory / "program.c", directory / "program"
    source.write_text(text)
    subprocess.run(["cc", "-O1", *options, "-o", program, source], check=True, capture_output=True)
    return program
