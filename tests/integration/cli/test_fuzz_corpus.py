"""Inputs that the fuzzer found, and some of those that it makes: no traceback, no signal, no hang.

``python tests/support/fuzz.py --seconds N`` goes on with other ones.
"""

from pathlib import Path

import pytest
from fuzz_inputs import COMMANDS, KINDS, Case, case, is_ia64, make_seeds
from fuzz_run import run, shown
from grids import each, sampled

CORPUS = Path(__file__).resolve().parents[2] / "fuzz_corpus"
FILES = sorted(path for path in CORPUS.glob("*/*") if path.suffix != ".md")
SOME = 12


def kept(path: Path) -> Case:
    """A case of the corpus: a file, or the words of a command line, each in a line of its own."""
    kind, data = path.parent.name, path.read_bytes()
    if kind == "command":
        return Case(None, (data.decode().replace("EXAMPLES", str(CORPUS.parents[1] / "examples")).splitlines(),))
    commands = COMMANDS[kind]
    return Case(data, commands if kind != "executable" or is_ia64(data) else commands[:1])


@sampled(6)
@each("path", FILES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_input_of_the_corpus_ends_well(path: Path, tmp_path: Path) -> None:
    failed = run(kept(path), tmp_path)
    assert failed is None, f"{shown(failed[0])}: {failed[1]}"


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_some_of_the_fuzzer_s_inputs_end_well(kind: str, tmp_path: Path) -> None:
    make_seeds(tmp_path)
    for number in range(SOME):
        folder = tmp_path / str(number)
        folder.mkdir()
        failed = run(case(kind, number), folder)
        assert failed is None, f"{kind} {number}: {shown(failed[0])}: {failed[1]}"


def test_every_kind_has_a_corpus() -> None:
    assert {path.parent.name for path in FILES} == set(KINDS)


@pytest.mark.slow
def test_same_number_makes_the_same_case(tmp_path: Path) -> None:
    make_seeds(tmp_path)
    for kind in set(KINDS) - {"recording", "result", "snapshot"}:  # which have the path of a program in them
        assert case(kind, 7) == case(kind, 7)


def test_only_ia64_executables_are_run() -> None:
    """A damaged program under qemu could do to this host whatever its system calls say."""
    for number in range(400):
        made = case("executable", number)
        assert made.data is not None and (len(made.commands) == 1 or is_ia64(made.data))
        assert all(
            "--confine" in words or "--check-events-only" in words or INPUT_IS_SYMBOLS in words[2:4]
            for words in made.commands
        )


INPUT_IS_SYMBOLS = "--symbol-file=INPUT"
