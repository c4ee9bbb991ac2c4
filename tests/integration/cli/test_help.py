"""--help: short first, the rest by topic or at once, options of other processors with --pmu alone."""

import platform
import re
import shlex
import signal
from pathlib import Path

import pytest
from answers import answer, declined, said
from command import EXAMPLES, pfmon
from grids import each, first_quick

from pfmon import pmu
from pfmon.cli.commands.help import COMMON
from pfmon.library.options.option import Topic
from pfmon.library.options.table import OPTIONS, TOPICS


def listed(text: str) -> set[str]:
    """The options that have a line in a text."""
    return set(re.findall(r"^  (?:-\w, |    )--([\w-]+)", text, re.M))


def test_help_begins_with_usage_and_examples() -> None:
    lines = answer("--help").splitlines()
    assert lines[0].startswith("usage: pfmon ")
    first = lines.index("Examples:") + 1
    assert all(line.strip().startswith("pfmon ") for line in lines[first : first + 6]) and lines[first + 6] == ""
    assert max(map(len, lines)) <= 120
    assert set(COMMON) <= listed("\n".join(lines))
    assert len(lines) < 60
    assert answer("-h") == answer("--help")


@each("option", ["--help", "--help-all", "--man-page"])
@each("number", [signal.SIGHUP, signal.SIGINT, signal.SIGTERM])
def test_the_exit_status_of_each_signal_is_listed(option: str, number: signal.Signals) -> None:
    named = "Ctrl\\-C" if option == "--man-page" else "Ctrl-C"
    assert f"{128 + number} by {named if number == signal.SIGINT else number.name}" in answer(option)


def shown_examples(*words: str) -> list[str]:
    """The commands of the examples that --help prints."""
    text = answer(*words)
    lines = text[text.index("Examples:\n") : text.index("\n\nCommon options")].splitlines()[1:]
    return [line.strip().split("  ")[0] for line in lines]


def run_examples(commands: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    (folder / "file").touch()
    for command in commands:
        words = shlex.split(command)
        done = pfmon(*words[1:])
        said = re.sub(r"pfmon: .*\.html: the page; .*\n", "", done.stderr)
        assert words[0] == "pfmon" and (done.returncode, said) == (0, "") and done.stdout, command
    assert {path.suffix for path in folder.iterdir()} == {".data", ".html", ""}


@pytest.mark.parametrize(
    "program", first_quick(["x86_64/fib", pytest.param("ia64/fib", marks=pytest.mark.slow), "ppc64/fib"])
)
def test_examples_are_of_the_program_and_run(program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if program.startswith("ppc64"):
        pytest.importorskip("pfmon.engine.qemu.qemu_guest")
    path = str(EXAMPLES / program)
    commands = shown_examples("--help", path)
    assert len(commands) == 6 and all(command.endswith(f" {path}") for command in commands)
    run_examples(commands, tmp_path, monkeypatch)


@pytest.mark.slow
def test_examples_without_a_program_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if platform.machine() != "x86_64":
        pytest.skip("they are of an x86-64 host's programs")
    run_examples(shown_examples("--help"), tmp_path, monkeypatch)


@each("name", pmu.names())
def test_help_all_lists_the_options_that_a_pmu_has(name: str) -> None:
    text = answer(f"--pmu={name}", "--help-all")
    assert listed(text) == {long for long, option in OPTIONS.items() if not option.pmus or name in option.pmus}
    assert f"These are the options for {name}; there are more with --pmu=" in text
    assert max(map(len, text.splitlines())) <= 120


def test_options_of_other_processors_are_those_that_their_rules_refuse() -> None:
    words = {"value": "1", "opc-match32": ":0:0"}
    for name in pmu.IA64:
        for option in OPTIONS.values():
            if option.pmus and name not in option.pmus and not option.long.startswith(("excl", "in", "smpl", "ear")):
                given = f"--{option.long}" + (f"={words.get(option.long, '0x1000-0x2000')}" if option.value else "")
                status, _, err = said("--check-events-only", f"--pmu={name}", "-e", "nops_retired", given)
                assert status == 2 and err, (name, given)


@each("topic", TOPICS, ids=lambda topic: topic.name)
def test_a_topic_has_its_options(topic: Topic) -> None:
    assert topic.name
    text = answer("--pmu=itanium2", "--help", topic.name)
    own = {option.long for option in topic.options if not option.pmus or "itanium2" in option.pmus}
    assert listed(text) == own
    assert text == answer("--pmu=itanium2", f"--help={topic.name}")


def test_an_option_is_a_topic_too() -> None:
    assert answer("--help", "drange") == answer("--help", "ranges") == answer("--help", "--", "--drange")


def test_unknown_topic_names_the_known() -> None:
    line = declined("--help", "no-such-topic")
    assert all(topic.name in line for topic in TOPICS)


def test_a_list_without_events_says_so_and_names_the_nearest() -> None:
    for option in ("-l", "-L"):
        status, out, err = said(f"{option}loads_retird")
        assert (status, out) == (1, "")
        assert err.startswith(
            "pfmon: no event of itanium2 has a name that matches 'loads_retird'; nearest: LOADS_RETIRED"
        )
    status, _, err = said("--pmu=montecito", "-lzzz")
    assert status == 1 and "montecito" in err and "-l lists them all" in err
    assert "-L finds ratios, too" in said("-lspec_miss_ratio")[2]
