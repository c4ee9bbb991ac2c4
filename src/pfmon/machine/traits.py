"""Encodings as the pipeline sees them: ports (Montecito manual tables 2-4 to 2-7) and latency classes (table 2-8).

The tables' rows are the formats of the instruction set; operations.csv says for each which latency class it produces
and consumes, the machine's [ports] table where it issues. The order of the names here is that of traits.pxd.
"""

import csv
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple, Protocol

from pfmon.stream.kinds import Kind

PORTS = ("A", "M", "M01", "M0", "M23", "M2", "I", "I0", "F", "F0", "B", "BRP", "L")
OPERATIONS = (
    "alu", "multimedia", "translate", "getf", "setf", "fmac", "fmisc", "compare", "fcmp", "frcpa", "load",
    "load_float", "from_branch", "to_predicates", "from_loop", "from_other", "from_status", "from_indirect",
    "to_branch", "to_loop", "to_register", "store",
)  # fmt: skip
USES = (
    "predicate", "branch_predicate", "alu", "address", "multimedia", "store", "fmac", "fmisc", "getf", "setf",
    "branch", "application",
)  # fmt: skip
ACCESSES = ("load", "float_load", "store", "float_store", "semaphore", "lfetch", "fill", "spill")
BRANCHES = ("relative", "call", "return", "indirect", "indirect_call", "cloop", "wtop", "long", "long_call", "ctop")
EFFECTS = (
    "none", "alloc", "rotate", "serialize", "all_predicates", "cover", "clear_rotation", "loadrs", "hint",
    "important_hint", "flush_line",
)  # fmt: skip
FLAGS = {
    "acq": 1, "rel": 2, "s": 4, "a": 8, "sa": 12, "c": 16, "bias": 32, "excl": 32, "nt1": 64, "nt2": 128, "d2": 128,
    "nta": 256, "fill": 512, "spill": 512,
}  # fmt: skip
HINTS = {"sptk": 0, "spnt": 1, "dptk": 2, "dpnt": 3}

QP_PLACE, FIXED_PLACE = 4, 8
FILES = {"GR": 0, "FR": 160, "PR": 288, "BR": 352}
AR_NAMES = {"ar.lc": 360, "ar.ec": 361, "ar.pfs": 362, "ar.ccv": 363, "ar.unat": 364, "ar.fpsr": 365}
LOOP_REGISTERS = ("ar.lc", "ar.ec", "ar.pfs")
AR_OTHER, CR_ANY, PR_ALL = 366, 367, 368
MOST_SOURCES, MOST_TARGETS = 6, 4

# Kinds as plain integers: there are thousands of encodings, and operations on flags are slow.
ADVANCED = int(Kind.ADVANCED)
BRANCH = int(Kind.BRANCH)
CALL = int(Kind.CALL)
FLOAT = int(Kind.FLOAT)
INDIRECT = int(Kind.INDIRECT)
LFETCH = int(Kind.LFETCH)
LOAD = int(Kind.LOAD)
LOAD_CHECK = int(Kind.LOAD_CHECK)
LOOP = int(Kind.LOOP)
NOP = int(Kind.NOP)
PREFETCH_HINT = int(Kind.PREFETCH_HINT)
RETURN = int(Kind.RETURN)
SEMAPHORE = int(Kind.SEMAPHORE)
STORE = int(Kind.STORE)


class Register(Protocol):
    """A register operand of an encoding."""

    @property
    def file(self) -> str: ...
    @property
    def place(self) -> int: ...
    @property
    def source(self) -> bool: ...
    @property
    def target(self) -> bool: ...
    @property
    def base(self) -> bool: ...


class Layout(Protocol):
    """A format of the instruction set."""

    @property
    def name(self) -> str: ...
    @property
    def predicated(self) -> bool: ...


class Encoding(Protocol):
    """What an engine knows of an encoding."""

    @property
    def layout(self) -> Layout: ...
    @property
    def text(self) -> str: ...
    @property
    def mnemonic(self) -> str: ...
    @property
    def kind(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def registers(self) -> tuple[Register, ...]: ...
    @property
    def reads(self) -> tuple[str, ...]: ...
    @property
    def writes(self) -> tuple[str, ...]: ...


class OperandTraits(NamedTuple):
    """``place`` 0-3: r1 to r4; 4: qp; 8: the register ``first`` itself. ``what``: number in USES or OPERATIONS."""

    place: int
    what: int
    first: int


class EncodingTraits(NamedTuple):
    """Numbers are places in the tuples above; ``access`` and ``branch`` are one more, 0 being none."""

    kind: int
    port: int
    access: int
    access_flags: int
    size: int
    branch: int
    whether: int
    many: bool
    clear: bool
    effect: int
    sources: tuple[OperandTraits, ...]
    targets: tuple[OperandTraits, ...]


class Operation(NamedTuple):
    """A row of operations.csv."""

    operation: str
    use: str
    predicate: str


@cache
def operations() -> dict[str, Operation]:
    """By format."""
    with (Path(__file__).parent / "operations.csv").open(newline="") as file:
        return {
            row["format"]: Operation(row["operation"], row["use"], row["predicate"]) for row in csv.DictReader(file)
        }


def traits_of(encodings: Sequence[Encoding], config: Mapping[str, int | str | bool]) -> list[EncodingTraits]:
    """What the pipeline of a machine has to know, by number of encoding."""
    return [_traits(encoding, config) for encoding in encodings]


def _traits(encoding: Encoding, config: Mapping[str, int | str | bool]) -> EncodingTraits:
    kind = encoding.kind
    completers = encoding.mnemonic.split(".")
    return EncodingTraits(
        kind=encoding.kind,
        port=PORTS.index(port_of(encoding, config)),
        access=_access(encoding.layout.name, completers, kind),
        access_flags=_access_flags(completers) if kind & (LOAD | STORE | LFETCH) else 0,
        size=encoding.size,
        branch=_branch(completers, kind),
        whether=next((HINTS[part] for part in completers if part in HINTS), 0),
        many="many" in completers,
        clear="clr" in completers,
        effect=EFFECTS.index(_effect(completers, encoding)),
        sources=tuple(_sources(encoding))[:MOST_SOURCES],
        targets=tuple(_targets(encoding))[:MOST_TARGETS],
    )


def port_of(encoding: Encoding, config: Mapping[str, int | str | bool]) -> str:
    """The ports where an encoding issues, as PORTS names them (``ports.FORMAT`` of the machine, and
    ``ports.FORMAT-advanced`` for advanced and check loads; BRP: a B slot that does not end a group)."""
    name = encoding.layout.name
    kind = encoding.kind
    if name[0] == "B":
        return "BRP" if kind & (NOP | PREFETCH_HINT) else "B"
    if kind & (ADVANCED | LOAD_CHECK) and f"ports.{name}-advanced" in config:
        return str(config[f"ports.{name}-advanced"])
    return str(config[f"ports.{name}"])


def _access(layout: str, completers: list[str], kind: int) -> int:
    if kind & SEMAPHORE:
        return 1 + ACCESSES.index("semaphore")
    if kind & LFETCH:
        return 1 + ACCESSES.index("lfetch")
    if kind & LOAD:
        return 1 + ACCESSES.index("float_load" if kind & FLOAT else "load")
    if kind & STORE:
        return 1 + ACCESSES.index("float_store" if kind & FLOAT else "store")
    return 0


def _access_flags(completers: list[str]) -> int:
    flags = 0
    for part in completers[1:]:
        flags |= FLAGS.get(part, 0)
    return flags


def _branch(completers: list[str], kind: int) -> int:
    if not kind & BRANCH:
        return 0
    if completers[0] == "brl":
        name = "long_call" if kind & CALL else "long"
    elif kind & LOOP:
        name = {"wtop": "wtop", "wexit": "wtop", "cloop": "cloop"}.get(completers[1], "ctop")
    elif kind & RETURN:
        name = "return"
    elif kind & CALL:
        name = "indirect_call" if kind & INDIRECT else "call"
    else:
        name = "indirect" if kind & INDIRECT else "relative"
    return 1 + BRANCHES.index(name)


def _effect(completers: list[str], encoding: Encoding) -> str:
    match completers:
        case ["alloc", *_]:
            return "alloc"
        case ["br", "ctop" | "cexit" | "wtop" | "wexit", *_]:
            return "rotate"
        case ["srlz", "i"]:
            return "serialize"
        case ["cover"]:
            return "cover"
        case ["clrrrb", *_]:
            return "clear_rotation"
        case ["loadrs"]:
            return "loadrs"
        case ["brp", *parts] if encoding.layout.name == "B6":
            return "important_hint" if "imp" in parts else "hint"
        case ["fc", *_]:
            return "flush_line"
        case ["mov", *_] if "pr" in encoding.writes or "pr.rot" in encoding.writes:
            return "all_predicates"
    return "none"


def _sources(encoding: Encoding) -> list[OperandTraits]:
    name = encoding.layout.name
    use = operations()[name].use
    found = []
    if encoding.layout.predicated:
        branch = encoding.kind & BRANCH
        found.append(OperandTraits(QP_PLACE, USES.index("branch_predicate" if branch else "predicate"), FILES["PR"]))
    for register in encoding.registers:
        if not register.source:
            continue
        if register.file in FILES:
            found.append(OperandTraits(register.place, USES.index(_use(register, use, encoding)), FILES[register.file]))
        elif register.file == "CR":
            found.append(OperandTraits(FIXED_PLACE, USES.index("application"), CR_ANY))
        else:
            found.append(OperandTraits(register.place, USES.index("application"), AR_OTHER))
    for implicit in encoding.reads:
        if implicit == "pr":
            found.append(OperandTraits(FIXED_PLACE, USES.index("predicate"), PR_ALL))
        elif implicit != "ar.fpsr":
            found.append(OperandTraits(FIXED_PLACE, USES.index("application"), AR_NAMES.get(implicit, AR_OTHER)))
    if encoding.kind & LOOP:
        found += [OperandTraits(FIXED_PLACE, USES.index("branch"), AR_NAMES[name]) for name in ("ar.lc", "ar.ec")]
    if encoding.kind & RETURN:
        found.append(OperandTraits(FIXED_PLACE, USES.index("branch"), AR_NAMES["ar.pfs"]))
    return found


def _use(register: Register, use: str, encoding: Encoding) -> str:
    """How an operand is used: a memory operand's other register is data."""
    if use == "address" and f"[r{register.place + 1}]" not in encoding.text:
        if encoding.kind & STORE and not register.base:
            return "store"
        return "alu"
    if register.file == "BR":
        return "branch"
    return use


def _targets(encoding: Encoding) -> list[OperandTraits]:
    row = operations()[encoding.layout.name]
    found = []
    for register in encoding.registers:
        if not register.target:
            continue
        if register.base:
            found.append(OperandTraits(register.place, OPERATIONS.index("alu"), FILES["GR"]))
        elif register.file == "PR":
            found.append(OperandTraits(register.place, OPERATIONS.index(row.predicate), FILES["PR"]))
        elif register.file == "BR":
            found.append(OperandTraits(register.place, OPERATIONS.index("to_branch"), FILES["BR"]))
        elif register.file == "AR":
            found.append(OperandTraits(register.place, OPERATIONS.index("to_register"), AR_OTHER))
        elif register.file == "CR":
            found.append(OperandTraits(FIXED_PLACE, OPERATIONS.index("to_register"), CR_ANY))
        else:
            found.append(OperandTraits(register.place, OPERATIONS.index(row.operation), FILES[register.file]))
    for implicit in encoding.writes:
        if implicit.startswith("ar.") and implicit != "ar.fpsr":
            operation = "to_loop" if implicit in LOOP_REGISTERS else "to_register"
            found.append(OperandTraits(FIXED_PLACE, OPERATIONS.index(operation), AR_NAMES.get(implicit, AR_OTHER)))
    if encoding.kind & CALL:
        found.append(OperandTraits(FIXED_PLACE, OPERATIONS.index("to_branch"), AR_NAMES["ar.pfs"]))
    return found
