"use strict";
// Loads that missed the first-level cache: data by name, by address, and latencies.

function memory() {
  const seen = data.data;
  const all = (row) => row[4] + row[5] + row[6],
    total = sum(seen.areas.map((row) => row[7]));
  if (!seen.areas.length) return;
  const columns = [
    {name: "data", text: true, get: (row) => row[0]},
    {name: "kind", text: true, get: (row) => row[1]},
    {name: "bytes", get: (row) => row[3]},
    {name: "loads", get: all, title: "loads that L1D did not serve, or that do not read it"},
    ...levels((row) => row.slice(4, 7)),
    {name: "latency", get: (row) => row[7], title: "sum of latencies, in cycles"},
    {name: "share", get: (row) => row[7], show: (row) => percent(row[7], total)},
    {
      name: "mean",
      get: (row) => (all(row) ? row[7] / all(row) : null),
      show: (row) => number(all(row) ? row[7] / all(row) : null, 1),
    },
    {name: "TLB misses", get: (row) => row[8]},
    {name: "misses by position", get: all, show: (row) => heat(row[9])},
    {name: "address", text: true, get: (row) => row[2]},
  ];
  section(
    "data",
    "Data",
    el(
      "p",
      {class: "soft"},
      `All loads that the first-level cache did not serve, by the data that they read: arrays and other objects by symbol, other memory by area, with a resolution of ${seen.piece} bytes.`,
    ),
    table(columns, seen.areas, {sort: columns.findIndex((column) => column.name === "latency"), label: "data"}),
    el("h3", {}, "By source line, or function"),
    table(
      [
        {name: "line", text: true, get: (row) => loadPlace(row), show: (row) => (row[1] < 0 ? "–" : lineName(row[1], row[2]))},
        {
          name: "function",
          text: true,
          get: (row) => data.functions.rows[row[0]]?.[0] ?? "–",
          show: (row) =>
            data.functions.rows[row[0]] ? functionName(data.functions.rows[row[0]][0], () => tabs.function(row[0])) : "–",
        },
        {name: "loads", get: (row) => row[3] + row[4] + row[5]},
        ...levels((row) => row.slice(3, 6)),
        {name: "latency", get: (row) => row[6], title: "sum of latencies, in cycles"},
        {name: "share", get: (row) => row[6], show: (row) => percent(row[6], total)},
        {name: "mean", get: (row) => row[6] / (row[3] + row[4] + row[5]), show: (row) => number(row[6] / (row[3] + row[4] + row[5]), 1)},
        {name: "source", text: true, code: true, get: (row) => (row[1] < 0 ? "" : sourceText(row[1], row[2]).trim())},
      ],
      seen.places,
      {sort: 3 + levels().length, descending: true, label: "loads by place"},
    ),
    folded("By ranges of addresses", () => ranges(seen.areas, total)),
  );
  const bins = seen.latencies.filter(([, count]) => count);
  if (!bins.length) return;
  section(
    "latencies",
    "Load latencies",
    histogram(
      "Loads that L1D did not serve, by latency in cycles",
      bins.map(([value, count]) => [Math.max(1, value), count]),
      "cycles",
      [
        {at: bins[0][0], name: "L2"},
        ...(hasL3() ? [{at: seen.l3, name: "L3"}] : []),
        {at: seen.memory, name: "memory"},
      ].filter((mark) => mark.at >= bins[0][0]),
    ),
  );
}

// A machine without L3 has one latency for both.
function hasL3() {
  return data.data.l3 < data.data.memory;
}
// Columns of the levels that served loads; of(row): loads from L2, L3, memory.
function levels(of = () => []) {
  return ["L2", "L3", "memory"]
    .map((name, level) => ({name: "from " + name, get: (row) => of(row)[level]}))
    .filter((_, level) => level !== 1 || hasL3());
}
function loadPlace(row) {
  return row[1] < 0 ? "" : `${baseName(row[1])}:${String(row[2]).padStart(5)}`;
}

function ranges(areas, total) {
  const rows = areas
    .slice(0, 40)
    .flatMap((area) => area[9].filter((part) => part[2] || part[3]).map((part) => [area[0], ...part]));
  return table(
    [
      {name: "from", text: true, get: (row) => row[1]},
      {name: "to", text: true, get: (row) => row[2]},
      {name: "loads", get: (row) => row[3]},
      {name: "latency", get: (row) => row[4], title: "sum of latencies, in cycles"},
      {name: "share", get: (row) => row[4], show: (row) => percent(row[4], total)},
      {name: "data", text: true, get: (row) => row[0]},
    ],
    rows,
    {sort: 3, label: "ranges of addresses"},
  );
}

function heat(ranges) {
  const counts = ranges.map((part) => part[2]);
  const most = Math.max(1, ...counts),
    densest = ranges[counts.indexOf(most)];
  const shown = el(
    "span",
    {class: "heat", role: "img", "aria-label": "misses from the first to the last address"},
    ...counts.map((count) => el("i", {style: `opacity:${count ? 0.15 + (0.85 * count) / most : 0.05}`})),
  );
  const span = `${ranges[0][0]} to ${ranges[ranges.length - 1][1]}`;
  return tip(shown, densest ? `${span}\nmost: ${number(most)} from ${densest[0]} to ${densest[1]}` : span);
}
