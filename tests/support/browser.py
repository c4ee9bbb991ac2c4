"""Pages as a headless Chromium shows them: what a script finds there, and whether anything was thrown."""

import html
import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

BROWSER = "chromium-headless-shell"
SWITCHES = ("--no-sandbox", "--disable-gpu", "--proxy-server=127.0.0.1:9", "--timeout=60000")

COLLECTOR = """<script>
const thrown = [];
addEventListener("error", (event) => thrown.push(String(event.message)));
addEventListener("unhandledrejection", (event) => thrown.push(String(event.reason)));
addEventListener("securitypolicyviolation", (event) => thrown.push("fetches " + event.blockedURI));
const began = performance.now();
</script>"""

ASKER = """<script>
addEventListener("load", async () => {
  const milliseconds = performance.now() - began;
  const key = (where, name) =>
    where.dispatchEvent(new KeyboardEvent("keydown", {key: name, bubbles: true, cancelable: true}));
  const type = (where, text) => { where.value = text; where.dispatchEvent(new Event("input", {bubbles: true})); };
  const cells = (row) => row.innerText.split("\\t").map((cell) => cell.trim());
  const rows = (id) => [...document.querySelectorAll(`#${id} tbody tr`)].map(cells);
  let found = null;
  try { found = await (async () => { %s })(); } catch (error) { thrown.push(String(error)); }
  const said = document.createElement("pre");
  said.id = "outcome-of-the-test";
  said.textContent = JSON.stringify({found, thrown, milliseconds});
  document.body.append(said);
});
</script></body>"""


def shown(page: Path, script: str = "return null;", width: int = 1400) -> Any:
    """What a script, the body of an async function, returns in a page; ``key``, ``type`` and ``rows`` are there for it.
    ``width``: of the window, in pixels. Nothing may be thrown, and nothing is fetched."""
    return outcome(page, script, width)["found"]


def outcome(page: Path, script: str = "return null;", width: int = 1400) -> dict[str, Any]:
    """found, and the milliseconds until all was there."""
    text = page.read_text(encoding="utf-8")
    asked = page.with_name(f"asked-{page.name}")
    head, tail = text.split("<head>", 1)
    body, end = tail.rsplit("</body>", 1)
    asked.write_text(f"{head}<head>{COLLECTOR}{body}{ASKER % script}{end}", encoding="utf-8")
    done = subprocess.run(
        [BROWSER, *SWITCHES, f"--window-size={width},1000", "--dump-dom", asked.as_uri()],
        env={**os.environ, "LC_ALL": "C.UTF-8"},
        capture_output=True,
        text=True,
        timeout=110,
        check=True,
    )
    asked.unlink()
    answer = re.search(r'<pre id="outcome-of-the-test">(.*?)</pre>', done.stdout, re.S)
    assert answer, done.stderr[-2000:]
    made: dict[str, Any] = json.loads(html.unescape(answer[1]))
    assert made["thrown"] == []
    return made


def data_of(page: Path) -> dict[str, Any]:
    """The data in a page."""
    found = re.search(
        r'<script type="application/json" id="page-data">(.*?)</script>', page.read_text(encoding="utf-8"), re.S
    )
    assert found
    made: dict[str, Any] = json.loads(found[1])
    return made
