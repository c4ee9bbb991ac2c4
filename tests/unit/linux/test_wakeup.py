"""What ends the waits of a process from outside goes with the process."""

import gc
from pathlib import Path

import pytest
from guests import guest, quiet

from pfmon.stream._stream import Recorder


def files() -> set[Path]:
    return {*Path("/proc/self/fd").iterdir()}


@pytest.mark.slow
def test_a_guest_that_nobody_closes_leaves_no_file_behind() -> None:
    gc.collect()
    before = files()
    for _ in range(3):
        with quiet():
            guest("fib", ["5"]).run(Recorder())
    gc.collect()
    assert files() <= before
