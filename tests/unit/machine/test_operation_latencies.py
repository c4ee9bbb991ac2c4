"""Every entry of the manual's latency table, from the stalls of a producer and a consumer in consecutive groups.

Montecito manual, table 2-8. Rows: producers; columns: consumers; n/a: no entry. The Itanium's latencies are those that
GCC's description of the processor gives (itanium1.md).
"""

import pytest
from grids import each, sampled
from machine_code import per_pass

PRODUCERS = {
    "alu": "add r10=r20,r0",
    "multimedia": "pmpyshr2 r10=r20,r0,0",
    "thash": "thash r10=r20",
    "probe": "probe.r r10=r20,0",
    "getf": "getf.sig r10=f6",
    "setf": "setf.sig f10=r20",
    "fmac": "fma.s0 f10=f6,f6,f6",
    "xma": "xma.l f10=f6,f6,f6",
    "fcvt": "fcvt.fx.s0 f10=f6",
    "fmisc": "fmerge.s f10=f6,f6",
    "compare": "cmp.eq p6,p7=r0,r0",
    "fcmp": "fcmp.eq.s0 p6,p7=f6,f6",
    "frcpa": "frcpa.s0 f11,p6=f1,f1",
    "load": "ld8 r10=[r20]",
    "load_float": "ldf8 f10=[r20]",
    "from_branch": "mov r10=b6",
    "alloc": "alloc r10=ar.pfs,96,32,0",
    "from_predicates": "mov r10=pr",
    "to_predicates": "mov pr=r20,-2",
}
CONSUMERS = {
    "predicate": "(p6) add r11=r0,r0",
    "alu": "add r11=r10,r0",
    "address": "lfetch [r10]",
    "multimedia": "pmpyshr2 r11=r10,r0,0",
    "store": "st8 [r21]=r10",
    "setf": "setf.sig f11=r10",
    "fmac": "fma.s0 f11=f10,f6,f6",
    "fmisc": "fmerge.s f11=f10,f6",
    "getf": "getf.sig r11=f10",
    "store_float": "stf8 [r21]=f10",
}
L1D, L2 = 1, 5
TABLE = {
    "alu": {"alu": 1, "address": 1, "multimedia": 3, "store": 1, "setf": 1},
    "multimedia": {"alu": 3, "address": 4, "multimedia": 2, "store": 3, "setf": 3},
    "thash": {"alu": 5, "address": 6, "multimedia": 6, "store": 5, "setf": 5},
    "probe": {"alu": 5, "address": 6, "multimedia": 6, "store": 5, "setf": 5},
    "getf": {"alu": 5, "address": 6, "multimedia": 6, "store": 5, "setf": 5},
    "setf": {"store_float": 6, "fmac": 6, "fmisc": 6, "getf": 6},
    "fmac": {"store_float": 4, "fmac": 4, "fmisc": 4, "getf": 4},
    "xma": {"store_float": 4, "fmac": 4, "fmisc": 4, "getf": 4},
    "fcvt": {"store_float": 4, "fmac": 4, "fmisc": 4, "getf": 4},
    "fmisc": {"store_float": 4, "fmac": 4, "fmisc": 4, "getf": 4},
    "compare": {"predicate": 1},
    "fcmp": {"predicate": 2},
    "frcpa": {"predicate": 2},
    "load": {"alu": L1D, "address": L1D + 1, "multimedia": L1D + 2, "store": L1D, "setf": L1D},
    "load_float": {"fmac": L2 + 1, "fmisc": L2 + 1, "getf": L2 + 1, "store_float": L2 + 1},
    "from_branch": {"alu": 2, "address": 2, "multimedia": 3, "store": 2, "setf": 2},
    "alloc": {"alu": 2, "address": 2, "multimedia": 3, "store": 2, "setf": 2},
    "from_predicates": {"alu": 2, "address": 2, "multimedia": 3, "store": 2},
    "to_predicates": {"predicate": 1},
}
PAIRS = [(producer, consumer) for producer, row in TABLE.items() for consumer in row]
ITANIUM = {
    "alu": {"alu": 1, "store": 1},
    "multimedia": {"multimedia": 2},
    "getf": {"alu": 2},
    "setf": {"fmac": 9, "fmisc": 9},
    "fmac": {"fmac": 5},
    "fmisc": {"fmac": 5, "fmisc": 5},
    "compare": {"predicate": 1},
    "fcmp": {"predicate": 2},
    "load": {"alu": 2, "store": 2},
    "load_float": {"fmac": 9, "fmisc": 9},
    "from_branch": {"alu": 2, "store": 2},
    "from_predicates": {"alu": 2, "store": 2},
    "to_predicates": {"predicate": 1},
}
# A multimedia result that is used as an address before its time: Montecito flushes (table 2-8, note 1).
MONTECITO = {("multimedia", "address"): 8}


@sampled(25)
@each("machine", ["itanium2", "montecito"])
@each(("producer", "consumer"), PAIRS)
def test_consumer_in_the_next_group_waits_for_the_latency(producer, consumer, machine):
    latency = TABLE[producer][consumer]
    if machine == "montecito":
        latency = MONTECITO.get((producer, consumer), latency)
    _, bubbles = per_pass([PRODUCERS[producer], CONSUMERS[consumer]], machine)
    assert sum(bubbles.values()) == latency - 1


@each(("producer", "consumer"), [(producer, one) for producer in ITANIUM for one in ITANIUM[producer]])
def test_itanium_waits_as_gcc_describes_it(producer, consumer):
    _, bubbles = per_pass([PRODUCERS[producer], CONSUMERS[consumer]], "itanium")
    assert sum(bubbles.values()) == ITANIUM[producer][consumer] - 1


@pytest.mark.parametrize(("producer", "latency"), [("compare", 0), ("fcmp", 1), ("frcpa", 2)])
def test_branch_waits_for_its_predicate(producer, latency):
    """A branch may be in the group of an integer compare; groups that follow each other are a cycle apart."""
    branch = ["(p6) br.cond.sptk.few next", "nop.m 0", "next:"]
    cycles, bubbles = per_pass([PRODUCERS[producer], *branch], "itanium2")
    assert bubbles["PR"] == max(latency - 1, 0)
    if producer == "compare":
        together, _ = per_pass([("MIB", "", "cmp.eq p6,p7=r0,r0", branch[0]), *branch[1:]], "itanium2")
        assert together == cycles - 1


@each("gap", range(8))
def test_work_between_hides_the_latency(gap):
    """A multiply-add's 4 cycles: groups in between take their place."""
    _, bubbles = per_pass([PRODUCERS["fmac"], *["add r15=r20,r0"] * gap, CONSUMERS["fmac"]], "itanium2")
    assert sum(bubbles.values()) == max(0, 3 - gap)


@pytest.mark.parametrize(
    ("producer", "consumer", "cause"),
    [
        ("load", "address", "GRALL"),
        ("getf", "alu", "GRGR"),
        ("fmac", "fmac", "FRALL"),
        ("fcmp", "predicate", "PR"),
    ],
)
def test_stall_goes_to_what_was_waited_for(producer, consumer, cause):
    _, bubbles = per_pass([PRODUCERS[producer], CONSUMERS[consumer]], "itanium2")
    assert set(bubbles) == {cause}
