"""Instruction formats of IA-64, as data.

Source: Software Developer's Manual, volume 3, chapter 4 ("Instruction Formats"): the bit diagrams of each format,
and table "Immediate Formation" in 4.8. Field names are the manual's. A field is written ``name:lowest_bit/width``;
the L slot of an X-unit instruction counts as bits 41 to 81. Bits that no field covers are ignored by the processor.
"""

from __future__ import annotations

from typing import NamedTuple

from pfmon.lazy_map import LazyMap

SLOT_BITS = 41


class Field(NamedTuple):
    """A contiguous run of bits in an instruction slot (or, from bit 41, in its L slot)."""

    low: int
    width: int

    @property
    def mask(self) -> int:
        """The field's bits in place."""
        return ((1 << self.width) - 1) << self.low

    def put(self, value: int) -> int:
        """``value`` moved to the field's place. ValueError when it does not fit."""
        if not 0 <= value < 1 << self.width:
            raise ValueError(f"{value} does not fit in {self.width} bits")
        return value << self.low

    def get(self, encoding: int) -> int:
        """The field's value in ``encoding`` (82 bits: L slot above the slot)."""
        return (encoding >> self.low) & ((1 << self.width) - 1)


# Every format, without the fields that (nearly) all share: op:37/4 and qp:0/6. "-" in front: no qp field.
_LAYOUTS = """
A1  x2a:34/2 ve:33/1 x4:29/4 x2b:27/2 r3:20/7 r2:13/7 r1:6/7
A2  x2a:34/2 ve:33/1 x4:29/4 ct2d:27/2 r3:20/7 r2:13/7 r1:6/7
A3  s:36/1 x2a:34/2 ve:33/1 x4:29/4 x2b:27/2 r3:20/7 imm7b:13/7 r1:6/7
A4  s:36/1 x2a:34/2 ve:33/1 imm6d:27/6 r3:20/7 imm7b:13/7 r1:6/7
A5  s:36/1 imm9d:27/9 imm5c:22/5 r3:20/2 imm7b:13/7 r1:6/7
A6  tb:36/1 x2:34/2 ta:33/1 p2:27/6 r3:20/7 r2:13/7 c:12/1 p1:6/6
A7  tb:36/1 x2:34/2 ta:33/1 p2:27/6 r3:20/7 zero:13/7 c:12/1 p1:6/6
A8  s:36/1 x2:34/2 ta:33/1 p2:27/6 r3:20/7 imm7b:13/7 c:12/1 p1:6/6
A9  za:36/1 x2a:34/2 zb:33/1 x4:29/4 x2b:27/2 r3:20/7 r2:13/7 r1:6/7
A10 za:36/1 x2a:34/2 zb:33/1 x4:29/4 ct2d:27/2 r3:20/7 r2:13/7 r1:6/7

I1  za:36/1 x2a:34/2 zb:33/1 ve:32/1 ct2d:30/2 x2b:28/2 r3:20/7 r2:13/7 r1:6/7
I2  za:36/1 x2a:34/2 zb:33/1 ve:32/1 x2c:30/2 x2b:28/2 r3:20/7 r2:13/7 r1:6/7
I3  za:36/1 x2a:34/2 zb:33/1 ve:32/1 x2c:30/2 x2b:28/2 mbt4c:20/4 r2:13/7 r1:6/7
I4  za:36/1 x2a:34/2 zb:33/1 ve:32/1 x2c:30/2 x2b:28/2 mht8c:20/8 r2:13/7 r1:6/7
I5  za:36/1 x2a:34/2 zb:33/1 ve:32/1 x2c:30/2 x2b:28/2 r3:20/7 r2:13/7 r1:6/7
I6  za:36/1 x2a:34/2 zb:33/1 ve:32/1 x2c:30/2 x2b:28/2 r3:20/7 count5b:14/5 r1:6/7
I7  za:36/1 x2a:34/2 zb:33/1 ve:32/1 x2c:30/2 x2b:28/2 r3:20/7 r2:13/7 r1:6/7
I8  za:36/1 x2a:34/2 zb:33/1 ve:32/1 x2c:30/2 x2b:28/2 ccount5c:20/5 r2:13/7 r1:6/7
I9  za:36/1 x2a:34/2 zb:33/1 ve:32/1 x2c:30/2 x2b:28/2 r3:20/7 zero:13/7 r1:6/7
I10 x2:34/2 x:33/1 count6d:27/6 r3:20/7 r2:13/7 r1:6/7
I11 x2:34/2 x:33/1 len6d:27/6 r3:20/7 pos6b:14/6 y:13/1 r1:6/7
I12 x2:34/2 x:33/1 len6d:27/6 y:26/1 cpos6c:20/6 r2:13/7 r1:6/7
I13 s:36/1 x2:34/2 x:33/1 len6d:27/6 y:26/1 cpos6c:20/6 imm7b:13/7 r1:6/7
I14 s:36/1 x2:34/2 x:33/1 len6d:27/6 r3:20/7 cpos6b:14/6 r1:6/7
I15 cpos6d:31/6 len4d:27/4 r3:20/7 r2:13/7 r1:6/7
I16 tb:36/1 x2:34/2 ta:33/1 p2:27/6 r3:20/7 pos6b:14/6 y:13/1 c:12/1 p1:6/6
I17 tb:36/1 x2:34/2 ta:33/1 p2:27/6 r3:20/7 x:19/1 y:13/1 c:12/1 p1:6/6
I18 i:36/1 x3:33/3 x6:27/6 y:26/1 imm20a:6/20
I19 i:36/1 x3:33/3 x6:27/6 imm20a:6/20
I20 s:36/1 x3:33/3 imm13c:20/13 r2:13/7 imm7a:6/7
I21 x3:33/3 timm9c:24/9 ih:23/1 x:22/1 wh:20/2 r2:13/7 b1:6/3
I22 x3:33/3 x6:27/6 b2:13/3 r1:6/7
I23 s:36/1 x3:33/3 mask8c:24/8 r2:13/7 mask7a:6/7
I24 s:36/1 x3:33/3 imm27a:6/27
I25 x3:33/3 x6:27/6 r1:6/7
I26 x3:33/3 x6:27/6 ar3:20/7 r2:13/7
I27 s:36/1 x3:33/3 x6:27/6 ar3:20/7 imm7b:13/7
I28 x3:33/3 x6:27/6 ar3:20/7 r1:6/7
I29 x3:33/3 x6:27/6 r3:20/7 r1:6/7
I30 tb:36/1 x2:34/2 ta:33/1 p2:27/6 x:19/1 imm5b:14/5 y:13/1 c:12/1 p1:6/6

M1  m:36/1 x6:30/6 hint:28/2 x:27/1 r3:20/7 r1:6/7
M2  m:36/1 x6:30/6 hint:28/2 x:27/1 r3:20/7 r2:13/7 r1:6/7
M3  s:36/1 x6:30/6 hint:28/2 i:27/1 r3:20/7 imm7b:13/7 r1:6/7
M4  m:36/1 x6:30/6 hint:28/2 x:27/1 r3:20/7 r2:13/7
M5  s:36/1 x6:30/6 hint:28/2 i:27/1 r3:20/7 r2:13/7 imm7a:6/7
M6  m:36/1 x6:30/6 hint:28/2 x:27/1 r3:20/7 f1:6/7
M7  m:36/1 x6:30/6 hint:28/2 x:27/1 r3:20/7 r2:13/7 f1:6/7
M8  s:36/1 x6:30/6 hint:28/2 i:27/1 r3:20/7 imm7b:13/7 f1:6/7
M9  m:36/1 x6:30/6 hint:28/2 x:27/1 r3:20/7 f2:13/7
M10 s:36/1 x6:30/6 hint:28/2 i:27/1 r3:20/7 f2:13/7 imm7a:6/7
M11 m:36/1 x6:30/6 hint:28/2 x:27/1 r3:20/7 f2:13/7 f1:6/7
M12 m:36/1 x6:30/6 hint:28/2 x:27/1 r3:20/7 f2:13/7 f1:6/7
M13 m:36/1 x6:30/6 hint:28/2 x:27/1 r3:20/7
M14 m:36/1 x6:30/6 hint:28/2 x:27/1 r3:20/7 r2:13/7
M15 s:36/1 x6:30/6 hint:28/2 i:27/1 r3:20/7 imm7b:13/7
M16 m:36/1 x6:30/6 hint:28/2 x:27/1 r3:20/7 r2:13/7 r1:6/7
M17 m:36/1 x6:30/6 hint:28/2 x:27/1 r3:20/7 s:15/1 i2b:13/2 r1:6/7
M18 m:36/1 x6:30/6 x:27/1 r2:13/7 f1:6/7
M19 m:36/1 x6:30/6 x:27/1 f2:13/7 r1:6/7
M20 s:36/1 x3:33/3 imm13c:20/13 r2:13/7 imm7a:6/7
M21 s:36/1 x3:33/3 imm13c:20/13 f2:13/7 imm7a:6/7
M22 s:36/1 x3:33/3 imm20b:13/20 r1:6/7
M23 s:36/1 x3:33/3 imm20b:13/20 f1:6/7
M24 x3:33/3 x2:31/2 x4:27/4
M25 x3:33/3 x2:31/2 x4:27/4 zero:0/6 -
M26 x3:33/3 x2:31/2 x4:27/4 r1:6/7
M27 x3:33/3 x2:31/2 x4:27/4 f1:6/7
M28 x:36/1 x3:33/3 x6:27/6 r3:20/7
M29 x3:33/3 x6:27/6 ar3:20/7 r2:13/7
M30 s:36/1 x3:33/3 x2:31/2 x4:27/4 ar3:20/7 imm7b:13/7
M31 x3:33/3 x6:27/6 ar3:20/7 r1:6/7
M32 x3:33/3 x6:27/6 cr3:20/7 r2:13/7
M33 x3:33/3 x6:27/6 cr3:20/7 r1:6/7
M34 x3:33/3 sor:27/4 sol:20/7 sof:13/7 r1:6/7 zero:0/6 -
M35 x3:33/3 x6:27/6 r2:13/7
M36 x3:33/3 x6:27/6 r1:6/7
M37 i:36/1 x3:33/3 x2:31/2 x4:27/4 imm20a:6/20
M38 x3:33/3 x6:27/6 r3:20/7 r2:13/7 r1:6/7
M39 x3:33/3 x6:27/6 r3:20/7 i2b:13/2 r1:6/7
M40 x3:33/3 x6:27/6 r3:20/7 i2b:13/2
M41 x3:33/3 x6:27/6 r2:13/7
M42 x3:33/3 x6:27/6 r3:20/7 r2:13/7
M43 x3:33/3 x6:27/6 r3:20/7 r1:6/7
M44 i:36/1 x3:33/3 i2d:31/2 x4:27/4 imm21a:6/21
M45 x3:33/3 x6:27/6 r3:20/7 r2:13/7
M46 x3:33/3 x6:27/6 r3:20/7 r1:6/7
M47 x3:33/3 x6:27/6 r3:20/7
M48 i:36/1 x3:33/3 x2:31/2 x4:27/4 y:26/1 imm20a:6/20

B1  s:36/1 d:35/1 wh:33/2 imm20b:13/20 p:12/1 btype:6/3
B2  s:36/1 d:35/1 wh:33/2 imm20b:13/20 p:12/1 btype:6/3 zero:0/6 -
B3  s:36/1 d:35/1 wh:33/2 imm20b:13/20 p:12/1 b1:6/3
B4  d:35/1 wh:33/2 x6:27/6 b2:13/3 p:12/1 btype:6/3
B5  d:35/1 wh:32/3 b2:13/3 p:12/1 b1:6/3
B6  s:36/1 ih:35/1 t2e:33/2 imm20b:13/20 timm7a:6/7 wh:3/2 -
B7  ih:35/1 t2e:33/2 x6:27/6 b2:13/3 timm7a:6/7 wh:3/2 -
B8  x6:27/6 zero:0/6 -
B9  i:36/1 x6:27/6 imm20a:6/20

F1  x:36/1 sf:34/2 f4:27/7 f3:20/7 f2:13/7 f1:6/7
F2  x:36/1 x2:34/2 f4:27/7 f3:20/7 f2:13/7 f1:6/7
F3  x:36/1 f4:27/7 f3:20/7 f2:13/7 f1:6/7
F4  rb:36/1 sf:34/2 ra:33/1 p2:27/6 f3:20/7 f2:13/7 ta:12/1 p1:6/6
F5  fc2:33/2 p2:27/6 fclass7c:20/7 f2:13/7 ta:12/1 p1:6/6
F6  q:36/1 sf:34/2 x:33/1 p2:27/6 f3:20/7 f2:13/7 f1:6/7
F7  q:36/1 sf:34/2 x:33/1 p2:27/6 f3:20/7 f1:6/7
F8  sf:34/2 x:33/1 x6:27/6 f3:20/7 f2:13/7 f1:6/7
F9  x:33/1 x6:27/6 f3:20/7 f2:13/7 f1:6/7
F10 sf:34/2 x:33/1 x6:27/6 f2:13/7 f1:6/7
F11 x:33/1 x6:27/6 f2:13/7 f1:6/7
F12 sf:34/2 x:33/1 x6:27/6 omask7c:20/7 amask7b:13/7
F13 sf:34/2 x:33/1 x6:27/6
F14 s:36/1 sf:34/2 x:33/1 x6:27/6 imm20a:6/20
F15 i:36/1 x:33/1 x6:27/6 imm20a:6/20
F16 i:36/1 x:33/1 x6:27/6 y:26/1 imm20a:6/20

X1  i:36/1 x3:33/3 x6:27/6 imm20a:6/20 imm41:41/41
X2  i:36/1 imm9d:27/9 imm5c:22/5 ic:21/1 vc:20/1 imm7b:13/7 r1:6/7 imm41:41/41
X3  i:36/1 d:35/1 wh:33/2 imm20b:13/20 p:12/1 btype:6/3 imm39:43/39
X4  i:36/1 d:35/1 wh:33/2 imm20b:13/20 p:12/1 b1:6/3 imm39:43/39
X5  i:36/1 x3:33/3 x6:27/6 y:26/1 imm20a:6/20 imm41:41/41
"""


class Format(NamedTuple):
    """An instruction format: its name, the unit letter it starts with, and its fields."""

    name: str
    unit: str
    fields: dict[str, Field]

    @property
    def predicated(self) -> bool:
        """Whether bits 5:0 name a qualifying predicate."""
        return "qp" in self.fields


def _format(line: str) -> Format:
    name, *parts = line.split()
    fields = {"op": Field(37, 4)}
    for part in parts:
        if part == "-":
            continue
        field, _, place = part.partition(":")
        low, _, width = place.partition("/")
        fields[field] = Field(int(low), int(width))
    if "-" not in parts:
        fields["qp"] = Field(0, 6)
    return Format(name, name[0], fields)


FORMATS: LazyMap[Format] = LazyMap(
    {line.split(maxsplit=1)[0]: line for line in _LAYOUTS.splitlines() if line.strip()}, _format
)
