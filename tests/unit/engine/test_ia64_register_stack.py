"""The register stack engine against a plain model (SDM volume 2, chapter 6; volume 1, 4.1 and 4.5.1)."""

import pytest
from example_counts import examples
from hypothesis import given
from hypothesis import strategies as st
from ia64_assembly import CODE, assemble
from ia64_machine import BREAK, MASK, PAGE, STORE, STORE_PAGES, UNMAPPED, Machine
from ia64_stack_model import StackModel

CHECK, END = 0x11, 0x12
OTHER = STORE + STORE_PAGES * PAGE // 2  # a second backing store
MIDDLE = STORE + 8 * 1000 * 8  # frames are returned to below it, too
SMALL = st.integers(0, 200)
STEP = st.tuples(
    st.sampled_from(
        [
            "alloc",
            "write",
            "write",
            "nat",
            "call",
            "call",
            "ret",
            "ret",
            "cover",
            "uncover",
            "flush",
            "rotate",
            "clrrrb",
            "float",
            "predicate",
            "loadrs",
            "switch",
            "deep",
            "unwind",
            "check",
        ]
    ),
    SMALL,
    SMALL,
    SMALL,
)


class Run:
    """One sequence of steps: each is assembled and executed, and done by the model."""

    def __init__(self, start: int, **options: int) -> None:
        self.machine = Machine([], **options)
        self.machine.memory.map(CODE, PAGE, 7)
        self.model = StackModel(start)
        self.machine.set({6: UNMAPPED}, bspstore=start, lc=MASK)
        self.saved: list[int] = []  # AR[PFS] of the callers
        self.switched: list[tuple[int, int, int]] = []
        self.counter = 0
        self.loads = 0

    def execute(self, *lines: str) -> None:
        """Run some instructions; every step has code of its own."""
        self.machine.memory.write(CODE, assemble([*lines, f"break.i {END}"]))
        self.machine.cpu.set_ip(CODE)
        why = self.machine.run()
        assert (why, self.machine.cpu.fault_info) == (BREAK, END), (why, self.machine.cpu.fault, lines)

    def step(self, kind: str, a: int, b: int, c: int) -> None:
        getattr(self, f"do_{kind}")(a, b, c)

    # --- steps

    def do_alloc(self, a: int, b: int, c: int) -> None:
        frame = self.model.frame
        sof = a % 97
        sol = b % (sof + 1)
        sor = c % (sof // 8 + 1) * 8
        if frame.rrb_gr or frame.rrb_fr or frame.rrb_pr:
            sof, sor = max(sof, frame.sor), frame.sor
        self.execute(f"alloc r3=ar.pfs,{sof},{sol},{sor}")
        assert self.machine.cpu.gr(3) == self.model.alloc(sof, sol, sor)

    def do_write(self, a: int, b: int, c: int) -> None:
        if self.model.frame.sof:
            name = 32 + a % self.model.frame.sof
            self.counter += 1
            self.execute(f"movl r{name}={self.counter << 32 | b}")
            self.model.set_gr(name, self.counter << 32 | b)

    def do_nat(self, a: int, b: int, c: int) -> None:
        if self.model.frame.sof:
            name = 32 + a % self.model.frame.sof
            self.execute(f"ld8.s r{name}=[r6]")
            self.model.set_gr(name, 0, True)

    def do_call(self, a: int, b: int, c: int) -> None:
        self.execute("br.call.sptk.few b1=next", "next:")
        self.model.call()
        self.saved.append(self.model.pfs)

    def do_ret(self, a: int, b: int, c: int) -> None:
        if self.saved:
            pfs = self.saved.pop()
            lines = [f"movl r3={pfs}", f"movl r4={CODE + 16 * 5:#x}", "mov.i ar.pfs=r3", "mov b7=r4"]
            self.execute(*lines, "br.ret.sptk.few b7")
            self.model.ret(pfs)

    def do_cover(self, a: int, b: int, c: int) -> None:
        sof = self.model.frame.sof
        self.execute("cover")
        self.model.cover()
        self.saved.append(sof | sof << 7 | self.model.ec << 52 | 3 << 62)

    do_uncover = do_ret

    def do_flush(self, a: int, b: int, c: int) -> None:
        self.execute("flushrs")
        self.model.flushrs()
        self.check_memory()

    def do_rotate(self, a: int, b: int, c: int) -> None:
        for _ in range(a % 5):
            self.execute("br.ctop.sptk.few next", "next:")
            self.model.rotate()

    def do_clrrrb(self, a: int, b: int, c: int) -> None:
        self.execute("clrrrb")
        self.model.clrrrb()

    def do_float(self, a: int, b: int, c: int) -> None:
        name = 32 + a % 96
        self.counter += 1
        self.execute(f"movl r3={self.counter}", f"setf.sig f{name}=r3")
        self.model.set_fr(name, self.counter)

    def do_predicate(self, a: int, b: int, c: int) -> None:
        name = 16 + a % 48
        self.execute(f"cmp.eq p{name},p0=r0,{'r0' if b % 2 else 'r6'}")
        self.model.set_pr(name, b % 2)

    def do_loadrs(self, a: int, b: int, c: int) -> None:
        """Everything is in memory, so that nothing is lost; some of it is to be in registers."""
        self.do_cover(a, b, c)
        self.do_flush(a, b, c)
        words = max(0, min(a % 96, (self.model.bsp - self.model.anchor) // 8))
        lines = ["mov.m ar.rsc=0", f"movl r3={words * 8 << 16 | b % 8 << 16}", "mov.m ar.rsc=r3", "loadrs"]
        self.execute(*lines, "mov.m r4=ar.bspstore")
        assert self.machine.cpu.gr(4) == self.model.bsp - words * 8
        if words * 8 == 0 or (self.model.bsp - words * 8) % 512 != 504:
            self.execute("mov.m ar.rsc=3")

    def do_switch(self, a: int, b: int, c: int) -> None:
        """To another backing store and, later, back: what coroutines and longjmp do."""
        self.do_flush(a, b, c)
        self.execute("mov.m ar.rsc=0", "mov.m r4=ar.bspstore", "mov.m r5=ar.rnat")
        cpu = self.machine.cpu
        assert cpu.gr(4) == self.model.bsp
        if self.switched and len(self.saved) == self.switched[-1][2]:
            address, rnat, _ = self.switched.pop()
        elif not self.switched:
            self.switched.append((cpu.gr(4), cpu.gr(5), len(self.saved)))
            address, rnat = OTHER + c * 8 // 512 * 512 + c % 63 * 8, a << 7
        else:
            return
        self.execute(f"movl r3={address}", "mov.m ar.bspstore=r3", f"movl r3={rnat}", "mov.m ar.rnat=r3")
        self.model.switch(address, rnat)

    def do_deep(self, a: int, b: int, c: int) -> None:
        for level in range(a % 12):
            self.do_alloc(b + 7 * level, b + 5 * level, 0)
            self.do_write(level, level, 0)
            self.do_write(b, level, 0)
            self.do_call(0, 0, 0)

    def do_unwind(self, a: int, b: int, c: int) -> None:
        for _ in range(a % 12):
            if self.switched and len(self.saved) == self.switched[-1][2]:
                return  # below lie the frames of the other stack
            self.do_ret(0, 0, 0)

    # --- comparisons

    def do_check(self, a: int = 0, b: int = 0, c: int = 0) -> None:
        cpu, model = self.machine.cpu, self.model
        assert cpu.cfm == model.frame.marker()
        assert cpu.ar("bsp") == model.bsp
        for name in range(32, 32 + model.frame.sof):
            register = model.gr(name)
            if register is not None:
                assert (cpu.gr(name) * (not cpu.nat(name)), cpu.nat(name)) == register, name
        for name in range(32, 128):
            assert self.machine.fr(name)[2] == model.fr(name)
        for name in range(16, 64):
            assert cpu.pr >> name & 1 == model.pr(name)
        assert cpu.ar("ec") == model.ec

    def check_memory(self) -> None:
        cpu, model = self.machine.cpu, self.model
        assert cpu.ar("bspstore") == model.bsp == cpu.ar("bsp")
        for number, register in model.registers.items():
            if number >= model.bottom or register is None:
                continue
            address = model.address(number)
            if not register[1]:
                assert self.machine.word(address) == register[0], number
            collection = address | 0x1F8
            nats = self.machine.word(collection) if collection < model.bsp else cpu.ar("rnat")
            assert bool(nats >> address // 8 % 64 & 1) == register[1], number


def may_return(run: Run) -> bool:
    return not (run.switched and len(run.saved) == run.switched[-1][2])


def follow(run: Run, steps: list[tuple[str, int, int, int]]) -> None:
    for step in steps:
        if step[0] in ("ret", "uncover") and not may_return(run):
            continue
        run.step(*step)
    run.do_check()
    run.do_flush(0, 0, 0)
    if run.switched:
        while len(run.saved) > run.switched[-1][2]:
            run.do_ret(0, 0, 0)
        run.do_switch(0, 0, 0)
    while run.saved:
        run.do_ret(0, 0, 0)
        run.do_check()


@pytest.mark.slow
@examples(60)
@given(st.lists(STEP, max_size=60), st.integers(0, 130))
def test_random_steps(steps: list[tuple[str, int, int, int]], start: int) -> None:
    follow(Run(MIDDLE + 8 * start - (8 if start % 64 == 63 else 0)), steps)
