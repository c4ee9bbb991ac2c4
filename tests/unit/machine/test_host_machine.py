"""The machine that is nearest to the host's processor, with the host's caches (--machine host)."""

from pathlib import Path

import pytest
from grids import each

from pfmon.errors import PfmonError
from pfmon.machine.config.host_caches import COLUMNS, KEYS, HostProcessor, host_processor, host_tree
from pfmon.machine.config.machine_config import load
from pfmon.machine.config.machine_figures import FILES

CACHES = {
    "index0": ("1", "Data", "48K", "12", "64", "64"),
    "index1": ("1", "Instruction", "32K", "8", "64", "64"),
    "index2": ("2", "Unified", "1280K", "20", "64", "1024"),
    "index3": ("3", "Unified", "36864K", "12", "64", "49152"),
}
CPUINFO = """processor	: 0
vendor_id	: GenuineIntel
cpu family	: 6
model		: 106
model name	: Intel(R) Xeon(R) Platinum 8380 CPU @ 2.30GHz
flags		: fpu sse4_2 popcnt avx2 bmi1 bmi2 fma movbe avx512f

processor	: 1
model		: 1
"""


def a_host(folder: Path, cpuinfo: str = CPUINFO) -> tuple[Path, Path]:
    """Files as Linux has them."""
    for name, values in CACHES.items():
        (folder / name).mkdir()
        for key, value in zip(KEYS, values, strict=True):
            (folder / name / key).write_text(value + "\n")
    (folder / "cpuinfo").write_text(cpuinfo)
    return folder, folder / "cpuinfo"


def test_it_is_the_nearest_machine_with_the_hosts_caches(tmp_path: Path) -> None:
    tree = host_tree(*a_host(tmp_path))
    assert tree["base"] == "icelake"
    assert tree["machine"]["name"].startswith("Intel(R) Xeon(R) Platinum 8380 CPU @ 2.30GHz as icelake, with l1d 48K,")
    assert (tree["l2"]["size"], tree["l2"]["ways"], tree["l2"]["index"]) == ("1280K", 20, "bits")
    assert tree["l3"]["index"] == "modulo"


@each(
    ("vendor", "family", "model", "features", "machine"),
    [
        ("GenuineIntel", "6", "23", "", "core2"),
        ("GenuineIntel", "6", "26", "", "nehalem"),
        ("GenuineIntel", "6", "158", "", "skylake"),
        ("GenuineIntel", "6", "126", "", "icelake"),
        ("GenuineIntel", "6", "207", "avx512f avx512bw avx512cd avx512dq avx512vl", "icelake"),
        ("GenuineIntel", "6", "183", "avx2 bmi1 bmi2 fma movbe sse4_2 popcnt", "skylake"),
        ("AuthenticAMD", "25", "33", "avx2 bmi1 bmi2 fma movbe sse4_2 popcnt", "zen3"),
        ("AuthenticAMD", "23", "113", "avx2 bmi1 bmi2 fma movbe sse4_2 popcnt", "zen3"),
        ("AuthenticAMD", "25", "97", "avx512f avx512bw avx512cd avx512dq avx512vl", "zen4"),
        ("AuthenticAMD", "26", "68", "avx2 bmi1 bmi2 fma movbe sse4_2 popcnt", "skylake"),
        ("AuthenticAMD", "16", "2", "", "core2"),
        ("", "", "", "sse4_2 popcnt", "nehalem"),
    ],
)
def test_processors_have_a_nearest_machine(vendor: str, family: str, model: str, features: str, machine: str) -> None:
    assert HostProcessor(vendor, family, model, "", frozenset(features.split())).nearest() == machine
    assert machine in FILES


def test_a_host_that_says_nothing_has_no_machine(tmp_path: Path) -> None:
    assert host_processor(tmp_path / "missing") == HostProcessor("", "", "", "", frozenset())
    with pytest.raises(PfmonError, match="does not say which caches this host has"):
        host_tree(tmp_path, tmp_path / "missing")


def test_the_table_has_machines_that_exist() -> None:
    import csv

    from pfmon.machine.config import host_caches

    with (Path(host_caches.__file__).parent / "host_processors.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    assert tuple(header) == COLUMNS
    models = [(vendor, family, model) for vendor, family, listed, *_ in rows for model in listed.split()]
    assert len(models) == len({*models}) and {row[3] for row in rows} <= {*FILES}


def test_another_hosts_results_name_another_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A baseline has the name, so that it is not compared with another host's."""
    from pfmon.cli.command_line import read
    from pfmon.library.resolving.machine_selection import processor_of
    from pfmon.library.results.baseline import baseline_of, differences
    from pfmon.machine.config import host_caches

    def of(name: str) -> tuple[str, object]:
        (tmp_path / name).mkdir()
        caches, cpuinfo = a_host(tmp_path / name, CPUINFO.replace("8380", name))
        tree = host_tree(caches, cpuinfo)
        monkeypatch.setattr(host_caches, "host_tree", lambda: tree)
        line = read(["-e", "cycles", "--machine", "host", "--pmu", "icelake", "prog"])
        made = baseline_of(line.command, processor_of(line.options), line.options, {"cycles": 1})
        assert load("host")["l2.size"] == 1280 << 10
        return made.machine, made

    (first, before), (second, now) = of("8380"), of("8358")
    assert first.startswith("host: Intel(R) Xeon(R) Platinum 8380") and first != second
    assert [text for text in differences(before, now) if "its machine is host: Intel" in text]  # type: ignore[arg-type]
