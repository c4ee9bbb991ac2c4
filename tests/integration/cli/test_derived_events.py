"""Derived events in runs: their values are the formulas over the same run's counts."""

import json
import re
from fractions import Fraction
from typing import Any

import pytest
from answers import answer
from command import example, pfmon, refused
from grids import each

from pfmon.report.count_text import value_text

TERMS = "inst_failed_chka_ldc_alat_all,inst_chka_ldc_alat_all"


def events(*words: str) -> list[dict[str, Any]]:
    """The events of a run's JSON."""
    found = json.loads(pfmon("--json", "--no-cmd-output", *words).stdout)["events"]
    assert isinstance(found, list)
    return found


def test_a_ratio_is_that_of_its_counts() -> None:
    failed, checked = (event["count"] for event in events("-e", TERMS, example("epic")))
    (ratio,) = events("-e", "data_spec_miss_ratio", example("epic"))
    assert isinstance(failed, int) and isinstance(checked, int) and 0 < failed < checked
    assert ratio["count"] == float(Fraction(failed, checked))
    assert (ratio["name"], ratio["pmd"]) == ("DATA_SPEC_MISS_RATIO", None)
    assert re.fullmatch(r"INST_FAILED_CHKA_LDC_ALAT_ALL / INST_CHKA_LDC_ALAT_ALL", str(ratio["formula"]))


def test_measured_and_derived_events_print_in_the_order_asked_for() -> None:
    done = pfmon("-v", "--no-cmd-output", "-e", "nops_retired,data_spec_miss_ratio,loads_retired", example("epic"))
    lines = [line.split() for line in done.stdout.splitlines()]
    assert [name for _, name in lines] == ["NOPS_RETIRED", "DATA_SPEC_MISS_RATIO", "LOADS_RETIRED"]
    assert re.fullmatch(r"0\.\d{1,6}", lines[1][0])
    assert "DATA_SPEC_MISS_RATIO = INST_FAILED" in done.stderr  # and the registers with it
    assert re.search(r"^\[pmc\d=0x\w+ .*NOPS_RETIRED$", done.stderr, re.M)


def test_montecito_counts_a_formula_beside_other_events() -> None:
    found = events("--pmu=montecito", "-e", f"data_spec_miss_ratio,{TERMS}", example("epic"))
    assert found[0]["count"] == found[1]["count"] / found[2]["count"]
    assert [event["formula"] is None for event in found] == [False, True, True]


def test_a_difference_is_a_whole_number() -> None:
    words = ("--pmu=itanium", "-e", "rse_stores_retired,rse_references_retired,rse_loads_retired", example("fib"), "15")
    stores, references, loads = (event["count"] for event in events(*words))
    assert isinstance(stores, int) and stores > 0
    assert stores == references - loads


def test_division_by_zero_prints_no_number() -> None:
    words = ("--ia32", "-e", "data_spec_miss_ratio", example("epic"))  # no IA-32 code: nothing divided by nothing
    assert pfmon("--no-cmd-output", *words).stdout == f"{'n/a':>26} DATA_SPEC_MISS_RATIO\n"
    assert events(*words)[0]["count"] is None


@each(
    ("value", "style", "text"),
    [
        (1 / 3, "plain", "0.333333"),
        (1 / 3, "us", "0.333333"),
        (1 / 3, "eu", "0,333333"),
        (12.5, "hex", "12.5"),
        (2 / 3 * 1e-6, "plain", "6.66667e-07"),
        (7.0, "plain", "7"),
        (1234567, "us", "1,234,567"),
        (None, "hex", "n/a"),
    ],
)
def test_ratios_have_six_significant_digits(value: int | float | None, style: str, text: str) -> None:
    assert value_text(value, style) == text


def test_a_formula_that_needs_cycles_is_counted_with_its_parts() -> None:
    words = ("-e", "ia64_ipc")
    text = answer("--check-events-only", "-v", *words)
    assert text.startswith("IA64_IPC = IA64_INST_RETIRED / CPU_CYCLES\n")
    assert "IA64_INST_RETIRED" in text.split("\n", 1)[1] and "CPU_CYCLES" in text.split("\n", 1)[1]
    found = events("-e", "ia64_ipc,ia64_inst_retired,cpu_cycles", example("epic"))
    ipc, instructions, cycles = (one["count"] for one in found)
    assert ipc == pytest.approx(instructions / cycles)
    assert cycles > 0


@pytest.mark.parametrize("option", ["trigger-event", "stop-event"])
def test_a_formula_triggers_nothing(option: str) -> None:
    said = refused(f"--{option}=ia64_ipc:10", "-e", "nops_retired", example("epic"))
    assert said.startswith(f"pfmon: --{option}=ia64_ipc:10: IA64_IPC is a formula (IA64_INST_RETIRED / CPU_CYCLES)")


def test_formulas_share_counters_unless_their_levels_differ() -> None:
    same = answer("--check-events-only", "-v", "-e", "ia64_ipc,ia64_ipc")
    own = answer("--check-events-only", "-v", "--priv-levels=u,k", "-e", "ia64_ipc,ia64_ipc")
    assert (len(re.findall("PMD", same)), len(re.findall("PMD", own))) == (2, 4)
    assert len(re.findall("plm=0x1 ", own)) == 2


def test_execution_of_the_other_instruction_set_counts_nothing() -> None:
    found = events("--insn-sets=ia32,ia64,both", "-e", "nops_retired,nops_retired,nops_retired", example("epic"))
    counts = [event["count"] for event in found]
    assert counts[0] == 0 and counts[1] == counts[2] != 0
