"""Recording a run, and running a recording."""

from pfmon.cli.config import Config
from pfmon.cli.options import Given, Option
from pfmon.errors import PfmonError

TITLE = "Recordings"
OPTIONS = [
    Option("record", "record the run in a file", "FILE"),
    Option("replay", "count a recorded run: any event, on any machine, under any qualification", "FILE"),
    Option("partial", "with --replay: count a damaged recording as far as it is whole"),
]
OF_PROGRAMS = {
    "--record": "record",
    "--slow": "slow",
    "--insecure": "insecure",
    "--host-clock": "host_clock",
    "--host-ids": "host_ids",
    "--host-random": "host_random",
    "--host-env": "host_env",
    "--env": "environment",
    "--memory-limit": "memory_limit",
}
"""Options that say how a program runs: a recorded one has run. Option -> its field of Config."""


def apply(config: Config, given: Given) -> None:
    """Take one option's value."""
    if given.name == "partial":
        config.partial = True
    elif not given.value:
        raise PfmonError(f"--{given.name}: a file is wanted")
    else:
        setattr(config, given.name, given.value)


def finish(config: Config) -> None:
    """Check what the options say together."""
    if config.partial and not config.replay:
        raise PfmonError("--partial is about recordings: give --replay=FILE too")
    if config.replay:
        for option, name in OF_PROGRAMS.items():
            if getattr(config, name):
                raise PfmonError(f"{option} says how a program runs, and with --replay it has run already")


def no_program_is_given(config: Config, command: list[str]) -> None:
    """With --replay the program is the recorded one."""
    if config.replay and command:
        raise PfmonError(f"{command[0]}: --replay={config.replay} runs what was recorded, and takes no program")
