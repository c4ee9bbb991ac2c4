"""Error messages name what was typed, and what would be right."""

from pathlib import Path

import pytest
from command import example, pfmon, refused
from grids import each, first_quick
from host_programs import needs

FIB = [example("fib"), "5"]
X86_FIB = [str(Path(FIB[0]).parents[1] / "x86_64" / "fib"), "5"]
PERIODS = ["-e", "cpu_cycles", "--long-smpl-periods=1000"]


@each(
    ("words", "said"),
    [
        (["-e", "cpu_cycles", "--trigger-event=loads_retired:0"], "--trigger-event=loads_retired:0: a whole number"),
        ([*PERIODS, "--extra-smpl-pmds=4-"], "--extra-smpl-pmds=4-: a whole number from 0 to 255 is wanted, not ''"),
        (
            ["--pmu=ppc604e", "-e", "INSTRUCTIONS_COMPLETED", "--preload=PMC1=-5"],
            "--preload=PMC1=-5: a whole number from 0 to 4294967295 is wanted",
        ),
        (["-e", "cpu_cycles", "--smpl-per-function"], "--smpl-per-function applies to samples"),
        (["-e", "cpu_cycles", "--smpl-show-func"], "--smpl-show-func applies to samples"),
        ([*PERIODS, "--smpl-per-function", "--smpl-module=compact"], "--smpl-per-function is of --smpl-module="),
        (["-e", "cpu_cycles", "--baseline=/dev/zero"], "larger than 256 MiB"),
        (["-e", "none", "--priv-levels=k"], "--priv-levels=k: there is no event for it: give -e EVENT,... too"),
        (["-e", "none", "--insn-sets=ia64"], "--insn-sets=ia64: there is no event for it"),
    ],
)
def test_messages_name_what_was_typed(words: list[str], said: str) -> None:
    assert said in refused(*words, *FIB)


@pytest.mark.slow
@needs("qemu-x86_64")
@each("model", ["help", "?", "Core", "x86", "sse2", "Nehalm"])
def test_processor_models_are_the_names_that_qemu_lists(model: str) -> None:
    """Core and sse2 are words of the list, and no models."""
    done = pfmon("-e", "none", f"--set=qemu.cpu={model}", *X86_FIB)
    assert (done.returncode, done.stdout) == (2, "")
    said = f"pfmon: qemu.cpu = {model}: qemu-x86_64 has no such model"
    assert done.stderr.startswith(said) and done.stderr.count("\n") == 1


@needs("qemu-x86_64")
@pytest.mark.parametrize("model", first_quick(["Nehalem", "Nehalem-v1", "max", "Nehalem,-sse4.2"]))
def test_listed_processor_models_run(model: str) -> None:
    assert pfmon("-e", "none", f"--set=qemu.cpu={model}", *X86_FIB).returncode == 0


@needs("qemu-x86_64")
@pytest.mark.parametrize("option", ["--irange", "--checkpoint-func"])
def test_ranges_on_intel_are_refused_by_their_option(option: str) -> None:
    assert option in refused("-e", "INSTRUCTIONS_RETIRED", f"{option}=main", *X86_FIB)
