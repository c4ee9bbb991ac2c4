"""Programs that program the PMU themselves count what pfmon counts of them from outside, to the last digit."""

import struct
from collections.abc import Sequence
from pathlib import Path

import perf_calls
import pytest
from command import example, pfmon, refused
from grids import diagonal, each, first_quick
from monitoring_program import FD, WORK, call, counted, counting_by_perf, sampled, self_counting, self_sampling
from perf_calls import attribute
from qemu_guests import QEMU

import pfmon as library
from pfmon.counting.totals.countable import check_countable
from pfmon.errors import PfmonError
from pfmon.pmu import get
from pfmon.pmu.capture.captures import data_ear_registers
from pfmon.pmu.model.request import EventRequest, RangeRequest, Request
from pfmon.session.run.default_captures import with_captures

PMUS = ("itanium", "itanium2", "montecito")
CYCLES = {"itanium": "CPU_CYCLES", "itanium2": "CPU_CYCLES", "montecito": "CPU_OP_CYCLES_ALL"}


def inside(path: Path, pmu: str, guest_pmu: str | bool = True) -> list[int]:
    """What a program says that it counted."""
    done = library.run([str(path)], pmu=pmu, guest_pmu=guest_pmu, capture=True)
    assert (done.status, done.notes) == (0, ())
    assert done.output is not None
    return counted(done.output)


def outside(path: Path, pmu: str, events: Sequence[str], **options: object) -> list[int]:
    """What pfmon counts of it, which has the PMU then: from sum to rum, too."""
    done = library.run(
        [str(path)], pmu=pmu, events=list(events), insecure=True, dont_start=True, stdout=library.DEVNULL, **options
    )  # type: ignore[misc]  # options of the test
    assert done.status == 0
    return [int(count.value or 0) for count in done.counts]


@pytest.mark.parametrize("pmu", PMUS)
def test_a_program_counts_its_own_instructions_exactly(tmp_path: Path, pmu: str) -> None:
    made = get(pmu).program(["IA64_INST_RETIRED", "NOPS_RETIRED"])
    path = self_counting(tmp_path / "program", made.writes, made.counters)
    # A line of text is a bundle of three: the two nops beside sum, the lines between, and rum. movl takes two slots.
    lines = [line for line in WORK if not line.endswith(":")]
    bundles = 3 + 9 * 201
    assert len(lines) == 3 + 9
    instructions = 2 + 3 * bundles - 1 + 1
    assert inside(path, pmu) == [instructions, 2 + 2 * bundles - 1]


@pytest.mark.parametrize("pmu", first_quick(PMUS))
def test_cycles_misses_and_stalls_are_those_that_pfmon_counts(tmp_path: Path, pmu: str) -> None:
    for events in ([CYCLES[pmu], "LOADS_RETIRED"], ["L3_REFERENCES", "L3_MISSES"], ["STORES_RETIRED"]):
        made = get(pmu).program(events)
        path = self_counting(tmp_path / "program", made.writes, made.counters)
        counts = inside(path, pmu)
        assert counts == outside(path, pmu, events)
        assert counts[0] > 0


def countable(pmu: str) -> list[str]:
    """The events that pfmon counts on a PMU."""
    found = []
    for event in get(pmu).events:
        try:
            check_countable(get(pmu), event)
        except PfmonError:
            continue
        found.append(event.name)
    return found


@pytest.mark.slow
@diagonal
@pytest.mark.parametrize("step", [8, pytest.param(1, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("pmu", PMUS)
def test_every_event_counts_inside_as_outside(tmp_path: Path, pmu: str, step: int) -> None:
    different, tried = [], 0
    for event in countable(pmu)[::step]:
        try:
            model = get(pmu)
            made = model.fulfil(with_captures(model, Request((EventRequest(event),), 8)))
            wanted = outside(self_counting(tmp_path / event, made.writes, made.counters), pmu, [event])
        except PfmonError:  # alone it takes a setting of its own
            continue
        tried += 1
        got = inside(tmp_path / event, pmu)
        if got[:1] != wanted:
            different.append((event, got, wanted))
        (tmp_path / event).unlink()
    assert different == [] and tried > (150 if step == 1 else 15)


@pytest.mark.parametrize("pmu", first_quick(PMUS))
def test_ranges_of_code_and_data_qualify(tmp_path: Path, pmu: str) -> None:
    model = get(pmu)
    plain = model.program(["LOADS_RETIRED"])
    path = self_counting(tmp_path / "plain", plain.writes, plain.counters)
    everything = inside(path, pmu)
    data = (0x6000000000014000, 0x6000000000016000)
    made = model.program(["LOADS_RETIRED"], drange=RangeRequest((data,)))
    path = self_counting(tmp_path / "data", made.writes, made.counters)
    limits = f"{data[0]:#x}-{data[1]:#x}"
    some = inside(path, pmu)
    assert some == outside(path, pmu, ["LOADS_RETIRED"], drange=limits)
    assert 0 < some[0] < everything[0]
    code = (0x4000000000010000, 0x4000000000010400)
    made = model.program(["IA64_INST_RETIRED"], irange=RangeRequest((code,)))
    path = self_counting(tmp_path / "code", made.writes, made.counters)
    some = inside(path, pmu)
    assert some == outside(path, pmu, ["IA64_INST_RETIRED"], irange=f"{code[0]:#x}-{code[1]:#x}")


@pytest.mark.parametrize("pmu", PMUS)
def test_misses_in_a_data_range_are_those_that_pfmon_counts(tmp_path: Path, pmu: str) -> None:
    data = (0x6000000000014000, 0x6000000000018000)
    event = "L1D_READ_MISSES_RETIRED" if pmu == "itanium" else "L1D_READ_MISSES_ALL"
    made = get(pmu).program([event], drange=RangeRequest((data,)))
    path = self_counting(tmp_path / "program", made.writes, made.counters)
    some = inside(path, pmu)
    assert some == outside(path, pmu, [event], drange=f"{data[0]:#x}-{data[1]:#x}")
    assert some[0] > 0


@pytest.mark.parametrize("pmu", PMUS)
def test_perf_counts_from_the_call_that_enables_to_the_one_that_disables(tmp_path: Path, pmu: str) -> None:
    names = ["IA64_INST_RETIRED", "LOADS_RETIRED"]
    flags = perf_calls.EXCLUDE_KERNEL | perf_calls.DISABLED
    attributes = [attribute(read_format=perf_calls.GROUP, flags=flags)]
    loads = get(pmu).events["LOADS_RETIRED"]
    attributes.append(attribute(perf_calls.RAW, loads.code | loads.umask << 8, read_format=perf_calls.GROUP))
    path, begins = counting_by_perf(tmp_path / "program", attributes)
    done = library.run([str(path)], pmu=pmu, guest_pmu=True, capture=True)
    assert done.output and list(done.notes) == []
    members, *counts = struct.unpack_from("<3Q", done.output)
    lines = [line for line in (*WORK, *call("ioctl", FD, perf_calls.DISABLE, 0)) if not line.endswith(":")]
    trigger = {
        "trigger_code_start_addresses": begins,
        "trigger_code_stop_addresses": begins + 16 * len(lines),
    }
    known = library.run([str(path)], pmu=pmu, events=names, stdout=library.DEVNULL, **trigger).counts  # type: ignore[arg-type]
    # Inside, the two nops behind the first call's break count; outside, those behind the second one's.
    assert members == 2 and counts == [count.value for count in known]
    assert counts[1] > 0


@diagonal
@each(("event", "period"), [
    ("IA64_INST_RETIRED", 97), ("LOADS_RETIRED", 7), ("cycles", 113), ("NOPS_RETIRED", 211),
])  # fmt: skip
@each("pmu", PMUS)
def test_a_sampling_buffer_has_the_samples_that_pfmon_takes(tmp_path: Path, pmu: str, event: str, period: int) -> None:
    other = "IA64_INST_RETIRED" if event == "NOPS_RETIRED" else "NOPS_RETIRED"
    events = [CYCLES[pmu] if event == "cycles" else event, other]
    made = get(pmu).program(events)
    first, second = made.counters
    path = self_sampling(tmp_path / "program", made.writes, first, period, [second])
    done = library.run([str(path)], pmu=pmu, guest_pmu=True, capture=True)
    got = sampled(done.output or b"", 1)
    taken = library.run(
        [str(path)], pmu=pmu, events=events, insecure=True, dont_start=True, long_smpl_periods=[period],
        stdout=library.DEVNULL,
    ).samples  # fmt: skip
    assert got == [(one.iip, (dict(one.pmds)[second],)) for one in taken] and len(got) > 10


@pytest.mark.parametrize("pmu", PMUS)
def test_event_address_registers_capture_what_pfmon_captures(tmp_path: Path, pmu: str) -> None:
    model, event = get(pmu), "DATA_EAR_CACHE_LAT4"
    made = model.program([event])
    kept = list(data_ear_registers(model))
    path = self_sampling(tmp_path / "program", made.writes, made.counters[0], 3, kept)
    done = library.run([str(path)], pmu=pmu, guest_pmu=True, capture=True)
    taken = library.run(
        [str(path)], pmu=pmu, events=[event], insecure=True, dont_start=True, long_smpl_periods=[3],
        stdout=library.DEVNULL,
    ).samples  # fmt: skip
    wanted = [tuple(dict(one.pmds)[number] for number in sorted(kept)) for one in taken]
    assert [values for _, values in sampled(done.output or b"", len(kept))] == wanted and len(wanted) > 10


def test_without_a_machine_only_events_that_need_one_are_refused(tmp_path: Path) -> None:
    made = get("itanium2").program(["LOADS_RETIRED"])
    path = self_counting(tmp_path / "exact", made.writes, made.counters)
    assert inside(path, "itanium2", "exact") == outside(path, "itanium2", ["LOADS_RETIRED"])
    made = get("itanium2").program(["CPU_CYCLES"])
    path = self_counting(tmp_path / "modelled", made.writes, made.counters)
    done = library.run([str(path)], guest_pmu="exact", stdout=library.DEVNULL)
    assert list(done.notes) == [
        "perfmonctl: a machine decides this, and with --guest-pmu=exact none runs; it returns EINVAL"
    ]


def test_what_is_not_modelled_is_refused_with_its_reason(tmp_path: Path) -> None:
    made = get("itanium2").program(["BE_EXE_BUBBLE_CANCEL"])
    path = self_counting(tmp_path / "program", made.writes, made.counters)
    notes = library.run([str(path)], guest_pmu=True, stdout=library.DEVNULL).notes
    assert len(notes) == 1 and "BE_EXE_BUBBLE_CANCEL is not modelled" in notes[0]


@pytest.mark.slow
def test_the_pmu_is_pfmons_unless_the_program_has_it(tmp_path: Path) -> None:
    made = get("itanium2").program(["NOPS_RETIRED"])
    path = self_counting(tmp_path / "program", made.writes, made.counters)
    for words in (["-e", "nops_retired"], ["-e", "none"], []):
        done = pfmon("--no-cmd-output", *words, str(path))
        assert done.returncode == 0
        (said,) = done.stderr.splitlines()
        assert "EBUSY; --guest-pmu gives it to the program" in said


@pytest.mark.parametrize(("words", "said"), first_quick([
    (["-e", "nops_retired"], "leave -e out"), (["--report=cpi"], "leave --report=cpi out"),
    (["--report=html:FILE"], "leave --report=html out"),
    (["--insecure"], "give -e EVENT"), (["--slow"], "leave --slow out"),
    (["--record=FILE"], "leave --record out"), (["--follow-fork"], ""),
]))  # fmt: skip
def test_options_about_pfmons_counts_do_not_go_with_it(words: list[str], said: str) -> None:
    done = pfmon("--guest-pmu", *words, example("fib"))
    assert (done.returncode, done.stdout) == (2, "") and said in done.stderr


@QEMU
@pytest.mark.parametrize("program", first_quick(["x86_64", "ppc64"]))
def test_programs_under_qemu_cannot_ask_for_the_pmu(program: str) -> None:
    path = str(Path(example("fib")).parents[1] / program / "fib")
    said = refused("--guest-pmu", "--engine=qemu", path)
    assert "the PMU is given to IA-64 programs, and to x86-64 programs under --engine=x86_64" in said


def test_a_wrong_value_is_refused() -> None:
    assert "--guest-pmu=exact" in refused("--guest-pmu=all", example("fib"))
