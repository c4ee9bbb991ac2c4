"""Whatever a program passes to system calls, only results and signals come out, and the host is unharmed."""

from pathlib import Path
from typing import Any

import pytest
from example_counts import examples
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from pfmon.engine.linux.abi.ia64 import ia64_calls
from pfmon.engine.linux.abi.ia64.ia64_abi import IA64
from pfmon.engine.linux.abi.ia64.syscall_numbers import NAMES
from pfmon.engine.linux.calls import CALLS, HANDLERS, load
from pfmon.engine.linux.process import process_exit

O_RDWR = 2
SCRATCH, SIZE = 0x2000000100000000, 1 << 20
# Calls that may rightly wait for ever, or fill the disk.
LEFT_OUT = {
    "rt_sigsuspend", "rt_sigtimedwait", "futex", "poll", "ppoll", "select", "pselect6", "pipe", "pipe2",
    "mknod", "mknodat", "sync", "fallocate", "sendfile", "fcntl", "flock",
}  # fmt: skip
LOADED = load(IA64)
CARRIED_OUT = sorted(number for number in LOADED if NAMES[number] not in LEFT_OUT)
words = st.one_of(
    st.integers(0, 12),
    st.integers(SCRATCH, SCRATCH + SIZE + 64),
    st.sampled_from([SCRATCH, (1 << 64) - 1, (1 << 64) - 100, 1 << 63, 1 << 61, 1 << 14, 0x4000000000000000]),
    st.integers(0, (1 << 64) - 1),
)


def test_every_module_carries_out_the_calls_that_the_table_says() -> None:
    found: dict[str, set[str]] = {}
    for name, handler in HANDLERS.items():
        found.setdefault(handler.__module__.rpartition(".")[2], set()).add(name)
    assert found == {module: set(names.split()) for module, names in CALLS.items()}


@pytest.mark.slow
@examples(150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(st.sampled_from(CARRIED_OUT), st.lists(words, min_size=6, max_size=6)), max_size=12),
    st.binary(min_size=64, max_size=64),
)
def test_wild_arguments_never_raise(
    new_guest: Any, tmp_path: Path, calls: list[tuple[int, list[int]]], contents: bytes
) -> None:
    guest = new_guest()
    try:
        guest.call("chdir", guest.text(tmp_path))
        for number in (0, 1, 2):
            guest.call("close", number)
        (tmp_path / "file").write_bytes(bytes(1000))
        opened = [guest.open(*what) for what in (("file", O_RDWR), (".",), ("/dev/urandom",), ("file",))]
        assert opened == [0, 1, 2, 3]
        # no path that leads out of the working directory
        guest.memory.write(SCRATCH, contents.replace(b"/", b"\0").replace(b".", b"\0") * (SIZE // 64))
        open_before = len(list(Path("/proc/self/fd").iterdir()))
        for number, arguments in calls:
            value = guest.call(number, *arguments)
            assert -134 < value < 1 << 64
            if guest.end is not None:
                break
        process_exit.close(guest.process)
        assert len(list(Path("/proc/self/fd").iterdir())) <= open_before
    finally:
        process_exit.close(guest.process)
        (tmp_path).chmod(0o755)


def test_every_handler_belongs_to_a_number_of_the_table() -> None:
    """The common calls, and IA-64's own."""
    own = set(ia64_calls.CALLS)
    assert own == {"clone2", "pipe", "getunwind", "old_getpagesize", "perfmonctl"}
    assert set(HANDLERS) | own == {NAMES[number] for number in LOADED}
    assert len(LOADED) > 150
