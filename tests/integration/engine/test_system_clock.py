"""Systems whose interval timer counts the machine's cycles (--itc=cycles)."""

import json
from pathlib import Path

import pytest
import system_images
from command import pfmon

IMAGE = str(system_images.image("clock"))


def instructions(*options: str) -> int:
    """All instructions of the image, whose loops wait for its timer."""
    run = pfmon("--system", IMAGE, "--json", "--no-cmd-output", "-k", *options)
    assert run.returncode == 0, run.stderr
    return int(json.loads(run.stdout)["events"][0]["count"])


def test_what_is_counted_does_not_change_what_is_executed() -> None:
    alone = instructions("--itc=cycles", "-e", "ia64_inst_retired")
    assert alone == instructions("--itc=cycles", "-e", "ia64_inst_retired,cpu_cycles,l2_misses")
    assert alone != instructions("-e", "ia64_inst_retired,cpu_cycles")


@pytest.mark.parametrize(
    "options",
    ["--report=cpi", "-e cpu_cycles --long-smpl-periods=500", "-e cpu_cycles --per-function", ""],
)
def test_every_kind_of_run_has_the_clock(options: str) -> None:
    run = pfmon("--system", IMAGE, "--itc=cycles", *options.split())
    assert run.returncode == 0, run.stderr
    assert "much_later 3000 r8=0000000000000000" in run.stdout


def test_page_has_the_clock(tmp_path: Path) -> None:
    run = pfmon("--system", IMAGE, "--itc=cycles", f"--report=html:{tmp_path / 'page.html'}")
    assert run.returncode == 0, run.stderr
    assert "much_later 3000 r8=0000000000000000" in run.stdout
