"""The templates for GitHub and GitLab: their steps are run in a repository with two commits."""

import json
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import ClassVar
from urllib.parse import parse_qs

import pytest
from ci_jobs import CI, read_yaml, repository, run_action, shell
from host_programs import RUNS_X86_64, needs

ACTION = read_yaml(CI / "github" / "action.yml")
JOB = read_yaml(CI / "gitlab" / "pfmon.gitlab-ci.yml")["pfmon-check"]
BUILD, COMMAND = "cc -O1 -g -o sum sum.c", "./sum > /dev/null"
SMALL, LARGE = 1000, 50_000

pytestmark = [RUNS_X86_64, needs("cc"), pytest.mark.slow]


def grown(folder: Path) -> int:
    """The difference of the instructions in sum, of the results that the job made."""
    counts = []
    for side in ("base", "head"):
        profile = json.loads((folder / f"{side}.json").read_text())["profile"]
        counts.append(next(one["counts"][0] for one in profile["functions"] if one["name"] == "sum"))
    return int(counts[1] - counts[0])


def test_the_action_fails_a_pull_request_that_works_more(tmp_path: Path) -> None:
    """Each turn of the loop is at least its four operations, and at most eight instructions."""
    repository(tmp_path / "git", SMALL, LARGE)
    failed = run_action(ACTION, tmp_path / "git", {"build": BUILD, "command": COMMAND}, tmp_path)
    assert [one.split(":")[0] for one in failed] == ["Compare the counts (3)"], failed
    assert 4 <= grown(tmp_path / "pfmon") / (LARGE - SMALL) <= 8
    summary = (tmp_path / "summary").read_text()
    assert "### pfmon: instructions grew" in summary
    assert "| `sum` |" in summary


def test_the_action_passes_a_pull_request_that_works_less(tmp_path: Path) -> None:
    repository(tmp_path / "git", LARGE, SMALL)
    assert run_action(ACTION, tmp_path / "git", {"build": BUILD, "command": COMMAND}, tmp_path) == []
    assert "no count grew" in (tmp_path / "summary").read_text()


@pytest.mark.parametrize("chosen", ["fail", "pass"])
def test_the_action_without_a_base_that_builds(chosen: str, tmp_path: Path) -> None:
    folder = tmp_path / "git"
    commits = repository(folder, SMALL)
    shell(["git rm -q sum.c", "git commit -q -m nothing", f"git checkout -q {commits[0]} sum.c"], folder)
    shell(["git commit -q -m again"], folder)
    given = {"build": BUILD, "command": COMMAND, "without-base": chosen}
    failed = run_action(ACTION, folder, given, tmp_path)
    assert len(failed) == (chosen == "fail"), failed
    assert "the base could not be built and counted" in failed[0] if failed else not (tmp_path / "summary").exists()


def test_the_action_comments_if_asked_to(tmp_path: Path) -> None:
    """GitHub's own command is played by a script that keeps its words."""
    folder = tmp_path / "git"
    repository(folder, SMALL, LARGE)
    played = f'gh() {{ echo "$@" > {tmp_path}/said; }}\n'
    steps = [{**step, "run": played + step["run"]} for step in ACTION["runs"]["steps"]]
    action = {**ACTION, "runs": {"steps": steps}}
    run_action(action, folder, {"build": BUILD, "command": COMMAND, "comment": "true"}, tmp_path)
    assert (tmp_path / "said").read_text() == f"pr comment 7 --body-file {tmp_path}/pfmon/check.md\n"


def test_the_workflow_gives_inputs_that_the_action_has() -> None:
    steps = read_yaml(CI / "github" / "workflow.yml")["jobs"]["counts"]["steps"]
    given = steps[-1]["with"]
    assert {*given} <= {*ACTION["inputs"]}
    assert {name for name, one in ACTION["inputs"].items() if one.get("required")} <= {*given}
    assert steps[0]["with"]["fetch-depth"] == 2


def test_the_workflow_of_the_example_passes_unchanged_code(tmp_path: Path) -> None:
    """Its own words, with the example's program in both commits."""
    folder = tmp_path / "git"
    repository(folder, SMALL)
    (folder / "words.c").write_bytes((CI / "words.c").read_bytes())
    shell(["git add words.c", "git commit -q -m words", "git commit -q --allow-empty -m nothing"], folder)
    given = read_yaml(CI / "github" / "workflow.yml")["jobs"]["counts"]["steps"][-1]["with"]
    assert run_action(ACTION, folder, given, tmp_path) == []
    assert "| same |" in (tmp_path / "summary").read_text()


@pytest.mark.parametrize(("turns", "status"), [((SMALL, LARGE), 3), ((LARGE, SMALL), 0), ((SMALL, SMALL + 1), 0)])
def test_the_job_of_gitlab(turns: tuple[int, int], status: int, tmp_path: Path) -> None:
    folder = tmp_path / "git"
    commits = repository(folder, *turns)
    variables = {
        **JOB["variables"],
        "PFMON_BUILD": BUILD,
        "PFMON_COMMAND": COMMAND,
        "CI_MERGE_REQUEST_DIFF_BASE_SHA": commits[0],
        "CI_COMMIT_SHA": commits[1],
    }
    done = shell([*JOB["before_script"], *JOB["script"]], folder, **variables)
    assert done.returncode == status, done.stderr
    made = folder / "pfmon-check"
    assert ("grew" in (made / "check.md").read_text().splitlines()[0].replace("no count grew", "")) is (status == 3)
    assert all((folder / name).exists() for name in JOB["artifacts"]["paths"])
    cleaned = "git clean -q -ffdx"  # as runners do before the next job in the same folder
    again = shell([cleaned, *JOB["before_script"], *JOB["script"]], folder, **variables)
    assert again.returncode == status, again.stderr


class Notes(BaseHTTPRequestHandler):
    """GitLab's interface for comments of a merge request."""

    received: ClassVar[list[tuple[str, str, str]]] = []

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.received.append((self.path, self.headers["PRIVATE-TOKEN"], content))
        self.send_response(201)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Nothing is said."""


@needs("curl")
@pytest.mark.parametrize("token", ["secret", ""])
def test_the_job_of_gitlab_comments_if_it_has_a_token(token: str, tmp_path: Path) -> None:
    table = "### pfmon: instructions grew\n\n| a & b | +1% |\n"
    (tmp_path / "pfmon-check").mkdir()
    (tmp_path / "pfmon-check" / "check.md").write_text(table)
    Notes.received.clear()
    with HTTPServer(("127.0.0.1", 0), Notes) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        variables = {
            "PFMON_TOKEN": token,
            "CI_API_V4_URL": f"http://127.0.0.1:{server.server_port}/api/v4",
            "CI_PROJECT_ID": "12",
            "CI_MERGE_REQUEST_IID": "7",
            "no_proxy": "127.0.0.1",
        }
        done = shell(JOB["after_script"], tmp_path, **variables)
        server.shutdown()
        thread.join()
    assert (done.returncode, done.stderr) == (0, "")
    expected = [("/api/v4/projects/12/merge_requests/7/notes", token, table)]
    assert [(path, key, parse_qs(body)["body"][0]) for path, key, body in Notes.received] == (expected if token else [])
