"""What a counted process is started with."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pfmon.testing.counted_process import environment, without_own

WORDS = st.lists(st.sampled_from(["-v", "-k", "a", "tests", "--pfmonitor"]))
VALUES = ("--pfmon-baseline", "--pfmon")
OWN = st.lists(
    st.sampled_from([("--pfmon",), ("--pfmon-save",), ("--pfmon-tolerance=1%",), ("--pfmon-events", "a"), VALUES])
)


@pytest.mark.slow
@given(WORDS, OWN, WORDS)
def test_saving_and_comparing_look_alike(before: list[str], own: list[tuple[str, ...]], behind: list[str]) -> None:
    words = [word for group in own for word in group]
    assert without_own([*before, *words, *behind]) == [*before, *behind]


def test_a_process_sees_the_host_but_not_which_test_runs() -> None:
    host = {"PATH": "/bin", "PYTEST_XDIST_WORKER": "gw1", "PYTEST_CURRENT_TEST": "x", "PYTHONHASHSEED": "7"}
    assert environment(host) == {"PATH": "/bin", "PYTHONHASHSEED": "0"}
