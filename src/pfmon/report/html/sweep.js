"use strict";
// The table of a sweep as curves, heat maps and a table.

const at = new Map(data.columns.map((name, place) => [name, place]));
const cell = (row, name) => row[at.get(name)];
const good = data.rows.filter((row) => !cell(row, "error"));
const distinct = (rows, name) => [...new Set(rows.map((row) => cell(row, name)))].filter((value) => value !== null);
const ordered = (values) => values.sort((one, other) => (one < other ? -1 : one > other ? 1 : 0));
const varied = data.varied.filter((name) => distinct(good, name).length > 1);
// What rows differ in: program and machine, if there are several, and the figures that do not follow from others.
const dimensions = [...["program", "machine"].filter((name) => distinct(good, name).length > 1), ...varied];
const isNumeric = (name) => distinct(good, name).every((value) => typeof value === "number");
const labelOf = new Map(data.rows.map((row, place) => [row, data.labels[place]]));

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
  /^(cpu-)?cycles$|^CPU_(OP_)?CYCLES(_ALL)?$|^UNHALTED_CORE_CYCLES$|^PROCESSOR_CYCLES$/.test(event),
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
          {name: "cell", text: true, get: (row) => labelOf.get(row)},
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
    const values = isNumeric(name) ? ordered(distinct(good, name)) : distinct(good, name);
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

// What is in one row and not in another, as a text: a program's name stands alone, a figure's value behind its name.
function described(row, names) {
  const parts = names
    .filter((name) => cell(row, name) !== null)
    .map((name) =>
      ["program", "machine"].includes(name) ? cell(row, name) : `${name}=${shown(name, cell(row, name))}`,
    );
  return parts.join(", ") || data.rows[0][at.get("program")];
}

const MAX_LINES = COLOURS.length + MORE_COLOURS.length;

function curves() {
  const axes = [...varied.filter(isNumeric), ...varied.filter((name) => !isNumeric(name))];
  if (!axes.length) return;
  let metric = 0,
    axis = 0,
    by = 0;
  const state = {},
    tools = el("div", {class: "tools"}),
    holder = el("div", {id: "curve"});
  function draw() {
    const name = axes[axis],
      look = metrics[metric],
      rest = dimensions.filter((one) => one !== name),
      all = new Set(good.map((row) => described(row, rest))).size <= MAX_LINES;
    const ways = [...(all && rest.length !== 1 ? [["all others", rest]] : []), ...rest.map((one) => [one, [one]])];
    by = Math.min(by, Math.max(0, ways.length - 1));
    const lineOf = ways.length ? ways[by][1] : [],
      others = rest.filter((one) => !lineOf.includes(one));
    tools.replaceChildren(
      showing(metric, (place) => {
        metric = place;
        draw();
      }),
      choice("over", axes, axis, (place) => {
        axis = place;
        draw();
      }),
      ...(ways.length > 1
        ? [
            choice(
              "a line for each",
              ways.map(([text]) => text),
              by,
              (place) => {
                by = place;
                draw();
              },
            ),
          ]
        : []),
      ...fixing(others, state, draw),
    );
    const rows = good.filter((row) => holds(row, others, state) && cell(row, name) !== null && look.get(row) !== null);
    const points = rows.map((row) => ({x: cell(row, name), y: look.get(row), series: described(row, lineOf)}));
    const values = isNumeric(name) ? ordered([...new Set(points.map((point) => point.x))]) : distinct(rows, name);
    points.sort((one, other) => values.indexOf(one.x) - values.indexOf(other.x));
    holder.replaceChildren(
      points.length
        ? lines(`${look.name} over ${name}`, points, {
            x: name,
            height: 340,
            log: isNumeric(name) && isSize(name, values),
            names: isNumeric(name) ? null : values,
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

// The colours of a quantity: those of all cells of the sweep, so that a colour is the same value in each map.
function scaleOf(look) {
  const values = good.map(look.get).filter((value) => value !== null);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  if (least > 0 && most >= 100 * least) return {type: "log", domain: [least, most]};
  return {type: "linear", domain: [Math.min(0, least), most > 0 ? most : 1]};
}
const RAMP = d3.interpolateRgbBasis(["#2f8f6b", "#f2d377", "#c8443f"]);

function scaleText(scale, what) {
  const [from, to] = scale.domain.map(brief);
  return `Colours: ${what}, from ${from} (green) to ${to} (red)${scale.type === "log" ? " on a logarithmic scale" : ""}.`;
}

function heatMap(title, points, xs, ys, labels, scale, text) {
  const longest = Math.max(...ys.map((name) => name.length)),
    longestX = Math.max(...xs.map((name) => name.length));
  const map = chart(title, {
    width: Math.min(wide(), 120 + 7.2 * longest + Math.max(64, 7 * Math.min(longestX, 16)) * xs.length),
    height: 50 + 7 * Math.min(longestX, 34) + 30 * ys.length,
    marginLeft: Math.max(14 + 7.2 * longest, longestX > 10 ? 5.4 * Math.min(longestX, 40) : 0),
    marginBottom: longestX > 10 ? 24 + 5 * Math.min(longestX, 40) : 40,
    x: {domain: xs, label: labels.x, tickRotate: longestX > 10 ? -35 : 0, tickSize: 0},
    y: {domain: ys, label: labels.y, labelAnchor: "top", labelArrow: "none", tickSize: 0},
    marginTop: labels.y ? 36 : 20,
    color: {...scale, interpolate: RAMP},
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
  map.append(el("figcaption", {class: "soft"}, text));
  return map;
}
function brief(value) {
  return value >= 10000 ? d3.format(".3s")(value) : number(Number(value.toPrecision(3)));
}

function machines() {
  // figures of machines have a dot in their names, arguments of programs have none
  const beside = dimensions.filter((name) => name === "machine" || ["beside", "thread"].includes(name) || name.includes("."));
  const down = ["program", ...dimensions.filter((name) => name !== "program" && !beside.includes(name))];
  const label = (row) => described(row, beside),
    subject = (row) => described(row, down);
  const xs = [...new Set(good.map(label))];
  if (xs.length < 2 || !beside.length) return;
  let metric = 0,
    relative = 0;
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
      choice("colours", ["of the value", "of its multiple of the program's smallest"], relative, (place) => {
        relative = place;
        draw();
      }),
    );
    for (const row of rows)
      best.set(subject(row), Math.min(best.get(subject(row)) ?? Infinity, look.get(row)));
    const multiple = (row) => (best.get(subject(row)) ? look.get(row) / best.get(subject(row)) : 1);
    const points = rows.map((row) => ({
      x: label(row),
      y: subject(row),
      value: look.get(row),
      shade: relative ? multiple(row) : look.get(row),
    }));
    const most = Math.max(2, ...points.map((point) => point.shade));
    const scale = relative ? {type: "linear", domain: [1, most]} : scaleOf(look);
    const what = relative ? "how many times the program's smallest value" : `${look.name}, the same in all maps`;
    const ys = [...new Set(points.map((point) => point.y))];
    const some = points.length
      ? heatMap(look.name, points, xs, ys, {x: null, y: null}, scale, scaleText(scale, what))
      : el("p", {}, "There is nothing to show.");
    holder.replaceChildren(some);
  }
  section("machines", "Programs and machines", tools, holder);
  draw();
}

function pairs() {
  if (dimensions.length < 2) return;
  let metric = 0,
    first = dimensions.length > 2 ? dimensions.length - 2 : 1,
    second = dimensions.length > 2 ? dimensions.length - 1 : 0;
  const state = {},
    tools = el("div", {class: "tools"}),
    holder = el("div");
  function draw() {
    const [a, b] = [dimensions[first], dimensions[second]],
      others = dimensions.filter((name) => name !== a && name !== b),
      look = metrics[metric];
    tools.replaceChildren(
      showing(metric, (place) => {
        metric = place;
        draw();
      }),
      choice("across", dimensions, first, (place) => {
        if (place === second) second = first;
        first = place;
        draw();
      }),
      choice("down", dimensions, second, (place) => {
        if (place === first) first = second;
        second = place;
        draw();
      }),
      ...fixing(others, state, draw),
    );
    const rows = good.filter(
      (row) =>
        holds(row, others, state) && look.get(row) !== null && cell(row, a) !== null && cell(row, b) !== null,
    );
    const axis = (name) =>
      (isNumeric(name) ? ordered(distinct(rows, name)) : distinct(rows, name)).map((value) => shown(name, value));
    const points = rows.map((row) => ({
      x: shown(a, cell(row, a)),
      y: shown(b, cell(row, b)),
      value: look.get(row),
      shade: look.get(row),
    }));
    const scale = scaleOf(look);
    const fixed = others.map((name) => `${name} ${shown(name, state[name])}`).join(", ");
    holder.replaceChildren(
      points.length
        ? heatMap(
            fixed ? `${look.name}, ${fixed}` : look.name,
            points,
            axis(a),
            axis(b),
            {x: a, y: b},
            scale,
            scaleText(scale, `${look.name}, the same in all maps`),
          )
        : el("p", {}, "There is nothing to show."),
    );
  }
  section("pairs", "A map of two", tools, holder);
  draw();
}

function cells() {
  const hidden = new Set(["error", ...data.figures.filter((name) => distinct(data.rows, name).length < 2)]);
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
    el("p", {class: "soft"}, "The same as table.csv beside this page; seconds are of a worker's processor time."),
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
