"""A self-contained page: data, the scripts that draw it, and their libraries."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pfmon.version import VERSION

FOLDER = Path(__file__).resolve().parent
D3, PLOT, FLAME = "vendor/d3.min.js", "vendor/plot.umd.min.js", "vendor/d3-flamegraph.umd.min.js"
COMMON = ("elements.js", "tables.js", "charts.js")

POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"
"""A page neither fetches nor sends anything (Content Security Policy, level 3)."""

TEMPLATE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="pfmon {version}">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>
{style}
</style>
</head>
<body>
<noscript>This page needs JavaScript, which is switched off.</noscript>
<script type="application/json" id="page-data">{data}</script>
{scripts}
</body>
</html>
"""


def page(title: str, data: Mapping[str, Any], scripts: Sequence[str], libraries: Sequence[str] = (D3, PLOT)) -> str:
    """Return the file's text; ``scripts`` are files in this folder, the last of which draws ``data``."""
    return TEMPLATE.format(
        policy=POLICY,
        version=VERSION,
        title=_escaped(title),
        style=_text("style.css"),
        data=_json(data),
        scripts="\n".join(f"<script>{_text(name)}</script>" for name in (*libraries, *COMMON, *scripts)),
    )


def _text(name: str) -> str:
    """Return the text of a file in this folder, escaped for a page."""
    return (FOLDER / name).read_text(encoding="utf-8").strip().replace("</script", "<\\/script")


def _escaped(text: str) -> str:
    shown = text.encode("utf-8", "backslashreplace").decode()
    return shown.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")


def _json(data: Mapping[str, Any]) -> str:
    """Return JSON that contains no closing markup."""
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
