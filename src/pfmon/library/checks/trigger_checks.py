"""Rules for options of triggers. Each rule is the function of its name."""

from __future__ import annotations

from pfmon.errors import PfmonError, RuleError
from pfmon.library.options.run_options import Options

PAIRS = 4
"""Breakpoint register pairs for code, and for data; each holds one trigger."""


def check_triggers(options: Options, asks: bool) -> None:
    """Check the options of triggers. ``asks``: no program is run."""
    if {"trigger-data-ro", "trigger-data-wo"} <= options.trigger_flags:
        raise PfmonError(
            "--trigger-data-ro and --trigger-data-wo exclude each other; without them both kinds trigger"
        ).about("--trigger-data-ro", "--trigger-data-wo")
    for kind in ("code", "data"):
        given = [f"trigger-{kind}-{what}-addresses" for what in ("start", "stop")]
        flags = [flag for flag in sorted(options.trigger_flags) if flag.startswith(f"trigger-{kind}")]
        if flags and not any(name in options.triggers for name in given):
            raise PfmonError(f"--{flags[0]} applies to {kind} triggers: give --{given[0]}=ADDRESS too").about(
                f"--{flags[0]}", f"--{given[0]}"
            )
        if f"trigger-{kind}-repeat" in flags and not all(name in options.triggers for name in given):
            raise PfmonError(f"--trigger-{kind}-repeat wants both --{given[0]} and --{given[1]}").about(
                f"--trigger-{kind}-repeat", f"--{given[0]}", f"--{given[1]}"
            )
        triggers_fit_the_breakpoint_registers(kind, [text for name in given for text in options.triggers.get(name, [])])
    triggers_and_ranges_share_registers(options)
    if options.stop_event and any("start" in name for name in options.triggers):
        raise PfmonError(
            "--stop-event counts from --trigger-event on, or from the beginning: leave it out, or the addresses that "
            "start counting"
        ).about("--stop-event", "--trigger-event")
    if (options.triggers or options.trigger_event or options.stop_event) and not options.events and not asks:
        raise PfmonError("triggers start and stop counting: give -e EVENT,... too").about("--events")


def triggers_fit_the_breakpoint_registers(kind: str, wanted: list[str]) -> None:
    """Code and data have four pairs of breakpoint registers each."""
    if len(wanted) > PAIRS:
        raise RuleError(
            "triggers_fit_the_breakpoint_registers",
            f"{len(wanted)} {kind} triggers: there are {PAIRS} pairs of {kind} breakpoint registers",
            "SDM volume 2, section 7.1",
        )


def triggers_and_ranges_share_registers(options: Options) -> None:
    """Ranges and triggers are held by the same breakpoint registers (pfmon on Itanium 2, section 8)."""
    ranges = {"code": options.gives("irange", "checkpoint_func"), "data": options.gives("drange")}
    names = {"code": "--irange and --checkpoint-func", "data": "--drange"}
    for kind, used in ranges.items():
        trigger = next((name for name in options.triggers if name.startswith(f"trigger-{kind}")), "")
        if used and trigger:
            raise RuleError(
                "triggers_and_ranges_share_registers",
                f"--{trigger} does not go with {names[kind]}: both need the {kind} breakpoint registers",
                "pfmon on Itanium 2, section 8",
            ).about(f"--{trigger}")
