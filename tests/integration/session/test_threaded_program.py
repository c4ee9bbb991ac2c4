"""The threads of one program on the two hardware threads of a core."""

from pathlib import Path

import pytest
from grids import each, first_quick
from ia64_tasks import counting, number

import pfmon
from pfmon.machine.config.machine_config import load

EVENTS = ["cpu_op_cycles_all", "ia64_inst_retired", "loads_retired", "nops_retired"]
EXACT = EVENTS[1:]


@pytest.mark.slow
@each("cores", [1, 2])
@each("threads", [1, 2, 3, 8])
def test_the_program_does_what_it_does_alone(tmp_path: Path, threads: int, cores: int) -> None:
    """The same output and status, and every instruction is of one hardware thread."""
    path, wanted = counting(tmp_path / "counting", threads, 60)
    both = pfmon.smt_threads(path, events=EVENTS, quantum=500, capture=True, cores=cores)
    alone = pfmon.run(path, events=EVENTS, pmu="montecito", quantum=500, capture=True)
    first, second = both.threads
    assert (first.status, second.status, number(first.output or b"")) == (0, 0, wanted) == (0, 0, number(alone.output))
    for event in EXACT:
        assert first.counts[event].value + second.counts[event].value == alone.counts[event].value
    assert first.retired + second.retired == alone.retired
    assert second.retired > 0


@pytest.mark.slow
@each("cores", [1, 2])
def test_sampling_counts_every_instruction_once(tmp_path: Path, cores: int) -> None:
    """Also the last block before a thread sleeps, which the machine still holds then."""
    path, _ = counting(tmp_path / "counting", 4, 60)
    run = {"events": ["ia64_inst_retired"], "quantum": 700, "capture": True, "cores": cores}
    plain, sampled = pfmon.smt_threads(path, **run), pfmon.smt_threads(path, **run, long_smpl_periods=[10])
    for one, other in zip(plain.threads, sampled.threads, strict=True):
        assert other.counts["ia64_inst_retired"].value == one.counts["ia64_inst_retired"].value == one.retired
        assert len(other.samples) == one.retired // 10


@pytest.mark.parametrize("cores", first_quick([1, 2]))
def test_counts_repeat_to_the_last_digit(tmp_path: Path, cores: int) -> None:
    """Also when a thread has to wait for words that come behind those of the other: turns are longer than rings."""
    path, _ = counting(tmp_path / "counting", 4, 500)
    for quantum in (300, 100_000):
        runs = [pfmon.smt_threads(path, events=EVENTS, quantum=quantum, capture=True, cores=cores) for _ in range(3)]
        assert len({str([run.counts.to_dict() for run in one.threads]) for one in runs}) == 1
        assert len({str(one.cycles) for one in runs}) == 1


@pytest.mark.parametrize("policy", ["performance", "fairness", "high-priority", "exclusive"])
def test_every_cycle_is_one_hardware_threads_whatever_the_policy(tmp_path: Path, policy: str) -> None:
    path, wanted = counting(tmp_path / "counting", 4, 200)
    figures = {"smt.policy": policy, "smt.priority": 1, "smt.quantum": 1000}
    both = pfmon.smt_threads(path, events=["cpu_op_cycles_all"], quantum=700, capture=True, set=figures)
    assert number(both.threads[0].output or b"") == wanted
    first, second = both.cycles
    assert (first.background, second.background) == (second.active, first.active)
    assert both.core_cycles == first.active + second.active
    assert abs(sum(first.switches.values()) - sum(second.switches.values())) <= 1


def test_a_recording_of_the_program_gives_the_same(tmp_path: Path) -> None:
    path, _ = counting(tmp_path / "counting", 4, 100)
    pfmon.record(tmp_path / "it.rec", path, events=["ia64_inst_retired"], pmu="montecito", quantum=500, capture=True)
    run = pfmon.smt_threads(path, events=EVENTS, quantum=500, capture=True)
    replayed = pfmon.smt_threads(replay=tmp_path / "it.rec", events=EVENTS)
    for one, other in zip(run.threads, replayed.threads, strict=True):
        for event in EXACT:
            assert one.counts[event].value == other.counts[event].value


def test_a_program_without_threads_has_one_hardware_thread(tmp_path: Path) -> None:
    program = Path(__file__).parents[3] / "examples" / "ia64" / "fib"
    both = pfmon.smt_threads([program, "15"], events=EVENTS, capture=True)
    alone = pfmon.run([program, "15"], events=EVENTS, pmu="montecito", capture=True)
    assert [count.value for count in both.threads[0].counts] == [count.value for count in alone.counts]
    assert both.threads[1].retired == 0


def test_samples_say_which_thread_ran(tmp_path: Path) -> None:
    """Threads 0, 2 on hardware thread 0; 1, 3 on hardware thread 1."""
    path, _ = counting(tmp_path / "counting", 3, 100)
    both = pfmon.smt_threads(path, events=["ia64_inst_retired"], long_smpl_periods=[50], quantum=300, capture=True)
    numbers = [{sample.thread for sample in run.samples or ()} for run in both.threads]
    assert len(numbers[0]) == 2 == len(numbers[1]) and not numbers[0] & numbers[1]


def test_two_cores_take_lines_from_each_other(tmp_path: Path) -> None:
    """Threads that increment a word: each finds it modified in the other's caches; alone nobody does."""
    path, _ = counting(tmp_path / "counting", 2, 300)
    events = ["bus_hitm_self", "bus_hitm_either", "bus_memory_all_self"]
    two = pfmon.smt_threads(path, events=events, pmu="montecito", quantum=100, capture=True, cores=2)
    own = [run.counts["bus_hitm_self"].value for run in two.threads]
    assert min(own) > 10
    assert [run.counts["bus_hitm_either"].value for run in two.threads] == [sum(own)] * 2
    one = pfmon.smt_threads(path, events=events, quantum=100, capture=True)
    assert [run.counts["bus_hitm_self"].value for run in one.threads] == [0, 0]


IN_ORDER = int(load("montecito")["bus.in_order"])
NO_KERNEL = [f"{name}=0" for name in ("kernel.system_call", "kernel.fault", "kernel.task_switch", "vhpt.software")]
ANSWERS = ["si_scb_inserts_all_self", "si_scb_inserts_hit_self", "si_scb_inserts_hitm_self", "si_scb_inserts_miss_self"]


def test_events_of_who_is_asked_are_those_of_who_asks(tmp_path: Path) -> None:
    """An answer takes bus.in_order cycles, of which those in the operating system would not be counted. What a core is
    asked while it sleeps is not counted; what is on the bus when it wakes up is in its queue all the same."""
    path, _ = counting(tmp_path / "counting", 2, 300)
    names = [*ANSWERS, "bus_mem_read_all_self", "bus_hitm_self", "si_scb_inserts_all_either", "si_scb_signoffs_all",
             "l1i_snoop", "l2i_snoop_hits", "si_scb_live_req_lo_self", "er_snoopq_req_lo"]  # fmt: skip
    both = pfmon.smt_threads(path, events=names, quantum=100, capture=True, cores=2, unlimited=True, set=NO_KERNEL)
    first, second = ({one.name.lower(): one.value for one in run.counts} for run in both.threads)
    for core in (first, second):
        assert core["si_scb_inserts_all_self"] == sum(core[name] for name in ANSWERS[1:])
        assert core["si_scb_inserts_all_either"] == first[ANSWERS[0]] + second[ANSWERS[0]]
        assert core["si_scb_signoffs_all"] == core["si_scb_inserts_all_either"]
        assert core["si_scb_live_req_lo_self"] == core["er_snoopq_req_lo"]
        assert 0 <= core["er_snoopq_req_lo"] - IN_ORDER * core[ANSWERS[0]] < 3 * IN_ORDER
        assert 0 < core["l1i_snoop"] <= core[ANSWERS[0]]
    assert first["si_scb_inserts_hitm_self"] > 10 < second["si_scb_inserts_hitm_self"]
    assert second["si_scb_inserts_all_self"] < first["bus_mem_read_all_self"]


def test_samples_of_answers_are_as_many_as_there_are(tmp_path: Path) -> None:
    path, _ = counting(tmp_path / "counting", 2, 300)
    event = "si_scb_inserts_hitm_self"
    whole = pfmon.smt_threads(path, events=[event], quantum=100, capture=True, cores=2)
    sampled = pfmon.smt_threads(path, events=[event], long_smpl_periods=[5], quantum=100, capture=True, cores=2)
    for one, other in zip(whole.threads, sampled.threads, strict=True):
        assert len(other.samples or ()) == one.counts[event].value // 5 > 2


def test_what_stands_in_registers_while_a_thread_sleeps_is_not_counted_and_nothing_else_is_lost(tmp_path: Path) -> None:
    """Thread 0 allocates a frame of 8 registers before there is another thread, and sleeps until all have ended: the
    cycles without a frame are as many on one core as on two."""
    path, _ = counting(tmp_path / "counting", 4, 200)
    without = []
    for cores in (1, 2):
        event = "rse_current_regs_5_to_3"
        both = pfmon.smt_threads(path, events=[event], quantum=300, capture=True, cores=cores, set=NO_KERNEL)
        without.append(both.cycles[0].active - both.threads[0].counts[event].value)
    assert 0 < without[0] == without[1] < 2000
