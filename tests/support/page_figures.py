"""The figures in the text of a page: each is in what a command of the page prints, in a file of its topic, or computed
from such figures by the comment that follows it: ``7.8<!-- 4808969 / 615577 --> times``.

A comment may name a figure of a machine: ``<!-- skylake:l2.latency -->``. The figure in the text has as many digits as
it shows; one with a percent sign is a share.
"""

import ast
import math
import operator
import re
from collections.abc import Iterator
from typing import NamedTuple

from page_commands import BLOCK

from pfmon.machine.config.machine_config import load

SMALL = 12
"""Whole numbers up to this are words: eight numbers, two ways."""
PLAIN = frozenset({"64", "1024", "4096"})
"""Bytes of a line, of a kilobyte, of a page."""
NUMBER = re.compile(r"(?<![\w.{])\d[\d,]*(?:\.\d+)?(?![\w}])")
FIGURE = re.compile(rf"({NUMBER.pattern})(?:<!-- (.*?) -->)?(%?)")
OF_MACHINE = re.compile(r"\b([a-z]\w*):(\w+\.\w+)")
LITERAL = re.compile(r"`[^`]*`|\]\([^)]*\)|https?://\S+")
OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}


class PageFigure(NamedTuple):
    """A figure in a text: as it stands there, what it is computed from ("": nothing), whether it is a share."""

    text: str
    computed: str
    percent: bool


def figures(text: str) -> Iterator[PageFigure]:
    """The figures of a page's prose: blocks, code and links are none of it."""
    for paragraph in LITERAL.sub("", BLOCK.sub("", text)).splitlines():
        for number, computed, percent in FIGURE.findall(paragraph):
            yield PageFigure(number, computed, bool(percent))


def numbers(text: str) -> set[str]:
    """All numbers in a text, without separators of thousands and units of bytes."""
    return {found.replace(",", "") for found in NUMBER.findall(re.sub(r"(?<=\d)[KM]\b", "", text))}


def problem(figure: PageFigure, known: set[str]) -> str:
    """What is wrong with a figure, "" if nothing; ``known``: the numbers that a page may use."""
    own = figure.text.replace(",", "")
    if not figure.computed:
        return "" if own in known or (own.isdecimal() and int(own) <= SMALL) else f"{figure.text} is nowhere"
    strange = numbers(OF_MACHINE.sub("", figure.computed)) - known - PLAIN
    strange = {one for one in strange if not (one.isdecimal() and int(one) <= SMALL)}
    if strange:
        return f"{figure.text}: {', '.join(sorted(strange))} is nowhere"
    value = value_of(figure.computed) * (100 if figure.percent else 1)
    digits = len(own.partition(".")[2])
    shown = f"{value:.{digits}f}"
    return "" if shown == own else f"{figure.text}: {figure.computed} is {shown}"


def value_of(text: str) -> float:
    """The value of a computation: numbers, + - * / **, brackets, ceil(), figures of machines. ValueError: no such."""
    filled = OF_MACHINE.sub(lambda found: str(load(found[1])[found[2]]), text)
    return _value(ast.parse(filled, mode="eval").body)


def _value(node: ast.AST) -> float:
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return node.value
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        return float(OPERATORS[type(node.op)](_value(node.left), _value(node.right)))
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "ceil":
        return math.ceil(_value(node.args[0]))
    raise ValueError(ast.unparse(node))
