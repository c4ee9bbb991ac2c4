"""docs/combining.md says which options go together: all pairs of its list, but for those of its table."""

import re
from itertools import combinations
from pathlib import Path

import pytest
from command import example, pfmon

TEXT = (Path(__file__).resolve().parents[3] / "docs" / "combining.md").read_text()
SECTION = TEXT.partition("## What goes together\n")[2].partition("\n## ")[0]

GIVEN = {
    "--irange": ["--irange=lookup"],
    "--drange": ["--drange=0x6000000000000000-0x6000000000010000"],
    "--trigger-code-start-addresses": ["--trigger-code-start-addresses=lookup"],
    "--trigger-data-start-addresses": ["--trigger-data-start-addresses=0x6000000000001000"],
    "--trigger-event": ["--trigger-event=nops_retired:100"],
    "--stop-event": ["--stop-event=nops_retired:100"],
    "-e": ["-e", "ia64_inst_retired", "--switch-timeout=0.01"],
    "--long-smpl-periods": ["--long-smpl-periods=1000"],
    "--print-interval": ["--print-interval=0.1"],
    "--per-function": ["--per-function"],
    "--unlimited": ["--unlimited"],
}


def refused() -> set[frozenset[str]]:
    """The pairs of the page's table."""
    found = set()
    for one, others in re.findall(r"^\| (.*?) \| (.*?) \| .* \|$", SECTION, re.M):
        for name in re.findall(r"`(--?[\w-]+)`", one):
            found |= {frozenset((name, other)) for other in re.findall(r"`(--?[\w-]+)`", others)}
    return found


def test_the_page_lists_the_options() -> None:
    listed = SECTION.partition("\n\n")[0].strip() + SECTION.partition("| refused")[0]
    assert set(re.findall(r"`(--?[\w-]+)`", listed)) == set(GIVEN)
    assert len(refused()) == 10


@pytest.mark.parametrize("pair", list(combinations(GIVEN, 2)), ids=" ".join)
def test_a_pair_is_refused_as_the_page_says(pair: tuple[str, str]) -> None:
    one, other = sorted(pair, key=lambda name: name == "-e")  # what follows the second -e belongs to that set
    done = pfmon("--no-cmd-output", "-e", "loads_retired", *GIVEN[one], *GIVEN[other], example("hashmap"), "50")
    assert done.returncode == (2 if frozenset(pair) in refused() else 0), done.stderr
    if done.returncode:
        assert len(done.stderr.splitlines()) == 1
