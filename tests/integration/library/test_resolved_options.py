"""Options are resolved once: the parts of a run have the PMU and the events; nothing edits them, or what was given."""

import re

import pytest
from command import example

from pfmon.cli.command_line import read
from pfmon.library.keywords import options_of
from pfmon.library.resolving.resolve import resolve
from pfmon.library.resolving.run_parts import Resolved
from pfmon.pmu import get

FIB = [example("fib")]


def resolved(keywords: dict[str, object], command: list[str] = FIB) -> Resolved:
    return resolve(options_of(keywords), command)[0]


def test_patterns_and_the_pmu_are_resolved() -> None:
    parts = resolved({"events": "l2_misses|loads_retired"})
    matching = [event.name for event in get("itanium2").events if re.search("L2_MISSES|LOADS_RETIRED", event.name)]
    assert parts.counting.events == matching and parts.processor.pmu == "itanium2"
    x86 = resolved({"events": "instructions_retired"}, [FIB[0].replace("ia64", "x86_64")])
    assert x86.processor.pmu == "skylake"


@pytest.mark.parametrize(
    ("words", "pmu"),
    [
        ([], "itanium2"),  # the program's
        (["--pmu=montecito"], "montecito"),
        (["--machine=itanium"], "itanium"),  # the machine's
        (["--smt-threads"], "montecito"),  # the one of two threads a core
    ],
)
def test_the_pmu_follows_from_what_is_given(words: list[str], pmu: str) -> None:
    line = read([*words, "-e", "loads_retired", *FIB])
    assert resolve(line.options, line.command)[0].processor.pmu == pmu


@pytest.mark.parametrize(
    "keywords",
    [
        {"events": "loads_retired,l2_.*", "unlimited": True, "set": "l3.size=9M", "environment": "A=1"},
        {"report": "derived"},
        {"events": [["loads_retired"], ["nops_retired"]], "switch_timeout": 1, "opc_match8": ["br.cloop"]},
        {"events": "loads_retired", "btb": "tm-tk", "ia64": True},
    ],
)
def test_options_that_are_read_cannot_be_edited(keywords: dict[str, object]) -> None:
    options = options_of(keywords)
    with pytest.raises(AttributeError, match="pmu"):
        options.pmu = "montecito"
    with pytest.raises(AttributeError, match="events"):
        options.sets[0].events = []
    collections = [*vars(options).values(), *vars(options.sets[0]).values()]
    assert not [one for one in collections if hasattr(one, "append") or hasattr(one, "add")]
    resolve(options, FIB)


def test_other_values_are_those_of_a_copy() -> None:
    given = options_of({"events": "loads_retired"})
    other = given.replaced(pmu="montecito", environment=["A=1"])
    assert (given.pmu, other.pmu, other.environment) == ("", "montecito", ("A=1",)) and other.sets == given.sets
    with pytest.raises(AttributeError, match="pmu"):
        other.pmu = "itanium"
