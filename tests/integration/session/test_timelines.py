"""Timelines of blocks of programs: --timeline, in the library and on the page."""

import json
import re
from pathlib import Path

import pytest
from browser import data_of, shown
from command import EXAMPLES, example, pfmon, refused
from grids import first_quick
from host_programs import needs
from qemu_guests import ASSEMBLER, assemble
from x86_64_host import measured

import pfmon as library
from pfmon.session.profile.timeline import BlockTimeline

PROGRAMS = {"sort": ["1000"], "hashmap": ["500"], "strings": ["500"], "matmul": ["12"]}


def x86(name: str) -> list[str]:
    return [str(EXAMPLES / "x86_64" / name), *PROGRAMS[name]]


def ia64(name: str) -> list[str]:
    return [example(name), *PROGRAMS[name]]


def timeline_of(command: list[str], place: str | bool = True, **options: object) -> BlockTimeline:
    found = library.run(command, timeline=place, capture=True, **options).timeline  # type: ignore[arg-type]  # names as text
    assert found is not None
    return found


@measured
@pytest.mark.parametrize("name", first_quick(list(PROGRAMS)))
def test_causes_add_up_to_the_iterations_out_of_order(name: str) -> None:
    found = timeline_of(x86(name))
    assert sum(found.causes.values()) == sum(found.iterations)
    assert len(found.iterations) == 4
    assert found.cycles >= 0.8 * max(found.bounds.values())  # the front end may have been ahead
    retired = [one.retired for one in found.instructions]
    assert retired == sorted(retired)
    assert {one.iteration for one in found.instructions} == {0, 1, 2, 3}


@pytest.mark.parametrize("name", first_quick(list(PROGRAMS)))
def test_causes_add_up_to_the_iterations_in_order(name: str) -> None:
    found = timeline_of(ia64(name))
    assert sum(found.causes.values()) == sum(found.iterations)
    issued = [one.started for one in found.instructions if one.started >= 0]
    assert issued == sorted(issued)
    assert len(issued) > 0.9 * len(found.instructions)


WRITES = re.compile(r"(?:\(p\d+\) )?\S+ r(\d+)=(.*)")


def compared_registers(found: BlockTimeline) -> int:
    """Check that an instruction issues behind what wrote the registers that it reads; how many were compared. Those
    that are not renamed (1 to 31), by the texts."""
    written: dict[int, int] = {}
    compared = 0
    for one in found.instructions:
        text = WRITES.fullmatch(one.text.removesuffix(" ;;"))
        if text is None or not one.held or one.started < 0:
            continue
        for register in map(int, re.findall(r"\br(\d+)\b", text[2])):
            if register in written:
                assert one.started > written[register], one.text
                compared += 1
        if 0 < int(text[1]) < 32:
            written[int(text[1])] = one.started
    return compared


def test_no_instruction_issues_in_the_group_of_what_it_reads() -> None:
    assert sum(compared_registers(timeline_of(ia64(name))) for name in PROGRAMS) > 20


@measured
def test_ports_have_the_executed_micro_operations_of_the_block() -> None:
    """As UOPS_EXECUTED.THREAD counts them, in a loop of one block."""
    done = library.run(
        x86("matmul"), pmu="skylake", events=["uops_executed.thread"], per_block=True, timeline=True, capture=True
    )
    found = done.timeline
    assert found and done.blocks
    row = next(row for row in done.blocks if row.address == found.address)
    first = [one for one in found.instructions if one.iteration == 0]
    assert first[-1].text.startswith("j")
    work = sum(ticks for one in first for port, ticks in one.ports.items() if port != "divider")
    assert row.values[0] == found.executions * work / found.cycle


CHAIN = """
    .globl _start
    .type work, @function
_start: mov $200, %ecx
    mov $3, %eax
work:
1:  imul %eax, %eax
    imul %eax, %eax
    dec %ecx
    jnz 1b
    .size work, .-work
    .type ports, @function
ports: mov $200, %ecx
2:  imul %eax, %edx
    imul %eax, %esi
    imul %eax, %edi
    dec %ecx
    jnz 2b
    .size ports, .-ports
    mov $60, %eax
    xor %edi, %edi
    syscall
"""


@measured
@ASSEMBLER
def test_a_chain_takes_its_latencies_and_ports_their_work(tmp_path: Path) -> None:
    """Two multiplications of three cycles one behind the other; three on the one port that multiplies (Skylake: p1)."""
    program = [str(assemble(tmp_path, CHAIN))]
    chain = timeline_of(program, "work,8", pmu="skylake")
    assert chain.function.name == "work"
    assert (chain.cycles, chain.bottleneck, len(chain.iterations)) == (6.0, "dependence chain", 8)
    ports = timeline_of(program, "ports", pmu="skylake")
    assert (ports.cycles, ports.bottleneck) == (3.0, "port p1")
    assert ports.of_iteration(ports.ports["p1"]) == 3.0


@measured
def test_a_place_is_a_function_an_address_or_everything() -> None:
    hottest = timeline_of(x86("matmul"))
    assert timeline_of(x86("matmul"), hottest.function.name) == hottest
    at = hottest.instructions[1].address
    assert timeline_of(x86("matmul"), hex(at)).address == hottest.address
    assert len(timeline_of(x86("matmul"), f"{at},2").iterations) == 2


@pytest.mark.parametrize("program", [x86("sort"), ia64("sort")], ids=["x86", "ia64"])
def test_counts_are_the_same_with_a_timeline(program: list[str]) -> None:
    alone = library.run(program, capture=True)
    beside = library.run(program, timeline=True, capture=True)
    assert beside.counts.to_dict() == alone.counts.to_dict()
    assert alone.timeline is None and alone.to_dict()["timeline"] is None


@measured
def test_a_recording_has_the_timeline_of_its_run(tmp_path: Path) -> None:
    file = tmp_path / "run.rec"
    library.record(file, x86("sort"), stdout=library.DEVNULL)
    replayed = library.replay(file, timeline=True).timeline
    live = timeline_of(x86("sort"))
    assert replayed is not None
    assert (replayed.function.name, replayed.iterations) == (live.function.name, live.iterations)
    assert [one.text for one in replayed.instructions] == [one.text for one in live.instructions]


@measured
def test_mispredicted_branches_are_branches_behind_which_dispatch_waits() -> None:
    found = timeline_of([str(EXAMPLES / "x86_64" / "branchy"), "20000"], ",64", pmu="skylake")
    wrong = [number for number, one in enumerate(found.instructions) if one.mispredicted]
    assert wrong
    for number in wrong:
        branch, following = (*found.instructions[number : number + 2], None)[:2]
        if branch and following:
            assert branch.text.startswith(("j", "ret", "call"))
            assert following.dispatched is not None and branch.executed is not None
            assert following.dispatched > branch.executed


def test_code_that_does_not_run_has_no_timeline() -> None:
    done = library.run(ia64("sort"), timeline="0x10", capture=True)
    assert done.timeline is None
    assert "--timeline=0x10: none of its code ran" in done.notes


def test_a_name_that_there_is_not_is_an_error() -> None:
    assert "nowhere" in refused("--timeline=nowhere", *ia64("sort"))


@pytest.mark.parametrize(
    "words", [["--follow-all"], ["--smt", example("sort")], ["--guest-pmu"]], ids=lambda words: words[0]
)
def test_a_timeline_is_of_one_process(words: list[str]) -> None:
    assert "--timeline" in refused("--timeline", *words, *ia64("sort"))


@measured
def test_a_machine_without_times_of_instructions_has_none(tmp_path: Path) -> None:
    said = refused("--timeline", "--cores=2", *x86("sort"))
    assert "no times of single instructions" in said


def test_the_command_prints_the_picture_behind_the_counts() -> None:
    done = pfmon("--timeline=,2", "--no-cmd-output", *ia64("sort"))
    assert done.returncode == 0
    counts, picture = done.stdout.split("# timeline of ")
    assert "CPU_CYCLES" in counts
    assert re.search(r"^ +\d+\.\d\d  cycles an iteration", picture, re.MULTILINE)
    assert re.search(r"^0  .* I", picture, re.MULTILINE) and re.search(r"^1  .* I", picture, re.MULTILINE)
    found = json.loads(pfmon("--json", "--timeline=,2", "--no-cmd-output", *ia64("sort")).stdout)["timeline"]
    assert len(found["iterations"]) == 2 and found["address"] > 0


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("timelines") / "run.html"
    done = pfmon("--no-cmd-output", "--no-progress", f"--report=html:{path}", *ia64("hashmap"))
    assert (done.returncode, done.stderr) == (0, "")
    return path


def test_the_page_has_timelines_of_different_blocks(page: Path) -> None:
    found = data_of(page)["timelines"]
    assert 1 <= len(found) <= 3
    assert len({one["place"] for one in found}) == len(found)
    for one in found:
        assert sum(cycles for _, cycles in one["causes"]) == pytest.approx(one["cycles"])
        assert len(one["rows"]) > 3


@needs("chromium-headless-shell")
def test_the_page_draws_a_row_for_each_instruction(page: Path) -> None:
    found = shown(
        page, "return [...document.querySelectorAll('#pipeline table.pipeline')].map((t) => t.tBodies[0].rows.length);"
    )
    assert found == [len(one["rows"]) for one in data_of(page)["timelines"]]
