"""Tests, of which `pytest --pfmon` counts some."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from words import count_words

HERE = Path(__file__).parent


@pytest.fixture
def text() -> str:
    """2000 words, 40 different ones. Making it is not counted: it is done before the test is called."""
    return " ".join(f"Word{number % 40}" for number in range(2000))


def test_words_are_counted_in_any_case() -> None:
    assert count_words("a B b") == {"a": 1, "b": 2}


@pytest.mark.pfmon(tolerance="1%")
def test_counting_many_words_stays_fast(text: str) -> None:
    assert len(count_words(text)) == 40


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, compiled."""
    if shutil.which("cc") is None:
        pytest.skip("no C compiler is here")
    made = tmp_path_factory.mktemp("program") / "words"
    subprocess.run(["cc", "-O2", "-o", made, HERE / "words.c"], check=True)
    return made


def test_the_program_stays_fast(program: Path, pfmon_run) -> None:
    run = pfmon_run([program], events="INSTRUCTIONS_RETIRED", tolerance="2%", input=b"Hello, world\n" * 1000)
    assert run.output.startswith(b"a 0\nb 0\nc 0\nd 1000\n")
