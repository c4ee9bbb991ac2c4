"""Options that filter captured branches (pfmon on Itanium 2, section 6; Montecito manual, 3.3.10 and 3.3.11)."""

from __future__ import annotations

from pfmon.cli.command_config import CommandConfig
from pfmon.cli.option_parsing import Option, ParsedOption
from pfmon.errors import PfmonError
from pfmon.library.matcher_options import BRANCH_PMUS
from pfmon.library.option_values import whole_number
from pfmon.library.run_options import MAX_IP_EAR_DELAY
from pfmon.pmu.targets import having

TOPIC = "branches"
TITLE = "Branch buffers (btb: Itanium, Itanium 2; etb: Montecito); filters are combined by and"
MEANINGS = {
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
BTB = {
    **MEANINGS,
    "ds": "Itanium 2: capture how the branch was predicted instead of its target",
    "no-tar": "Itanium: leave out predictions of the target address registers",
    "no-tac": "Itanium: leave out predictions of the target address cache",
    "no-bac": "Itanium: leave out predictions of the branch address calculator",
}
ETB = MEANINGS
IP_EAR = having(lambda target: "ip_ear" in target.features)
ALONE = {"Itanium 2": ("itanium2",), "Itanium": ("itanium",)}


def _pmus_of(meaning: str) -> tuple[str, ...]:
    """Return the PMUs with a BTB that have a filter: all, unless its meaning begins with the name of one."""
    return ALONE.get(meaning.partition(":")[0], BRANCH_PMUS["btb"])


OPTIONS = [
    *(Option(f"btb-{name}", meaning, pmus=_pmus_of(meaning), of_set=True) for name, meaning in BTB.items()),
    *(Option(f"etb-{name}", meaning, pmus=BRANCH_PMUS["etb"], of_set=True) for name, meaning in ETB.items()),
    Option(
        "ip-ear",
        "Montecito: record instruction addresses, frozen after so many cycles",
        "DELAY",
        pmus=IP_EAR,
        of_set=True,
    ),
]


def apply(config: CommandConfig, given: ParsedOption) -> None:
    """Take one option's value."""
    if given.name != "ip-ear":
        config.sets[-1].branch_filters.append(given.name)
    elif config.sets[-1].ip_ear is not None:
        raise PfmonError(f"--ip-ear is given twice{config.for_one_set}; there is one IP-EAR")
    else:
        config.sets[-1].ip_ear = whole_number(given.name, given.value or "", 0, MAX_IP_EAR_DELAY)
