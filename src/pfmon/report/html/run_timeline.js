"use strict";
// The pipeline of the blocks with most cycles: when each instruction of some executions dispatched, executed and retired.

function timelines() {
  if (!data.timelines.length) return;
  const place = section(
    "pipeline",
    "Pipeline",
    el(
      "p",
      {class: "soft"},
      "The blocks with most cycles, by cycle: some of their executions in this run, with what runs between them. An iteration is all from one execution to the next.",
    ),
  );
  for (const one of data.timelines) place.append(...timeline(one));
}

function timeline(one) {
  const cycles = (value) => number(value, 2);
  return [
    el("h3", {}, el("code", {}, one.place)),
    el(
      "p",
      {},
      `${cycles(one.cycles)} cycles an iteration, bottleneck: `,
      el("b", {}, one.bottleneck),
      `. These are ${one.executions}; the block has ${number(one.all_cycles)} cycles in the run.`,
    ),
    el(
      "div",
      {class: "plots"},
      table(
        [
          {name: "at least, for", text: true, get: (row) => row[0]},
          {name: "cycles", get: (row) => row[1], show: (row) => cycles(row[1])},
        ],
        one.bounds,
        {sort: -1, label: "bounds of an iteration"},
      ),
      table(
        [
          {name: "cycles by cause", text: true, get: (row) => row[0]},
          {name: "cycles", get: (row) => row[1], show: (row) => cycles(row[1])},
          {name: "share", get: (row) => row[1], show: (row) => percent(row[1], one.cycles)},
        ],
        one.causes,
        {sort: 1, label: "causes of an iteration"},
      ),
    ),
    one.ports ? folded("Work of the ports", () => portTable(one.ports, cycles)) : null,
    pipelineTable(one),
    el("p", {class: "soft"}, ...legendOfStages(one)),
  ].filter((part) => part !== null);
}

function portTable(ports, cycles) {
  const rows = [["an iteration", null, ...ports.work], ...ports.rows];
  return table(
    [
      {name: "instruction", text: true, get: (row) => row[0]},
      {name: "µops", get: (row) => row[1], show: (row) => (row[1] === null ? "" : String(row[1]))},
      ...ports.names.map((name, place) => ({
        name,
        get: (row) => row[2 + place],
        show: (row) => (row[2 + place] ? cycles(row[2 + place]) : ""),
      })),
    ],
    rows,
    {sort: -1, label: "work of the ports"},
  );
}

const STAGES = {Q: "queue", ".": "queue", I: "issue", i: "issue", "=": "wait", D: "run", m: "load", e: "run", E: "run", "-": "done", R: "retire"};

// Cells as text, with a colour for each run of a stage.
function stages(cells) {
  return (cells.match(/(.)\1*/g) ?? []).map((run) => (STAGES[run[0]] ? el("span", {class: `stage-${STAGES[run[0]]}`}, run) : run));
}

function pipelineTable(one) {
  const body = el("tbody");
  let before = 0;
  for (const [iteration, address, text, cells, waits] of one.rows) {
    body.append(
      el(
        "tr",
        {class: iteration !== before ? "iteration" : null},
        el("td", {}, String(iteration)),
        el("td", {class: "text"}, `${address}  ${text}`),
        el("td", {class: "text cells"}, ...stages(cells)),
        el("td", {class: "text"}, waits),
      ),
    );
    before = iteration;
  }
  const head = (text, kind) => el("th", {class: kind, scope: "col"}, text);
  return el(
    "div",
    {class: "wide limit", tabindex: 0, role: "region", "aria-label": `pipeline of ${one.place}`},
    el(
      "table",
      {class: "pipeline", "aria-label": "pipeline"},
      el("thead", {}, el("tr", {}, head("", null), head("instruction", "text"), head(one.ruler, "text cells"), head("waits, in cycles", "text"))),
      body,
    ),
  );
}

function legendOfStages(one) {
  const said = one.legend.flatMap(([letter, meaning]) => [...stages(letter), ` ${meaning}   `]);
  return one.cut ? [...said, "~~ cycles in which nothing changes"] : said;
}
