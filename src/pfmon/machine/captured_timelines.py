"""What machines capture of the executions of a block, as tuples: their fields are at `captured` of CoreTimeline
(outoforder/core_timeline.pyx) and of IssueTimeline (inorder/records/issue_timeline.pyx)."""

from __future__ import annotations

Run = tuple[int, int, int, bool, int, int, int, int]
Row = tuple[int, int, bool, int, int, int, int, int]
Delay = tuple[int, int, int, bool, int]
Captured = tuple[int, int, int, int, bool, list[Run], list[Row], list[Delay]]
"""Of an out-of-order core: its runs of blocks, the rows of their instructions, and what delayed the core."""

IssuedPart = tuple[int | None, int, int, int]
Stall = tuple[int | None, int, int, int]
IssueRun = tuple[int, int, int, list[tuple[tuple[IssuedPart, ...], Stall | None]]]
CapturedIssues = tuple[int, int, int, int, bool, list[IssueRun]]
"""Of an in-order core: its runs of blocks, the parts that issued together, and the stalls before them."""
