"""Address spaces that fork: each has the bytes that a copy would have, and the host gets its memory back."""

import random
import resource
from pathlib import Path

import pytest
from grids import first_quick

from pfmon.engine.guest_memory import GuestMemoryFault
from pfmon.engine.ia64._ia64 import AddressSpace

BASE = 0x2000000000000000
PAGE = 0x4000
PAGES = 12


class Model:
    """The same with a dictionary: content by page, None where nothing is mapped."""

    def __init__(self) -> None:
        self.pages: dict[int, bytearray] = {}
        self.shared: set[int] = set()

    def fork(self) -> "Model":
        other = Model()
        other.pages = {n: page if n in self.shared else bytearray(page) for n, page in self.pages.items()}
        other.shared = set(self.shared)
        return other

    def map(self, first: int, count: int, shared: bool) -> None:
        for n in range(first, first + count):
            self.pages[n] = bytearray(PAGE)
            (self.shared.add if shared else self.shared.discard)(n)

    def unmap(self, first: int, count: int) -> None:
        for n in range(first, first + count):
            self.pages.pop(n, None)
            self.shared.discard(n)


def check(space: AddressSpace, model: Model) -> None:
    for n in range(PAGES):
        if n in model.pages:
            assert space.read(BASE + n * PAGE, PAGE) == bytes(model.pages[n]), n
        else:
            with pytest.raises(GuestMemoryFault):
                space.read(BASE + n * PAGE, 1)


@pytest.mark.parametrize("seed", first_quick(range(12)))
def test_random_families_have_the_bytes_of_copies(seed: int) -> None:
    chance = random.Random(seed)
    family = [(AddressSpace(1 << 30), Model())]
    for _ in range(300):
        space, model = chance.choice(family)
        first = chance.randrange(PAGES)
        count = chance.randint(1, PAGES - first)
        match chance.choice(["map", "unmap", "protect", "fork", "end", "write", "write", "write", "write"]):
            case "map":
                shared = chance.random() < 0.3
                space.map(BASE + first * PAGE, count * PAGE, 3, shared)
                model.map(first, count, shared)
            case "unmap":
                space.unmap(BASE + first * PAGE, count * PAGE)
                model.unmap(first, count)
            case "protect":
                if all(n in model.pages for n in range(first, first + count)):
                    space.protect(BASE + first * PAGE, count * PAGE, 3)
            case "fork":
                if len(family) < 6:
                    family.append((space.fork(), model.fork()))
            case "end":
                if len(family) > 1:
                    space.clear()
                    family.remove((space, model))
            case _:
                at = chance.randrange(PAGES * PAGE - 8)
                data = chance.randbytes(chance.randint(1, min(3 * PAGE, PAGES * PAGE - at)))
                touched = range(at // PAGE, (at + len(data) - 1) // PAGE + 1)
                if all(n in model.pages for n in touched):
                    space.write(BASE + at, data)
                    for i, byte in enumerate(data):
                        model.pages[(at + i) // PAGE][(at + i) % PAGE] = byte
                else:
                    with pytest.raises(GuestMemoryFault):
                        space.write(BASE + at, data)
    for space, model in family:
        check(space, model)


def test_lent_memory_is_one() -> None:
    space = AddressSpace()
    space.map(BASE, 4 * PAGE, 3)
    other = space.fork()
    space.write(BASE, b"before")
    lent = space.fork(True)
    lent.write(BASE, b"within")
    lent.write(BASE + PAGE, b"new")
    assert space.read(BASE, 6) == b"within" and space.read(BASE + PAGE, 3) == b"new"
    assert other.read(BASE, 6) == other.read(BASE + PAGE, 6) == bytes(6)
    lent.clear()
    space.write(BASE, b"after")
    assert space.read(BASE, 5) == b"after"


def mapped() -> int:
    """Kilobytes that the process has mapped."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() >> 10


@pytest.mark.slow
def test_generations_of_copies_are_given_back() -> None:
    """A parent that writes after each fork, as a shell does, has no more memory after 3000 children than after 100."""
    space = AddressSpace()
    space.map(BASE, 64 * PAGE, 3)
    sizes = []
    for generation in range(3000):
        child = space.fork()
        for n in range(4):
            space.write(BASE + (generation + n) % 64 * PAGE, b"parent")
            child.write(BASE + n * PAGE, b"child")
        child.clear()
        if generation in (100, 2999):
            sizes.append(mapped())
    assert sizes[1] - sizes[0] < 16 << 10
