"""Options that say where is counted: address ranges, opcode matchers, branch buffers, triggers (pfmon on Itanium 2,
sections 4, 6 and 8; Montecito manual, 3.3.10 and 3.3.11)."""

from __future__ import annotations

from collections.abc import Sequence

from pfmon.errors import BadValueError
from pfmon.library.options import python_values, region_rows
from pfmon.library.options.kinds import FLAG, NAME, as_given, named, number
from pfmon.library.options.matcher_options import BRANCH_PMUS, MATCHERS
from pfmon.library.options.option import Kind, Option, Topic, extend, once, once_by_name, update
from pfmon.library.options.option_values import names
from pfmon.pmu import IA64
from pfmon.pmu.targets import having

MAX_IP_EAR_DELAY = 255
"""Cycles from the freeze of the monitors to that of the IP-EAR (Montecito manual table 3-30)."""
IP_EAR = having(lambda target: "ip_ear" in target.features)
BRANCHES_OF = {
    "tm-tk": "capture taken branches only",
    "tm-ntk": "capture branches that are not taken only",
    "ptm-correct": "capture branches whose target was predicted correctly only",
    "ptm-incorrect": "capture branches whose target was mispredicted only",
    "ppm-correct": "capture branches whose path was predicted correctly only",
    "ppm-incorrect": "capture branches whose path was mispredicted only",
    "brt-iprel": "capture IP-relative branches only",
    "brt-ret": "capture returns only",
    "brt-ind": "capture indirect branches that are no returns only",
}
"""Filters of the BTB and of the ETB."""
BTB_ALONE = {
    "ds": ("itanium2", "Itanium 2: capture how the branch was predicted instead of its target"),
    "no-tar": ("itanium", "Itanium: leave out predictions of the target address registers"),
    "no-tac": ("itanium", "Itanium: leave out predictions of the target address cache"),
    "no-bac": ("itanium", "Itanium: leave out predictions of the branch address calculator"),
}
"""Filters of the BTB of one PMU."""


def _filtering(name: str) -> tuple[str, ...]:
    """Return the PMUs whose code ranges can be restricted so."""
    return having(lambda target: name in target.range_filters)


def _range(name: str, text: str) -> str:
    if not text:
        raise BadValueError(f"--{name} wants a range: START-END or a symbol")
    return text


def _filters(name: str, value: object) -> list[str]:
    """Return filters of the branch buffer, given as the command's options without their beginning: "tm-tk"."""
    return [f"{name}-{one}" for one in python_values.items(name, value)]


def _addresses(name: str, text: str) -> list[str]:
    found = names(text)
    if not all(found):
        raise BadValueError(f"--{name}={text}: an address is empty")
    return found


def _python_addresses(name: str, value: object) -> list[str]:
    given = [value] if isinstance(value, int) else value
    if isinstance(given, str):
        found = names(given)
    else:
        found = [python_values.address(name, one) for one in python_values.several(given)]
    if not found or not all(found):
        raise python_values.bad(name, value, "a name, a number, or a sequence of them")
    return found


RANGE = Kind(
    _range,
    python_values.address_range,
    once("it takes one range: there is one of a kind in an event set"),
    python_values.is_list_of_ranges,
)
MATCHER = Kind(as_given, python_values.text, once_by_name("a matcher has one pattern"), python_values.is_list, {})
FILTERS = Kind(_filters, _filters, extend, python_values.is_nested, [])
ADDRESSES = Kind(
    _addresses, _python_addresses, once_by_name("it takes several addresses, separated by commas"), default={}
)
TRIGGER_FLAG = named(lambda name: {name}, update, set())
EVENT = Kind(as_given, python_values.text, once("it takes one event"))

RANGES = Topic(
    "ranges",
    "Address ranges (numbers in hexadecimal or decimal, or symbols of the program)",
    [
        Option(
            "irange",
            "count what instructions in this range do; its end is exclusive",
            RANGE,
            "START-END|CODE-SYMBOL",
            pmus=IA64,
            of_set=True,
            keyword=True,
            qualifies=True,
        ),
        Option(
            "inverse-irange",
            "count what instructions outside of --irange do",
            FLAG,
            pmus=_filtering("inverse"),
            of_set=True,
            keyword=True,
            needs=("a code range",),
            qualifies=True,
        ),
        Option(
            "drange",
            "count accesses to data in this range; its end is exclusive",
            RANGE,
            "START-END|DATA-SYMBOL",
            pmus=IA64,
            of_set=True,
            keyword=True,
            qualifies=True,
        ),
        Option(
            "checkpoint-func",
            "count the executions of one bundle",
            RANGE._replace(accept=python_values.address, splits=python_values.is_list),
            "ADDRESS|CODE-SYMBOL",
            pmus=IA64,
            of_set=True,
            keyword=True,
            qualifies=True,
        ),
        Option(
            "irange-demand-fetch",
            "Montecito: --irange holds for demand fetches",
            FLAG,
            pmus=_filtering("demand_fetch"),
            of_set=True,
            keyword=True,
            needs=("a code range",),
            qualifies=True,
        ),
        Option(
            "irange-prefetch-match",
            "Montecito: --irange holds for prefetches",
            FLAG,
            pmus=_filtering("prefetch_match"),
            of_set=True,
            keyword=True,
            needs=("a code range",),
            qualifies=True,
        ),
    ],
)
OPCODES = Topic(
    "opcodes",
    "Opcode matchers",
    [
        Option(
            name,
            f"count instructions of a mnemonic, or by {matcher.bits} bits ({', '.join(matcher.pmus)})",
            MATCHER,
            "[mifb:]MNEMONIC|[mifb]:MATCH:MASK",
            pmus=matcher.pmus,
            of_set=True,
            field="opcode_matches",
            keyword=True,
            qualifies=True,
        )
        for name, matcher in MATCHERS.items()
    ],
)


def _filter(name: str, meaning: str, pmus: Sequence[str]) -> Option:
    return Option(name, meaning, NAME, pmus=tuple(pmus), of_set=True, field="branch_filters", qualifies=True)


BRANCHES = Topic(
    "branches",
    "Branch buffers (btb: Itanium, Itanium 2; etb: Montecito); filters are combined by and",
    [
        *(_filter(f"btb-{name}", meaning, BRANCH_PMUS["btb"]) for name, meaning in BRANCHES_OF.items()),
        *(_filter(f"btb-{name}", meaning, (pmu,)) for name, (pmu, meaning) in BTB_ALONE.items()),
        *(_filter(f"etb-{name}", meaning, BRANCH_PMUS["etb"]) for name, meaning in BRANCHES_OF.items()),
        Option(
            "ip-ear",
            "Montecito: record instruction addresses, frozen after so many cycles",
            number(0, MAX_IP_EAR_DELAY, once("there is one IP-EAR"), None),
            "DELAY",
            pmus=IP_EAR,
            of_set=True,
            keyword=True,
            qualifies=True,
        ),
    ],
    keywords=[
        Option(
            name,
            "filters, as the options have them behind their first dash",
            FILTERS,
            "FILTER,...",
            pmus=pmus,
            of_set=True,
            field="branch_filters",
            keyword=True,
            qualifies=True,
        )
        for name, pmus in BRANCH_PMUS.items()
    ],
)
TRIGGERS = Topic(
    "triggers",
    "Regions that the program marks; triggers (addresses in hexadecimal or decimal, or symbols of the program)",
    [
        *region_rows.OPTIONS,
        Option(
            "trigger-code-start-addresses",
            "start counting when one of these bundles is executed",
            ADDRESSES,
            "ADDRESS,...",
            field="triggers",
            keyword=True,
            hp=("trigger-address", "trigger-start-address"),
            qualifies=True,
        ),
        Option(
            "trigger-code-stop-addresses",
            "stop counting before one of these bundles is executed; one that starts, too: when its call returns",
            ADDRESSES,
            "ADDRESS,...",
            field="triggers",
            keyword=True,
            qualifies=True,
        ),
        Option(
            "trigger-code-repeat",
            "start and stop every time, not only once",
            TRIGGER_FLAG,
            field="trigger_flags",
            keyword=True,
            qualifies=True,
        ),
        Option(
            "trigger-code-follow",
            "in all tasks that are followed, as in any case",
            TRIGGER_FLAG,
            field="trigger_flags",
            qualifies=True,
        ),
        Option(
            "trigger-data-start-addresses",
            "start counting when one of these bytes is accessed",
            ADDRESSES,
            "ADDRESS,...",
            field="triggers",
            keyword=True,
            qualifies=True,
        ),
        Option(
            "trigger-data-stop-addresses",
            "stop counting before one of these bytes is accessed",
            ADDRESSES,
            "ADDRESS,...",
            field="triggers",
            keyword=True,
            qualifies=True,
        ),
        Option(
            "trigger-data-repeat",
            "start and stop every time, not only once",
            TRIGGER_FLAG,
            field="trigger_flags",
            keyword=True,
            qualifies=True,
        ),
        Option("trigger-data-follow", "the same of data triggers", TRIGGER_FLAG, field="trigger_flags", qualifies=True),
        Option(
            "trigger-data-ro",
            "data triggers are for reads",
            TRIGGER_FLAG,
            field="trigger_flags",
            keyword=True,
            qualifies=True,
        ),
        Option(
            "trigger-data-wo",
            "data triggers are for writes",
            TRIGGER_FLAG,
            field="trigger_flags",
            keyword=True,
            qualifies=True,
        ),
        Option(
            "trigger-event",
            "start counting when EVENT has happened N times",
            EVENT,
            "EVENT:N",
            keyword=True,
            qualifies=True,
        ),
        Option(
            "stop-event",
            "stop counting when EVENT has happened N times since",
            EVENT,
            "EVENT:N",
            keyword=True,
            qualifies=True,
        ),
    ],
)
TOPICS = (RANGES, OPCODES, BRANCHES, TRIGGERS)
