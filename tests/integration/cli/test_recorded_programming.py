"""What --json and --with-header record of how a run was set up."""

import json
from typing import Any

import pytest
from command import example, pfmon

MATCHER = "--opc-match8=b:0x2000140:0x7ffe3f"  # br.cloop, pfmon on Itanium 2, section 4.3


def recorded(*words: str) -> dict[str, Any]:
    return json.loads(pfmon("--json", "--no-cmd-output", *words, example("noploop"), "7").stdout)


def test_json_records_registers_ranges_matchers_and_machine() -> None:
    data = recorded("--set", "l3.size=9M", "--irange=0x1000-0x1590", MATCHER, "-e", "nops_retired", "--event-thresh=2")
    assert data["machine"] == {"name": "itanium2", "changes": ["l3.size=9M"]}
    (only,) = data["programming"]
    (unit,) = only["pmus"]
    assert unit["registers"]["pmc4"] == f"0x{8 | 1 << 5 | 0x50 << 8 | 2 << 20:016x}"
    assert (unit["registers"]["ibr0"], unit["registers"]["ibr4"]) == (f"0x{0x1000:016x}", f"0x{0x1590:016x}")
    assert unit["code_range"]["asked"] == [["0x1000", "0x1590"]]
    assert unit["code_range"]["programmed"] == [["0x1000", "0x15a0"]]
    assert (unit["code_range"]["fine"], unit["data_range"]) == (True, None)
    first, second = unit["opcode_matchers"]
    assert second is None
    assert first == {"register": "pmc8", "slots": "b", "match": "0x2000140", "mask": "0x7ffe3f"}
    assert [(m["event"], m["threshold"], m["plm"]) for m in unit["monitors"]] == [("NOPS_RETIRED", 2, "u")]
    assert any("0x1590" in note for note in data["notes"])


def test_json_records_every_replica_and_event_set() -> None:
    events = "loads_retired,stores_retired"  # L1D sets 3 and 4: not together
    assert [len(one["pmus"]) for one in recorded("--unlimited", "-e", events)["programming"]] == [2]
    sets = recorded("--switch-timeout=1", "-e", "loads_retired", "-e", "stores_retired")["programming"]
    assert [(one["set"], one["pmus"][0]["monitors"][0]["event"]) for one in sets] == [
        (0, "LOADS_RETIRED"),
        (1, "STORES_RETIRED"),
    ]


def test_header_records_the_programming_too() -> None:
    words = ("--with-header", "--set", "l3.size=9M", "--irange=0x1000-0x1590", MATCHER, "-e", "nops_retired")
    header = [line[2:] for line in pfmon(*words, example("noploop"), "7").stdout.splitlines() if line[:2] == "# "]
    assert "machine: itanium2" in header and "machine change: l3.size=9M" in header
    assert "code range: asked [0x1000-0x1590), programmed [0x1000-0x15a0), fine mode" in header
    assert "opcode matcher pmc8: b:0x2000140:0x7ffe3f" in header
    assert f"pmc4: 0x{8 | 1 << 5 | 0x50 << 8:016x}" in header


@pytest.mark.slow
def test_header_comes_without_counters_and_in_json_too() -> None:
    assert "# pmu: itanium2" in pfmon("--with-header", example("noploop"), "7").stdout
    assert set(recorded("--with-header", "-e", "nops_retired")["header"]) == {"date", "hostname", "system"}
    assert recorded("-e", "nops_retired")["header"] is None


def test_kernel_levels_are_said_to_have_nothing_to_count() -> None:
    done = pfmon("-u", "-k", "-e", "nops_retired", example("noploop"), "7")
    assert done.stderr.startswith("pfmon: privilege levels (the kernel's, 0): programs run at level 3 alone")
    assert pfmon("-u", "-e", "nops_retired", example("noploop"), "7").stderr == ""
