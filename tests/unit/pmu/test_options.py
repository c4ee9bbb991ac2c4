"""Option texts become requests, and malformed ones are refused in one line."""

import doctest

import pytest
from grids import each

import pfmon.pmu.model.options
from pfmon import pmu
from pfmon.errors import BadValueError, PfmonError, RuleError
from pfmon.pmu.model.options import branch_filters, event_options, parse_range


def symbols(name: str) -> tuple[int, int]:
    known = {"main": (0x4000, 0x4100), "end": (0x5000, 0x5010)}
    if name not in known:
        raise PfmonError(f"no symbol {name!r}")
    return known[name]


def test_ranges_are_numbers_or_symbols() -> None:
    assert parse_range("main", symbols) == (0x4000, 0x4100)
    assert parse_range("main-end", symbols) == (0x4000, 0x5000)
    assert parse_range("0x10-256", symbols) == (16, 256)


@each("text", ["", "5", "0x", "1-", "-1", "1-2-3", "0x1g-5", "main"])
def test_malformed_ranges_are_refused(text: str) -> None:
    with pytest.raises(BadValueError, match="bad"):
        parse_range(text)


def test_options_apply_to_events_in_order() -> None:
    made = event_options(["NOPS_RETIRED", "CPU_CYCLES", "L3_MISSES"], "5", ",uk", "ia64,,ia32")
    assert [(e.threshold, e.plm, e.ism) for e in made] == [(5, None, 2), (0, 9, None), (0, None, 1)]
    programmed = pmu.get("itanium2").program(made)
    assert programmed.writes["pmc4"] == 0x2505028


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"thresholds": "1,2,3"}, "3 values for 2"),
        ({"thresholds": "x"}, "thresholds are numbers"),
        ({"levels": "z"}, "bad privilege levels"),
        ({"sets": "arm"}, "bad instruction set"),
    ],
)
def test_malformed_lists_are_refused(options: dict[str, str], text: str) -> None:
    with pytest.raises(BadValueError, match=text):
        event_options(["NOPS_RETIRED", "CPU_CYCLES"], **options)


def test_branch_filters_set_the_fields_of_the_manual() -> None:
    assert branch_filters([]).fields == {"tm": 3, "ptm": 3, "ppm": 3}
    model = pmu.get("montecito")
    made = model.program([], branch_buffer=branch_filters(["ptm-correct", "ppm-correct"]))
    # All correctly predicted branches: ds=0, tm=11, ptm=10, ppm=10, brt=00 (section 3.3.10.1.1).
    wanted = {"ds": 0, "tm": 3, "ptm": 2, "ppm": 2, "brt": 0}
    assert wanted.items() <= model.registers["pmc39"].decode(made.writes["pmc39"]).items()
    with pytest.raises(RuleError, match="capture nothing"):
        branch_filters(["tm-tk", "tm-ntk"])
    with pytest.raises(BadValueError, match="unknown branch filter"):
        branch_filters(["nope"])


def test_examples_run() -> None:
    assert doctest.testmod(pfmon.pmu.model.options).failed == 0
