"use strict";
// The differences of two results.

const {parts} = data;

function signed(value, digits = null) {
  return value === null || value === undefined ? "–" : (value > 0 ? "+" : "") + number(value, digits);
}
function change(pair) {
  if (pair.change === null) return "–";
  const shown = el(
    "span",
    {class: Math.abs(pair.change) < 0.0005 ? null : pair.change > 0 ? "worse" : "better"},
    (pair.change > 0 ? "+" : "") + percent(pair.change, 1, 2),
  );
  return shown;
}
// B minus A; a side without the function or line counts as 0.
function growth(pair) {
  return (pair.b ?? 0) - (pair.a ?? 0);
}
function columns(pairOf, name, nameOf = (row) => row.name, deltaOf = growth) {
  return [
    {name, text: true, get: nameOf, show: (row) => clipped(nameOf(row))},
    {name: "A", get: (row) => pairOf(row).a},
    {name: "B", get: (row) => pairOf(row).b},
    {
      name: "B − A",
      get: (row) => Math.abs(deltaOf(pairOf(row))),
      show: (row) => signed(deltaOf(pairOf(row))),
    },
    {name: "change", get: (row) => pairOf(row).change, show: (row) => change(pairOf(row))},
  ];
}
function side(name, one) {
  return {name, file: `${one.path} (${one.kind})`, command: one.command.join(" "), pmu: one.pmu, machine: one.machine};
}
// A function or line that one side does not have is marked before its name, which may be cut.
function named(name, pair) {
  return (pair.a === null ? "new: " : pair.b === null ? "gone: " : "") + name;
}
// A long name in a narrow column; all of it is its title.
const CLIPPED =
  "display:inline-block;max-width:min(32rem,44vw);overflow:hidden;text-overflow:ellipsis;vertical-align:bottom;white-space:pre";
function clipped(text) {
  return el("span", {style: CLIPPED, title: text.length > 24 ? text : null}, text);
}
function note(what, event) {
  const text = data.small[what + " " + event];
  return text ? el("p", {class: "soft"}, text + ".") : null;
}

function result() {
  if (!data.conclusion) return;
  const all = data.causes[0];
  section(
    "result",
    "Result",
    el("p", {style: "font-size:1.15rem;font-weight:600;overflow-wrap:anywhere"}, data.conclusion),
    all
      ? cards([
          ["cycles, A", number(all.cycles.a)],
          ["cycles, B", number(all.cycles.b)],
          ["change", all.cycles.change === null ? "–" : signed(100 * all.cycles.change, 2) + "%"],
          ["cycles an instruction, A", number(all.cpi.a, 4)],
          ["cycles an instruction, B", number(all.cpi.b, 4)],
        ])
      : null,
  );
}
function summary() {
  section(
    "summary",
    "A and B",
    table(
      [
        {name: "", text: true, get: (row) => row.name},
        {name: "file", text: true, get: (row) => row.file},
        {name: "command", text: true, get: (row) => row.command},
        {name: "PMU", text: true, get: (row) => row.pmu},
        {name: "machine", text: true, get: (row) => row.machine},
      ],
      [side("A", data.a), side("B", data.b)],
      {sort: 0, descending: false, label: "sides"},
    ),
  );
}
function counts() {
  if (data.counts.length)
    section(
      "counts",
      "Counts",
      table(
        columns(
          (row) => row,
          "event",
          (row) => row.name,
          (pair) => pair.difference,
        ),
        data.counts,
        {sort: -1, label: "counts"},
      ),
    );
}
function cycles() {
  if (!data.causes.length) return;
  const own = data.causes.filter((cause) => parts.includes(cause.name) && !cause.part);
  section(
    "cycles",
    "Where the cycles went",
    legend(parts),
    stackedBars(
      "Cycles, by cause",
      own.flatMap((cause) =>
        [
          ["A", cause.cycles.a],
          ["B", cause.cycles.b],
        ].map(([name, value]) => ({name, part: cause.name, value})),
      ),
      parts,
      {label: "cycles", tickFormat: "~s"},
    ),
    table(
      [
        ...columns(
          (row) => row.cycles,
          "cause",
          (row) => (row.part ? "\u2003" : "") + row.name,
        ),
        ...["a", "b"].map((which) => ({
          name: "an instruction, " + which.toUpperCase(),
          get: (row) => row.cpi[which],
          show: (row) => number(row.cpi[which], 4),
        })),
      ],
      data.causes,
      {sort: -1, label: "cycles by cause"},
    ),
    note("component", "cycles"),
  );
}
// Bars of the cycles by cause, A above B, of rows with parts_a and parts_b.
function bars(rows) {
  const whole = (parts) => sum(parts ?? []),
    most = Math.max(1, ...rows.flatMap((row) => [whole(row.parts_a), whole(row.parts_b)]));
  return (row) => el("span", {}, stacked(row.parts_a ?? [], most, parts), stacked(row.parts_b ?? [], most, parts));
}
function functions() {
  if (!data.causes.length) return;
  const rows = data.functions,
    place = section("functions", "Functions that changed", legend(parts));
  if (rows.length)
    place.append(
      table(
        [
          ...columns(
            (row) => row.cycles,
            "function",
            (row) => named(row.name, row.cycles),
          ),
          {name: "by cause: A above, B below", get: (row) => row.cycles.b, show: bars(rows)},
          {name: "instructions A", get: (row) => row.instructions.a},
          {name: "instructions B", get: (row) => row.instructions.b},
        ],
        rows,
        {sort: 3, descending: true, label: "functions"},
      ),
    );
  place.append(note("function", "cycles") ?? (rows.length ? "" : el("p", {}, "No function differs.")));
}
// The text of a line; of an edited one that of A above that of B.
function code(row) {
  const edited = row.text_a !== null && row.text_b !== null && row.text_a !== row.text_b;
  if (!edited) return clipped(row.text_a ?? row.text_b ?? "");
  return el("span", {}, clipped("A  " + row.text_a), el("br"), clipped("B  " + row.text_b));
}
function linesTable(rows, event, causes) {
  return table(
    [
      {name: "line", text: true, get: (row) => named(row.name, row.counts)},
      {name: "code", text: true, get: (row) => [row.text_a ?? "", row.text_b ?? ""].join(" "), show: code},
      ...columns((row) => row.counts, "").slice(1),
      ...(causes
        ? [
            {name: "by cause: A above, B below", get: (row) => row.counts.b, show: bars(rows)},
            {name: "function", text: true, get: (row) => row.function, show: (row) => clipped(row.function ?? "")},
          ]
        : []),
    ],
    rows,
    {sort: 4, descending: true, label: `${event} by line`},
  );
}
function lines() {
  const left = note("line", "cycles");
  if (!data.lines.length && !left) return;
  section(
    "lines",
    "Source lines that changed",
    legend(parts),
    data.lines.length ? linesTable(data.lines, "cycles", true) : null,
    left,
  );
}
function byEvent() {
  for (const [event, pairs] of Object.entries(data.by_event)) {
    const left = note("function", event);
    section(
      "event-" + event,
      event + " by function",
      pairs.length
        ? table(
            columns(
              (row) => row,
              "function",
              (row) => named(row.name, row),
            ),
            pairs,
            {sort: 3, descending: true, label: event},
          )
        : left
          ? null
          : el("p", {}, "No function differs."),
      left,
    );
  }
  for (const [event, rows] of Object.entries(data.lines_by_event)) {
    const left = note("line", event);
    if (rows.length || left)
      section("lines-" + event, event + " by line", rows.length ? linesTable(rows, event, false) : null, left);
  }
}

frame("A and B side by side", "find an event, function, line…  ( / )");
result();
summary();
counts();
cycles();
functions();
lines();
byEvent();
finish();
