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
