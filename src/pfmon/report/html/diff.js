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
function columns(pairOf, name) {
  return [
    {name, text: true, get: (row) => row.name},
    {name: "A", get: (row) => pairOf(row).a},
    {name: "B", get: (row) => pairOf(row).b},
    {
      name: "B − A",
      get: (row) => Math.abs((pairOf(row).b ?? 0) - (pairOf(row).a ?? 0)),
      show: (row) => signed(pairOf(row).difference),
    },
    {name: "change", get: (row) => pairOf(row).change, show: (row) => change(pairOf(row))},
  ];
}
function side(name, one) {
  return {name, file: `${one.path} (${one.kind})`, command: one.command.join(" "), pmu: one.pmu, machine: one.machine};
}

function summary() {
  const all = data.causes[0];
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
function counts() {
  if (data.counts.length)
    section(
      "counts",
      "Counts",
      table(
        columns((row) => row, "event"),
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
      "Cycles an instruction, by cause",
      own.flatMap((cause) =>
        [
          ["A", cause.cpi.a],
          ["B", cause.cpi.b],
        ].map(([name, value]) => ({name, part: cause.name, value})),
      ),
      parts,
      {label: "cycles an instruction", tickFormat: "~g"},
    ),
    table(
      [
        {name: "cause", text: true, get: (row) => row.name, show: (row) => (row.part ? "\u2003" : "") + row.name},
        ...["a", "b"].map((which) => ({
          name: "CPI " + which.toUpperCase(),
          get: (row) => row.cpi[which],
          show: (row) => number(row.cpi[which], 4),
        })),
        {name: "B − A", get: (row) => row.cpi.difference, show: (row) => signed(row.cpi.difference, 4)},
        {name: "change", get: (row) => row.cpi.change, show: (row) => change(row.cpi)},
        {name: "cycles A", get: (row) => row.cycles.a},
        {name: "cycles B", get: (row) => row.cycles.b},
      ],
      data.causes,
      {sort: -1, label: "cycles by cause"},
    ),
  );
}
function functions() {
  if (!data.causes.length) return;
  const whole = (row) => sum(row ?? []),
    most = Math.max(1, ...data.functions.flatMap((row) => [whole(row.parts_a), whole(row.parts_b)]));
  const bars = (row) =>
    el("span", {}, stacked(row.parts_a ?? [], most, parts), stacked(row.parts_b ?? [], most, parts));
  const place = section("functions", "Functions that changed", legend(parts));
  if (!data.functions.length) {
    place.append(el("p", {}, "No function differs."));
    return;
  }
  place.append(
    table(
      [
        ...columns((row) => row.cycles, "function"),
        {name: "by cause: A above, B below", get: (row) => row.cycles.b, show: bars},
        {name: "instructions A", get: (row) => row.instructions.a},
        {name: "instructions B", get: (row) => row.instructions.b},
      ],
      data.functions,
      {sort: 3, descending: true, label: "functions"},
    ),
  );
}
function byEvent() {
  for (const [event, pairs] of Object.entries(data.by_event)) {
    section(
      "event-" + event,
      event + " by function",
      pairs.length
        ? table(
            columns((row) => row, "function"),
            pairs,
            {sort: 3, descending: true, label: event},
          )
        : el("p", {}, "No function differs."),
    );
  }
}

frame("A and B side by side", "find an event, function…  ( / )");
summary();
counts();
cycles();
functions();
byEvent();
finish();
