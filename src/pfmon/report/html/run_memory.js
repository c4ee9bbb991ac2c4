"use strict";
// Loads that missed the first-level cache: data by name, by address, and latencies.

function memory() {
  const seen = data.data;
  if (!seen) return;
  const all = (row) => row[4] + row[5] + row[6],
    total = sum(seen.areas.map((row) => row[7]));
  const columns = [
    {name: "data", text: true, get: (row) => row[0]},
    {name: "kind", text: true, get: (row) => row[1]},
    {name: "bytes", get: (row) => row[3]},
    {name: "loads", get: all, title: "loads that L1D did not serve, or that do not read it"},
    {name: "from L2", get: (row) => row[4]},
    {name: "from L3", get: (row) => row[5]},
    {name: "from memory", get: (row) => row[6]},
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
    table(columns, seen.areas, {sort: 7, label: "data"}),
    el("details", {}, el("summary", {}, "By ranges of addresses"), ranges(seen.areas, total)),
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
        {at: seen.l3, name: "L3"},
        {at: seen.memory, name: "memory"},
      ].filter((mark) => mark.at >= bins[0][0]),
    ),
  );
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

function heat(parts) {
  const counts = parts.map((part) => part[2]);
  const most = Math.max(1, ...counts);
  return el(
    "span",
    {class: "heat", role: "img", "aria-label": "misses from the first to the last address"},
    ...counts.map((count) =>
      el("i", {style: `opacity:${count ? 0.15 + (0.85 * count) / most : 0.05}`, title: number(count)}),
    ),
  );
}
