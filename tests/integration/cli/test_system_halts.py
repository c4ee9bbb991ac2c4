"""A system that halts: its cycles count, and nothing else does meanwhile."""

import json
from pathlib import Path

from command import pfmon
from elf_images import MB, flat_image
from ia64_assembly import assemble

TIME = 70000
CODE = [
    "mov.m r4=ar.itc",  # the first instruction: 0
    f"movl r5={TIME}",
    "add r4=r4,r5",
    "mov cr.itm=r4",
    "movl r6=0xef",
    "mov cr.itv=r6",
    "movl r15=19",
    "break.m 0x80001",  # HALT_LIGHT: until the timer's interrupt pends, although PSR.i is 0
    "movl r32=5",
    "movl r15=66",
    "break.m 0x80001",
]
BEFORE = 18
"""Instructions that have retired when it halts: of five bundles three each, of three long ones two, less three of the
break's."""


def test_halted_cycles_are_those_up_to_the_timer(tmp_path: Path) -> None:
    image = tmp_path / "image"
    image.write_bytes(flat_image(assemble(CODE, MB)))
    events = (
        "--pmu=montecito",
        "--unlimited",
        "-e",
        "cycles_halted,cycles_halted,ia64_inst_retired",
        "--priv-levels=k,u,k",
    )
    done = pfmon("--system", str(image), "--json", *events)
    assert done.returncode == 5, done.stderr
    halted, by_programs, retired = (one["count"] for one in json.loads(done.stdout)["events"])
    assert (halted, by_programs) == (TIME - BEFORE, 0)
    assert retired < 40
