"""Options that select which children and executed programs of a program are counted."""

from __future__ import annotations

import re
import resource
from typing import TYPE_CHECKING

from pfmon.errors import BadValueError, PfmonError, refuse
from pfmon.library.options.run_options import Options

if TYPE_CHECKING:
    from pfmon.session.run.followed_tasks import FollowOptions


FILES_A_PROCESS = 4
"""Descriptors that pfmon needs for each process."""
OTHER_FILES = 100


def pattern(option: str, text: str) -> str:
    """Return a regular expression, checked."""
    try:
        re.compile(text)
    except re.error as error:
        raise BadValueError(f"--{option}={text}: {error}; a regular expression is wanted").about(
            f"--{option}"
        ) from None
    return text


def following_goes_alone(options: Options) -> None:
    """Raise PfmonError for options that observe a single process, which exclude --follow-... ."""
    if not options.follows:
        if not (options.per_thread and options.aggregate_results):
            refuse(
                {
                    "--aggregate-results": options.aggregate_results,
                    "--follow-exec-exclude": options.follow_exec_exclude,
                },
                "{} applies to children and executed programs: give --follow-all, or --follow-fork or -exec",
                "--follow-all",
                "--follow-fork",
            )
        return
    refuse(
        {
            "--record": options.record,
            "--replay": options.replay,
            "--per-function, --per-block and --annotate": options.per_function or options.per_block or options.annotate,
            "--print-interval": options.print_interval is not None,
            "several event sets (-e)": options.several_sets,
        },
        "{}: about one process alone; leave out --follow-..., which counts several",
    )
    if options.sampled and options.aggregate_results:
        raise PfmonError("--aggregate-results: samples are of each task; leave it out, or the periods").about(
            "--aggregate-results"
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
            "--per-function, --per-block and --annotate": options.per_function or options.per_block or options.annotate,
            "--report": options.report,
            "--print-interval": options.print_interval is not None,
            "several event sets (-e)": options.several_sets,
        },
        "{}: counts all threads together; leave out --per-thread, which counts each by itself",
        "--per-thread",
    )


def following(options: Options) -> FollowOptions | None:
    """Return the processes to follow. PfmonError: the limit on open files is too low."""
    if not options.follows:
        return None
    from pfmon.session.run.followed_tasks import FollowOptions

    limit = options.follow_limit
    needed = FILES_A_PROCESS * options.follow_limit + OTHER_FILES
    allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if allowed != resource.RLIM_INFINITY and needed > allowed:
        most = max(1, (allowed - OTHER_FILES) // FILES_A_PROCESS)
        if options.follow_limit != type(options).follow_limit:
            raise BadValueError(
                f"--follow-limit={options.follow_limit}: takes {needed} open files, and {allowed} are allowed "
                f"(ulimit -n); at most {most} processes then"
            ).about("--follow-limit")
        limit = most
    return FollowOptions(
        options.follow_fork,
        options.follow_exec,
        limit,
        options.follow_exec_only,
        options.follow_exec_exclude,
    )
