"""Which machine the program runs on: one that comes with pfmon, or a file, with single figures changed."""

from typing import TYPE_CHECKING

from pfmon.cli.config import Config
from pfmon.cli.options import Given, Option
from pfmon.errors import PfmonError

if TYPE_CHECKING:
    from pfmon.machine.config import MachineFigures

TITLE = "Machine"
OPTIONS = [
    Option("machine", "the machine: itanium, itanium2, montecito, a variant, or a TOML FILE (that of --pmu)", "NAME"),
    Option("set", "change a figure of the machine, such as l3.size=9M; may be repeated", "FIGURE=VALUE"),
]


def apply(config: Config, given: Given) -> None:
    """Take one option's value."""
    text = given.value or ""
    if given.name == "set":
        config.machine_settings.append(text)
        return
    if config.machine:
        raise PfmonError("--machine is given twice; a program runs on one machine")
    config.machine = text


def finish(config: Config) -> None:
    """The machine's PMU is the one to program, unless --pmu says so too."""
    if not (config.machine or config.machine_settings):
        return
    own = str(machine_of(config)["machine.pmu"])
    if config.pmu_given and config.pmu != own:
        name = config.machine or "the machine"
        raise PfmonError(f"--pmu={config.pmu}: {name} has the PMU of {own}; leave --pmu out or give --pmu={own}")
    config.pmu = own


def machine_of(config: Config) -> "MachineFigures":
    """The figures of the machine that the options ask for. PfmonError: what is wrong with them."""
    from pfmon.machine.config import FILES, load  # only runs that need the machine read its file

    name = config.machine or config.pmu
    if not config.machine and name not in FILES:
        raise PfmonError(f"--pmu={config.pmu}: there is no machine for it; there are: {', '.join(FILES)}")
    return load(name, config.machine_settings)
