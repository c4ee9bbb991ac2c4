"""Areas of memory by name, and the misses of loads in them."""

import pytest
from command import EXAMPLES, example
from grids import first_quick

import pfmon
from pfmon.program.elf import EM_IA_64
from pfmon.session.profile.data_areas import PARTS, areas
from pfmon.session.profile.memory_kinds import kind_of


class File:
    """A file in memory, with its symbols."""

    class Image:
        path = "/bin/prog"
        end = 0x9000

        class elf:  # noqa: N801  # as in an image
            machine = EM_IA_64

    class Symbol:
        def __init__(self, address: int, size: int, name: str, kind: str) -> None:
            self.address, self.size, self.name, self.kind = address, size, name, kind

    def __init__(self, *symbols: tuple[int, int, str, str]) -> None:
        self.path, self.image = "", self.Image()
        self._symbols = [self.Symbol(*symbol) for symbol in symbols]
        self.table = self

    def symbols(self) -> list["File.Symbol"]:
        return self._symbols

    def segments(self) -> list[tuple[int, int]]:
        return [(0x4000, 0x9000)]


class Objects:
    """One file."""

    def __init__(self, file: File) -> None:
        self.own = [file]

    def everything(self) -> list[File]:
        return self.own


OBJECTS = Objects(
    File((0x5000, 0x1000, "array", "object"), (0x6000, 0x10, "after", "object"), (0x4000, 0x100, "f", "function"))
)
STACK = 0x6000_0000_0000_0000 + (1 << 44) - (1 << 14) - 0x1000


def found(*pieces: tuple[int, int]) -> dict[str, int]:
    """The sum of latencies by name of the area, of pieces with an address and a latency."""
    made = areas([(address, (1, 0, 0), cycles, 0) for address, cycles in sorted(pieces)], 32, OBJECTS)  # type: ignore[arg-type]  # all that is asked of them
    return {area.name: area.cycles for area in made}


def test_objects_segments_stack_and_heap_are_told_apart() -> None:
    pieces = [
        (0x5000, 1),
        (0x5FE0, 2),
        (0x6000, 4),
        (0x4FE0, 8),
        (0x9020, 16),
        (STACK, 32),
        (0x2000_0000_0000_4000, 64),
    ]
    assert found(*pieces) == {
        "array": 3,
        "after": 4,
        "no symbol, in prog": 8,
        "heap": 16,
        "stack": 32,
        "mapped memory": 64,
    }


def test_a_piece_in_which_an_object_begins_is_the_objects() -> None:
    objects = Objects(File((0x9010, 0x20, "late", "object")))
    made = areas([(0x9000, (0, 1, 0), 12, 1)], 32, objects)  # type: ignore[arg-type]  # as above
    assert [(area.name, area.misses, area.translations) for area in made] == [("late", (0, 1, 0), 1)]


def test_areas_without_a_name_end_where_nothing_misses_for_long() -> None:
    near = [(0x10_0000 + step * 0x8000, (1, 0, 0), 5, 0) for step in range(4)]
    far = [(0x90_0000, (0, 0, 1), 200, 0)]
    made = areas([*near, *far], 32, OBJECTS)  # type: ignore[arg-type]  # as above
    assert [(area.start, area.end, area.misses) for area in made] == [
        (0x90_0000, 0x90_0020, (0, 0, 1)),
        (0x10_0000, 0x11_8020, (4, 0, 0)),
    ]
    parts = made[1].parts
    assert len(parts) == PARTS and sum(misses for misses, _ in parts) == 4 and sum(cycles for _, cycles in parts) == 20
    assert parts[0] == parts[-1] == (1, 5) and made[1].reached == (0x10_0000, 0x11_801F)


@pytest.mark.parametrize("size", first_quick(["64", "4000"]))
def test_misses_are_those_that_events_count(size: str) -> None:
    run = pfmon.run(
        [example("chase"), size, "3000"],
        events="l1d_read_misses_all,l2dtlb_misses",
        unlimited=True,
        report="html",
        capture=True,
    )
    assert run.surveyed and run.surveyed.data
    view = run.surveyed.data
    assert (
        sum(sum(area.misses) for area in view.areas) == sum(view.latencies) == run.counts["l1d_read_misses_all"].value
    )
    assert sum(area.translations for area in view.areas) == run.counts["l2dtlb_misses"].value
    assert sum(area.cycles for area in view.areas) == sum(n * cycles for cycles, n in enumerate(view.latencies))
    assert view.areas[0].name == "heap" and sum(view.areas[0].misses) > 0.9 * sum(view.latencies)


@pytest.mark.exhaustive
def test_more_pieces_than_there_is_room_for_become_larger_ones() -> None:
    run = pfmon.run([example("chase"), "46000", "368000"], report="html", capture=True, events="l2dtlb_misses")
    assert run.surveyed and run.surveyed.data
    view = run.surveyed.data
    assert view.piece > 32
    assert sum(sum(area.misses) for area in view.areas) == sum(view.latencies)
    assert sum(area.translations for area in view.areas) == run.counts["l2dtlb_misses"].value


def test_loads_of_x86_64_programs_are_those_of_the_levels_events() -> None:
    """The example has neither accesses of two lines nor locked ones: each load that missed is one retired load."""
    events = ["MEM_LOAD_RETIRED.L2_HIT", "MEM_LOAD_RETIRED.L3_HIT", "MEM_LOAD_RETIRED.L3_MISS"]
    command = [str(EXAMPLES / "x86_64" / "hashmap"), "2000"]
    run = pfmon.run(command, events=events, unlimited=True, report="html", capture=True)
    assert run.surveyed
    view = run.surveyed.data
    second, third, memory = (sum(area.misses[level] for area in view.areas) for level in range(3))
    assert [count.value for count in run.counts] == [second, third, memory]
    assert sum(view.latencies) == second + third + memory > 3000
    assert sum(area.cycles for area in view.areas) == sum(n * cycles for cycles, n in enumerate(view.latencies))
    assert sum(sum(one.misses) for one in view.instructions) == second + third + memory
    assert sum(one.cycles for one in view.instructions) == sum(area.cycles for area in view.areas)
    assert {area.kind for area in view.areas} >= {"object", "stack", "data"}


@pytest.mark.parametrize(
    ("address", "break_start", "kind"),
    [
        (0x6FFF_FFFF_ED2C, 0x1000_5000, "stack"),  # addresses that a program printed of itself, under each engine
        (0x6EFF_FFEF_2000, 0x1000_5000, "mapped"),
        (0x5600_0000_02A0, 0x1000_5000, "heap"),
        (0x5FFF_F2E0, 0x1000_5000, "mapped"),
        (0x4A_D1D0, 0x4A_8000, "heap"),
        (0x5FFF_F2E0, 0x4A_8000, "mapped"),
        (0x40_0000_52A0, 0x40_0000_5000, "heap"),
        (0x40_0280_5D4C, 0x40_0000_5000, "stack"),
        (0x40_02A2_D000, 0x40_0000_5000, "mapped"),
        (0x40_0080_0C9C, 0x4A_8000, "stack"),
        (0x40_0080_3000, 0x4A_8000, "mapped"),
    ],
)
def test_stack_heap_and_mappings_of_each_engine_are_told_apart(address: int, break_start: int, kind: str) -> None:
    assert kind_of(address, break_start) == kind


def test_of_addresses_of_32_bits_only_the_heap_is_told() -> None:
    kinds = [kind_of(address, 0x804_C000, 32) for address in (0x804_C010, 0x3FFF_0000, 0xFFFF_0000)]
    assert kinds == ["heap", "other", "other"]
