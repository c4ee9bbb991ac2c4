"""Pictures of timelines, of times by hand."""

from collections.abc import Sequence

from pfmon.report.timeline_picture import picture
from pfmon.report.timeline_text import timeline_text
from pfmon.session.profile.code_profile import Function, Source
from pfmon.session.profile.timeline import BlockTimeline, TimedInstruction, Wait


def instruction(
    text: str,
    times: Sequence[int],
    iteration: int = 0,
    waits: Sequence[Wait] = (),
    ports: dict[str, int] | None = None,
    delivered: int = -4,
) -> TimedInstruction:
    """``times``: dispatched, started, data, executed, retired in ticks."""
    dispatched, started, data, executed, retired = times
    own = ports or {}
    ended = (delivered, dispatched, started, data, executed, retired, 1, own, tuple(waits))
    return TimedInstruction(iteration, 0x10, text, *ended)


def timeline(
    instructions: Sequence[TimedInstruction], iterations: Sequence[int] = (8,), front_end: int | None = 4
) -> BlockTimeline:
    place = (Function("f", 0x10), 0x10, Source("a/f.c", 7))
    return BlockTimeline("m", *place, 10, 400, 5, 4, 4, tuple(iterations), front_end, True, instructions)


def test_stages_are_in_the_columns_of_their_cycles() -> None:
    one = instruction("imul", (4, 8, 8, 20, 33))
    assert picture(timeline([one])).rows == [".ID" + "ee" + "E" + "--" + "R"]


def test_a_load_has_letters_of_its_own() -> None:
    one = instruction("add r, [m]", (0, 4, 24, 28, 28), delivered=0)
    assert picture(timeline([one])).rows == ["IDmmmmeR"]


def test_the_last_of_several_stages_in_a_cycle_is_drawn() -> None:
    assert picture(timeline([instruction("nop", (0, 0, 0, 4, 4))])).rows == ["DR"]
    assert picture(timeline([instruction("nop", (1, 2, 3, 3, 3))])).rows == ["R"]


def test_the_front_end_delivers_before_dispatch() -> None:
    late = instruction("add", (12, 12, 12, 16, 16), delivered=4)
    assert picture(timeline([instruction("nop", (0, 0, 0, 4, 4)), late])).rows == ["DR", " Q.DR"]


def test_cycles_in_which_nothing_changes_are_left_out() -> None:
    drawn = picture(timeline([instruction("load", (0, 0, 1200, 1200, 1200))]))
    assert drawn.cut
    assert drawn.rows == ["DmmR"]
    assert drawn.ruler.startswith("0~~")
    long = picture(timeline([instruction("load", (0, 0, 32, 32, 32))]))
    assert not long.cut and long.rows == ["D" + "m" * 7 + "R"]


def test_the_ruler_has_every_tenth_cycle() -> None:
    rows = [instruction("add", (4 * at, 4 * at, 4 * at, 4 * at + 4, 4 * at + 4)) for at in range(25)]
    drawn = picture(timeline(rows))
    assert [drawn.ruler.index(label) for label in ("0", "10", "20")] == [0, 10, 20]


def test_the_legend_names_the_letters_that_are_there() -> None:
    assert [letter for letter, _ in picture(timeline([instruction("nop", (0, 0, 0, 4, 4))])).legend] == ["D", "R"]


def issued(text: str, at: int, waits: Sequence[Wait] = (), held: bool = True) -> TimedInstruction:
    return TimedInstruction(0, 0x10, text, None, None, at, None, None, at, 1, {}, tuple(waits), held)


def test_an_in_order_machine_stalls_before_the_issue_and_behind_it() -> None:
    rows = [
        issued("add", 0),
        issued("ld8", 3, [Wait("integer latencies", 2), Wait("first-level data cache", 2, behind=True)]),
        issued("st8", 6, held=False),
    ]
    one = timeline(rows, (7,), None)._replace(cycle=1, width=6)
    assert picture(one).rows == ["I", " ==I--", "      i"]
    assert list(one.bounds) == ["issue"]


def test_bounds_are_those_of_dispatch_ports_and_the_front_end() -> None:
    rows = [instruction("mul", (0, 0, 0, 4, 4), ports={"p1": 4}) for _ in range(3)]
    one = timeline(rows, (12,), 8)
    assert one.bounds == {"dispatch": 0.75, "front end": 2.0, "port p1": 3.0}
    assert one.cycles == 3.0
    assert one.bottleneck == "port p1"


def test_equal_bounds_are_named_together() -> None:
    rows = [instruction("add", (0, 0, 0, 4, 4), ports={"p1": 1}) for _ in range(4)]
    assert timeline(rows, (4,), 4).bottleneck == "dispatch and front end and port p1"


def test_a_chain_is_the_bottleneck_when_its_latency_is_what_is_waited_for() -> None:
    rows = [
        instruction("imul", (0, 0, 0, 12, 12), waits=[Wait("latencies of operations", 8)]),
        instruction("add", (0, 12, 12, 16, 16), waits=[Wait("L1D latency", 3), Wait("dispatch", 5)]),
    ]
    one = timeline(rows, (16,), 4)
    assert one.bottleneck == "dependence chain"
    assert one.causes == {"latencies of operations": 8, "dispatch": 5, "L1D latency": 3}
    missed = [instruction("mov", (0, 0, 0, 12, 12), waits=[Wait("waiting for memory", 16)])]
    assert timeline(missed, (16,), 4).bottleneck == "cache misses"


def test_the_work_of_a_port_is_the_bottleneck_that_is_waited_for() -> None:
    rows = [instruction("mul", (0, 0, 0, 4, 4), ports={"p1": 4}, waits=[Wait("busy ports", 16, "p1")])]
    assert timeline(rows, (16,), 4).bottleneck == "port p1"


def test_times_are_of_an_iteration_on_average() -> None:
    rows = [instruction("add", (0, 0, 0, 4, 4), number, ports={"p0": 4}) for number in (0, 1)]
    one = timeline(rows, (8, 16), 8)
    assert one.cycles == 3.0
    assert one.of_iteration(one.ports["p0"]) == 1.0
    found = one.to_dict()
    assert found["iterations"] == [2.0, 4.0]
    assert found["ports"] == {"p0": 1.0}
    assert found["instructions"][1]["executed"] == 1.0


def test_a_mispredicted_branch_is_said() -> None:
    one = instruction("jne", (0, 0, 0, 4, 4), waits=[Wait("mispredicted branches", 60, behind=True)])
    text = timeline_text(timeline([one._replace(mispredicted=True)]))
    assert "0  jne  DR  ; 15 mispredicted branches behind it, mispredicted\n" in text


def test_the_text_says_where_what_and_why() -> None:
    rows = [
        instruction("imul eax, ecx", (0, 0, 0, 12, 12), 0, [Wait("latencies of operations", 8)], {"p1": 4}),
        instruction("imul eax, ecx", (0, 12, 12, 24, 24), 1, [Wait("latencies of operations", 12)], {"p1": 4}),
    ]
    text = timeline_text(timeline(rows, (12, 12)))
    assert "# timeline of f 0x10 (f.c:7) on m\n" in text
    assert "# executions 5 to 6 of 10; the block has 100 cycles in the run\n" in text
    assert "3.00  cycles an iteration: 3.00 3.00\n" in text
    assert "bottleneck: dependence chain\n" in text
    assert "1.00  at least, for port p1\n" in text
    assert "0  imul eax, ecx  DeeR  ; 2 latencies of operations\n" in text
    assert "1  imul eax, ecx  I==DeeR  ; 3 latencies of operations\n" in text
