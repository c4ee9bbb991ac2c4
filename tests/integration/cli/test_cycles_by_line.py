"""The cycle breakdown by source line, and static functions of one name in several files."""

import json
import subprocess
from pathlib import Path

from command import pfmon
from host_programs import RUNS_X86_64, needs
from newcomer import COIN, SLOW

from pfmon.session.profile.cpi_causes import PARTS

pytestmark = [
    needs("cc"),
    RUNS_X86_64,
]
LOOP = "static int turn(int n)\n{\n    int sum = 0;\n    while (n--)\n        sum += n * 3;\n    return sum;\n}\n"


def test_lines_have_the_cycles_of_their_functions(tmp_path: Path) -> None:
    (tmp_path / "slow.c").write_text(SLOW)
    subprocess.run(["cc", "-g", "-O1", "-o", "slow", "slow.c"], cwd=tmp_path, check=True)
    words = ("--report=cpi", "--per-line", "--no-cmd-output", str(tmp_path / "slow"), "4000")
    report = json.loads(pfmon("--json", *words).stdout)["report"]
    lines = report["lines"]
    assert report == json.loads(pfmon("--json", *words).stdout)["report"]
    for name in ("coin", "fill"):
        (function,) = [row for row in report["functions"] if row["name"] == name]
        own = [row for row in lines if row["function"] == name]
        for part in PARTS:
            assert sum(row["cycles"][part] for row in own) == function["cycles"][part]
        assert sum(row["instructions"] for row in own) == function["instructions"]
    most = max(lines, key=lambda row: row["cycles"]["branch mispredicts"])
    assert (most["line"], most["text"]) == (COIN, "if (next(&state) & 1)")
    table = pfmon(*words).stdout.rpartition("\n\n")[2].splitlines()
    assert table[0].endswith(" line") and f" slow.c:{COIN} " in table[1]


def test_static_functions_have_their_files(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.c").write_text(f"{LOOP}int {name}(int n)\n{{\n    return turn(n);\n}}\n")
    (tmp_path / "main.c").write_text("int one(int), two(int);\nint main(void) { return one(90) + two(30) == 1; }\n")
    subprocess.run(["cc", "-O0", "-o", "main", "main.c", "one.c", "two.c"], cwd=tmp_path, check=True)
    words = ("-e", "branches", "--per-function", str(tmp_path / "main"))
    rows = json.loads(pfmon("--json", *words).stdout)["profile"]["functions"]
    named = {(row["name"], row["file"]): row["counts"][0] for row in rows if not row["object"]}
    assert named["turn", "one.c"] - named["turn", "two.c"] == 60
    assert ("one", None) in named and ("main", None) in named
