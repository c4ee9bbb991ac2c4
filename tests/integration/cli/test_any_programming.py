"""Whatever options are put together: registers, or one line and exit status 2; never a traceback."""

import pytest
from answers import said
from example_counts import examples
from hypothesis import given
from hypothesis import strategies as st

from pfmon import pmu
from pfmon.library.options import output_rows, program_rows, query_rows
from pfmon.library.options.table import TOPICS

EVENTS = st.one_of(
    *(st.sampled_from([event.name for event in pmu.get(name).events]) for name in pmu.names()),
    st.sampled_from(["ia64_ipc", "ctrl_spec_miss_ratio", "nops_retired:MESI", "l3_reads_all_hit:me", "", "x"]),
)
NUMBERS = st.one_of(st.integers(-1, 300).map(str), st.integers(0, 1 << 65).map(hex), st.sampled_from(["", "x", "y"]))
RANGES = st.one_of(
    st.builds("{}-{}".format, NUMBERS, NUMBERS),
    st.builds(lambda start, size: f"{start * 16:#x}-{(start + size) * 16:#x}", *[st.integers(0, 1 << 58)] * 2),
    NUMBERS,
)
MATCHES = st.one_of(
    st.builds("{}:{}:{}".format, st.sampled_from(["", "m", "ifb", "z"]), NUMBERS, NUMBERS),
    st.sampled_from(["br.cloop", "ld8", "m:mov", "x:ld8", ":nop", "br.clop", "i:br.ret"]),
)
LISTS = st.lists(st.one_of(NUMBERS, st.sampled_from(["ia32", "ia64", "u", "k", "n"])), max_size=4).map(",".join)
CONTROLS = st.builds("{}={}".format, st.sampled_from(["threshold", "dis", "pmctrigger", "x", ""]), NUMBERS)
ANY_VALUE = st.one_of(RANGES, MATCHES, LISTS, CONTROLS)
FITTING = {
    "irange": RANGES,
    "drange": RANGES,
    "checkpoint-func": NUMBERS,
    "opc-match8": MATCHES,
    "opc-match9": MATCHES,
    "opc-match32": MATCHES,
    "opc-match34": MATCHES,
    "event-thresholds": LISTS,
    "priv-levels": LISTS,
    "insn-sets": LISTS,
    "controls": CONTROLS,
    **{
        f"trigger-{kind}-{what}-addresses": st.lists(NUMBERS, max_size=6).map(",".join)
        for kind in ("code", "data")
        for what in ("start", "stop")
    },
}
WITHOUT = (output_rows.OUTPUT, program_rows.PROGRAM, query_rows.TOPIC)
"""Topics that have no say in what is programmed."""
TABLE = [
    option
    for topic in TOPICS
    if topic not in WITHOUT
    for option in topic.options
    if option.long not in ("events", "pmu")
]


@st.composite
def options(draw: st.DrawFn) -> str:
    option = draw(st.sampled_from(TABLE))
    value = draw(st.one_of(FITTING.get(option.long, NUMBERS), ANY_VALUE)) if option.value else ""
    return f"--{option.long}={value}" if option.value else f"--{option.long}"


@pytest.mark.slow
@examples(150)
@given(st.sampled_from(pmu.names()), st.lists(EVENTS, min_size=1, max_size=4), st.lists(options(), max_size=4))
def test_any_options_give_registers_or_one_line(name: str, events: list[str], chosen: list[str]) -> None:
    status, out, err = said("--check-events-only", "-v", f"--pmu={name}", *chosen, "-e", ",".join(events))
    if status == 0:
        assert out.count("\n") >= 1 and err == ""
    else:
        assert status == 2 and out == ""
        lines = err.splitlines()
        assert lines and all(line.startswith("pfmon: ") for line in lines)
        assert len(set(lines)) == len(lines)  # each mistake once


@pytest.mark.slow
@examples(150)
@given(st.data(), st.sampled_from(pmu.names()))
def test_any_register_value_is_decoded(data: st.DataObject, name: str) -> None:
    registers = data.draw(st.lists(st.sampled_from(list(pmu.get(name).registers)), min_size=1, max_size=5, unique=True))
    values = [data.draw(st.integers(0, (1 << 64) - 1)) for _ in registers]
    dump = " ".join(f"{register}={value:#x}" for register, value in zip(registers, values, strict=True))
    status, out, err = said(f"--pmu={name}", "--decode", dump)
    assert (status, err) == (0, "")
    assert all(f"{register} = 0x{value:016x}" in out for register, value in zip(registers, values, strict=True))
