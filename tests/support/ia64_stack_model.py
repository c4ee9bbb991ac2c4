"""A plain model of the register stack and of rotation: one unbounded list of registers, a dictionary as memory.

It knows nothing of partitions or of when registers are spilled: only where they are found in memory afterwards, and
what names they have (SDM volume 1, 4.1 and 4.5.1; volume 2, 6.1).
"""

from dataclasses import dataclass, field

Register = tuple[int, bool] | None  # value and NaT bit; None: undefined


@dataclass
class Frame:
    sof: int = 0
    sol: int = 0
    sor: int = 0
    rrb_gr: int = 0
    rrb_fr: int = 0
    rrb_pr: int = 0

    def marker(self) -> int:
        bases = self.rrb_gr << 18 | self.rrb_fr << 25 | self.rrb_pr << 32
        return self.sof | self.sol << 7 | self.sor // 8 << 14 | bases


@dataclass
class StackModel:
    """``anchor``: the backing-store address of the register numbered ``anchor_number``."""

    anchor: int
    anchor_number: int = 0
    bottom: int = 0  # number of the current r32
    lowest: int = 0  # that it ever was on this backing store
    frame: Frame = field(default_factory=Frame)
    ec: int = 0
    pfs: int = 0
    rnat: int = 0  # as last written, for collections that are not complete
    registers: dict[int, Register] = field(default_factory=dict)
    memory: dict[int, int] = field(default_factory=dict)
    floats: list[int] = field(default_factory=lambda: [0] * 96)  # physical
    predicates: list[int] = field(default_factory=lambda: [0] * 48)

    # --- where things are

    def address(self, number: int) -> int:
        """Backing-store address of a register: of 64 words, the last is a NaT collection."""
        line, slot = divmod(self.anchor // 8, 64)
        place = line * 63 + slot + number - self.anchor_number
        return (place + place // 63) * 8

    def number(self, name: int) -> int:
        """The register behind general register ``name``."""
        i = name - 32
        if i < self.frame.sor:
            i = (i + self.frame.rrb_gr) % self.frame.sor
        return self.bottom + i

    def read(self, number: int) -> Register:
        if number in self.registers or number >= self.anchor_number:
            return self.registers.get(number)
        address = self.address(number)
        collection = address | 0x1F8
        nats = self.memory.get(collection, 0) if collection < self.anchor else self.rnat
        if address not in self.memory:
            return None
        return self.memory[address], bool(nats >> (address // 8 % 64) & 1)

    def gr(self, name: int) -> Register:
        return self.read(self.number(name))

    def fr(self, name: int) -> int:
        return self.floats[(name - 32 + self.frame.rrb_fr) % 96]

    def pr(self, name: int) -> int:
        return self.predicates[(name - 16 + self.frame.rrb_pr) % 48]

    @property
    def bsp(self) -> int:
        return self.address(self.bottom)

    # --- what instructions do

    def set_gr(self, name: int, value: int, nat: bool = False) -> None:
        self.registers[self.number(name)] = (value, nat)

    def set_fr(self, name: int, value: int) -> None:
        self.floats[(name - 32 + self.frame.rrb_fr) % 96] = value

    def set_pr(self, name: int, value: int) -> None:
        self.predicates[(name - 16 + self.frame.rrb_pr) % 48] = value

    def _forget_above(self, sof: int) -> None:
        """Registers beyond a frame of this size are undefined."""
        top = max([self.anchor_number, *self.registers])
        for number in range(self.bottom + sof, top + 1):
            self.registers[number] = None

    def alloc(self, sof: int, sol: int, sor: int) -> int:
        self._forget_above(min(sof, self.frame.sof))
        self.frame = Frame(sof, sol, sor, self.frame.rrb_gr, self.frame.rrb_fr, self.frame.rrb_pr)
        return self.pfs

    def call(self) -> None:
        self.pfs = self.frame.marker() | self.ec << 52 | 3 << 62
        self.bottom += self.frame.sol
        self.frame = Frame(self.frame.sof - self.frame.sol)

    def cover(self) -> None:
        self.bottom += self.frame.sof
        self.frame = Frame()

    def ret(self, pfs: int) -> None:
        """``pfs`` is what AR[PFS] holds."""
        self._forget_above(self.frame.sof)
        sof, sol = pfs & 0x7F, pfs >> 7 & 0x7F
        self.bottom -= sol
        self.lowest = min(self.lowest, self.bottom)
        self.frame = Frame(sof, sol, (pfs >> 14 & 0xF) * 8, pfs >> 18 & 0x7F, pfs >> 25 & 0x7F, pfs >> 32 & 0x3F)
        self.ec = pfs >> 52 & 0x3F
        self.pfs = pfs
        self._forget_above(sof)

    def rotate(self) -> None:
        """br.ctop in its kernel phase."""
        self.set_pr(63, 1)
        frame = self.frame
        if frame.sor:
            frame.rrb_gr = (frame.rrb_gr - 1) % frame.sor
        frame.rrb_fr = (frame.rrb_fr - 1) % 96
        frame.rrb_pr = (frame.rrb_pr - 1) % 48

    def clrrrb(self) -> None:
        self.frame.rrb_gr = self.frame.rrb_fr = self.frame.rrb_pr = 0

    def flushrs(self) -> None:
        """All registers below the frame are in memory."""
        for number in range(self.lowest, self.bottom):
            register = self.read(number)
            if register is None:
                self.memory.pop(self.address(number), None)
            else:
                self.memory[self.address(number)] = register[0]

    def switch(self, address: int, rnat: int) -> None:
        """After flushrs: mov ar.bspstore, mov ar.rnat."""
        low = min(self.anchor, self.address(self.lowest))
        lines = range(low | 0x1F8, self.bsp, 512)
        self.memory.update({address: self.collection(address) for address in lines})
        for number in [n for n in self.registers if n < self.bottom]:
            del self.registers[number]
        self.anchor, self.anchor_number, self.rnat = address, self.bottom, rnat
        self.lowest = self.bottom

    def collection(self, address: int) -> int:
        """The NaT collection at ``address`` as of the registers that are known."""
        bits = 0
        for slot in range(63):
            place = address - 8 * (63 - slot)
            line, position = divmod(place // 8, 64)
            first_line, first = divmod(self.anchor // 8, 64)
            register = self.read(self.anchor_number + (line - first_line) * 63 + position - first)
            bits |= (register is not None and register[1]) << slot
        return bits
