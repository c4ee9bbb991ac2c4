"""`pfmon diff` of two builds of one program: what was edited between them is known."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from browser import shown
from command import pfmon
from host_programs import RUNS_X86_64, needs
from newcomer import COIN, SLOW

pytestmark = [
    pytest.mark.slow,
    needs("cc"),
    RUNS_X86_64,
]
TURN = """\
static long turn(long turns)
{
    long sum = 0;
    for (long i = 0; i < turns; i++)
        sum += i ^ sum;
    return sum;
}
"""
SHAPE = """\
namespace shapes {
template <typename T> __attribute__((noinline)) T area(T width, int turns)
{
    T sum = 0;
    for (int i = 0; i < turns; i++)
        sum += width * i;
    return sum;
}
}
int main()
{
    return shapes::area<long>(3, TURNS) == 1;
}
"""


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def recorded(name: str, files: dict[str, str], *flags: str, words: tuple[str, ...] = ()) -> None:
    """Build a program from files, in the place of the one before, and record it."""
    for file, text in files.items():
        Path(file).write_text(text)
    sources = [file for file in files if not file.endswith(".h")]
    subprocess.run(["cc", "-g", "-O1", *flags, "-o", "program", *sources], check=True)
    assert pfmon("record", "-o", name, "./program", *words).returncode == 0


def differences(*words: str) -> dict[str, Any]:
    done = pfmon("diff", "--json", *words)
    assert (done.returncode, done.stderr) == (0, "")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def edit(before: str, after: str) -> None:
    """Record the program with one line before and after an edit that also moves it by a line."""
    recorded("a", {"slow.c": SLOW}, words=("5000",))
    assert SLOW.count(before) == 1
    recorded("b", {"slow.c": "/* edited */\n" + SLOW.replace(before, after)}, words=("5000",))


def test_the_edited_line_is_named_with_both_texts() -> None:
    edit("& 1)", "& 3)")
    found = differences("a", "b", "-e", "branch-misses")
    line = found["lines"][0]
    assert (line["line_a"], line["line_b"], line["function"]) == (COIN, COIN + 1, "coin")
    assert (line["text_a"], line["text_b"]) == ("if (next(&state) & 1)", "if (next(&state) & 3)")
    assert line["counts"]["difference"] < 0
    assert "fewer cycles: -" in found["conclusion"]
    assert found["conclusion"].endswith(f" in coin at slow.c:{COIN + 1}, mostly mispredicted branches")
    misses = found["lines_by_event"]["branch-misses"][0]
    assert misses["text_b"] == line["text_b"] and misses["counts"]["difference"] < 0
    large = [one for one in found["lines"] if abs(one["counts"]["difference"] or 0) > found["counts"][0]["a"] / 20]
    assert all(one["line_b"] == one["line_a"] + 1 for one in large)


def test_lines_that_only_moved_differ_in_nothing() -> None:
    recorded("a", {"slow.c": SLOW}, words=("2000",))
    recorded("b", {"slow.c": "\n\n/* above */\n" + SLOW}, words=("2000",))
    found = differences("a", "b")
    assert [one for one in found["lines"] if one["line_a"] is None or one["line_b"] is None] == []
    text = pfmon("diff", "a", "b").stdout
    assert "A and B take the same number of cycles" in text and "no function differs" in text
    assert "by line" not in text


def test_both_ways_are_the_negative_of_each_other() -> None:
    edit("& 1)", "& 3)")
    there, back = differences("a", "b"), differences("b", "a")
    for name in ("functions", "lines"):
        counts = "cycles" if name == "functions" else "counts"
        assert sorted((one[counts]["a"] or 0, one[counts]["b"] or 0) for one in there[name]) == sorted(
            (one[counts]["b"] or 0, one[counts]["a"] or 0) for one in back[name]
        )
    assert differences("a", "a")["functions"] == differences("a", "a")["lines"] == []


def test_static_functions_of_one_name_are_told_apart() -> None:
    main = "long one(long), two(long);\nint main(void) { return one(900) + two(%d) == 1; }\n"
    files = {
        f"{name}.c": f"{TURN}long {name}(long turns)\n{{\n    return turn(turns);\n}}\n" for name in ("one", "two")
    }
    recorded("a", {"main.c": main % 300, **files}, "-fno-inline")
    recorded("b", {"main.c": main % 2300, **files}, "-fno-inline")
    found = differences("a", "b", "-e", "branches")["by_event"]["branches"]
    changed = {pair["name"]: pair["difference"] for pair in found}
    assert changed["turn (two.c)"] == 2000 and "turn (one.c)" not in changed


def test_names_of_cpp_and_functions_of_one_build_alone() -> None:
    flags = ("-x", "c++", "-lstdc++")
    recorded("a", {"shape.cc": SHAPE.replace("TURNS", "900")}, *flags)
    recorded("b", {"shape.cc": SHAPE.replace("TURNS", "9000").replace("area", "surface")}, *flags)
    recorded("c", {"shape.cc": SHAPE.replace("TURNS", "9000").replace("<long>", "<int>")}, *flags)
    text = pfmon("diff", "a", "b").stdout
    assert "  long shapes::area<long>(long, int) (gone)\n" in text or "less than" in text
    assert "  long shapes::surface<long>(long, int) (new)\n" in text
    names = [one["name"] for one in differences("a", "c")["functions"]]
    assert names[0].startswith(("long shapes::area<long>(long, int)", "int shapes::area<int>(int, int)"))


def test_the_threshold_can_be_set() -> None:
    edit("& 1)", "& 3)")
    none = pfmon("diff", "a", "b", "--threshold", "0%", "--functions=100000").stdout
    assert "changed by less than" not in none
    all_small = pfmon("diff", "a", "b", "-e", "branch-misses", "--threshold", "0%,branch-misses=100%").stdout
    assert "of the branch-misses, together by -" in all_small and "branch-misses by function" not in all_small
    assert "cycles by function" in all_small
    done = pfmon("diff", "a", "b", "--threshold", "much")
    assert done.returncode == 2 and "--threshold=much: a percentage" in done.stderr


@pytest.mark.slow
@needs("chromium-headless-shell")
@pytest.mark.parametrize("width", [420, 900, 1400])
def test_the_page_says_the_result_and_shows_the_code(width: int) -> None:
    edit("& 1)", "& 3)")
    assert pfmon("diff", "a", "b", "--html", "diff.html", "--quiet").returncode == 0
    found = shown(
        Path("diff.html").absolute(),
        f"document.body.style.width = '{width}px';"
        """
        const cells = rows("lines");
        const right = (one) => one.getBoundingClientRect().right;
        const wide = [...document.querySelectorAll("main section")].filter((one) =>
          [...one.children].some((child) => right(child) > right(one) + 1));
        return {said: document.querySelector("#result p").innerText, line: cells[0], wide: wide.map((one) => one.id),
                small: document.querySelector("#functions p.soft").innerText};
        """,
    )
    assert found["said"] == differences("a", "b")["conclusion"] and found["wide"] == []
    assert "if (next(&state) & 1)" in found["line"][1] and "if (next(&state) & 3)" in found["line"][1]
    assert "functions changed by less than 0.5% of the cycles" in found["small"]
