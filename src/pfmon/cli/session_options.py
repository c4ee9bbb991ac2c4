"""When is counted, and for which of several event sets (pfmon on Itanium 2, sections 9 and 10)."""

from pfmon.cli.config import Config
from pfmon.cli.options import Given, Option
from pfmon.cli.values import milliseconds
from pfmon.errors import PfmonError, RuleError

TITLE = "Sessions (milliseconds are of the program's processor time, one nanosecond an instruction)"
OPTIONS = [
    Option("switch-timeout", "with several -e: count the next event set after so long", "MILLISECONDS"),
    Option("true-values", "with several -e: print what counting all the time gives, and the error, beside estimates"),
    Option("print-interval", "print what was counted in every interval of so long", "MILLISECONDS"),
    Option("insecure", "let the program start and stop counting (sum, rum) and read counters (mov =pmd)"),
    Option("dont-start", "do not start counting; with --insecure the program does it"),
    Option("excl-intr", "leave out what interrupts cause; programs run without interrupts"),
    Option("intr-only", "kernel level: count what interrupts cause only; programs run without interrupts"),
    Option("incl-intr", "the same as --intr-only"),
    Option("exclude-idle", "leave out the idle task; a program's run has none"),
]
TIMES = {"switch-timeout": "switch_timeout", "print-interval": "print_interval"}
FLAGS = {"true-values": "true_values", "insecure": "insecure", "dont-start": "dont_start"}
IDLE = {
    "excl-intr": "interrupts are handled at the kernel level, and programs run at the user level",
    "intr-only": "it is about the kernel level, and programs run at the user level, where everything counts",
    "incl-intr": "it is about the kernel level, and programs run at the user level, where everything counts",
    "exclude-idle": "there is no idle task beside one program",
}
"""Options that change nothing while a program runs, and why."""


def apply(config: Config, given: Given) -> None:
    """Take one option's value."""
    if given.name in TIMES:
        setattr(config, TIMES[given.name], milliseconds(given.name, given.value or ""))
    elif given.name in FLAGS:
        setattr(config, FLAGS[given.name], True)
    else:
        config.idle_options.append(given.name)


def finish(config: Config) -> None:
    """Check what the options say together."""
    interrupts_are_excluded_or_alone(config)
    event_sets_take_turns(config)
    insecure_is_for_programs(config)
    alone = {
        "--unlimited": config.unlimited,
        "--per-function, --per-block and --annotate": config.per_function or config.per_block or bool(config.annotate),
        "--print-interval": config.print_interval is not None,
    }
    for option, used in alone.items():
        if used and len(config.set_sizes) > 1:
            raise PfmonError(f"{option}: several event sets are estimates; give all events in one -e, with --unlimited")
    if not config.events:
        wanted = {"--print-interval": config.print_interval is not None, "--insecure": config.insecure}
        for option, used in wanted.items():
            if used and not config.action:
                raise PfmonError(f"{option}: there is nothing to count: give -e EVENT,... too")


def interrupts_are_excluded_or_alone(config: Config) -> None:
    """Interrupt-triggered execution is included alone or excluded (pfmon on Itanium 2, section 10)."""
    if "excl-intr" in config.idle_options and {"intr-only", "incl-intr"} & set(config.idle_options):
        raise RuleError(
            "interrupts_are_excluded_or_alone",
            "--excl-intr and --intr-only exclude each other",
            "pfmon on Itanium 2, section 10",
        )


def event_sets_take_turns(config: Config) -> None:
    """Several event sets need a time after which the next one counts."""
    several = len(config.set_sizes) > 1
    if several and config.switch_timeout is None and not config.action:
        raise PfmonError(
            "several event sets (-e) take turns on the PMU: give --switch-timeout=MILLISECONDS, or --unlimited and "
            "one -e to count all at once"
        )
    for option, used in {"--switch-timeout": config.switch_timeout, "--true-values": config.true_values}.items():
        if used and not several:
            raise PfmonError(f"{option} is about several event sets: give -e more than once")


def insecure_is_for_programs(config: Config) -> None:
    """A program starts and stops user monitors (PSR.up); privileged ones follow PSR.pp (section 9)."""
    if config.insecure and config.system_wide:
        raise RuleError(
            "insecure_is_for_programs",
            "--insecure does not go with --system-wide: the program's sum and rum start and stop user monitors",
            "pfmon on Itanium 2, section 9",
        )


def notes(config: Config) -> list[str]:
    """What options change nothing, and why."""
    said = [f"--{name} changes nothing: {IDLE[name]}" for name in dict.fromkeys(config.idle_options)]
    if config.dont_start and not config.insecure:
        said.append("--dont-start: nothing will start counting, all counts are 0; --insecure lets the program do it")
    return said
