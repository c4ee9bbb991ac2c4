"""The option --engine: the same run as without it, or one line that says what runs the program."""

import json

from command import example, pfmon, refused

from pfmon.library.options.program_rows import PROGRAM


def test_named_engine_counts_what_the_usual_one_counts() -> None:
    words = ("-e", "ia64_inst_retired", "--json", example("fib"), "9")
    usual, named = (json.loads(pfmon(*more, *words).stdout.splitlines()[-1]) for more in ((), ("--engine=ia64",)))
    assert named["events"] == usual["events"] and usual["events"][0]["count"] > 0


def test_engine_of_other_programs_is_refused_with_the_one_that_would_do() -> None:
    said = refused("--engine=qemu", "-e", "ia64_inst_retired", example("fib"))
    assert said == "pfmon: --engine=qemu runs no IA-64 programs on this host: give --engine=ia64\n"
    said = refused("--engine=ia64", "/bin/sh")
    assert said.startswith("pfmon: --engine=ia64 runs no ") and said.endswith(
        ": give --engine=x86_64 or --engine=qemu\n"
    )


def test_unknown_engine_is_refused() -> None:
    assert refused("--engine=bochs", example("fib")) == (
        "pfmon: --engine=bochs: no engine has this name; there are: ia64, x86_64, qemu\n"
    )


def test_help_names_all_engines() -> None:
    from pfmon.engine.registry import engine_names

    (option,) = [one for one in PROGRAM.options if one.long == "engine"]
    assert f"({', '.join(engine_names())})" in option.help
