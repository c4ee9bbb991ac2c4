"use strict";
// Functions with their own cycles and those of what they call; callers and callees of one of them.

const parts = data.cpi.parts.map((part) => part.name);
const cyclesOf = (counts) => sum(counts.slice(0, parts.length));
const instructionsOf = (counts) => counts[parts.length];

// What other sections offer: function(number), code(listing, source), source(file, line).
const tabs = {};

const FIRST = 3 + parts.length; // of a row of functions: its instructions, then the events
data.functions.rows.forEach((row, place) => {
  row.at = place;
  row.cycles = cyclesOf(row.slice(3));
  row.inclusive = null;
});
for (const [place, cycles] of data.graph.inclusive)
  if (place >= 0) data.functions.rows[place].inclusive = (data.functions.rows[place].inclusive ?? 0) + cycles;

function objectName(path) {
  return path ? path.split("/").pop() : "the program";
}

// All functions of a shared object as one row.
const byObject = {
  key: (row) => row[2] || null,
  group: (path, rows) => {
    const made = [objectName(path), "", path];
    for (let column = 3; column < rows[0].length; column++) made.push(sum(rows.map((row) => row[column] ?? 0)));
    return Object.assign(made, {at: -1, cycles: sum(rows.map((row) => row.cycles)), inclusive: null});
  },
  title: (row, rows) => `${row[0]}: ${number(rows.length)} functions`,
};

function functions() {
  const events = data.functions.events,
    most = Math.max(1, ...data.functions.rows.map((row) => row.cycles));
  const bar = (row) => stacked(row.slice(3, FIRST), Math.max(most, row.cycles), parts);
  const columns = [
    {
      name: "function",
      text: true,
      get: (row) => row[0],
      show: (row) => functionName(row[0], () => tabs.function(row.at)),
    },
    {name: "self", get: (row) => row.cycles, title: "cycles of its own instructions"},
    {name: "share", get: (row) => row.cycles, show: (row) => percent(row.cycles, data.cpi.cycles)},
    {
      name: "inclusive",
      get: (row) => row.inclusive,
      title:
        "cycles from its calls to their returns: its own and those of all that it calls; of a recursion the outermost call. What it jumps to without a call is its own here; – : it is never called",
    },
    {
      name: "share",
      get: (row) => row.inclusive,
      show: (row) => (row.inclusive === null ? "–" : percent(row.inclusive, data.cpi.cycles)),
    },
    {name: "self, by cause", get: (row) => row.cycles, show: bar},
    {name: "instructions", get: (row) => row[FIRST]},
    {
      name: "CPI",
      get: (row) => (row[FIRST] ? row.cycles / row[FIRST] : null),
      show: (row) => (row[FIRST] ? number(row.cycles / row[FIRST], 3) : "–"),
    },
    ...parts.slice(1).map((part, number) => ({name: part, get: (row) => row[4 + number]})),
    ...events.map((event, number) => ({name: event, get: (row) => row[FIRST + 1 + number]})),
    {name: "address", text: true, get: (row) => row[1]},
  ];
  section(
    "functions",
    "Functions",
    el(
      "p",
      {class: "soft"},
      "A click on a function shows its callers and callees, and its code. The functions of the loader and of each library are one row, which opens.",
    ),
    legend(parts),
    table(columns, data.functions.rows, {sort: 1, label: "functions", fold: byObject}),
  );
}

// Functions of a Python program, with the native code that they call.
function pythonFunctions() {
  if (!data.python.length) return;
  data.python.forEach((row) => (row.cycles = cyclesOf(row.slice(3))));
  const most = Math.max(1, ...data.python.map((row) => row.cycles));
  const columns = [
    {name: "function", text: true, get: (row) => row[0], show: (row) => functionName(row[0])},
    {name: "cycles", get: (row) => row.cycles, title: "of its bytecode, and of the native code that this calls"},
    {name: "share", get: (row) => row.cycles, show: (row) => percent(row.cycles, data.cpi.cycles)},
    {name: "by cause", get: (row) => row.cycles, show: (row) => stacked(row.slice(3, FIRST), most, parts)},
    {name: "instructions", get: (row) => row[FIRST]},
    {name: "line", text: true, get: (row) => (row[1] ? `${row[1].split("/").pop()}:${row[2]}` : "")},
  ];
  section(
    "python",
    "Python functions",
    el("p", {class: "soft"}, "Each with the native code that it calls, up to the next Python function."),
    legend(parts),
    table(columns, data.python, {sort: 1, label: "Python functions"}),
  );
}

function callers() {
  if (!data.functions.rows.length) return;
  const shown = el("div");
  const place = section("callers", "Callers and callees", shown);
  const link = (number) => functionName(data.functions.rows[number][0], () => tabs.function(number));
  function calls(title, edges, other, of) {
    return el(
      "div",
      {},
      el("h3", {}, title),
      edges.length
        ? table(
            [
              {name: "function", text: true, get: (edge) => data.functions.rows[edge[other]][0], show: (edge) => link(edge[other])},
              {name: "calls", get: (edge) => edge[2]},
              {name: "cycles", get: (edge) => edge[3], title: "from these calls to their returns"},
              {name: "share", get: (edge) => edge[3], show: (edge) => percent(edge[3], of)},
              {name: "instructions", get: (edge) => edge[4]},
            ],
            edges,
            {sort: 2, descending: true, label: title},
          )
        : el("p", {class: "soft"}, "None."),
    );
  }
  function show(number) {
    const row = data.functions.rows[number],
      edges = data.graph.edges.filter((edge) => edge[0] >= 0 && edge[1] >= 0),
      of = row.inclusive ?? row.cycles;
    shown.replaceChildren(
      el("h3", {class: "mono"}, row[0]),
      el(
        "p",
        {},
        `${objectName(row[2])}, at ${row[1]}. Self: ${amount(row.cycles)}. Inclusive: ${row.inclusive === null ? "it is never called, only jumped to" : amount(row.inclusive)}. `,
        tabs.listed?.has(number) ? el("a", {href: "#code"}, "Its code") : "",
      ),
      stacked(row.slice(3, FIRST), row.cycles || 1, parts),
      el(
        "div",
        {class: "pair"},
        calls("Called by", edges.filter((edge) => edge[1] === number), 0, of),
        calls("Calls", edges.filter((edge) => edge[0] === number), 1, of),
      ),
    );
  }
  const amount = (cycles) => `${number(cycles)} cycles (${percent(cycles, data.cpi.cycles)})`;
  tabs.function = (number) => {
    show(number);
    if (tabs.listed?.has(number)) tabs.code(tabs.listed.get(number), -1, false);
    place.scrollIntoView();
  };
  tabs.first = () => show(0);
}
