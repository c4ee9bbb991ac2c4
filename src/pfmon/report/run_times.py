"""The duration of a run, as --show-time prints it."""

from __future__ import annotations

from pfmon.session.run.run_plan import Times


def times_line(times: Times) -> str:
    """Return ``real 0h00m00.252s user 0h00m00.248s sys 0h00m00.004s``: the host's time, not the program's."""
    return f"real {_clock(times.real)} user {_clock(times.user)} sys {_clock(times.system)}\n"


def _clock(seconds: float) -> str:
    milliseconds = round(max(0.0, seconds) * 1000)
    minutes, rest = divmod(milliseconds, 60_000)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h{minutes:02d}m{rest // 1000:02d}.{rest % 1000:03d}s"
