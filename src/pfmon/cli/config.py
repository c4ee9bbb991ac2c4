"""What the command line asks for."""

from dataclasses import dataclass, field


@dataclass
class Config:
    """The options' values, with their defaults."""

    pmu: str = "itanium2"
    events: list[str] = field(default_factory=list)
    action: str = ""
    """What to do instead of running a program: help, version, list, list-long, info, pmu-info, check."""
    subject: str = ""
    """What the action is about: a regular expression or an event."""
    verbose: bool = False

    number_style: str = "plain"
    outfile: str = ""
    append: bool = False
    with_header: bool = False
    show_time: bool = False
    no_cmd_output: bool = False
    json: bool = False

    session_timeout: float | None = None

    sysroot: str | None = None
    host_clock: bool = False
    host_random: bool = False
    host_ids: bool = False
    host_env: bool = False
    environment: list[str] = field(default_factory=list)
    seed: int = 0
    memory_limit: int | None = None
    slow: bool = False
