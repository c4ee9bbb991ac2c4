"use strict";
// The report of one run.

function summary() {
  const cpi = data.cpi,
    per = cpi.instructions ? cpi.cycles / cpi.instructions : null;
  const worst = data.functions.rows[0];
  const place = section(
    "summary",
    "Summary",
    el("p", {}, el("code", {}, data.command.join(" "))),
    cards([
      ["cycles", number(cpi.cycles)],
      ["instructions retired", number(cpi.instructions)],
      ["cycles an instruction", number(per, 3)],
      ["machine", cpi.machine],
      ["PMU", data.pmu],
      ["exit status", data.ending],
      ["function with most cycles", worst ? `${shortName(worst[0])} (${percent(worst.cycles, cpi.cycles)})` : "–"],
    ]),
  );
  if (data.notes.length)
    place.append(el("h3", {}, "Notes"), el("ul", {}, ...data.notes.map((note) => el("li", {}, note))));
  place.append(el("details", {}, el("summary", {}, "Programming"), el("pre", {}, data.programming.join("\n"))));
  const figures = data.figures.map(([name, value]) => ({
    name,
    value,
    given: data.given.includes(name) ? "changed" : "",
  }));
  place.append(
    folded(`Machine: ${number(figures.length)} figures`, () =>
      table(
        [
          {name: "figure", text: true, get: (row) => row.name},
          {name: "value", get: (row) => row.value, show: (row) => String(row.value)},
          {name: "", text: true, get: (row) => row.given},
        ],
        figures,
        {sort: -1, label: "figures"},
      ),
    ),
  );
}

function breakdown() {
  const cpi = data.cpi,
    place = section("cycles", "Where the cycles went", legend(parts));
  const rows = cpi.parts.flatMap((part) =>
    part.of
      .filter(([, cycles]) => cycles)
      .map(([name, cycles]) => ({part: part.name, name: part.of.length > 1 ? name : part.name, cycles})),
  );
  if (!cpi.cycles) {
    place.append(el("p", {}, "Nothing has run."));
    return;
  }
  place.append(
    stackedBars(
      "The run, by cause",
      cpi.parts.map((part) => ({name: "all cycles", part: part.name, value: sum(part.of.map(([, cycles]) => cycles))})),
      parts,
    ),
  );
  if (cpi.omissions) place.append(el("p", {}, cpi.omissions));
  const shown = data.functions.rows.slice(0, 12).filter((row) => cyclesOf(row.slice(3)) > 0.003 * cpi.cycles);
  if (shown.length > 1) {
    place.append(
      stackedBars(
        shown.length < data.functions.rows.length ? `The ${shown.length} functions with most cycles` : "By function",
        shown.flatMap((row) => parts.map((part, number) => ({name: row[0], part, value: row[3 + number]}))),
        parts,
      ),
    );
  }
  place.append(
    el("h3", {}, "Causes and ratios"),
    el(
      "div",
      {class: "plots"},
      table(
        [
          {name: "cause", text: true, get: (row) => row.name},
          {name: "of", text: true, get: (row) => row.part},
          {name: "cycles", get: (row) => row.cycles},
          {name: "share", get: (row) => row.cycles, show: (row) => percent(row.cycles, cpi.cycles)},
          {name: "per instruction", get: (row) => row.cycles, show: (row) => number(row.cycles / cpi.instructions, 4)},
        ],
        rows,
        {sort: 2, label: "cycles by cause"},
      ),
      table(
        [
          {name: "ratio", text: true, get: (row) => row[0]},
          {name: "value", get: (row) => row[1], show: (row) => number(row[1])},
        ],
        cpi.ratios,
        {sort: -1, label: "ratios"},
      ),
    ),
  );
  if (cpi.top_down) place.append(...topDown(cpi.top_down));
}

// What the slots of issue went to, by the nodes of the top-down method.
function topDown(found) {
  const share = (slots) => (slots === null ? "–" : percent(slots, found.slots));
  const nodes = [...new Set(found.rows.map(([node]) => node))];
  const of = (node) => sum(found.rows.filter((row) => row[0] === node).map((row) => row[2] ?? 0));
  const whose = found.measured ? "" : " The figures are the model's: the processor's PMU does not have the method.";
  return [
    el("h3", {}, "Top-down"),
    el("p", {}, `What the ${number(found.slots)} slots of issue went to, ${found.width} in each cycle.${whose}`),
    table(
      [
        {name: "level 1", text: true, get: (row) => row.node},
        {name: "level 2", text: true, get: (row) => row.name},
        {name: "slots", get: (row) => row.slots, show: (row) => number(row.slots)},
        {name: "share", get: (row) => row.slots, show: (row) => share(row.slots)},
      ],
      nodes.flatMap((node) => [
        {node, name: "", slots: of(node)},
        ...found.rows.filter((row) => row[0] === node).map(([, name, slots]) => ({node: "", name, slots})),
      ]),
      {sort: -1, label: "slots"},
    ),
  ];
}

function counts() {
  if (!data.counts.length) return;
  const estimated = data.counts.some((row) => row.estimate),
    columns = [
      {name: "event", text: true, get: (row) => row.name},
      {name: estimated ? "estimate" : "count", get: (row) => row.count},
    ];
  if (estimated) {
    const error = (row) => (row.estimate && row.estimate.true ? row.count / row.estimate.true - 1 : null);
    columns.push(
      {name: "true value", get: (row) => row.estimate?.true ?? null},
      {name: "error", get: (row) => error(row), show: (row) => (error(row) === null ? "–" : percent(error(row), 1, 3))},
      {name: "counted", get: (row) => row.estimate?.raw ?? null},
      {name: "set", get: (row) => row.estimate?.set ?? null},
      {
        name: "share of time",
        get: (row) => row.estimate?.share ?? null,
        show: (row) => percent(row.estimate?.share ?? null, 1),
      },
    );
  }
  if (data.counts.some((row) => row.formula))
    columns.push({name: "formula", text: true, get: (row) => row.formula ?? ""});
  if (data.counts.some((row) => row.description))
    columns.push({name: "description", text: true, get: (row) => row.description ?? ""});
  const place = section(
    "counts",
    estimated ? "Counts: estimates of multiplexed event sets" : "Counts",
    table(columns, data.counts, {sort: -1, label: "counts"}),
  );
  const wrong = data.counts.filter((row) => row.estimate && row.estimate.true);
  if (wrong.length) {
    place.append(
      chart("Errors of the estimates", {
        width: wide(),
        height: 60 + 24 * wrong.length,
        marginLeft: 260,
        x: {label: "error", tickFormat: "+.2%", ticks: 6, grid: true},
        y: {label: null, domain: wrong.map((row) => row.name), tickSize: 0},
        marks: [
          Plot.barX(wrong, {x: (row) => row.count / row.estimate.true - 1, y: "name", fill: "var(--c3)", inset: 3}),
          Plot.ruleX([0]),
        ],
      }),
    );
  }
}

// What several threads, or tasks, did: a row for each figure, a column for each of them.
const MOST_COLUMNS = 8;
function sideBySide(names, figures, label) {
  const columns = names.slice(0, MOST_COLUMNS).flatMap((name, place) => [
    {name, get: (row) => row.values[place]},
    {
      name: "share",
      get: (row) => (row.whole ? row.values[place] / row.whole : null),
      show: (row) => percent(row.values[place], row.whole),
    },
  ]);
  const rows = figures.map(([name, values]) => ({name, values, whole: sum(values.map((value) => value ?? 0))}));
  const left = names.length - MOST_COLUMNS;
  return el(
    "div",
    {},
    table([{name: "", text: true, get: (row) => row.name}, ...columns], rows, {sort: -1, label}),
    left > 0 ? el("p", {class: "soft"}, `${number(left)} more are in the shares, and have no column.`) : null,
  );
}

function threads() {
  const seen = data.threads;
  if (!seen.length) return;
  const largest = seen.slice().sort((one, other) => cyclesOf(other.counts) - cyclesOf(one.counts)),
    names = largest.map((one) => `thread ${one.thread}`),
    events = largest.every((one) => one.events) ? data.counts.map((count) => count.name) : [];
  section(
    "threads",
    "Threads",
    el("p", {class: "soft"}, "All threads on the one core of the machine, which they share in turns. Thread 0 began the program."),
    legend(parts),
    stackedBars(
      "Threads, by cause",
      largest.slice(0, 40).flatMap((one, place) => parts.map((part, n) => ({name: names[place], part, value: one.counts[n]}))),
      parts,
    ),
    el("h3", {}, "Side by side"),
    sideBySide(
      names,
      [
        ["cycles", largest.map((one) => cyclesOf(one.counts))],
        ["instructions", largest.map((one) => instructionsOf(one.counts))],
        ...parts.map((part, n) => [part, largest.map((one) => one.counts[n])]),
        ...events.map((event, n) => [event, largest.map((one) => one.events[n])]),
      ],
      "threads side by side",
    ),
  );
}

function overTime() {
  const seen = data.intervals;
  if (!seen || !seen.rows.length) return;
  const place = section(
    "time",
    "Counts over time",
    el(
      "p",
      {class: "soft"},
      `Counts of each interval of ${number(seen.milliseconds)} ms, at its end in milliseconds of the program's processor time.${seen.joined > 1 ? ` Each point stands for ${seen.joined} adjacent intervals.` : ""}`,
    ),
  );
  const plots = el("div", {class: "plots"});
  seen.events.forEach((event, number) =>
    plots.append(
      lines(
        event,
        seen.rows.map((row) => ({x: row[0] / 1e6, y: row[1 + number], series: event})),
        {x: "ms", width: Math.min(wide(), 720), height: 190, curve: "step-before"},
      ),
    ),
  );
  place.append(
    plots,
    asTable(
      ["ms", ...seen.events],
      seen.rows.map((row) => [row[0] / 1e6, ...row.slice(1)]),
    ),
  );
}

function calls() {
  const names = data.calls.names,
    rows = data.calls.rows,
    byCause = (counts) => counts.slice(0, parts.length);
  flameSection(
    "flame",
    "Calls",
    "Exact counts of every call path: every call and return is followed. The colours of a frame are the causes of its cycles, its callees' included. Click or Enter zooms, arrow keys move, the search marks functions.",
    [
      {label: "cycles", unit: "cycles", make: () => treeOf(rows, names, cyclesOf, byCause)},
      {label: "instructions", unit: "instructions", make: () => treeOf(rows, names, instructionsOf, byCause)},
      ...parts.slice(1).map((part, number) => ({
        label: "cycles: " + part,
        unit: "cycles",
        make: () => treeOf(rows, names, (counts) => counts[1 + number], byCause),
      })),
    ],
    parts,
  );
}

function samples() {
  const seen = data.samples;
  if (!seen) return;
  flameSection(
    "samples",
    "Samples",
    `${number(seen.total)} samples were taken${seen.stacks ? ", with the calls that led to them" : "; --smpl-stacks adds the calls that led to them"}.`,
    seen.events.map((event, place) => ({
      label: event,
      unit: "samples",
      make: () => treeOf(seen.rows, seen.names, (counts) => counts[place]),
    })),
  );
}

frame(data.title, "find a function, line, data…  ( / )");
if (file.tasks) tasksTable();
findings();
summary();
breakdown();
counts();
threads();
overTime();
pythonFunctions();
functions();
callers();
calls();
samples();
sourceLines();
sourceFiles();
code();
timelines();
memory();
tabs.first?.();
finish();
