"""Runs cases of the fuzzer, and says what is wrong with how one ended."""

import os
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path

import command
from command import pfmon
from fuzz_inputs import INPUT, Case

PATIENCE = 30
"""Seconds that a command has."""
command.SECONDS = PATIENCE


def wrong(done: subprocess.CompletedProcess[str]) -> str:
    """What is wrong with how a command ended; empty: nothing."""
    if "Traceback" in done.stderr:
        return "a traceback: " + done.stderr.strip().splitlines()[-1]
    if done.returncode == -9:
        return f"it takes longer than {PATIENCE} seconds"
    if done.returncode < 0:
        return f"signal {-done.returncode}"
    runs = {"--confine", "--system"} & {*done.args}  # a damaged program or system, which may end with any status
    if done.returncode == 2 and not (runs or done.stderr.startswith("pfmon")):
        return f"status 2 without a message: {done.stderr[:200]!r}"
    return ""


def run(one: Case, folder: Path) -> tuple[list[str], str] | None:
    """Run the commands of a case in a directory that is empty but for its input; the first that ends as it should not,
    and what is wrong with it."""
    path = folder / "input.toml" if one.data is not None else None
    empty = folder / "empty"
    empty.mkdir(exist_ok=True)
    if path is not None and one.data is not None:
        path.write_bytes(one.data)
        path.chmod(0o755)
    before = Path.cwd()
    os.chdir(folder)
    try:
        for template in one.commands:
            words = [word.replace(INPUT, str(path)).replace("EMPTY", str(empty)) for word in template]
            words = [_events(words) if word == "" and template[0] == "--check-events-only" else word for word in words]
            said = wrong(pfmon(*words))
            if said:
                return words, said
    finally:
        os.chdir(before)
    return None


OF_MACHINES = {
    b"\x3e\0": "INSTRUCTIONS_RETIRED",
    b"\x03\0": "INSTRUCTIONS_RETIRED",
    b"\0\x15": "INSTRUCTIONS_COMPLETED",
}
"""By e_machine: an event of its processors; IA-64 is the rest."""


def _events(words: Sequence[str]) -> str:
    """An event of the processor that an executable is for."""
    return OF_MACHINES.get(Path(words[-1]).read_bytes()[18:20], "ia64_inst_retired")


def shown(words: Sequence[str]) -> str:
    """A command as a shell takes it."""
    return shlex.join(["pfmon", *words])
