"""Latencies between operations (Montecito manual table 2-8), from a machine's figures."""

from __future__ import annotations

from collections.abc import Mapping

from pfmon.isa.ia64._encodings import Operation, Use

# Rows and columns of the table, in the order of the enumerations.
OPERATION_NAMES = [name.removeprefix("OP_").lower() for name in Operation.__members__ if name.startswith("OP_")]
USE_NAMES = [name.removeprefix("USE_").lower() for name in Use.__members__ if name.startswith("USE_")]

# Operations whose latency does not depend on the consumer -> the figure.
SAME_FOR_ALL = {
    "from_loop": "latency.register.loop",
    "to_loop": "latency.register.loop",
    "to_register": "latency.register.other",
    "from_other": "latency.register.other",
    "from_status": "latency.register.status",
    "from_clock": "latency.register.clock",
    "from_indirect": "latency.indirect.slow",
}


def latency_of(config: Mapping[str, int | str | bool], operation: str, use: str) -> int:
    """Cycles from the issue of a producer to the first issue of a consumer (OPERATION_NAMES, USE_NAMES).

    For loads: cycles in addition to those of an integer consumer. Pairs that the table leaves out (n/a) take a cycle:
    nothing in the instruction set connects them but moves through predicates and loop counters.
    """
    if operation in SAME_FOR_ALL:
        return int(config[SAME_FOR_ALL[operation]])
    if use == "branch" and operation != "to_branch":
        return 1
    column = "branch" if use == "branch_predicate" else use
    default = 0 if operation in ("load", "load_float") else 1
    return int(config.get(f"latency.{operation}.{column}", default))
