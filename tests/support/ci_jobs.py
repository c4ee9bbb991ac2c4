"""Jobs of continuous integration, read from their YAML and run by a shell of this host."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

CI = Path(__file__).resolve().parents[2] / "examples" / "ci"
EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
GIT = {
    **{f"GIT_{who}_{what}": "t@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_SYSTEM": "/dev/null",
}
SUM = """#include <stdio.h>
__attribute__((noinline)) unsigned sum(unsigned n) {{
    volatile unsigned total = 0;
    for (unsigned i = 0; i < n; i++) total += i;
    return total;
}}
int main(void) {{
    printf("%u\\n", sum({turns}));
    return 0;
}}
"""
"""A program whose work is a number."""


def read_yaml(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(path.read_text())
    return found


def repository(folder: Path, *turns: int) -> list[str]:
    """Make a repository with a commit of SUM for each number of turns; return the commits."""
    folder.mkdir()
    shell(["git init -q ."], folder)
    commits = []
    for number in turns:
        (folder / "sum.c").write_text(SUM.format(turns=number))
        shell(["git add sum.c", f"git commit -q -m {number}"], folder)
        commits.append(shell(["git rev-parse HEAD"], folder).stdout.strip())
    return commits


def shell(
    commands: Sequence[str], folder: Path, words: Sequence[str] = ("sh", "-e", "-c"), **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run shell commands one after the other, with the pfmon under test in PATH."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "GIT_", "GITHUB_"))}
    return subprocess.run(
        [*words, "\n".join(commands)],
        cwd=folder,
        env={**kept, **GIT, "PATH": path, **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def evaluated(text: str, values: Mapping[str, str]) -> str:
    """Replace the expressions of GitHub's Actions. KeyError: one that has no value."""
    return EXPRESSION.sub(lambda found: values[found[1]], str(text))


def run_action(action: Mapping[str, Any], folder: Path, given: Mapping[str, str], temp: Path) -> list[str]:
    """Run the steps of a composite action as a runner does, until one fails (those with if: always() too), and return
    the names of the failed steps, each with what it printed."""
    inputs = {name: one.get("default", "") for name, one in action["inputs"].items()} | dict(given)
    values = {f"inputs.{name}": value for name, value in inputs.items()}
    values |= {"runner.temp": str(temp), "github.token": "token", "github.event.pull_request.number": "7"}
    failed: list[str] = []
    for step in action["runs"]["steps"]:
        always, _, condition = step.get("if", "").rpartition(" && ")
        if (failed and not always) or (condition and not holds(condition, values)):
            continue
        variables = {name: evaluated(value, values) for name, value in step.get("env", {}).items()}
        assert step["shell"] == "bash"
        words = ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c")
        done = shell([step["run"]], folder, words, GITHUB_STEP_SUMMARY=str(temp / "summary"), **variables)
        if done.returncode:
            failed.append(f"{step['name']} ({done.returncode}): {done.stdout}{done.stderr}")
    return failed


def holds(condition: str, values: Mapping[str, str]) -> bool:
    """Whether a condition of the form NAME == 'VALUE' holds."""
    name, _, value = condition.partition(" == ")
    return values[name] == value.strip("'")
