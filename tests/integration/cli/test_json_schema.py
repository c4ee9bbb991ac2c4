"""docs/results.schema.json describes what --json prints: all of it, and nothing else."""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from command import example, pfmon
from grids import first_quick

SCHEMA = json.loads((Path(__file__).parents[3] / "docs" / "results.schema.json").read_text())
NOPLOOP, HASHMAP = [example("noploop"), "20"], [example("hashmap"), "50"]
PROCESSORS = str(Path(__file__).resolve().parents[2] / "data" / "engine" / "processors.elf")
RUNS = [
    ["-e", "ia64_inst_retired,ia64_ipc", *NOPLOOP],
    ["--with-header", "-k", "-e", "cpu_cycles", *NOPLOOP],
    ["--switch-timeout=0.001", "--true-values", "-e", "loads_retired", "-e", "stores_retired", *HASHMAP],
    ["--print-interval=0.01", "-e", "loads_retired", *HASHMAP],
    ["--per-function", "--per-block", "--annotate=main", "-e", "ia64_inst_retired,data_spec_miss_ratio", *NOPLOOP],
    ["--irange=noploop", "--drange=0x6000-0x6800", "--no-qual-check", "-e", "nops_retired", *NOPLOOP],
    ["--opc-match8=b:br.cloop", "-e", "ia64_tagged_inst_retired_ibrp0_pmc8", *NOPLOOP],
    ["--pmu=montecito", "--set=l3.size=6M", "-e", "l3_reads_all_hit:mes", *NOPLOOP],
    ["--long-smpl-periods=5", "--smpl-stacks", "-e", "data_ear_cache_lat4", *HASHMAP],
    NOPLOOP,
    ["--report", "cpi", *NOPLOOP],
    ["--timeline=,2", *NOPLOOP],
    ["--report", "derived", "--pmu=montecito", *HASHMAP],
    ["--session-timeout=0.3", "-e", "nops_retired", example("noploop"), "100000000000"],
    ["--per-region", "-e", "nops_retired", *NOPLOOP],
    ["--per-processor", "--processors=2", "-k", "-e", "ia64_inst_retired", "--system", PROCESSORS],
]
TWO = ["--json", "--smt", f"{HASHMAP[0]} 50"]
TWO_PROGRAMS = [
    ["-e", "loads_retired", *NOPLOOP],
    ["--report", "cpi", "--with-header", *NOPLOOP],
    ["--long-smpl-periods=5", "-e", "data_ear_cache_lat4", *NOPLOOP],
]
FOLLOWED = ["--follow-all", "-e", "instructions_retired", "/bin/sh", "-c", "/bin/true; exit 3"]


@cache
def results_of(*words: str) -> str:
    """What --json prints of a run."""
    done = pfmon("--json", "--no-cmd-output", *words)
    assert done.stdout, done.stderr
    return done.stdout


def objects(schema: Any, at: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every part of a schema that describes something."""
    if isinstance(schema, dict):
        if "type" in schema:
            yield at, schema
        for name, part in schema.items():
            yield from objects(part, f"{at}/{name}")


def test_the_schema_is_one_and_closed() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    for at, part in objects(SCHEMA):
        if "object" in part["type"] and "properties" in part:
            assert part["additionalProperties"] is False and part["required"] == list(part["properties"]), at


@pytest.mark.parametrize("words", first_quick(RUNS), ids=lambda words: " ".join(words[:-2])[:60])
def test_results_are_as_the_schema_says(words: list[str]) -> None:
    jsonschema.Draft202012Validator(SCHEMA).validate(json.loads(results_of(*words)))


@pytest.mark.parametrize("words", first_quick(TWO_PROGRAMS), ids=lambda words: " ".join(words[:2]))
def test_results_of_two_programs_are_as_the_schema_says(words: list[str]) -> None:
    results = json.loads(results_of(*TWO, *words))
    jsonschema.Draft202012Validator(SCHEMA).validate(results)
    assert [len(run["command"]) for run in results["threads"]] == [2, 2]
    for change in ({"new": 1}, {"core": {}}, {"threads": results["threads"][:1]}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.Draft202012Validator(SCHEMA).validate({**results, **change})


def test_results_of_two_cores_are_as_the_schema_says() -> None:
    results = json.loads(results_of("--cores=2", "--beside", f"{HASHMAP[0]} 50", "-e", "loads_retired", *NOPLOOP))
    jsonschema.Draft202012Validator(SCHEMA).validate(results)


@pytest.mark.slow
def test_results_of_followed_programs_are_as_the_schema_says() -> None:
    done = pfmon("--json", *FOLLOWED)
    if "install the package" in done.stderr:
        pytest.skip("qemu-user is not here")
    results = json.loads(done.stdout)
    jsonschema.Draft202012Validator(SCHEMA).validate(results)
    assert len(results["tasks"]) > 1


def test_what_is_not_in_the_schema_is_refused() -> None:
    results = json.loads(results_of(*RUNS[0]))
    for change in ({"new": 1}, {"exit_status": "0"}, {"events": [{"name": "X"}]}, {"stopped": "never"}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.Draft202012Validator(SCHEMA).validate({**results, **change})


def test_every_part_of_the_schema_comes_in_some_run() -> None:
    runs = [json.loads(results_of(*words)) for words in RUNS]
    for name in SCHEMA["$defs"]["run"]["properties"]:
        if name not in ("signal", "tasks", "threads"):
            assert any(run[name] not in (None, []) for run in runs), name
