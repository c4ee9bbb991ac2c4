"""Options are resolved once: those of a run have the PMU and the events; nothing edits them, or what was given."""

import re

import pytest
from command import example

from pfmon.library.options.keywords import options_of
from pfmon.library.resolving.resolve import resolve
from pfmon.pmu import get

FIB = [example("fib")]


def everything(options: object) -> dict[str, object]:
    """All values, those of event sets too."""
    found = dict(vars(options))
    return {**found, "sets": [dict(vars(one)) for one in found["sets"]]}


@pytest.mark.parametrize(
    "keywords",
    [
        {"events": "loads_retired,l2_.*", "unlimited": True, "set": "l3.size=9M", "environment": "A=1"},
        {"report": "derived"},
        {"events": [["loads_retired"], ["nops_retired"]], "switch_timeout": 1, "opc_match8": ["br.cloop"]},
    ],
)
def test_what_was_given_stays_as_it_was(keywords: dict[str, object]) -> None:
    given = options_of(keywords)
    before = everything(given.copied())
    resolve(given, FIB)
    assert everything(given) == before


def test_patterns_and_the_pmu_are_resolved() -> None:
    options = resolve(options_of({"events": "l2_misses|loads_retired"}), FIB).options
    matching = [event.name for event in get("itanium2").events if re.search("L2_MISSES|LOADS_RETIRED", event.name)]
    assert list(options.events) == matching and options.pmu == "itanium2"
    x86 = resolve(options_of({"events": "instructions_retired"}), [FIB[0].replace("ia64", "x86_64")]).options
    assert x86.pmu == "intel_v2"


def test_options_of_a_run_cannot_be_edited() -> None:
    options = resolve(options_of({"events": "loads_retired", "btb": "tm-tk", "ia64": True}), FIB).options
    with pytest.raises(AttributeError, match="pmu"):
        options.pmu = "montecito"
    with pytest.raises(AttributeError, match="events"):
        options.sets[0].events = []
    collections = [options.sets, options.environment, options.instruction_sets, options.sets[0].branch_filters]
    assert not [one for one in collections if hasattr(one, "append") or hasattr(one, "add")]
