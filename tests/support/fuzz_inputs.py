"""Inputs for the fuzzer: files that are good, changed at random, and command lines put together at random.

A case is its kind and a number; the same ones make the same case. Programs that are run are IA-64 ones below an empty
directory; damaged executables of other processors are read and never run.
"""

import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import little_kernel
from command import pfmon
from snapshot_pieces import pieces, snapshot_of

from pfmon.library.options.table import OPTIONS
from pfmon.machine.config import machine_config

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
CONFIGS = ROOT / "src" / "pfmon" / "machine" / "config"
EPIC = str(EXAMPLES / "ia64" / "epic")
INPUT = "INPUT"
"""In a command: the path of the input."""
EVENTS = "cpu_cycles,ia64_inst_retired,loads_retired"
LEAST = ("-t", "2")
"""A run is no longer than this."""


class Case(NamedTuple):
    """An input, None for a command line alone, and the commands that read it."""

    data: bytes | None
    commands: Sequence[Sequence[str]]


# --- bytes

NUMBERS = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, (1 << 63) - 1, (1 << 64) - 1)


def _flip(pick: random.Random, data: bytearray) -> None:
    data[pick.randrange(len(data))] ^= 1 << pick.randrange(8)


def _number(pick: random.Random, data: bytearray) -> None:
    size = pick.choice((1, 2, 4, 8))
    at = pick.randrange(max(1, len(data) - size)) // size * size
    value = pick.choice(NUMBERS) & (1 << 8 * size) - 1
    data[at : at + size] = value.to_bytes(size, pick.choice(("little", "big")))


def _cut(pick: random.Random, data: bytearray) -> None:
    del data[pick.randrange(len(data)) :]


def _without(pick: random.Random, data: bytearray) -> None:
    at = pick.randrange(len(data))
    del data[at : at + pick.randrange(1, 64)]


def _twice(pick: random.Random, data: bytearray) -> None:
    at = pick.randrange(len(data))
    data[at:at] = data[at : at + pick.randrange(1, 64)]


def _noise(pick: random.Random, data: bytearray) -> None:
    at = pick.randrange(len(data))
    data[at : at + 16] = pick.randbytes(min(16, len(data) - at))


CHANGES = (_flip, _number, _number, _cut, _without, _twice, _noise)


def changed(pick: random.Random, data: bytes) -> bytes:
    """These bytes with one to eight changes; half of them in the first 256, which say what the rest is."""
    made = bytearray(data)
    for _ in range(pick.randrange(1, 9)):
        if not made:
            break
        head = bytearray(made[:256]) if pick.random() < 0.5 else made
        pick.choice(CHANGES)(pick, head)
        if head is not made:
            made[:256] = head
    return bytes(made)


# --- executables


def executable(pick: random.Random) -> Case:
    """An IA-64 executable, which is run, too; or one that is only read."""
    architecture = pick.choice(("ia64", "ia64", "ia64", "x86_64", "i386", "ppc64"))
    name = pick.choice(("epic", "fib", "noploop") if architecture == "ia64" else ("fib", "noploop"))
    data = changed(pick, (EXAMPLES / architecture / name).read_bytes())
    return Case(data, EXECUTABLES if is_ia64(data) else EXECUTABLES[:1])


EXECUTABLES = (
    ("--check-events-only", "-e", "", "--irange=main", INPUT),
    ("-t", "0.5", "--no-cmd-output", "--confine", "--sysroot=EMPTY", "-e", EVENTS, "--per-function", INPUT, "3"),
    ("-e", "ia64_inst_retired", "--per-function", f"--symbol-file={INPUT}", "--no-cmd-output", EPIC),
)


def is_ia64(data: bytes) -> bool:
    """Whether a file's header says IA-64, in either byte order: nothing else is run."""
    return data[:4] == b"\x7fELF" and data[18:20] in (b"\x32\0", b"\0\x32")


# --- recordings, results, machines


def recording(pick: random.Random) -> Case:
    return Case(changed(pick, pick.choice(seeds("recording"))), RECORDINGS)


RECORDINGS = (
    ("-e", EVENTS, "--replay", INPUT),
    ("-e", "ia64_inst_retired", "--partial", "--per-function", "--replay", INPUT),
    ("--report", "cpi", "--partial", "--replay", INPUT),
)


def _any_value(pick: random.Random) -> Any:
    return pick.choice(
        (None, True, -1, 0, 1e308, 1 << 70, "", "x", "\0", "1.5", [], {}, [1], {"a": 1}, [[]], "é" * 300, 0.1)
    )


def _change_tree(pick: random.Random, tree: Any) -> Any:
    """A tree of JSON with something else in one place, or without it."""
    if not isinstance(tree, dict | list) or not tree or pick.random() < 0.15:
        return _any_value(pick)
    place = pick.choice(list(tree) if isinstance(tree, dict) else range(len(tree)))
    if pick.random() < 0.1:
        del tree[place]
    else:
        tree[place] = _change_tree(pick, tree[place])
    return tree


def result(pick: random.Random) -> Case:
    data = pick.choice(seeds("result"))
    if pick.random() < 0.4:
        return Case(changed(pick, data), RESULTS)
    tree = json.loads(data)
    for _ in range(pick.randrange(1, 4)):
        tree = _change_tree(pick, tree)
    return Case(json.dumps(tree).encode(), RESULTS)


RESULTS = (
    ("diff", INPUT, INPUT),
    ("-e", EVENTS, "--no-cmd-output", "--baseline", INPUT, "--tolerance", "1%", EPIC),
)


def machine(pick: random.Random) -> Case:
    """A file of figures: lines changed, left out, or others'."""
    lines = pick.choice(seeds("machine")).decode().splitlines()
    for _ in range(pick.randrange(1, 5)):
        at = pick.randrange(len(lines))
        key = lines[at].partition("=")[0]
        value = pick.choice(('"x"', "0", "-1", "1", "3", "true", '"64K"', '"4G"', "1e9", "[1]", "{}", '""', "99999999"))
        lines[at] = pick.choice((f"{key}= {value}", "", lines[pick.randrange(len(lines))], f"{lines[at]}]", f"[{key}]"))
    data = "\n".join(lines).encode()
    return Case(changed(pick, data) if pick.random() < 0.2 else data, MACHINES)


MACHINES = (
    (*LEAST, "--no-cmd-output", f"--machine={INPUT}", EPIC),
    ("-I", f"--machine={INPUT}"),
)


# --- snapshots of systems


def snapshot(pick: random.Random) -> Case:
    """A snapshot with other bytes; or with other contents, and checksums that are right."""
    good = pick.choice(seeds("snapshot"))
    if pick.random() < 0.3:
        return Case(changed(pick, good), SNAPSHOTS)
    parts = pieces(good)
    for _ in range(pick.randrange(1, 4)):
        place = pick.choice((0, 0, 1, 1, 1, 1, pick.randrange(len(parts))))
        kind, data = parts[place]
        if kind == b"H":
            data = json.dumps(_change_tree(pick, json.loads(data))).encode()
        elif kind == b"P":
            data = bytes(_other_word(pick, bytearray(data)))
        elif data:
            data = changed(pick, data)
        parts[place] = (kind, data)
    return Case(snapshot_of(parts), SNAPSHOTS)


def _other_word(pick: random.Random, state: bytearray) -> bytearray:
    """A processor's state with another word: any, or a small one, among the first eight hundred in most cases."""
    at = pick.randrange(min(800, len(state) // 8) if pick.random() < 0.8 else len(state) // 8) * 8
    value = pick.choice((*NUMBERS, pick.randrange(256), 1 << pick.randrange(64), pick.getrandbits(64)))
    state[at : at + 8] = value.to_bytes(8, "little")
    return state


SNAPSHOTS = tuple(
    (*LEAST, "--system", str(little_kernel.PLACE), "--memory=32M", f"--from-snapshot={INPUT}", *more)
    for more in (("-e", "ia64_inst_retired"), ("-e", EVENTS))
)


# --- command lines

WORDS: dict[str, Sequence[str]] = {
    "NAME": ("itanium", "montecito", "intel_v2", "ppc604e", "core2", "cpi", "derived", "inst-hist", "detailed", "raw"),
    "EVENT": ("cpu_cycles", "loads_retired", "0x12", "l2_misses", "nops_retired::u", "ia64_ipc", "none", "all", "NO"),
    "DIR": (".", "none", "/proc"),
    "FILE": ("a", "b.json", "%n", ".", "none/a", "-", "%q"),
    "SECONDS": ("1", "0.01", "0", "x", "1e9", "inf", "nan"),
    "ADDRESS": ("main", "_start", "0x4000000000000000", "0", "-1", "0xffffffffffffffff", "main+8", "nothing"),
    "FIGURE=VALUE": (
        "l2.size=256K",
        "l2.size=0",
        "l1d.ways=3",
        "core.width=4",
        "x=1",
        "memory.latency=",
        "=",
        "qemu.cpu=x",
    ),
    "FORMAT:FILE": (
        "csv:e",
        "pprof:e",
        "perf-data:e",
        "firefox:e",
        "collapsed:e",
        "callgrind:-",
        "x:e",
        "csv:",
        "parquet:none/e",
    ),
    "COMMAND": (EPIC, f"{EPIC} 3", "none", "", "'"),
    "PERIOD": ("1000", "1", "0", "-5", "1000,", ",7", "18446744073709551616"),
    "REGISTER=VALUE ...": ("pmc4=0x5028", "pmc4=", "pmd99=1", "pmc8=-1 pmc9=0xffffffffffffffffff"),
    "REGEX": ("l2", "(", "*", "[a-", "\\", "x{99999}"),
}
ANYTHING = (
    "0",
    "1",
    "-1",
    "7",
    "4G",
    "0x10",
    "x",
    "",
    "y,n",
    "u,k",
    "ia32",
    "1%",
    "A=1",
    "1:2",
    "0x0:0x20",
    ",",
    "é",
    "=",
)


def _value(pick: random.Random, kind: str) -> str:
    """A value, which may be one for another option."""
    first = next((words for name, words in WORDS.items() if kind.startswith(name)), ANYTHING)
    return pick.choice(first if pick.random() < 0.7 else ANYTHING)


ENDLESS = {"live", "completion", "man-page"}
"""Options that are not drawn: they print what is long, or want a terminal."""


def command_line(pick: random.Random) -> Case:
    table = [option for option in OPTIONS.values() if option.long not in ENDLESS]
    words: list[str] = []
    for option in pick.choices(table, k=pick.randrange(1, 6)):
        value = f"={_value(pick, option.value)}" if option.value and pick.random() < 0.95 else ""
        words.append(f"--{option.long}{value}")
    if pick.random() < 0.7:
        words[:0] = ["-e", ",".join(pick.choices(WORDS["EVENT"], k=pick.randrange(1, 4)))]
    program = pick.choice(([EPIC], [EPIC, "3"], ["--", EPIC], [], ["none"], [str(CONFIGS)]))
    return Case(None, ([*_verb(pick), *LEAST, *words, *program],))


VERBS = (
    ["stat"],
    ["stat", "-x,"],
    ["stat", "-x"],
    ["record", "-o", "r"],
    ["report"],
    ["report", "-i", "r"],
    ["annotate"],
)


def _verb(pick: random.Random) -> list[str]:
    """None in most cases."""
    return pick.choice(VERBS) if pick.random() < 0.2 else []


KINDS: dict[str, Callable[[random.Random], Case]] = {
    "executable": executable,
    "recording": recording,
    "result": result,
    "machine": machine,
    "snapshot": snapshot,
    "command": command_line,
}
COMMANDS = {
    "executable": EXECUTABLES,
    "recording": RECORDINGS,
    "result": RESULTS,
    "machine": MACHINES,
    "snapshot": SNAPSHOTS,
}
"""Kind -> what reads inputs of it."""


def case(kind: str, number: int) -> Case:
    """The case of a kind and a number."""
    return KINDS[kind](random.Random(f"{kind} {number}"))


_seeds: dict[str, list[bytes]] = {}


def make_seeds(folder: Path) -> None:
    """Good inputs, which are made anew: a recording and a result are of this version."""
    good: dict[str, list[tuple[str, ...]]] = {
        "recording": [("--record", INPUT, "-e", "none", EPIC), ("--record", INPUT, "-e", EVENTS, EPIC)],
        "snapshot": [
            ("--system", str(little_kernel.PLACE), "--memory=32M", "--snapshot", INPUT, "--snapshot-on", "ready"),
        ],
        "result": [("--json", "--outfile", INPUT, "-e", EVENTS, EPIC), ("--save-baseline", INPUT, "-e", EVENTS, EPIC)],
    }
    for kind, commands in good.items():
        _seeds[kind] = []
        for words in commands:
            path = folder / "good"
            done = pfmon(*(str(path) if word == INPUT else word for word in words))
            assert done.returncode == 0, done
            _seeds[kind].append(path.read_bytes())
            path.unlink()
    _seeds["machine"] = [(CONFIGS / f"{name}.toml").read_bytes() for name in machine_config.FILES]


def seeds(kind: str) -> list[bytes]:
    """Good inputs of a kind."""
    return _seeds[kind]
