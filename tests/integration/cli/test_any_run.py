"""Whatever controls of a session are put together: counts, or one line before the program starts; never a traceback."""

import json

import pytest
from command import example, pfmon
from example_counts import examples
from hypothesis import given
from hypothesis import strategies as st

from pfmon.library.options import place_rows, session_rows

EVENTS = st.lists(
    st.sampled_from(["ia64_inst_retired", "nops_retired", "loads_retired", "predicate_squashed_retired", "ia64_ipc"]),
    min_size=1,
    max_size=3,
).map(",".join)
TIMES = st.sampled_from(["0.000001", "0.0001", "0.0005", "1", "0", "x"])
# Bundles of epic, one that is none, and places in its data and stack.
ADDRESSES = st.lists(
    st.one_of(
        st.integers(0, 120).map(lambda n: f"{0x4000000000000000 + 16 * n:#x}"),
        st.sampled_from(["_start", "0x8", "0x6000000000004000", "0x60000ffffffffff0", "nothing"]),
    ),
    min_size=1,
    max_size=3,
).map(",".join)
TABLE = [*session_rows.SESSIONS.options, *place_rows.TRIGGERS.options]


@st.composite
def options(draw: st.DrawFn) -> str:
    option = draw(st.sampled_from(TABLE))
    value = draw(TIMES if option.value == "MILLISECONDS" else ADDRESSES) if option.value else ""
    return f"--{option.long}={value}" if value else f"--{option.long}"


@pytest.mark.slow
@examples(60)
@given(st.lists(EVENTS, min_size=1, max_size=3), st.lists(options(), max_size=4), st.booleans())
def test_any_controls_give_counts_or_one_line(sets: list[str], chosen: list[str], slow: bool) -> None:
    words = [word for events in sets for word in ("-e", events)]
    done = pfmon("--json", "--no-cmd-output", *words, *chosen, *(["--slow"] if slow else []), example("epic"))
    assert "Traceback" not in done.stderr
    if done.returncode == 2:
        assert done.stdout == "" and all(line.startswith("pfmon: ") for line in done.stderr.splitlines())
    else:
        found = json.loads(done.stdout)
        assert (found["exit_status"], len(found["events"])) == (0, sum(events.count(",") + 1 for events in sets))
