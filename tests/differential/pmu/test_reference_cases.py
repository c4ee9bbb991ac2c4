"""Nearly 10,000 worked programmings: every PMC, IBR and DBR value, and every refusal.

`data/known-differences.csv` names the cases that contradict a manual, with the manual's table or section:
`refused` and `accepted` against the case's outcome, `other value` for another register value.
"""

import csv
from collections import Counter

import pytest
from pmu_assignments import legal
from pmu_cases import DATA, cases, expressible, program, same_registers

from pfmon import pmu
from pfmon.errors import PfmonError, UnknownNameError
from pfmon.pmu.model.event_table import Event


def known_differences() -> dict[tuple[str, str], str]:
    with (DATA / "known-differences.csv").open(newline="") as table:
        return {(row["pmu"], row["case"]): row["outcome"] for row in csv.DictReader(table)}


def outcome(name: str, case: dict) -> str:
    """What comes of a case: agrees, or in which way it differs."""
    wanted = case["out"]["ret"] == "SUCCESS"
    try:
        made = program(name, case["in"])
    except PfmonError as error:
        assert "\n" not in str(error)
        assert error.rule or isinstance(error, UnknownNameError)
        return "refused" if wanted else "agrees"
    if not wanted:
        return "accepted"
    return "agrees" if same_registers(name, made, case["out"]) else "other value"


ONE_QUICK = ["itanium2", *(pytest.param(one, marks=pytest.mark.slow) for one in ("itanium", "montecito"))]


@pytest.mark.slow
@pytest.mark.parametrize("name", ONE_QUICK)
def test_programming_agrees_except_where_the_manual_says_otherwise(name: str) -> None:
    known = {case: what for (model, case), what in known_differences().items() if model == name}
    found = {case["id"]: outcome(name, case) for case in cases(name) if expressible(case["in"])}
    assert {case: what for case, what in found.items() if what != "agrees"} == known


def test_at_least_99_percent_of_the_successful_cases_agree() -> None:
    differ = Counter(what != "accepted" for what in known_differences().values())[True]
    successful = sum(case["out"]["ret"] == "SUCCESS" for name in pmu.IA64 for case in cases(name))
    assert successful > 7000
    assert differ / successful < 0.01


def test_known_differences_name_their_section() -> None:
    with (DATA / "known-differences.csv").open(newline="") as table:
        assert all(row["manual"] for row in csv.DictReader(table))


def differing(what: str) -> list[tuple[str, dict]]:
    """The cases with that known difference, by PMU."""
    known = known_differences()
    return [(name, case) for name in pmu.IA64 for case in cases(name) if known.get((name, case["id"])) == what]


def named(name: str, case: dict) -> list[Event]:
    """The events that a case names."""
    return [pmu.get(name).events[given["name"]] for given in case["in"]["events"]]


def test_the_given_counters_of_every_refused_case_break_a_sentence_of_the_manual() -> None:
    for name, case in differing("refused"):
        events = named(name, case)
        given = tuple(number for number, _ in case["out"]["pmcs"])[: len(events)]
        assert not legal(name, events, given), case["id"]


@pytest.mark.slow
def test_every_case_accepted_against_libpfm_has_a_legal_assignment() -> None:
    for name, case in differing("accepted"):
        assert legal(name, named(name, case), program(name, case["in"]).counters), case["id"]


@pytest.mark.slow
def test_other_values_differ_by_the_code_of_one_event_only() -> None:
    """L2D_OZQ_FULL is 0xe1 in Montecito's tables 4-19 and 4-21; 0xbc is ER_REJECT_ALL_L1_REQ in table 4-37."""
    code = pmu.get("montecito").registers["pmc4"].field("es")
    for name, case in differing("other value"):
        given = sorted(int(value, 16) for _, value in case["out"]["pmcs"])
        by_manual = [v & ~code.mask | 0xE1 << code.low if code.get(v) == 0xBC else v for v in given]
        assert sorted(by_manual) == sorted(program(name, case["in"]).pmcs.values()), case["id"]
