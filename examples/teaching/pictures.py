"""Draws the pictures of the pages from their sweeps: NAME.svg beside each NAME.toml, with the drawn table inside.

Run it from the top of the checkout: python examples/teaching/pictures.py
"""

import json
import sys
from pathlib import Path

import pfmon

FOLDER = Path(__file__).parent
PICTURES = {
    "matrix-order/order": {"what": "cycles / L1-dcache-loads", "over": "size", "by": "order"},
    "blocking/transpose": {"what": "L1-dcache-load-misses", "over": "l1d.size", "by": "block", "kind": "map"},
    "sorted-unsorted/threshold": {"what": "cycles", "over": "predictor.mispredict", "by": "order"},
    "pointer-chase/chase": {"what": "cycles / 100000", "over": "kilobytes", "by": "order", "log": True},
    "false-sharing/counters": {"what": "cycles", "over": "distance"},
    "predictors/pattern": {"what": "branch-misses", "over": "period", "by": "predictor.kind"},
    "prefetch/steps": {"what": "cycles / 16384", "over": "prefetch.degree", "by": "step"},
    "tlb-reach/reach": {"what": "cycles / 40000", "over": "lines", "by": "where"},
    "chains-and-ports/chains": {"what": "cycles / 192000", "over": "chains", "by": "operation"},
    "predication-speculation/speculate": {"what": "CPU_CYCLES / 16384", "over": "collisions", "by": "load"},
}
"""Topic and sweep -> arguments of plot()."""
LABELS = {
    "cycles / L1-dcache-loads": "cycles a number",
    "cycles / 100000": "cycles a load",
    "cycles / 16384": "cycles a load",
    "cycles / 40000": "cycles a load",
    "cycles / 192000": "cycles an operation",
    "CPU_CYCLES / 16384": "cycles a turn",
}


def drawn_table(swept):
    """Return what a picture shows, as JSON: it is kept in the picture."""
    names, rows = swept.texts()
    return json.dumps([names, *rows])


def draw(name, swept, path):
    """Draw a picture."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": name, "font.family": "sans-serif"})
    wanted = PICTURES[name]
    axes = swept.plot(**wanted)
    if wanted["what"] in LABELS:
        axes.set_ylabel(LABELS[wanted["what"]])
    axes.figure.set_size_inches(6, 3)
    axes.figure.savefig(path, metadata={"Date": None, "Creator": None, "Description": drawn_table(swept)})


if __name__ == "__main__":
    for name in sys.argv[1:] or PICTURES:
        draw(name, pfmon.sweep(FOLDER / f"{name}.toml"), FOLDER / f"{name}.svg")
