"""Mistakes: each gets one line that says what is wrong and what would be right, and exit status 2."""

import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from answers import declined
from command import example, refused
from grids import each

COUNT = ("-e", "ia64_inst_retired")


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A copy of an example that tests may spoil."""
    path = tmp_path / "program"
    path.write_bytes(Path(example("fib")).read_bytes())
    path.chmod(0o755)
    return path


def test_no_program() -> None:
    assert "usage: pfmon" in refused(*COUNT)


def test_missing_program() -> None:
    assert "no-such-program" in declined(*COUNT, "./no-such-program")


def test_a_name_without_slash_is_looked_up_in_path() -> None:
    assert "not found in PATH" in declined(*COUNT, "no-such-program")


def test_directory(tmp_path: Path) -> None:
    assert "is a directory" in declined(*COUNT, str(tmp_path))


def test_non_executable_file(program: Path) -> None:
    program.chmod(0o644)
    assert "not executable" in declined(*COUNT, str(program))


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_unreadable_file(program: Path) -> None:
    program.chmod(0o111)
    assert "permission" in declined(*COUNT, str(program)).lower()


def test_not_an_elf(program: Path) -> None:
    program.write_bytes(b"echo hello\n")
    assert "not an ELF" in refused(*COUNT, str(program))


def test_script_without_its_interpreter(program: Path) -> None:
    program.write_bytes(b"#! /no/such/interpreter -x\necho hello\n")
    assert "its interpreter '/no/such/interpreter' is not here" in declined(*COUNT, str(program))


def test_script_that_is_not_executable(program: Path) -> None:
    program.write_bytes(b"#!/bin/sh\necho hello\n")
    program.chmod(0o644)
    assert "not executable" in declined(*COUNT, str(program))


def test_script_that_is_its_own_interpreter(program: Path) -> None:
    program.write_bytes(b"#!" + os.fsencode(program) + b"\n")
    assert "scripts interpret one another" in declined(*COUNT, str(program))


def test_empty_file(program: Path) -> None:
    program.write_bytes(b"")
    assert "ELF" in declined(*COUNT, str(program))


@pytest.mark.parametrize("length", [10, 63, 100, 3000])
def test_truncated_elf(program: Path, length: int) -> None:
    program.write_bytes(program.read_bytes()[:length])
    assert str(program) in declined(*COUNT, str(program))


@pytest.mark.parametrize(("machine", "named"), [(183, "AArch64"), (43, "SPARC64")])
def test_wrong_machine_is_named(machine: int, named: str, program: Path) -> None:
    data = bytearray(program.read_bytes())
    data[18:20] = struct.pack("<H", machine)
    program.write_bytes(data)
    line = declined(*COUNT, str(program))
    assert named in line and "IA-64" in line


def test_big_endian_ia64_is_refused_by_its_byte_order(program: Path) -> None:
    data = bytearray(program.read_bytes())
    data[5] = 2  # EI_DATA: big-endian
    data[18:20] = struct.pack(">H", 50)
    program.write_bytes(data)
    assert "big-endian" in declined(*COUNT, str(program))


def test_dynamic_program_without_sysroot(program: Path) -> None:
    data = bytearray(program.read_bytes())
    offset, count = struct.unpack_from("<Q", data, 32)[0], struct.unpack_from("<H", data, 56)[0]
    for number in range(count):
        at = offset + 56 * number
        if struct.unpack_from("<I", data, at)[0] != 1:  # any header that loads nothing becomes PT_INTERP
            name = b"/lib/ld-linux-ia64.so.2\0"
            struct.pack_into("<IIQQQQQQ", data, at, 3, 4, len(data), 0, 0, len(name), len(name), 1)
            program.write_bytes(bytes(data) + name)
            break
    else:
        pytest.fail("fib has only PT_LOAD headers")
    assert "--sysroot" in declined(*COUNT, str(program))


def test_unknown_event_names_the_nearest() -> None:
    assert "LOADS_RETIRED" in refused("-e", "loads_retird", example("fib"))


def test_unknown_pmu_names_the_known() -> None:
    assert "itanium2" in declined("--pmu", "itanum2", *COUNT, example("fib"))


def test_more_events_than_counters_names_what_they_wanted() -> None:
    events = "ia64_inst_retired,nops_retired,fp_ops_retired,predicate_squashed_retired,loads_retired"
    line = declined("-e", events, example("fib"))
    assert "LOADS_RETIRED" in line and "4" in line


def test_events_of_different_sets_are_declined() -> None:
    line = declined("-e", "loads_retired,stores_retired", example("fib"))
    assert "LOADS_RETIRED" in line and "STORES_RETIRED" in line


def test_an_event_that_is_not_modelled_is_refused_not_zero() -> None:
    line = refused("-e", "l2_synth_probe", example("fib"))
    assert "L2_SYNTH_PROBE is not modelled" in line and "not published" in line


@each(
    ("words", "said"),
    [
        (["--no-such-option"], "unknown option"),
        (["-z"], "unknown option"),
        (["--s"], "ambiguous"),
        (["--us-counter-format=3", example("fib")], "takes no value"),
        (["--outfile"], "wants a value"),
        (["--session-timeout=soon", example("fib")], "seconds"),
        (["--session-timeout=-1", example("fib")], "seconds"),
        (["--memory-limit=lots", example("fib")], "size"),
        (["--seed=x", example("fib")], "number"),
        (["--env==x", example("fib")], "NAME"),
        (["--env=NO_SUCH_VARIABLE_HERE", example("fib")], "NO_SUCH_VARIABLE_HERE"),
        (["-e", "loads_retired,,nops_retired", example("fib")], "empty"),
        (["-e", "loads_retired", "-e", "nops_retired", example("fib")], "--switch-timeout"),
        (["--append", example("fib")], "--outfile"),
        (["--outfile=/no/such/directory/x", example("fib")], "no directory"),
        (["--outfile=/", example("fib")], "directory"),
        (["--sysroot=/no/such/sysroot", example("fib")], "sysroot"),
        (["-i", "no_such_event"], "no_such_event"),
        (["-l["], "["),
    ],
)
def test_bad_option_values(words: list[str], said: str) -> None:
    assert said in declined(*words)


@pytest.mark.slow
def test_closed_standard_output() -> None:
    done = subprocess.run(
        ["sh", "-c", f"exec '{sys.executable}' -m pfmon -e loads_retired '{example('fib')}' >&-"],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr == "pfmon: standard output is closed; --outfile=FILE puts the results elsewhere\n"
