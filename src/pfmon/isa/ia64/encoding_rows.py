"""The rows of the instruction set: one for every defined encoding.

Rows follow the handlers, in the function rows() of the unit's .pyx file:

    row("A1", "add r1=r2,r3", <size_t>&add, op=8, x2a=0, ve=0, x4=0, x2b=0)

The decoder's tables, the disassembler and the checks are made from the list built here. A slot that no row matches is a
reserved encoding (illegal operation). Calls are only recorded here: a row is made at first use (instruction_set.py). A
run makes none: it loads the tables made when pfmon was built (decoder_snapshot.py).
"""

from __future__ import annotations

from typing import Any

# The calls of row(), in order: format, text, keywords; the handlers' addresses.
CALLS: list[tuple[str, str, dict[str, Any]]] = []
HANDLERS: list[int] = []

PAIRS: dict[tuple[int, int], int] = {}
"""By two handlers' addresses: the handler that executes both, one after the other."""


def row(layout: str, text: str, run: int, **given: Any) -> None:
    """Add an encoding.

    ``layout``: the format's name (formats.py). ``text``: the assembler form as objdump prints it, without the
    predicate; operand names in it (r1, imm14, tgt25, ... operands.py) are replaced by what they stand for.
    ``run``: the handler's address. ``op_x``: Op.x, a number or the name of a field (when the text has no len
    or sor operand, which go there). ``reads`` and ``writes``: implicit registers, separated by spaces;
    explicit ones follow from the text. ``units``: slot types, if not the format's ("M I" for A).
    ``ip``: Op.imm is the bundle's address (for instructions without an immediate).
    ``over``: texts of the rows that this one takes encodings from, being a special case of them; ``tie``:
    "f2=f3" or "len6d~pos6b", for a special case in which two fields are equal or complements.
    ``kind`` and ``isa_kind``: Kind and Ia64Kind (RSE_EVENT of calls and returns, and SLOT_B, follow).
    ``access_flags``: AccessFlag, beyond those of the kinds. ``branch``: BranchType; ``whether``, ``many``
    and ``clear``: its hints. ``effect``: Effect. ``fp_operations``: how many one execution counts in
    fp_ops_retired; ``fp_halves``: half of them with f0 as the addend f2 or f1 as the factor f3 or f4.
    Other keywords fix fields of the format; ``op`` is required. Arguments that do not fit are refused when the row is
    made (instruction.py).
    """
    CALLS.append((layout, text, given))
    HANDLERS.append(run)


def pair(first: str, second: str, run: int) -> None:
    """``run`` executes two instructions. ``first`` and ``second`` are texts of rows added before, and stand for all
    rows with their handlers. It receives the first one's operation; the second one's follows."""
    PAIRS[_handler(first), _handler(second)] = run


def _handler(text: str) -> int:
    return HANDLERS[next(number for number, call in enumerate(CALLS) if call[1] == text)]


GUARDED: dict[int, int] = {}
"""By handler address: the handler of the same instruction that tests the qualifying predicate and records its value."""


def guarded(run: int, guarded_run: int) -> None:
    """Use ``guarded_run`` for predicated instructions whose handler is ``run``, without a guard."""
    GUARDED[run] = guarded_run
