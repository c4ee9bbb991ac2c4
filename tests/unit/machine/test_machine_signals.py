"""signals/machine.csv: what the machine's signals are made of."""

import pytest
from grids import each

from pfmon.counting.totals.record_query import DISPERSAL
from pfmon.machine._machine import Cause, FrontCause, Occurrence
from pfmon.signals import machine_signals, signal_terms
from pfmon.signals.machine_signals import LevelFunction, level_function, meanings, select
from pfmon.signals.signal_names import signals

CAUSES = {name: int(value) for name, value in Cause.__members__.items() if name != "CAUSES"}
FRONT_CAUSES = {name: int(value) for name, value in FrontCause.__members__.items() if name != "FRONT_CAUSES"}
RECORDED = {
    "cycle": CAUSES,
    "front": FRONT_CAUSES,
    "entrance": FRONT_CAUSES,
    "ideal": FRONT_CAUSES,
    "lost": FRONT_CAUSES,
    "dispersal": dict.fromkeys(DISPERSAL, 0),
}


def of_kind(kind: str) -> list[str]:
    return [signal for signal, meaning in meanings().items() if meaning.kind == kind]


def test_every_signal_is_named_and_is_not_decided_by_architecture() -> None:
    assert not set(meanings()) - set(signals())
    assert not set(meanings()) & signal_terms.available()


@each("kind", RECORDED)
def test_terms_are_names_of_what_is_recorded(kind: str) -> None:
    found = of_kind(kind)
    assert found
    for signal in found:
        assert select(signal, RECORDED[kind]) or machine_signals.named(signal)


def test_occurrences_are_names_of_what_is_recorded() -> None:
    numbers = {name: int(value) for name, value in Occurrence.__members__.items()}
    for signal in of_kind("occurrence"):
        assert select(signal, numbers), signal


def test_levels_and_bits_are_well_formed() -> None:
    for signal in of_kind("level"):
        for term in meanings()[signal].terms:
            level_function(term)
    for signal in of_kind("per_cycle"):
        whole, high, low = machine_signals.per_cycle(meanings()[signal].terms[0])
        assert whole in signal_terms.available() and high >= low


def test_every_back_end_cause_is_in_exactly_one_of_the_five_parts() -> None:
    """Montecito manual section 4.6: BACK_END_BUBBLE.all is the sum of five."""
    parts = [
        "be_rse_bubble.all",
        "be_exe_bubble.all",
        "be_l1d_fpu_bubble.all",
        "be_flush_bubble.all",
        "back_end_bubble.fe",
    ]
    members = [member for part in parts for member in select(part, CAUSES)]
    of_itaniums = [number for name, number in CAUSES.items() if number <= CAUSES["FE_BUBBLE"]]
    assert sorted(members) == [*of_itaniums, CAUSES["THREAD_SWITCH"]]
    assert select("back_end_bubble.all", CAUSES) == frozenset(members)


@pytest.mark.parametrize(
    ("whole", "parts"),
    [
        ("be_flush_bubble.all", ["be_flush_bubble.xpn", "be_flush_bubble.bru"]),
        ("be_l1d_fpu_bubble.all", ["be_l1d_fpu_bubble.l1d"]),
        ("be_exe_bubble.all", ["be_exe_bubble.grall", "be_exe_bubble.frall", "be_exe_bubble.arcr_pr_cancel_bank"]),
        ("back_end_bubble.l1d_fpu_rse", ["be_l1d_fpu_bubble.all", "be_rse_bubble.all"]),
    ],
)
def test_a_whole_is_its_parts_without_overlap(whole: str, parts: list[str]) -> None:
    members = [member for part in parts for member in select(part, CAUSES)]
    assert len(members) == len(set(members))
    assert select(whole, CAUSES) == frozenset(members)


def test_the_parts_of_l1d_stalls_add_up() -> None:
    parts = [signal for signal in meanings() if signal.startswith("be_l1d_fpu_bubble.l1d_")]
    members = [member for part in parts for member in select(part, CAUSES)]
    assert sorted(members) == sorted(select("be_l1d_fpu_bubble.l1d", CAUSES))


def test_bits_of_a_level_put_together_are_the_level() -> None:
    parts = [level_function(meanings()[f"rse_dirty_regs.{bits}"].terms[0]) for bits in ("2_to_0", "5_to_3", "6")]
    for value in range(97):
        low, middle, high = (part.of(value, 96) for part in parts)
        assert low + 8 * middle + 64 * high == value


def test_a_level_can_be_asked_for_when_it_is_full() -> None:
    full, some = LevelFunction("Q"), LevelFunction("Q", least=2)
    assert [full.of(value, 3) for value in range(4)] == [0, 0, 0, 1]
    assert [some.of(value, 3) for value in range(4)] == [0, 0, 1, 1]


def test_a_term_that_stands_for_nothing_is_an_error() -> None:
    with pytest.raises(ValueError, match="nothing that is recorded"):
        select("be_flush_bubble.xpn", {"BRU": 1})
