"""Machines as data: the three that come with the program, files of one's own, single figures, mistakes."""

from pathlib import Path

import pytest
from grids import each

from pfmon.errors import PfmonError
from pfmon.machine._machine import PREDICTORS, REPLACEMENTS
from pfmon.machine.config.figures import figures
from pfmon.machine.config.machine_config import KINDS, load, names
from pfmon.machine.config.machine_figures import IN_ORDER, ITANIUMS, OUT_OF_ORDER

KILO, MEGA = 1 << 10, 1 << 20

# Montecito manual, table 2-9, and the Itanium 2 and Itanium columns of the published figures: size, ways, line.
GEOMETRY = {
    "montecito": {
        "l1d": (16 * KILO, 4, 64),
        "l1i": (16 * KILO, 4, 64),
        "l2d": (256 * KILO, 8, 128),
        "l2i": (MEGA, 8, 128),
        "l3": (12 * MEGA, 12, 128),
    },
    "itanium2": {
        "l1d": (16 * KILO, 4, 64),
        "l1i": (16 * KILO, 4, 64),
        "l2": (256 * KILO, 8, 128),
        "l3": (3 * MEGA, 12, 128),
    },
    "itanium": {
        "l1d": (16 * KILO, 4, 32),
        "l1i": (16 * KILO, 4, 32),
        "l2": (96 * KILO, 6, 64),
        "l3": (4 * MEGA, 4, 64),
    },
}
# Montecito manual, table 2-8, as far as it is plain numbers: producer -> consumer -> cycles.
TABLE_2_8 = {
    "alu": {"alu": 1, "address": 1, "multimedia": 3, "store": 1, "setf": 1},
    "multimedia": {"alu": 3, "address": 4, "address_flush": 8, "multimedia": 2, "store": 3, "setf": 3},
    "translate": {"alu": 5, "address": 6, "multimedia": 6, "store": 5, "setf": 5},
    "getf": {"alu": 5, "address": 6, "multimedia": 6, "store": 5, "setf": 5},
    "setf": {"store": 6, "fmac": 6, "fmisc": 6, "getf": 6},
    "fmac": {"store": 4, "fmac": 4, "fmisc": 4, "getf": 4},
    "fmisc": {"store": 4, "fmac": 4, "fmisc": 4, "getf": 4},
    "compare": {"predicate": 1, "branch": 0},
    "fcmp": {"predicate": 2, "branch": 1},
    "frcpa": {"predicate": 2, "branch": 2},
    "load": {"alu": 0, "address": 1, "multimedia": 2, "store": 0, "setf": 0},
    "from_branch": {"alu": 2, "address": 2, "multimedia": 3, "store": 2, "setf": 2},
    "to_predicates": {"predicate": 1, "branch": 0, "alu": 2},
}


def refusal(machine: str, *overrides: str) -> str:
    """The one line that refuses a machine."""
    with pytest.raises(PfmonError) as caught:
        load(machine, overrides)
    text = str(caught.value)
    assert "\n" not in text
    return text


def write(folder: Path, text: str) -> str:
    path = folder / "mine.toml"
    path.write_text(text)
    return str(path)


@each("machine", names())
def test_every_figure_has_a_source(machine: str) -> None:
    loaded = load(machine)
    assert set(loaded) == set(loaded.sources)
    assert all(loaded.sources.values())


@pytest.mark.parametrize("machine", ITANIUMS)
def test_cache_geometry_is_the_published_one(machine: str) -> None:
    loaded = load(machine)
    for cache, expected in GEOMETRY[machine].items():
        assert tuple(loaded[f"{cache}.{key}"] for key in ("size", "ways", "line")) == expected


def test_montecito_latencies_are_those_of_table_2_8() -> None:
    loaded = load("montecito")
    for producer, consumers in TABLE_2_8.items():
        assert {consumer: loaded[f"latency.{producer}.{consumer}"] for consumer in consumers} == consumers


def test_every_figure_is_used_by_some_machine() -> None:
    used = {name for machine in ITANIUMS for name in load(machine)}
    assert used == set(figures())


def test_variants_differ_in_the_size_of_l3() -> None:
    sizes = {name: load(name)["l3.size"] for name in names() if name.startswith("madison")}
    assert sizes == {
        "madison-1.5m": 3 * MEGA // 2,
        "madison-3m": 3 * MEGA,
        "madison-6m": 6 * MEGA,
        "madison-9m": 9 * MEGA,
    }


def test_a_figure_can_be_set() -> None:
    loaded = load("itanium2", ["l3.size=9M", "memory.latency=300 cycles", "bus.frequency=533 MHz"])
    assert (loaded["l3.size"], loaded["memory.latency"], loaded["bus.frequency"]) == (9 * MEGA, 300, 533)
    assert loaded.given == ("l3.size", "memory.latency", "bus.frequency")
    assert loaded.sources["l3.size"] == "the command line"


def test_a_file_may_change_a_few_figures_of_a_machine(tmp_path: Path) -> None:
    path = write(tmp_path, 'base = "montecito"\n[l3]\nsource = "a guess"\nsize = "24M"\n')
    loaded = load(path)
    assert loaded["l3.size"] == 24 * MEGA
    assert loaded["l3.ways"] == 12
    assert loaded.sources["l3.size"] == "a guess"


@each(
    ("override", "words"),
    [
        ("l3.size=9MHz", ["l3.size", "a size in bytes", "9M"]),
        ("l3.latency=14K", ["l3.latency", "core cycles"]),
        ("bus.frequency=400", ["bus.frequency", "MHz"]),
        ("l3.ways=0", ["l3.ways", "1 to 64"]),
        ("l3.replacement=oldest", ["l3.replacement", "lru, nru, plru, random"]),
        ("l3.siz=9M", ["unknown figure l3.siz", "nearest: l3.size"]),
        ("l1d.size=12K", ["l1d.size", "48 sets", "power of two"]),
        ("l2.line=96", ["l2.line", "no power of two"]),
        ("l3.size=100K", ["l3.size", "no multiple of a set"]),
        ("l2.line=32", ["l2.line", "smaller than l1d.line=64"]),
        ("l1i.line=16", ["l1i.line", "smaller than frontend.window=32"]),
        ("predictor.counters=10000", ["predictor.counters", "a power of two", "16 or more"]),
        ("predictor.counters=8", ["predictor.counters", "16 or more", "predictor.history=4"]),
        ("predictor.second=100", ["predictor.second", "sets of 4"]),
        ("predictor.history=9", ["predictor.history", "1 to 8"]),
        ("predictor.loop=lucky", ["predictor.loop", "perfect, dynamic"]),
        ("predictor.targets=64", ["predictor.targets", "predictor.kind=itanium"]),
        ("dtlb2.ways=3", ["dtlb2.ways", "128 entries in sets of 3"]),
        ("l2d.size=1M", ["itanium2 has no l2d"]),
        ("pipeline.mm_address_flush=perhaps", ["pipeline.mm_address_flush", "true or false"]),
        ("l3.size", ["FIGURE=VALUE", "l3.size=9M"]),
    ],
)
def test_a_bad_figure_is_refused_with_what_is_legal(override: str, words: list[str]) -> None:
    text = refusal("itanium2", override)
    assert text.startswith("--set")
    assert not [word for word in words if word not in text]


def test_a_missing_figure_is_named_with_its_meaning(tmp_path: Path) -> None:
    text = refusal(
        write(tmp_path, '[machine]\nsource = "me"\nname = "M"\npmu = "itanium2"\nfrequency = "1 GHz"\n[l2]\n')
    )
    assert "[l2], or [l2d] and [l2i]" in text
    whole = Path(__file__).parents[3] / "src/pfmon/machine/config/itanium2.toml"
    text = refusal(write(tmp_path, whole.read_text().partition("[variants")[0].replace("\nlatency = 12\n", "\n")))
    assert "l3.latency is missing" in text and "cycles" in text and "mine.toml" in text


@each(
    ("content", "words"),
    [
        ("[l3\n", ["not TOML"]),
        ('base = "itanium3"\n', ["base = itanium3", "itanium2"]),
        ('base = "itanium2"\n[l4]\nsize = "1M"\n', ["unknown table [l4]", "l3"]),
        ('base = "itanium2"\n[l3]\nsize = "6M"\n', ["l3.size has no source"]),
        ('base = "itanium2"\n[l3]\nsource = "me"\nsize = 1.5\n', ["l3.size = 1.5", "a size in bytes"]),
        ('base = "itanium2"\n[l3]\nsource = "me"\n[l3.sources]\ncolour = "me"\n', ["l3.colour", "not set"]),
        ('base = "itanium2"\nl3 = 3\n', ["l3 = 3", "tables"]),
    ],
)
def test_a_bad_file_is_refused_with_its_name(tmp_path: Path, content: str, words: list[str]) -> None:
    path = write(tmp_path, content)
    text = refusal(path)
    assert text.startswith(path)
    assert not [word for word in words if word not in text]


def test_a_file_that_is_not_there_is_one_line() -> None:
    assert refusal("/nowhere/at-all.toml") == "/nowhere/at-all.toml: No such file or directory"


def test_an_unknown_machine_names_the_nearest() -> None:
    assert "itanium2" in refusal("itanium3")


def test_every_legal_policy_has_a_file_and_every_file_is_legal() -> None:
    known = figures()
    legal = [figure.legal.split() for name, figure in known.items() if name.endswith(".replacement")]
    assert legal
    assert all(sorted(one) == sorted(REPLACEMENTS) for one in legal)
    assert sorted(known["predictor.kind"].legal.split()) == sorted(PREDICTORS)


def test_a_predictor_of_another_kind_has_the_figures_of_a_machine_that_has_it() -> None:
    nehalem, skylake = load("nehalem"), load("skylake")
    hybrid = load("skylake", ["predictor.kind=hybrid", "predictor.history=9"])
    changed = {name for name in {*hybrid, *skylake} if hybrid.get(name) != skylake.get(name)}
    of_hybrids = {"predictor.shared", "predictor.history", "predictor.loops", "predictor.loop_length"}
    of_tage = {"predictor.tagged", "predictor.shortest_path", "predictor.path"}
    assert changed == {"predictor.kind", *of_hybrids, *of_tage} and not of_tage & {*hybrid}
    assert hybrid["predictor.history"] == 9 and hybrid["predictor.loops"] == nehalem["predictor.loops"]
    assert hybrid.sources["predictor.loops"] == f"as nehalem: {nehalem.sources['predictor.loops']}"


def test_every_kind_with_figures_of_its_own_has_a_machine_that_gives_them() -> None:
    whens = {figure.when for core in (IN_ORDER, OUT_OF_ORDER) for figure in figures(core).values()}
    assert {kind for when in whens if when.startswith("predictor.kind=") for kind in when[15:].split()} == {*KINDS}
    assert [load(machine)["predictor.kind"] for machine in KINDS.values()] == [*KINDS]


@each("kind", ["bimodal", "hybrid", "tage"])
@each("machine", ["core2", "zen4", "ppc604e"])
def test_every_out_of_order_machine_takes_each_kind_of_predictor(machine: str, kind: str) -> None:
    assert load(machine, [f"predictor.kind={kind}"])["predictor.kind"] == kind
