"use strict";
// Charts, drawn by Observable Plot, with colours from the page's style: switching light and dark redraws nothing.

const MORE_COLOURS = ["#17a2b8", "#a8622a", "#d976b8", "#8d8d2a", "#4f7f86", "#7c5cd6", "#5a9e3f", "#b0465f"];
const COLOURS = [0, 1, 2, 3, 4, 5].map((place) => `var(--c${place})`);

function wide() {
  return Math.max(280, Math.min(1240, document.querySelector("main").clientWidth - (innerWidth < 700 ? 56 : 90)));
}

function chart(title, options) {
  const drawn = Plot.plot({
    style: {background: "transparent", color: "currentColor", fontSize: "12px", overflow: "visible"},
    ...options,
  });
  drawn.setAttribute("role", "img");
  drawn.setAttribute("aria-label", title);
  return el("figure", {}, el("h3", {}, title), drawn);
}

// Stacked bars with row names on the left: [{name, part, value}]. options: {label?, show?(total) -> text}
function stackedBars(title, rows, parts, options = {}) {
  const names = [...new Set(rows.map((row) => row.name))];
  const values = (name) =>
    parts.map((part) => sum(rows.filter((row) => row.name === name && row.part === part).map((row) => row.value ?? 0)));
  const bars = new Map(names.map((name) => [name, values(name)]));
  const most = Math.max(...[...bars.values()].map(sum));
  const show = options.show ?? ((total) => number(total, Number.isInteger(total) ? null : 4));
  return el(
    "figure",
    {class: "bars", style: `--name:${Math.min(40, Math.max(...names.map((name) => shortName(name).length)))}ch`},
    el("h3", {}, title.includes("cycles") || title.includes("Cycles") ? title : `${title} (${options.label ?? "cycles"})`),
    ...[...bars].map(([name, values]) =>
      el(
        "div",
        {},
        el("span", {class: "mono"}, functionName(name)),
        stacked(values, most || 1, parts),
        el("span", {}, show(sum(values))),
      ),
    ),
  );
}

// Histogram [[value, count]] on a logarithmic scale of counts.
function histogram(title, bins, label, marksOfLevels = []) {
  const top = Math.max(...bins.map(([, count]) => count));
  const drawn = chart(title, {
    width: wide(),
    height: 300,
    marginLeft: 58,
    marginRight: 62,
    marginTop: 30,
    x: {
      type: "log",
      label,
      ticks: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].filter((tick) => tick >= bins[0][0]),
      tickFormat: "~d",
    },
    y: {type: "log", label: "loads", grid: true, domain: [0.8, 1.4 * top], tickFormat: "~s", ticks: 5},
    marks: [
      Plot.ruleX(bins, {
        x: (bin) => bin[0],
        y1: 0.8,
        y2: (bin) => bin[1],
        stroke: "var(--c1)",
        strokeWidth: 3,
        title: (bin) => `${bin[0]} cycles: ${number(bin[1])}`,
      }),
      Plot.ruleX(marksOfLevels, {x: "at", stroke: "currentColor", strokeDasharray: "4,3", strokeOpacity: 0.6}),
      Plot.text(marksOfLevels, {x: "at", frameAnchor: "top", dy: -16, dx: 4, textAnchor: "start", text: "name"}),
    ],
  });
  drawn.append(asTable([label, "loads"], bins));
  return drawn;
}

// The numbers of a chart, for those who do not see it, or want them exactly. rows: [number...]
function asTable(names, rows) {
  const columns = names.map((name, place) => ({name, get: (row) => row[place]}));
  return folded("As a table", () => table(columns, rows, {sort: -1, label: names.join(", ")}));
}

// Lines over time or another quantity: [{x, y, series}].
function lines(title, points, options = {}) {
  const series = [...new Set(points.map((point) => point.series))];
  const drawn = chart(title, {
    width: options.width ?? wide(),
    height: options.height ?? 240,
    marginLeft: 62,
    x: {
      label: options.x,
      type: options.names ? "point" : options.log ? "log" : undefined,
      domain: options.names ?? undefined,
      base: options.log ? 2 : undefined,
      tickFormat: options.xFormat,
      ticks: options.xTicks,
    },
    y: {
      label: options.y ?? null,
      grid: true,
      zero: true,
      tickFormat: Math.max(...points.map((point) => point.y)) < 10 ? "~g" : "~s",
    },
    color: {domain: series, range: COLOURS.concat(MORE_COLOURS)},
    marks: [
      Plot.lineY(points, {x: "x", y: "y", stroke: "series", curve: options.curve ?? "linear", strokeWidth: 1.8}),
      points.length <= 200
        ? Plot.dot(points, {
            x: "x",
            y: "y",
            fill: "series",
            r: 3,
            title: (point) =>
              `${point.series}\n${options.shown ? options.shown(point.x) : number(point.x)}: ${number(point.y)}`,
          })
        : null,
      Plot.ruleY([0]),
    ],
  });
  if (series.length > 1) {
    const colour = (place) => COLOURS.concat(MORE_COLOURS)[place];
    drawn.append(
      el(
        "div",
        {class: "legend"},
        ...series.map((name, place) => el("span", {}, el("i", {style: `background:${colour(place)}`}), name)),
      ),
    );
  }
  return drawn;
}
