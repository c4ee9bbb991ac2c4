"""What a counted process is started with."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pfmon.errors import PfmonError, UnsupportedError
from pfmon.testing import counted_process
from pfmon.testing.counted_process import environment, run_test, without_own

WORDS = st.lists(st.sampled_from(["-v", "-s", "a", "tests", "--pfmonitor"]))
VALUES = ("--pfmon-baseline", "--pfmon")
OWN = st.lists(
    st.sampled_from(
        [
            ("--pfmon",),
            ("--pfmon-save",),
            ("--pfmon-tolerance=1%",),
            ("--pfmon-events", "a"),
            VALUES,
            ("-k", "a"),
            ("-ka",),
            ("-m", "-k"),
        ]
    )
)


@pytest.mark.slow
@given(WORDS, OWN, WORDS)
def test_saving_and_comparing_look_alike(before: list[str], own: list[tuple[str, ...]], behind: list[str]) -> None:
    words = [word for group in own for word in group]
    assert without_own([*before, *words, *behind]) == [*before, *behind]


def test_a_process_sees_the_host_but_not_which_test_runs() -> None:
    host = {"PATH": "/bin", "PYTEST_XDIST_WORKER": "gw1", "PYTEST_CURRENT_TEST": "x", "PYTHONHASHSEED": "7"}
    assert environment(host) == {"PATH": "/bin", "PYTHONHASHSEED": "0"}


@pytest.mark.parametrize("outside", [False, True])
def test_a_test_that_the_engine_does_not_support_begins_anew_under_qemu(
    outside: bool, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    engines = []

    def run(*_: Any, engine: str = "", **__: Any) -> Any:
        engines.append(engine)
        if engine:
            raise PfmonError("counted")
        raise UnsupportedError("not counted", "it makes a second thread", outside)

    monkeypatch.setattr(counted_process.pfmon, "run", run)
    with pytest.raises(PfmonError, match=r"^counted$"):
        run_test(request.node, [], ["INSTRUCTIONS_RETIRED"])
    assert engines == ["", "qemu"]
