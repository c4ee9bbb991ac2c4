"""btb-hist: the edges of the branches that samples hold."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pfmon import pmu
from pfmon.errors import PfmonError
from pfmon.pmu.capture.captures import captures_of
from pfmon.program.loaded_objects import LoadedObjects
from pfmon.report.sampling.btb_hist import BtbHist
from pfmon.report.sampling.sampling_module import ModuleContext
from pfmon.session.profile.code_profile import Function, FunctionNames
from pfmon.session.sampling.sampling_period import Sample


class Names(FunctionNames):
    """Every address is in a function that begins at a multiple of 4096."""

    def __init__(self) -> None:
        super().__init__(LoadedObjects(None))

    def function(self, address: int, of_code: bool = False, file: int | None = None) -> Function:
        return Function(f"f{address >> 12:x}", address & ~0xFFF)


def sampled(event: str, **others: object) -> ModuleContext:
    """The context of a run on Itanium 2 with one event that has a period."""
    model = pmu.get("itanium2")
    made = model.program([event])
    context = ModuleContext(
        1000, model=model, captures=captures_of(model, made.writes), events=(made.monitors[0].event,)
    )
    return context._replace(**others)


def sample(*entries: int, flushed: int = 0) -> Sample:
    """A sample with these entries of the buffer, from PMD8 on; ``flushed``: bits of the entries that have bru."""
    extensions = sum(2 << 4 * place for place in range(8) if flushed >> place & 1)
    index = len(entries) % 8 | (len(entries) == 8) << 3 | extensions << 4
    pmds = (*zip(range(8, 16), (*entries, *[0] * 8), strict=False), (16, index))
    return Sample(0x4000, 1, (4,), 100, 0, pmds)


LOOP, LOOP_WRONG, HEAD = 0x1000 | 2 << 2 | 1, 0x1000 | 2 << 2 | 3, 0x1010 | 2
LEFT = 0x1000 | 3 << 2 | 3
CALL, CALLEE = 0x1020 | 1, 0x2000 | 2


def lines(context: ModuleContext, samples: list[Sample]) -> list[str]:
    module = BtbHist(context)
    assert module.take(samples) == ""
    return module.finish(None).splitlines()


SAMPLES = [sample(LOOP, HEAD, LOOP, HEAD, LOOP, HEAD), sample(LOOP_WRONG, HEAD, LEFT, CALL, CALLEE)]


def test_edges_have_their_rates() -> None:
    assert lines(sampled("BRANCH_EVENT"), SAMPLES) == [
        "# total_samples 2",
        "# total_branches 6",
        "# branch edge view",
        "# sorted by count",
        "# showing per distinct value",
        "# %taken: percentage of the captures of the branch that were taken",
        "# %misp : percentage of the captures of the edge that were mispredicted",
        "#count   %self    %cum  %taken   %misp source -> target",
        "       4  66.67%  66.67% 100.00%  25.00% 0x1002 -> 0x1010",
        "       1  16.67%  83.33%   0.00% 100.00% 0x1000 -> not taken",
        "       1  16.67% 100.00% 100.00%   0.00% 0x1020 -> 0x2000",
    ]


def test_the_share_taken_is_that_of_the_branch() -> None:
    taken, not_taken = 0x1000 | 1, 0x1000 | 3 << 2 | 1
    found = lines(sampled("BRANCH_EVENT"), [sample(taken, HEAD, not_taken, taken, HEAD, not_taken)])
    # Slot 0 of the bundle, and a branch of the bundle that was not taken, whose slot no bit tells.
    assert found[-2:] == [
        "       2  50.00%  50.00%  50.00%   0.00% 0x1000 -> not taken",
        "       2  50.00% 100.00%  50.00%   0.00% 0x1000 -> 0x1010",
    ]


def test_functions_are_collapsed() -> None:
    found = lines(sampled("BRANCH_EVENT", names=Names(), by_function=True, top=1), SAMPLES)
    assert found[2] == "# function edge view" and found[4] == "# showing per function histogram"
    assert found[8:] == ["       4  66.67%  66.67%  83.33%  25.00% 0x1000 f1 -> 0x1000 f1"]


def test_places_stand_beside_addresses() -> None:
    found = lines(sampled("BRANCH_EVENT", names=Names()), [sample(CALL, CALLEE)])
    assert found[-1] == "       1 100.00% 100.00% 100.00%   0.00% 0x1020 f1+0x20 -> 0x2000 f2+0x0"


def test_targets_that_the_buffer_does_not_have_are_unknown() -> None:
    assert lines(sampled("BRANCH_EVENT"), [sample(HEAD, CALL)])[-1].endswith("0x1020 -> unknown")


def test_flushes_by_the_back_end_are_mispredictions() -> None:
    assert " 100.00% 0x1020 ->" in lines(sampled("BRANCH_EVENT"), [sample(CALL, CALLEE, flushed=1)])[-1]


BRANCHES = st.lists(st.tuples(st.integers(1, 3), st.integers(0, 2), st.integers(1, 3), st.booleans()), max_size=4)


@pytest.mark.slow
@given(st.lists(BRANCHES, max_size=4))
def test_counts_are_those_of_the_branches(buffers: list[list[tuple[int, int, int, bool]]]) -> None:
    samples, expected = [], Counter[str]()
    for branches in buffers:
        entries = []
        for source, slot, target, wrong in branches:
            entries += [source << 4 | slot << 2 | wrong << 1 | 1, target << 8 | 2]
            expected[f"{source << 4 | slot:#x} -> {target << 8:#x}"] += 1
        samples.append(sample(*entries))
    rows = [line.split(maxsplit=5) for line in lines(sampled("BRANCH_EVENT"), samples)[8:]]
    assert Counter({row[5]: int(row[0]) for row in rows}) == expected


def test_other_events_are_refused_with_those_that_are_wanted() -> None:
    with pytest.raises(PfmonError) as caught:
        BtbHist(sampled("NOPS_RETIRED"))
    assert (
        str(caught.value)
        == "--smpl-module=btb-hist: samples of NOPS_RETIRED; it wants those of one event: BRANCH_EVENT"
    )


def last_branches(**others: object) -> ModuleContext:
    """The context of a run on Skylake that records taken branches."""
    model = pmu.get("skylake")
    made = model.program(["instructions"], last_branches=["any"])
    context = ModuleContext(
        1000, model=model, captures=captures_of(model, made.writes), events=(made.monitors[0].event,)
    )
    return context._replace(**others)


def recorded(*branches: tuple[int, int, bool]) -> Sample:
    """A sample with these last branches: source, target, mispredicted."""
    held = dict.fromkeys([0x1C9, *range(0x680, 0x6A0), *range(0x6C0, 0x6E0), *range(0xDC0, 0xDE0)], 0)
    for number, (source, target, wrong) in enumerate(branches, 1):
        held |= {0x1C9: number, 0x680 + number: source, 0x6C0 + number: target, 0xDC0 + number: wrong << 63}
    return Sample(0x1000, 1, (32,), 100, 0, tuple(held.items()))


TAKEN = [recorded((0x1005, 0x1000, True), (0x1005, 0x1000, False), (0x1005, 0x1000, False), (0x1010, 0x2000, False))]


def test_last_branches_without_a_machine_have_no_rate_of_mispredictions() -> None:
    found = lines(last_branches(), TAKEN)
    assert (
        found[6] == "# %misp : not known: no machine runs that predicts branches (-e EVENT,branch-misses lets one run)"
    )
    assert found[-2:] == [
        "       3  75.00%  75.00% 100.00%       - 0x1005 -> 0x1000",
        "       1  25.00% 100.00% 100.00%       - 0x1010 -> 0x2000",
    ]


def test_last_branches_of_a_machine_have_their_mispredictions() -> None:
    assert lines(last_branches(timed=True), TAKEN)[-2].endswith("100.00%  33.33% 0x1005 -> 0x1000")


def test_edges_are_compared_with_all_taken_branches() -> None:
    module = BtbHist(last_branches(truth=True))
    module.take(TAKEN)
    module.take_exact_edges({(0x1005, 0x1000): 5, (0x1010, 0x2000): 3, (0x3000, 0x3010): 2})
    found = module.finish(None).splitlines()
    assert found[7:] == [
        "# exact_total 10",
        "# %exact: percentage of the taken branches that were of the edge",
        "# error : %self less %exact",
        "# total error 25.00%: so many of the captures would have to be elsewhere",
        "#count   %self    %cum  %exact    error  %taken   %misp source -> target",
        "       3  75.00%  75.00%  50.00%  +25.00% 100.00%       - 0x1005 -> 0x1000",
        "       1  25.00% 100.00%  30.00%   -5.00% 100.00%       - 0x1010 -> 0x2000",
        "       0   0.00% 100.00%  20.00%  -20.00%       -       - 0x3000 -> 0x3010",
    ]


def test_what_has_no_truth_is_not_compared() -> None:
    with pytest.raises(PfmonError, match="branch buffers are compared with nothing"):
        BtbHist(sampled("BRANCH_EVENT", truth=True))
    model = pmu.get("skylake")
    made = model.program(["instructions"], last_branches=["stack"])
    with pytest.raises(PfmonError, match="call stack mode"):
        BtbHist(last_branches(truth=True, captures=captures_of(model, made.writes)))


def test_processors_and_samples_without_branches_are_refused() -> None:
    model = pmu.get("intel_v2")
    with pytest.raises(PfmonError, match="intel_v2 has no last branch records"):
        BtbHist(ModuleContext(1000, model=model, events=(model.program(["instructions"]).monitors[0].event,)))
    with pytest.raises(PfmonError, match="no branches are recorded; -b"):
        BtbHist(last_branches(captures=captures_of(pmu.get("skylake"), {})))
