"""The library counts what the command line counts, under every kind of option."""

import json
from typing import Any

import pytest
from command import example, pfmon
from example_counts import examples
from grids import each, sampled
from hypothesis import given
from hypothesis import strategies as st

from pfmon.errors import PfmonError
from pfmon.library.preparing.standard_streams import DEVNULL
from pfmon.library.run_api import record, replay, run

RUNS: list[tuple[list[str], dict[str, Any]]] = [
    (["-e", "ia64_inst_retired,loads_retired"], {"events": ["ia64_inst_retired", "loads_retired"]}),
    (["-e", "cpu_cycles,l2_misses"], {"events": "cpu_cycles,l2_misses"}),
    (["--pmu", "montecito", "-e", "cpu_op_cycles_all"], {"pmu": "montecito", "events": ["cpu_op_cycles_all"]}),
    (["--pmu", "itanium", "-e", "nops_retired"], {"pmu": "itanium", "events": ["nops_retired"]}),
    (["--irange", "main", "-e", "nops_retired"], {"irange": "main", "events": ["nops_retired"]}),
    (
        ["--irange", "0x4000000000000000-0x4000000000001000", "--inverse-irange", "-e", "nops_retired"],
        {"irange": (1 << 62, (1 << 62) + 0x1000), "inverse_irange": True, "events": ["nops_retired"]},
    ),
    (["--drange", "0x6000000000000000-0x6000000000001000", "-e", "loads_retired"],
     {"drange": (0x6 << 60, (0x6 << 60) + 0x1000), "events": ["loads_retired"]}),
    (["--opc-match8", "br.ret", "-e", "ia64_tagged_inst_retired_ibrp0_pmc8"],
     {"opc_match8": "br.ret", "events": ["ia64_tagged_inst_retired_ibrp0_pmc8"]}),
    (["--event-thresholds", "3", "-e", "ia64_inst_retired"],
     {"event_thresholds": [3], "events": ["ia64_inst_retired"]}),
    (["--machine", "madison-9m", "--set", "l3.size=3M", "-e", "l3_misses"],
     {"machine": "madison-9m", "set": {"l3.size": "3M"}, "events": ["l3_misses"]}),
    (["--unlimited", "-e", "loads_retired,stores_retired,nops_retired,cpu_cycles,ia64_inst_retired"],
     {"unlimited": True,
      "events": ["loads_retired", "stores_retired", "nops_retired", "cpu_cycles", "ia64_inst_retired"]}),
    (["-e", "loads_retired", "-e", "stores_retired", "--switch-timeout", "0.01", "--true-values"],
     {"events": [["loads_retired"], ["stores_retired"]], "switch_timeout": 0.01, "true_values": True}),
    (["-e", "ia64_inst_retired", "--print-interval=0.01"], {"events": "ia64_inst_retired", "print_interval": 0.01}),
    (["-e", "ia64_inst_retired", "--trigger-code-start-addresses=main", "--trigger-code-stop-addresses=printf"],
     {"events": ["ia64_inst_retired"], "trigger_code_start_addresses": "main",
      "trigger_code_stop_addresses": ["printf"]}),
    (["--per-function", "--per-block", "--annotate=main", "-e", "loads_retired,ia64_inst_retired"],
     {"per_function": True, "per_block": True, "annotate": "main", "events": ["loads_retired", "ia64_inst_retired"]}),
    (["--report=cpi"], {"report": "cpi"}),
    (["-e", "data_spec_miss_ratio"], {"events": ["data_spec_miss_ratio"]}),
    (["--priv-levels=u", "--insn-sets=ia64", "-e", "loads_retired"],
     {"priv_levels": ["u"], "insn_sets": ["ia64"], "events": ["loads_retired"]}),
    (["-k", "-u", "--ia64", "-e", "loads_retired"], {"levels": "ku", "ia64": True, "events": ["loads_retired"]}),
    (["--slow", "--env=A=b", "--seed=7", "-e", "ia64_inst_retired"],
     {"slow": True, "environment": {"A": "b"}, "seed": 7, "events": ["ia64_inst_retired"]}),
]  # fmt: skip


def without_times(data: dict[str, Any]) -> dict[str, Any]:
    """What repeats of a run."""
    return {name: value for name, value in data.items() if name != "seconds"}


@sampled(6)
@each(("words", "options"), RUNS, ids=lambda one: one[0] if isinstance(one, list) else "")
def test_results_equal_the_commands_json(words: list[str], options: dict[str, Any]) -> None:
    command = [example("hashmap"), "100"]
    done = pfmon("--json", "--no-cmd-output", *words, *command)
    data = json.loads(done.stdout)
    made = json.loads(json.dumps(run(command, stdout=DEVNULL, **options).to_dict()))
    assert without_times(made) == without_times(data)
    assert options.keys() == {"report"} or data["events"]


@pytest.mark.slow
@examples(15)
@given(
    st.lists(st.sampled_from(["ia64_inst_retired", "nops_retired", "loads_retired"]), unique=True, min_size=1),
    st.sampled_from(["itanium", "itanium2", "montecito"]),
    st.booleans(),
    st.sampled_from([None, "main", "printf"]),
)
def test_any_mixture_of_options_counts_as_the_command(
    events: list[str], pmu: str, unlimited: bool, irange: str | None
) -> None:
    words = [f"--pmu={pmu}", "-e", ",".join(events)]
    words += ["--unlimited"] * unlimited + ([f"--irange={irange}"] if irange else [])
    done = pfmon("--json", *words, "--no-cmd-output", example("fib"), "8")

    def count() -> list[Any]:
        made = run([example("fib"), "8"], events=events, pmu=pmu, unlimited=unlimited, irange=irange, stdout=DEVNULL)
        return [count.value for count in made.counts]

    if done.returncode:
        with pytest.raises(PfmonError) as caught:
            count()
        assert done.stderr == f"pfmon: {caught.value}\n"
    else:
        assert count() == [event["count"] for event in json.loads(done.stdout)["events"]]


def test_recordings_are_made_and_counted_again(tmp_path: Any) -> None:
    command = [example("queens"), "5"]
    options: dict[str, Any] = {"events": ["cpu_cycles", "ia64_inst_retired"], "irange": None}
    first = record(tmp_path / "run", command, stdout=DEVNULL, **options)
    again = replay(tmp_path / "run", **options)
    assert again.counts.to_dict() == first.counts.to_dict() == run(command, stdout=DEVNULL, **options).counts.to_dict()
    data = json.loads(pfmon("--json", f"--replay={tmp_path / 'run'}", "-e", "cpu_cycles,ia64_inst_retired").stdout)
    assert without_times(json.loads(json.dumps(again.to_dict()))) == without_times(data)
