"""Events of an out-of-order core besides misses: small programs that cause a known number of them, and a plain model of
caches and TLBs on the stream of examples."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from grids import diagonal, first_quick
from guests import SMALL
from plain_caches import modelled
from qemu_guests import ASSEMBLER, EXAMPLES, assemble, guest
from x86_64_host import MARKS

import pfmon
from pfmon.machine._machine import IntervalMachine, Occurrence
from pfmon.machine.config.machine_config import load
from pfmon.session.run.machine_run import machine_of
from pfmon.stream._stream import Recorder, Tee

pytestmark = [*MARKS, ASSEMBLER]

MACHINE = """
base = "skylake"
[machine]
source = "the test"
[prefetch]
source = "the test"
degree = 0
"""
EXIT = "mov $60, %eax\n xor %edi, %edi\n syscall\n"
DATA = ".bss\n .balign 4096\n area: .skip 0x4000000\n .text\n"
LINE, PAGE = 64, 4096


def counted(directory: Path, text: str, events: Sequence[str]) -> dict[str, int]:
    """What a program counts on Skylake without its prefetchers."""
    (directory / "machine.toml").write_text(MACHINE)
    program = str(assemble(directory, text))
    run = pfmon.run([program], events=list(events), unlimited=True, machine=str(directory / "machine.toml"))
    return {count.name: int(count.value or 0) for count in run.counts}


def added(directory: Path, body: str, times: int, events: Sequence[str]) -> dict[str, int]:
    """What ``times`` more executions of a loop add to the counts."""
    found = []
    for number in (times, 2 * times):
        begin = f"{DATA} _start: mov $area, %eax\n mov ${number}, %ebp\n .p2align 6\n"
        found.append(counted(directory, f"{begin} 1:{body}\n dec %ebp\n jnz 1b\n {EXIT}", events))
    return {name: found[1][name] - found[0][name] for name in events}


def passes(step: int, number: int, access: str) -> str:
    """A loop's body: one pass over so many places of the area, in order."""
    return f" mov $area, %eax\n mov ${number}, %ecx\n 2: {access}\n add ${step}, %rax\n dec %ecx\n jnz 2b\n"


TRANSLATION = {
    "dTLB-load-misses": 200,
    "DTLB_LOAD_MISSES.MISS_CAUSES_A_WALK": 200,
    "DTLB_LOAD_MISSES.STLB_HIT": 0,
    "MEM_INST_RETIRED.STLB_MISS_LOADS": 200,
    "DTLB_STORE_MISSES.WALK_COMPLETED": 0,
}


def test_a_load_from_each_new_page_walks_once(tmp_path: Path) -> None:
    body = f"mov (%rax), %rbx\n mov 8(%rax), %rbx\n add ${PAGE + LINE}, %rax"
    assert added(tmp_path, body, 200, list(TRANSLATION)) == TRANSLATION


def test_a_walk_is_pending_for_its_latency(tmp_path: Path) -> None:
    events = ["DTLB_LOAD_MISSES.WALK_PENDING", "DTLB_STORE_MISSES.WALK_PENDING"]
    body = f"mov (%rax), %rbx\n add ${PAGE + LINE}, %rax\n mov %rbx, (%rax)\n add ${PAGE + LINE}, %rax"
    latency = int(load("skylake")["memory.walk"])
    assert added(tmp_path, body, 100, events) == dict.fromkeys(events, 100 * latency)


def test_a_store_to_each_new_page_walks_once(tmp_path: Path) -> None:
    events = ["dTLB-store-misses", "dTLB-load-misses", "MEM_INST_RETIRED.STLB_MISS_STORES"]
    body = f"mov %rbx, (%rax)\n add ${PAGE + LINE}, %rax"
    assert list(added(tmp_path, body, 200, events).values()) == [200, 0, 200]


@pytest.mark.parametrize(("access", "what"), [("mov (%rax), %rbx", "LOAD"), ("mov %rbx, (%rax)", "STORE")])
def test_pages_beyond_the_first_level_hit_in_the_second_level_tlb(access: str, what: str, tmp_path: Path) -> None:
    """512 pages: more than 64 entries, fewer than 1536 (Optimization Reference Manual, Skylake)."""
    events = [f"DTLB_{what}_MISSES.STLB_HIT", f"DTLB_{what}_MISSES.WALK_COMPLETED"]
    assert list(added(tmp_path, passes(PAGE, 512, access), 3, events).values()) == [3 * 512, 0]


JUMPS = " jmp 3f\n .balign 4096\n" + "3: jmp 3f\n .balign 4096\n" * 256 + "3: "


def test_code_of_many_pages_hits_in_the_second_level_tlb(tmp_path: Path) -> None:
    """256 pages of code: more than 128 entries, fewer than 1536, and the loop's own."""
    events = ["iTLB-loads", "iTLB-load-misses", "ITLB_MISSES.WALK_PENDING", "ITLB_MISSES.WALK_ACTIVE"]
    found = added(tmp_path, JUMPS, 4, events)
    assert 4 * 256 <= found["iTLB-loads"] <= 4 * 258
    assert [found[name] for name in events[1:]] == [0, 0, 0]


LEVELS = ("L1_HIT", "FB_HIT", "L1_MISS", "L2_HIT", "L2_MISS", "L3_HIT", "L3_MISS")


@pytest.mark.parametrize(
    ("lines", "level"),
    [(256, "L1"), (2048, "L2"), (16384, "L3")],  # 16 KB, 128 KB, 1 MB in caches of 32 KB, 256 KB, 8 MB
)
def test_loads_hit_in_the_cache_that_holds_them(lines: int, level: str, tmp_path: Path) -> None:
    """Each pass loads from every line; of a pass after the first each load hits in the same level."""
    events = [f"MEM_LOAD_RETIRED.{what}" for what in LEVELS]
    found = added(tmp_path, passes(LINE, lines, "mov (%rax), %rbx\n lfence"), 2, events)
    wanted = {"L1": ["L1_HIT"], "L2": ["L1_MISS", "L2_HIT"], "L3": ["L1_MISS", "L2_MISS", "L3_HIT"]}[level]
    assert {name.partition(".")[2] for name, count in found.items() if count} == set(wanted)
    assert {found[f"MEM_LOAD_RETIRED.{name}"] for name in wanted} == {2 * lines}


def test_loads_from_new_lines_miss_everywhere(tmp_path: Path) -> None:
    once = ["LLC-loads", "LLC-load-misses", "L2_RQSTS.DEMAND_DATA_RD_MISS", "L2_RQSTS.MISS", "L2_LINES_IN.ALL"]
    events = [*(f"MEM_LOAD_RETIRED.{what}" for what in LEVELS), *once]
    found = added(
        tmp_path, f"mov (%rax), %rbx\n mov 8(%rax), %rcx\n mov 16(%rax), %rcx\n add ${LINE}, %rax", 500, events
    )
    assert [found[name] for name in once] == [500] * len(once)
    assert [found[f"MEM_LOAD_RETIRED.{what}"] for what in LEVELS] == [0, 1000, 500, 0, 500, 0, 500]


def test_a_request_is_outstanding_from_a_miss_of_l2_to_the_data(tmp_path: Path) -> None:
    """A chase, one line after the other: nothing waits for the bus."""
    of_l2 = [f"OFFCORE_REQUESTS_OUTSTANDING.{what}" for what in ("DEMAND_DATA_RD", "L3_MISS_DEMAND_DATA_RD")]
    figures = load("skylake")
    found = added(tmp_path, f"mov (%rax), %rbx\n lfence\n add ${LINE}, %rax", 500, ["L1D_PEND_MISS.PENDING", *of_l2])
    latency, behind = int(figures["memory.latency"]), int(figures["memory.latency"]) - int(figures["l2.latency"])
    assert list(found.values()) == [500 * latency, 500 * behind, 500 * behind]


def test_stores_and_locked_accesses_request_lines_to_own_them(tmp_path: Path) -> None:
    events = [
        "LLC-stores",
        "LLC-store-misses",
        "L2_RQSTS.RFO_MISS",
        "L2_RQSTS.ALL_DEMAND_DATA_RD",
        "MEM_LOAD_RETIRED.L1_HIT",
    ]
    body = f"mov %rbx, (%rax)\n lock incl 64(%rax)\n add ${2 * LINE}, %rax"
    assert list(added(tmp_path, body, 300, events).values()) == [600, 600, 600, 0, 300]


def test_software_prefetches_look_into_l2_and_are_no_misses_of_loads(tmp_path: Path) -> None:
    """Each brings a new line, which the load behind it finds when it is there."""
    events = [
        "L2_RQSTS.PF_MISS",
        "OFFCORE_REQUESTS.ALL_DATA_RD",
        "L2_RQSTS.ALL_DEMAND_DATA_RD",
        "MEM_LOAD_RETIRED.L1_HIT",
    ]
    body = f"prefetcht0 (%rax)\n mov $500, %ecx\n 2: dec %ecx\n jnz 2b\n mov (%rax), %rbx\n add ${LINE}, %rax"
    assert list(added(tmp_path, body, 200, events).values()) == [200, 200, 0, 400]


def test_each_line_of_a_stream_comes_into_l2_once(tmp_path: Path) -> None:
    """Whether a load or the prefetcher asks for it: 64 lines a page, 100 pages."""
    text = f"{DATA} _start:{passes(LINE, 6400, 'mov (%rax), %rbx')}\n {EXIT}"
    events = ["L2_RQSTS.DEMAND_DATA_RD_MISS", "L2_RQSTS.PF_MISS", "MEM_LOAD_RETIRED.L2_HIT", "L1D.REPLACEMENT"]
    run = pfmon.run([str(assemble(tmp_path, text))], events=events, machine="skylake", unlimited=True)
    demanded, prefetched, hits, lines = (int(count.value or 0) for count in run.counts)
    assert demanded + prefetched == lines == 6400 and prefetched > 5000
    assert hits > 5000


def test_new_code_is_read_through_l2(tmp_path: Path) -> None:
    """A chain of jumps, each in a line of its own, that runs once: nothing has its lines."""
    found = []
    for number in (200, 400):
        text = "_start: jmp 3f\n .balign 64\n" + "3: jmp 3f\n .balign 64\n" * number + f"3: {EXIT}"
        found.append(counted(tmp_path, text, ["L2_RQSTS.CODE_RD_MISS", "LLC-loads", "ICACHE_16B.IFDATA_STALL"]))
    assert found[1]["L2_RQSTS.CODE_RD_MISS"] - found[0]["L2_RQSTS.CODE_RD_MISS"] == 200
    assert found[1]["LLC-loads"] == found[0]["LLC-loads"]
    latency = int(load("skylake")["memory.latency"])
    waited = found[1]["ICACHE_16B.IFDATA_STALL"] - found[0]["ICACHE_16B.IFDATA_STALL"]
    assert 200 * latency <= waited < 1.2 * 200 * latency


def test_modified_lines_go_from_l2_to_l3(tmp_path: Path) -> None:
    """Every line of a pass over 1 MB is modified, and leaves L2, 256 KB, in the next pass at the latest."""
    events = ["L2_TRANS.L2_WB", "L2_LINES_OUT.NON_SILENT", "L2_LINES_OUT.SILENT", "L2_RQSTS.RFO_MISS"]
    assert list(added(tmp_path, passes(LINE, 16384, "mov %rbx, (%rax)"), 2, events).values()) == [
        32768,
        32768,
        0,
        32768,
    ]


def test_accesses_to_two_lines_are_split(tmp_path: Path) -> None:
    events = ["MEM_INST_RETIRED.SPLIT_LOADS", "MEM_INST_RETIRED.SPLIT_STORES", "SQ_MISC.SPLIT_LOCK"]
    body = "mov 60(%rax), %rbx\n mov %rbx, 124(%rax)\n mov 56(%rax), %rbx\n lock incl 190(%rax)\n addq $1, 252(%rax)"
    assert list(added(tmp_path, body, 100, events).values()) == [300, 300, 100]


@pytest.mark.slow
def test_loads_that_stores_block(tmp_path: Path) -> None:
    """Two halves are stored and both loaded at once; then a load is 4 KB behind a store."""
    events = ["LD_BLOCKS.STORE_FORWARD", "LD_BLOCKS_PARTIAL.ADDRESS_ALIAS"]
    halves = "mov %ebx, (%rax)\n mov %ebx, 4(%rax)\n mov (%rax), %rcx\n lfence"
    assert list(added(tmp_path, halves, 100, events).values()) == [100, 0]
    behind = "mov %rbx, 128(%rax)\n mov 4224(%rax), %rcx\n lfence"
    assert list(added(tmp_path, behind, 100, events).values()) == [0, 100]
    whole = "mov %rbx, (%rax)\n mov (%rax), %rcx\n mov 4(%rax), %ecx\n lfence"
    assert list(added(tmp_path, whole, 100, events).values()) == [0, 0]


RANDOM = "imul $1103515245, %r8d, %r8d\n add $12345, %r8d\n"


def test_mispredicted_branches_by_kind(tmp_path: Path) -> None:
    """The direction of a jump, and the target of a call, follow a random bit: about half of them are not foreseen, and
    of these jumps half are taken."""
    events = [f"BR_MISP_RETIRED.{what}" for what in ("ALL_BRANCHES", "CONDITIONAL", "NEAR_TAKEN", "NEAR_CALL")]
    jump = f"{RANDOM} test $0x10000, %r8d\n jz 3f\n nop\n 3:"
    every, conditional, taken, calls = added(tmp_path, jump, 2000, events).values()
    assert every == conditional and 800 < every < 1200 and 0.35 * every < taken < 0.65 * every and calls == 0
    call = (
        f"{RANDOM} mov %r8d, %edx\n shr $16, %edx\n and $1, %edx\n shl $4, %edx\n add $5f, %edx\n call *%rdx\n jmp 4f\n"
        " .balign 16\n 5: ret\n .balign 16\n ret\n 4:"
    )
    every, conditional, taken, calls = added(tmp_path, call, 2000, events).values()
    assert every == calls == taken and 800 < calls < 1200 and conditional == 0


def test_new_direct_jumps_redirect_the_front_end(tmp_path: Path) -> None:
    """None of 300 jumps that run once is in the target buffer; those that run again are."""
    found = [
        counted(
            tmp_path,
            f"_start: mov $2, %ebp\n 1: {'jmp 3f; 3: ' * number}\n dec %ebp\n jnz 1b\n {EXIT}",
            ["BACLEARS.ANY"],
        )
        for number in (300, 600)
    ]
    assert found[1]["BACLEARS.ANY"] - found[0]["BACLEARS.ANY"] == 300


# Instruction -> what one adds to the slots, to the executed µops, to the cycles of the divider, to fused pairs: fused
# and unfused domains of the Optimization Reference Manual, divider and ports of A. Fog's tables for Skylake.
MICRO_OPERATIONS = {
    "add %ebx, %ecx": (1, 1, 0, 0),
    "add (%rax), %ecx": (1, 2, 0, 0),
    "mov (%rax), %ecx": (1, 1, 0, 0),
    "mov %ecx, (%rax)": (1, 2, 0, 0),
    "addl $1, (%rax)": (2, 4, 0, 0),
    "xor %ecx, %ecx": (1, 0, 0, 0),
    "nop": (1, 0, 0, 0),
    "divsd %xmm1, %xmm0": (1, 1, 4, 0),
    "cmp %ebx, %ecx\n jz 3f\n 3:": (1, 1, 0, 1),
}


@pytest.mark.parametrize("instruction", list(MICRO_OPERATIONS))
def test_micro_operations_of_an_instruction(instruction: str, tmp_path: Path) -> None:
    events = [
        "UOPS_ISSUED.ANY",
        "UOPS_RETIRED.RETIRE_SLOTS",
        "UOPS_EXECUTED.THREAD",
        "ARITH.DIVIDER_ACTIVE",
        "UOPS_RETIRED.MACRO_FUSED",
    ]
    with_it, without = (added(tmp_path, body, 1000, events) for body in (f"{instruction}\n" * 4, ""))
    each = [(with_it[name] - without[name]) // 4000 for name in events]
    slots, *rest = MICRO_OPERATIONS[instruction]
    assert each == [slots, slots, *rest]
    assert without == dict.fromkeys(events[:3], 1000) | {"ARITH.DIVIDER_ACTIVE": 0, "UOPS_RETIRED.MACRO_FUSED": 1000}


def test_only_long_instructions_come_from_microcode(tmp_path: Path) -> None:
    """More than four micro-operations (Optimization Reference Manual, microcode sequencer)."""
    found = added(tmp_path, "xor %eax, %eax\n cpuid", 50, ["IDQ.MS_UOPS"])
    assert found["IDQ.MS_UOPS"] > 4 * 50
    assert added(tmp_path, "addl $1, (%rax)", 50, ["IDQ.MS_UOPS"]) == {"IDQ.MS_UOPS": 0}


def test_micro_operations_come_from_the_cache_or_the_decoders(tmp_path: Path) -> None:
    """The cache holds 1536 in 32 sets of 8 lines of 6 (Optimization Reference Manual): a loop of 40 instructions is
    there from its second run on, one of 4000 never."""
    events = ["IDQ.DSB_UOPS", "IDQ.MITE_UOPS", "INST_DECODED.DECODERS", "UOPS_ISSUED.ANY", "DSB2MITE_SWITCHES.COUNT"]
    assert list(added(tmp_path, "add %rbx, %rcx\n" * 40, 1000, events).values()) == [41000, 0, 0, 41000, 0]
    dsb, mite, decoded, issued, _ = added(tmp_path, "add %rbx, %rcx\n" * 4000, 10, events).values()
    assert dsb == 0 and mite == issued == 10 * 4001 and decoded == 10 * 4002


def test_each_change_to_the_decoders_is_a_switch(tmp_path: Path) -> None:
    """A loop in the cache, and behind it code that is too long for it, in turn."""
    body = (
        "mov $50, %ecx\n 2: add %rbx, %rdx\n dec %ecx\n jnz 2b\n jmp 3f\n .p2align 6\n 3:" + "add %rbx, %rdx\n" * 4000
    )
    assert list(added(tmp_path, body, 10, ["DSB2MITE_SWITCHES.COUNT"]).values()) == [10]


def test_the_sources_deliver_what_is_issued() -> None:
    events = ["UOPS_ISSUED.ANY", "IDQ.DSB_UOPS", "IDQ.MITE_UOPS", "IDQ.MS_UOPS", "LSD.UOPS"]
    command = [str(EXAMPLES / "x86_64" / "lz"), *SMALL["lz"]]
    run = pfmon.run(command, events=events, unlimited=True, machine="skylake", stdout=pfmon.DEVNULL)
    issued, *delivered = (int(count.value or 0) for count in run.counts)
    assert issued == sum(delivered) and delivered[0] > 0.8 * issued > 1000 and delivered[-1] == 0


WAITS = ["RESOURCE_STALLS.ANY", "RESOURCE_STALLS.SB", "IDQ_UOPS_NOT_DELIVERED.CORE", "UOPS_ISSUED.ANY", "cycles"]
WAITING = {
    "a chain of latencies": " imul %rbx, %rbx\n" * 8,
    "stores to new lines": passes(PAGE + LINE, 4096, "mov %ebx, (%rax)"),
    "taken branches": " jmp 3f\n nop\n 3: jmp 3f\n nop\n" * 8 + "3:",
}


@pytest.mark.parametrize("name", WAITING)
def test_what_dispatch_waits_for(name: str, tmp_path: Path) -> None:
    """In each slot of dispatch, four a cycle, a micro-operation dispatches, or the front end has none, or there is no
    room for it."""
    times = {"a chain of latencies": 4000, "stores to new lines": 4, "taken branches": 400}[name]
    found = added(tmp_path, WAITING[name], times, WAITS)
    stalls, of_stores, undelivered, issued, cycles = (found[event] for event in WAITS)
    assert issued + undelivered + 4 * stalls == pytest.approx(4 * cycles, rel=0.02)
    if name == "a chain of latencies":
        assert cycles == pytest.approx(24 * times, rel=0.01) and of_stores == 0 and stalls > 0.85 * cycles
    elif name == "stores to new lines":
        assert stalls == of_stores > 0.5 * cycles
    else:
        assert stalls == 0 and undelivered > 2 * cycles


SMALLER = ("l1d.size=1K", "l1d.ways=2", "l1i.size=1K", "l1i.ways=2", "l2.size=8K", "l2.ways=4", "l3.size=64K",
           "dtlb1.entries=4", "dtlb1.ways=2", "itlb1.entries=2", "itlb1.ways=2", "tlb2.entries=8",
           "tlb2.ways=2")  # fmt: skip
ALONE = ("tlb2.instructions=false", "memory.inclusive=false", "prefetch.degree=0")
"""Each level for itself."""
RECOUNTED = (
    *(f"CORE_{what}_{level}" for what in ("READ", "OWN", "FETCH") for level in ("L2", "L3", "MEMORY")),
    *("CORE_LOAD_WALK", "CORE_STORE_WALK", "CORE_LOAD_SECOND_TLB", "CORE_STORE_SECOND_TLB", "CORE_L2_WRITTEN"),
)


@diagonal
@pytest.mark.parametrize("changes", first_quick([ALONE, (), ("prefetch.adjacent=true",)], single=True))
@pytest.mark.parametrize("name", first_quick(["sort", "hashmap", "lz", "matmul", "nbody"]))
def test_requests_and_translations_are_those_of_a_plain_model(name: str, changes: tuple[str, ...]) -> None:
    figures, recorder = load("skylake", (*SMALLER, *changes)), Recorder()
    with Path("/dev/null").open("w") as nowhere:
        files = (0, nowhere.fileno(), nowhere.fileno())
        one = guest([EXAMPLES / "x86_64" / name, *SMALL[name]], files=files, addresses=True, engine="x86_64")
        machine = machine_of(figures, one.table, (), True, 1)
        assert isinstance(machine, IntervalMachine)
        machine.record_events(executions=False, sources=False)
        one.run(Tee(recorder, machine))
        one.close()
    machine.finish()
    happened: Counter[str] = Counter()
    for (_, _, occurrence, _), times in machine.occurrences().items():
        happened[Occurrence(occurrence).name] += times
    expected = modelled(figures, one.table, recorder.words())
    assert {name: happened[name] for name in RECOUNTED} == {name: expected[name] for name in RECOUNTED}
    assert sum(expected[name] for name in RECOUNTED) > 40


ALL_LOADS = ["MEM_INST_RETIRED.ALL_LOADS", *(f"MEM_LOAD_RETIRED.{what}" for what in ("L1_HIT", "L1_MISS", "FB_HIT"))]


@pytest.mark.parametrize("name", first_quick(["sort", "matmul", "strings", "hashmap"]))
def test_every_load_hits_or_misses_or_waits_for_its_line(name: str) -> None:
    """Intel's list: L1_HIT, L1_MISS and FB_HIT part the loads; so do they in every function."""
    command = [str(EXAMPLES / "x86_64" / name), *SMALL[name]]
    run = pfmon.run(
        command, events=ALL_LOADS, unlimited=True, machine="skylake", per_function=True, stdout=pfmon.DEVNULL
    )
    every, *parts = (int(count.value or 0) for count in run.counts)
    assert every == sum(parts) > 1000
    assert run.functions is not None
    functions = [row["counts"] for row in run.functions.to_dict()]
    assert all(own[0] == sum(own[1:]) for own in functions) and len(functions) > 3


@pytest.mark.parametrize("event", ["MEM_LOAD_RETIRED.L1_HIT", "L2_RQSTS.ALL_RFO", "UOPS_RETIRED.RETIRE_SLOTS"])
def test_samples_come_once_a_period(event: str) -> None:
    command = [str(EXAMPLES / "x86_64" / "sort"), *SMALL["sort"]]
    counted = pfmon.run(command, events=[event], machine="skylake", stdout=pfmon.DEVNULL).counts[0].value
    run = pfmon.run(command, events=[event], machine="skylake", long_smpl_periods=10, stdout=pfmon.DEVNULL)
    assert counted and run.samples is not None
    assert len(run.samples) == counted // 10 > 1


def test_conditions_on_cycles_are_refused_where_only_totals_are_recorded() -> None:
    with pytest.raises(pfmon.PfmonError, match="only its totals are recorded"):
        pfmon.run(["/bin/true"], events=["UOPS_RETIRED.RETIRE_SLOTS"], machine="skylake", event_thresholds="1")


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("lsl %ecx, %edx\n nop", "have no row in the table of instructions"),
        ("movnti %rbx, (%rax)\n nop", "store past the caches"),
        ("xor %edx, %edx\n div %rcx", "divide numbers of 64 bits"),
        ("add %rbx, %rcx\n nop", ""),
    ],
)
def test_a_report_says_what_the_model_leaves_out(body: str, what: str, tmp_path: Path) -> None:
    """One instruction of the loop's four is left out."""
    text = f"{DATA} _start: mov $area, %eax\n mov $1, %ecx\n mov $1000, %r8d\n 1:{body}\n dec %r8d\n jnz 1b\n {EXIT}"
    run = pfmon.run([str(assemble(tmp_path, text))], report="cpi", machine="skylake")
    assert run.cpi is not None
    found = {one.text: one.share for one in run.cpi.omissions}
    assert len(found) == bool(what)
    for text, share in found.items():
        assert what in text and share == pytest.approx(0.25, abs=0.001)
