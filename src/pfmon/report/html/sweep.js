"use strict";
// The table of a sweep as curves, heat maps and a table.

const at = new Map(data.columns.map((name, place) => [name, place]));
const cell = (row, name) => row[at.get(name)];
const good = data.rows.filter((row) => !cell(row, "error"));
const distinct = (rows, name) => [...new Set(rows.map((row) => cell(row, name)))].filter((value) => value !== null);
const ordered = (values) => values.sort((one, other) => (one < other ? -1 : one > other ? 1 : 0));
const varied = data.figures.filter((name) => distinct(good, name).length > 1);
const numeric = varied.filter((name) => distinct(good, name).every((value) => typeof value === "number"));

function shown(name, value) {
  if (value === null || value === undefined) return "–";
  if (typeof value !== "number" || !/(^|\.)(size|line)$/.test(name)) return String(value);
  for (const [unit, bytes] of [
    ["M", 1 << 20],
    ["K", 1 << 10],
  ])
    if (value >= bytes && value % (bytes / 2) === 0) return value / bytes + unit;
  return String(value);
}

// The quantities that can be shown: {name, get(row)}.
const metrics = [];
if (at.has("cpi: cycles"))
  metrics.push({name: "cycles an instruction", get: (row) => cell(row, "cpi: cycles") / cell(row, "instructions")});
const clocks = data.events.filter((event) =>
  /^CPU_(OP_)?CYCLES(_ALL)?$|^UNHALTED_CORE_CYCLES$|^PROCESSOR_CYCLES$/.test(event),
); // of the PMUs
if (clocks.length && !at.has("cpi: cycles")) {
  metrics.push({
    name: "cycles an instruction",
    get: (row) => perInstruction(row, clocks.find((event) => cell(row, event) !== null) ?? clocks[0], 1),
  });
}
for (const event of data.events) {
  metrics.push({name: event, get: (row) => cell(row, event)});
  if (good.some((row) => Number.isInteger(cell(row, event))))
    metrics.push({name: `${event} in 1000 instructions`, get: (row) => perInstruction(row, event, 1000)});
}
for (const part of data.parts)
  if (part !== "cpi: cycles")
    metrics.push({name: `${part.slice(5)}, cycles an instruction`, get: (row) => perInstruction(row, part, 1)});
function perInstruction(row, name, factor) {
  const value = cell(row, name),
    instructions = cell(row, "instructions");
  return value === null || !instructions ? null : (factor * value) / instructions;
}

function choice(label, names, chosen, act) {
  const select = el(
    "select",
    {"aria-label": label, onchange: () => act(select.selectedIndex)},
    ...names.map((name, place) => el("option", {selected: place === chosen}, name)),
  );
  return el("label", {}, el("span", {class: "soft"}, label + " "), select);
}

function showing(metric, act) {
  return choice(
    "show",
    metrics.map((one) => one.name),
    metric,
    act,
  );
}

function summary() {
  section(
    "summary",
    "Summary",
    cards([
      ...data.about,
      ...varied.map((name) => [
        name,
        ordered(distinct(good, name))
          .map((value) => shown(name, value))
          .join(", "),
      ]),
    ]),
  );
  const wrong = data.rows.filter((row) => cell(row, "error"));
  if (wrong.length) {
    section(
      "errors",
      "Cells without counts",
      table(
        [
          {name: "program", text: true, get: (row) => cell(row, "program")},
          {name: "machine", text: true, get: (row) => cell(row, "machine")},
          {name: "error", text: true, get: (row) => cell(row, "error")},
        ],
        wrong,
        {sort: -1, label: "errors"},
      ),
    );
  }
}

// Choices of figures that are not on an axis: each has one value.
function fixing(others, state, draw) {
  return others.map((name) => {
    const values = ordered(distinct(good, name));
    state[name] ??= values[0];
    return choice(
      name,
      values.map((value) => shown(name, value)),
      values.indexOf(state[name]),
      (place) => {
        state[name] = values[place];
        draw();
      },
    );
  });
}
function holds(row, others, state) {
  return others.every((name) => cell(row, name) === null || cell(row, name) === state[name]);
}
function isSize(name, values) {
  return (
    (values.every((value) => value > 0) && Math.max(...values) >= 8 * Math.min(...values)) || /(^|\.)size$/.test(name)
  );
}

function curves() {
  if (!numeric.length) return;
  let metric = 0,
    axis = 0;
  const state = {},
    tools = el("div", {class: "tools"}),
    holder = el("div", {id: "curve"});
  function draw() {
    const name = numeric[axis],
      others = varied.filter((one) => one !== name),
      look = metrics[metric];
    tools.replaceChildren(
      showing(metric, (place) => {
        metric = place;
        draw();
      }),
      choice("over", numeric, axis, (place) => {
        axis = place;
        draw();
      }),
      ...fixing(others, state, draw),
    );
    const rows = good.filter((row) => holds(row, others, state) && cell(row, name) !== null && look.get(row) !== null);
    const points = rows.map((row) => ({
      x: cell(row, name),
      y: look.get(row),
      series:
        distinct(good, "machine").length > 1
          ? `${cell(row, "program")} on ${cell(row, "machine")}`
          : cell(row, "program"),
    }));
    points.sort((one, other) => one.x - other.x);
    const values = ordered([...new Set(points.map((point) => point.x))]);
    holder.replaceChildren(
      points.length
        ? lines(`${look.name} over ${name}`, points, {
            x: name,
            height: 340,
            log: isSize(name, values),
            xTicks: values,
            xFormat: (value) => shown(name, value),
            shown: (value) => shown(name, value),
          })
        : el("p", {}, "There is nothing to show."),
    );
  }
  section("curves", "Curves", tools, holder);
  draw();
}

function heatMap(title, points, xs, ys, labels) {
  const most = Math.max(...points.map((point) => point.shade)),
    least = Math.min(...points.map((point) => point.shade));
  const longest = Math.max(...ys.map((name) => name.length)),
    longestX = Math.max(...xs.map((name) => name.length));
  return chart(title, {
    width: Math.min(wide(), 120 + 7.2 * longest + Math.max(64, 7 * Math.min(longestX, 16)) * xs.length),
    height: 50 + 7 * Math.min(longestX, 34) + 30 * ys.length,
    marginLeft: 14 + 7.2 * longest,
    marginBottom: longestX > 10 ? 24 + 5 * Math.min(longestX, 40) : 40,
    x: {domain: xs, label: labels.x, tickRotate: longestX > 10 ? -35 : 0, tickSize: 0},
    y: {domain: ys, label: labels.y, labelAnchor: "top", labelArrow: "none", tickSize: 0},
    marginTop: labels.y ? 36 : 20,
    color: {
      type: "linear",
      domain: [least, most === least ? least + 1 : most],
      interpolate: d3.interpolateRgbBasis(["#2f8f6b", "#f2d377", "#c8443f"]),
    },
    marks: [
      Plot.cell(points, {
        x: "x",
        y: "y",
        fill: "shade",
        inset: 1,
        title: (point) => `${point.y}\n${point.x}\n${number(point.value)}`,
      }),
      Plot.text(points, {x: "x", y: "y", text: (point) => brief(point.value), fill: "#10151c"}),
    ],
  });
}
function brief(value) {
  return value >= 10000 ? d3.format(".3s")(value) : number(Number(value.toPrecision(4)));
}

function machines() {
  const label = (row) =>
    [
      distinct(good, "machine").length > 1 ? cell(row, "machine") : null,
      ...varied.map((name) =>
        cell(row, name) === null
          ? null
          : varied.length > 1 || distinct(good, "machine").length > 1
            ? `${name.split(".")[0]} ${shown(name, cell(row, name))}`
            : shown(name, cell(row, name)),
      ),
    ]
      .filter((part) => part !== null)
      .join(" ");
  const xs = [...new Set(good.map(label))];
  if (xs.length < 2) return;
  let metric = 0;
  const tools = el("div", {class: "tools"}),
    holder = el("div");
  function draw() {
    const look = metrics[metric],
      rows = good.filter((row) => look.get(row) !== null),
      best = new Map();
    tools.replaceChildren(
      showing(metric, (place) => {
        metric = place;
        draw();
      }),
    );
    for (const row of rows)
      best.set(cell(row, "program"), Math.min(best.get(cell(row, "program")) ?? Infinity, look.get(row)));
    const points = rows.map((row) => ({
      x: label(row),
      y: cell(row, "program"),
      value: look.get(row),
      shade: best.get(cell(row, "program")) ? look.get(row) / best.get(cell(row, "program")) : 1,
    }));
    const some = points.length
      ? heatMap(
          `${look.name}: a program's best machine is green`,
          points,
          xs,
          [...new Set(points.map((point) => point.y))],
          {x: null, y: null},
        )
      : el("p", {}, "There is nothing to show.");
    holder.replaceChildren(some);
  }
  section(
    "machines",
    "Programs and machines",
    el(
      "p",
      {class: "soft"},
      "The colour compares the machines for each program separately: green is the smallest value, red the largest multiple of it.",
    ),
    tools,
    holder,
  );
  draw();
}

function pairs() {
  if (varied.length < 2) return;
  let metric = 0,
    first = 0,
    second = 1,
    subject = 0;
  const subjects = [...new Set(good.map((row) => `${cell(row, "program")} on ${cell(row, "machine")}`))];
  const state = {},
    tools = el("div", {class: "tools"}),
    holder = el("div");
  function draw() {
    const [a, b] = [varied[first], varied[second]],
      others = varied.filter((name) => name !== a && name !== b),
      look = metrics[metric];
    tools.replaceChildren(
      showing(metric, (place) => {
        metric = place;
        draw();
      }),
      choice("of", subjects, subject, (place) => {
        subject = place;
        draw();
      }),
      choice("across", varied, first, (place) => {
        if (place === second) second = first;
        first = place;
        draw();
      }),
      choice("down", varied, second, (place) => {
        if (place === first) first = second;
        second = place;
        draw();
      }),
      ...fixing(others, state, draw),
    );
    const rows = good.filter(
      (row) =>
        `${cell(row, "program")} on ${cell(row, "machine")}` === subjects[subject] &&
        holds(row, others, state) &&
        look.get(row) !== null &&
        cell(row, a) !== null &&
        cell(row, b) !== null,
    );
    const axis = (name) => ordered(distinct(rows, name)).map((value) => shown(name, value));
    const points = rows.map((row) => ({
      x: shown(a, cell(row, a)),
      y: shown(b, cell(row, b)),
      value: look.get(row),
      shade: look.get(row),
    }));
    holder.replaceChildren(
      points.length
        ? heatMap(`${look.name}, ${subjects[subject]}`, points, axis(a), axis(b), {x: a, y: b})
        : el("p", {}, "There is nothing to show."),
    );
  }
  section("pairs", "Two figures", tools, holder);
  draw();
}

function cells() {
  const hidden = new Set(["error", ...data.figures.filter((name) => !varied.includes(name))]);
  const columns = data.columns
    .filter((name) => !hidden.has(name))
    .map((name) => ({
      name,
      text: ["program", "machine", "pmu"].includes(name),
      get: (row) => cell(row, name),
      show: (row) =>
        data.figures.includes(name)
          ? shown(name, cell(row, name))
          : name === "seconds"
            ? number(cell(row, name), 2)
            : cell(row, name),
    }));
  section(
    "cells",
    "All cells",
    el("p", {class: "soft"}, "The same as table.parquet beside this page; seconds are of a worker's processor time."),
    table(columns, data.rows, {sort: -1, label: "cells"}),
  );
}

frame(data.title, "find a program, machine…  ( / )");
summary();
curves();
machines();
pairs();
cells();
finish();
