"""`pfmon demo`: the finding, the comparison and the page."""

import os
import re
from pathlib import Path

from command import pfmon_after, refused
from host_programs import RUNS_X86_64

import pfmon.cli.demo

SOURCE = Path(pfmon.cli.demo.__file__).parent / "order.c"


@RUNS_X86_64
def test_the_demo_names_the_line_and_writes_the_page(tmp_path: Path) -> None:

    done = pfmon_after(lambda: os.chdir(tmp_path), "demo")
    assert done.returncode == 0, done.stderr
    place = re.search(r"\d+% of cycles: waiting for .*, most at order\.c:(\d+)\n {4}(.*)\n", done.stdout)
    assert place
    assert SOURCE.read_text().splitlines()[int(place[1]) - 1].strip() == place[2]
    assert "8 KB away" in place[2]
    times = re.search(r"cycles: ([\d.]+) times as fast", done.stdout)
    assert times and float(times[1]) > 2
    assert "pfmon-demo.html: the page" in done.stderr
    page = (tmp_path / "pfmon-demo.html").read_text()
    assert "by_columns" in page and "8 KB away" in page


def test_the_demo_takes_no_file(tmp_path: Path) -> None:
    assert "no file is wanted, and 1 given" in refused("demo", "file")
    assert "--html=/no/where: " in refused("demo", "--html=/no/where")
