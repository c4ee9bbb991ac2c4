"""The operating system's time: of privilege level 0, a figure for each reason, and none of it a program's."""

import json

import pytest
from command import example, pfmon

CYCLES = {"itanium": "CPU_CYCLES", "itanium2": "CPU_CYCLES", "montecito": "CPU_OP_CYCLES_ALL"}
REASONS = ("kernel.system_call", "kernel.fault", "vhpt.software")


def cycles(pmu: str, levels: str, *words: str, figures: tuple[int, int, int] = (0, 0, 0)) -> int:
    """The core's cycles at some privilege levels, with so many of the operating system for each reason."""
    sets = [f"--set={name}={value}" for name, value in zip(REASONS, figures, strict=True)]
    run = pfmon(levels, f"--pmu={pmu}", "--json", "--no-cmd-output", *sets, "-e", CYCLES[pmu], *words)
    (event,) = json.loads(run.stdout)["events"]
    return int(event["count"])


@pytest.fixture(params=sorted(CYCLES))
def pmu(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_levels_add_up(pmu: str) -> None:
    user, kernel, both = (cycles(pmu, levels, example("fib"), figures=(50, 70, 90)) for levels in ("-u", "-k", "-uk"))
    assert user > 0 and kernel > 0
    assert both == user + kernel


def test_without_cost_the_operating_system_takes_no_time(pmu: str) -> None:
    assert cycles(pmu, "-k", example("fib")) == 0


@pytest.mark.slow
def test_each_system_call_costs_its_figure(pmu: str) -> None:
    """`fib` writes its line with one call and ends with another, behind which nothing is counted."""
    costs = [cycles(pmu, "-k", example("fib"), figures=(cost, 0, 0)) for cost in (0, 100, 1000)]
    calls, rest = divmod(costs[2], 1000)
    assert rest == costs[0] == 0 and calls >= 1
    assert costs[1] == 100 * calls
    pages = cycles(pmu, "-k", example("fib"), figures=(0, 0, 100)) // 100
    changes = pfmon("--json", "--no-cmd-output", f"--pmu={pmu}", "-e", changed(pmu), example("fib"))
    spilled = 1  # the page of the register stack engine, whose accesses nobody waits for
    assert json.loads(changes.stdout)["events"][0]["count"] == 2 * (calls + pages + spilled)


def changed(pmu: str) -> str:
    return "CPU_CPL_CHANGES" if pmu != "montecito" else "CPU_CPL_CHANGES_ALL"


def test_each_first_touch_of_a_page_costs_its_figure(pmu: str) -> None:
    """Twice the memory is twice the pages: `stream` touches three arrays of so many kilobytes, of 16 KB pages."""
    few, many = (cycles(pmu, "-k", example("stream"), size, "1", figures=(0, 0, 100)) for size in ("256", "512"))
    assert few % 100 == many % 100 == 0
    assert (many - few) // 100 in range(3 * 256 // 16 - 3, 3 * 256 // 16 + 4)


def test_the_program_does_not_wait_for_longer(pmu: str) -> None:
    """What the operating system takes is no cycle of the program; its misses come meanwhile, so it may wait less."""
    short, long = (cycles(pmu, "-u", example("fib"), figures=(cost, cost, cost)) for cost in (0, 5000))
    assert short * 0.8 < long <= short + 50  # flushes that nothing hides


def test_other_events_do_not_count_at_level_0() -> None:
    done = pfmon("-k", "--pmu=itanium2", "-e", "L2_MISSES", example("fib"))
    assert done.returncode == 2 and "level 3" in done.stderr
