"""The descriptors of the PMUs agree with their tables, their machines and each other."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pfmon
from pfmon.machine.config.machine_config import load
from pfmon.pmu import get
from pfmon.pmu.model.event_table import Event
from pfmon.pmu.model.programmer import EVENT_OPTIONS, FEATURE_NAMES, FEATURES
from pfmon.pmu.target import FOLDER, Target, table_path
from pfmon.pmu.targets import default_of, targets
from pfmon.session.run.supported import PROCESSORS

TARGETS = list(targets().values())
INSTRUCTION_SETS = [processors.instruction_set for processors in PROCESSORS.values()]


@pytest.fixture(params=TARGETS, ids=lambda target: target.name)
def target(request: pytest.FixtureRequest) -> Target:
    found: Target = request.param
    return found


def test_a_folder_is_a_pmu_of_its_name() -> None:
    folders = {path.name for path in Path(FOLDER).iterdir() if path.is_dir() and not path.name.startswith("_")}
    assert {target.name for target in TARGETS} == folders


def test_every_instruction_set_has_one_default_pmu_whose_processors_run_it() -> None:
    for instruction_set in INSTRUCTION_SETS:
        defaults = [target.name for target in TARGETS if instruction_set in target.default_of]
        assert defaults == [default_of(instruction_set)]
        assert instruction_set in targets()[defaults[0]].machines


def test_its_machines_have_its_pmu_or_one_of_the_same_events(target: Target) -> None:
    assert set(target.machines) <= set(INSTRUCTION_SETS)
    for machine in target.machines.values():
        other = str(load(machine)["machine.pmu"])
        assert targets()[other].architecture == target.architecture
        assert {event.signal for event in get(target.name).events} <= {event.signal for event in get(other).events}


def test_its_events_count_on_its_counters(target: Target) -> None:
    assert {number for event in get(target.name).events for number in event.counters} == set(target.counters)


def test_it_has_features_and_options_that_there_are(target: Target) -> None:
    assert set(target.features) <= {*FEATURES, *FEATURE_NAMES, "privileged monitors (--system-wide)"}
    assert set(target.event_options) <= set(EVENT_OPTIONS)


def test_its_captures_are_in_registers_that_there_are(target: Target) -> None:
    if target.captures is None:
        return
    registers = get(target.name).registers
    for unit in (target.captures.data, target.captures.instruction):
        assert unit.configuration in registers
        assert {f"pmd{number}" for number in unit.data} == {place.partition(".")[0] for place in unit.fields.values()}
    branches = target.captures.branches
    assert set(branches.entries) < set(branches.data) and branches.configuration in registers


@pytest.mark.parametrize("column", ["umask", "set", "type", "ear", "alias_of", "iar", "opc", "dar", "all", "mesi"])
def test_a_table_has_no_column_that_is_empty_in_every_row(target: Target, column: str) -> None:
    header = Path(table_path(target.name, "events")).read_text().partition("\n")[0].split(",")
    assert header == [name for name in Event._fields if name in header]
    values = {getattr(event, column) for event in get(target.name).events}
    assert (column in header) == (values - {0, "-"} != set())


BROADWELL = """
from pfmon.pmu.target import Target

TARGET = Target(
    name="broadwell",
    description="four general counters of 48 bits and three fixed-function counters",
    architecture="x86",
    generation=5,
    machines={"x86_64": "nehalem"},
    default_events=("CPU_CLK_UNHALTED.CORE", "INST_RETIRED.ANY"),
    counters=(0, 1, 2, 3, 32, 33, 34),
    width=48,
    counter_source="Intel SDM volume 3",
    programmer="pfmon.pmu.model.intel.IntelProgrammer",
    features=("controls",),
    event_options=("edge", "invert"),
)
"""


@pytest.mark.slow
def test_a_new_pmu_is_one_folder(tmp_path: Path) -> None:
    """A copy of the package with one folder more has a PMU more: version 2's tables with two more general counters."""
    package = tmp_path / "pfmon"
    shutil.copytree(Path(pfmon.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__", "*.pyx", "*.c"))
    new, old = package / "pmu" / "targets" / "broadwell", package / "pmu" / "targets" / "intel_v2"
    new.mkdir()
    (new / "__init__.py").write_text(BROADWELL)
    registers = (old / "registers.csv").read_text()
    (new / "registers.csv").write_text(
        registers.replace("ia32_perfevtsel0-1", "ia32_perfevtsel0-3")
        .replace("ia32_pmc0-1", "ia32_pmc0-3")
        .replace("_pmc,1:0,", "_pmc,3:0,")
    )
    (new / "events.csv").write_text((old / "events.csv").read_text().replace(",0 1", ",0 1 2 3"))
    check = (
        "from pfmon.pmu import get, names\n"
        "model = get('broadwell')\n"
        "made = model.program(['LLC_MISSES', 'LLC_REFERENCES', 'BR_INST_RETIRED.ALL_BRANCHES',"
        " 'BR_MISP_RETIRED.ALL_BRANCHES', 'INST_RETIRED.ANY'])\n"
        "file = model.register_file()\n"
        "file.store({3: 2**48 - 1})\n"
        "print(names(), sorted(made.counters), made.writes['ia32_perfevtsel3'] & 0xff, file.headroom(3))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", check], env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    wanted = [target.name for target in TARGETS]
    wanted.insert(wanted.index("skylake"), "broadwell")
    assert done.stdout == f"{wanted} [0, 1, 2, 3, 32] 197 1\n", done.stderr
