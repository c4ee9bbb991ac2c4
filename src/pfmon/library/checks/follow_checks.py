"""Rules for options that count children, executed programs and threads. Each rule is the function of its name."""

from __future__ import annotations

from pfmon.errors import refuse
from pfmon.library.options.needs import refuse_unmet
from pfmon.library.options.run_options import Options


def following_goes_alone(options: Options) -> None:
    """Raise PfmonError for options that observe a single process, which exclude --follow-... ."""
    if not options.follows:
        refuse_unmet("children", options)
        return
    refuse(
        {
            "--record": options.record,
            "--replay": options.replay,
            "--report=c2c": options.report == "c2c",
            "--timeline": options.timeline is not None,
            "--per-function, --per-block, --per-line and --annotate": options.splits,
            "--print-interval": options.print_interval is not None,
            "several event sets (-e)": options.several_sets,
        },
        "{}: about one process alone; leave out --follow-..., which counts several",
    )
    if options.follow_exec:
        refuse(
            {f"--{name.replace('_', '-')}": options.gives(name) for name in ("irange", "drange", "checkpoint_func")},
            "{}: addresses are those of one program, and --follow-exec counts others",
            "--follow-exec",
        )


def threads_go_alone(options: Options) -> None:
    """Raise PfmonError for options that count all threads together, which exclude --per-thread."""
    if not options.per_thread:
        return
    refuse(
        {
            "--follow-fork and --follow-exec": options.follows,
            "--long-smpl-periods and --short-smpl-periods": options.sampled,
            "--per-function, --per-block, --per-line and --annotate": options.splits,
            "--report": options.report,
            "--print-interval": options.print_interval is not None,
            "several event sets (-e)": options.several_sets,
        },
        "{}: counts all threads together; leave out --per-thread, which counts each by itself",
        "--per-thread",
    )
