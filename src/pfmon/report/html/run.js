"use strict";
// The report of one run.

const parts = data.cpi.parts.map((part) => part.name);
const cyclesOf = (counts) => sum(counts.slice(0, parts.length));
const instructionsOf = (counts) => counts[parts.length];

function summary() {
  const cpi = data.cpi, per = cpi.instructions ? cpi.cycles / cpi.instructions : null;
  const worst = data.functions.rows[0];
  const place = section("summary", "Summary",
    el("p", {}, el("code", {}, data.command.join(" "))),
    cards([["cycles", number(cpi.cycles)], ["instructions retired", number(cpi.instructions)], ["cycles an instruction", number(per, 3)],
      ["machine", cpi.machine], ["PMU", data.pmu], ["exit status", data.ending], ["function with most cycles", worst ? `${worst[0]} (${percent(cyclesOf(worst.slice(3)), cpi.cycles)})` : "–"]]));
  if (data.notes.length) place.append(el("h3", {}, "Notes"), el("ul", {}, ...data.notes.map((note) => el("li", {}, note))));
  place.append(el("details", {}, el("summary", {}, "Programming"), el("pre", {}, data.programming.join("\n"))));
  const figures = data.figures.map(([name, value]) => ({name, value, given: data.given.includes(name) ? "changed" : ""}));
  place.append(el("details", {}, el("summary", {}, `Machine: ${number(figures.length)} figures`), table([{name: "figure", text: true, get: (row) => row.name},
    {name: "value", get: (row) => row.value, show: (row) => String(row.value)}, {name: "", text: true, get: (row) => row.given}], figures, {sort: -1, label: "figures"})));
}

function breakdown() {
  const cpi = data.cpi, place = section("cycles", "Where the cycles went", legend(parts));
  const rows = cpi.parts.flatMap((part) => part.of.filter(([, cycles]) => cycles).map(([name, cycles]) => ({part: part.name, name: part.of.length > 1 ? name : part.name, cycles})));
  place.append(stackedBars("The run, by cause", cpi.parts.map((part) => ({name: "all cycles", part: part.name, value: sum(part.of.map(([, cycles]) => cycles))})), parts));
  const shown = data.functions.rows.slice(0, 12).filter((row) => cyclesOf(row.slice(3)) > 0.003 * cpi.cycles);
  if (shown.length > 1) {
    place.append(stackedBars(shown.length < data.functions.rows.length ? `The ${shown.length} functions with most cycles` : "By function",
      shown.flatMap((row) => parts.map((part, number) => ({name: row[0], part, value: row[3 + number]}))), parts));
  }
  place.append(el("h3", {}, "Causes and ratios"), el("div", {class: "plots"},
    table([{name: "cause", text: true, get: (row) => row.name}, {name: "of", text: true, get: (row) => row.part}, {name: "cycles", get: (row) => row.cycles},
      {name: "share", get: (row) => row.cycles, show: (row) => percent(row.cycles, cpi.cycles)},
      {name: "per instruction", get: (row) => row.cycles, show: (row) => number(row.cycles / cpi.instructions, 4)}], rows, {sort: 2, label: "cycles by cause"}),
    table([{name: "ratio", text: true, get: (row) => row[0]}, {name: "value", get: (row) => row[1], show: (row) => number(row[1])}], cpi.ratios, {sort: -1, label: "ratios"})));
}

const tabs = {};
function functions() {
  const events = data.functions.events, first = 3 + parts.length, most = Math.max(1, ...data.functions.rows.map((row) => cyclesOf(row.slice(3))));
  const listed = new Map(data.listings.map((listing, place) => [listing.function, place]));
  const columns = [
    {name: "function", text: true, get: (row) => row[0], show: (row) => listed.has(row.at) ? el("button", {class: "link", type: "button", onclick: () => tabs.code(listed.get(row.at))}, row[0]) : row[0]},
    {name: "cycles", get: (row) => row.cycles},
    {name: "share", get: (row) => row.cycles, show: (row) => percent(row.cycles, data.cpi.cycles)},
    {name: "by cause", get: (row) => row.cycles, show: (row) => stacked(row.slice(3, first), most, parts)},
    {name: "instructions", get: (row) => row[first]},
    {name: "CPI", get: (row) => row[first] ? row.cycles / row[first] : null, show: (row) => row[first] ? number(row.cycles / row[first], 3) : "–"},
    ...parts.slice(1).map((part, number) => ({name: part, get: (row) => row[4 + number]})),
    ...events.map((event, number) => ({name: event, get: (row) => row[first + 1 + number]})),
    {name: "address", text: true, get: (row) => row[1]},
  ];
  data.functions.rows.forEach((row, place) => { row.at = place; row.cycles = cyclesOf(row.slice(3)); });
  section("functions", "Functions", legend(parts), table(columns, data.functions.rows, {sort: 1, label: "functions"}));
}

function sourceLines() {
  if (!data.lines.length) return;
  const most = Math.max(1, ...data.lines.map((row) => cyclesOf(row.slice(3))));
  const columns = [
    {name: "line", text: true, get: (row) => `${row[0].split("/").pop()}:${String(row[1]).padStart(5)}`, show: (row) => `${row[0].split("/").pop()}:${row[1]}`},
    {name: "cycles", get: (row) => cyclesOf(row.slice(3))},
    {name: "share", get: (row) => cyclesOf(row.slice(3)), show: (row) => percent(cyclesOf(row.slice(3)), data.cpi.cycles)},
    {name: "by cause", get: (row) => cyclesOf(row.slice(3)), show: (row) => stacked(row.slice(3, 3 + parts.length), most, parts)},
    {name: "instructions", get: (row) => row[3 + parts.length]},
    {name: "source", text: true, get: (row) => row[2]},
  ];
  section("lines", "Source lines", table(columns, data.lines, {sort: 1, label: "source lines"}));
}

function code() {
  if (!data.listings.length) return;
  const body = el("tbody"), said = el("p", {class: "soft"});
  const title = (listing) => `${data.functions.rows[listing.function][0]} (${percent(data.functions.rows[listing.function].cycles, data.cpi.cycles)})`;
  const choice = el("select", {id: "function", "aria-label": "function", onchange: () => show(choice.selectedIndex)}, ...data.listings.map((listing) => el("option", {}, title(listing))));
  function cell(value, extra) { return el("td", extra ?? {}, value); }
  function show(place) {
    const listing = data.listings[place], own = data.functions.rows[listing.function].cycles, rows = [];
    const most = Math.max(1, ...listing.rows.map((row) => row[2] ? cyclesOf(row[2]) : 0));
    let before = -2, hottest = null;
    for (const [address, text, counts, source] of listing.rows) {
      if (source !== before && source >= 0) {
        const [file, line, words] = data.sources[source];
        rows.push(el("tr", {class: "source"}, el("td", {colspan: 5, class: "text"}, `${file.split("/").pop()}:${line}  ${words}`)));
      }
      before = source;
      const cycles = counts ? cyclesOf(counts) : 0;
      rows.push(el("tr", {}, cell(counts ? number(instructionsOf(counts)) : ""), cell(cycles ? number(cycles) : ""), cell(cycles ? percent(cycles, own) : ""),
        cell(cycles ? stacked(counts.slice(0, parts.length), most, parts) : ""), cell(`${address}  ${text}`, {class: "text"})));
      if (cycles === most) hottest ??= rows[rows.length - 1];
    }
    body.replaceChildren(...rows);
    holder.scrollTop = 0;
    if (hottest) holder.scrollTop = Math.max(0, hottest.offsetTop - holder.clientHeight / 2);
    said.textContent = listing.whole ? "" : "Of this function only the instructions that counted something, and their neighbours, are here.";
  }
  const holder = el("div", {class: "wide limit", tabindex: 0, role: "region", "aria-label": "instructions"}, el("table", {}, el("thead", {}, el("tr", {}, ...["retired", "cycles", "of function", "by cause"].map((name) => el("th", {scope: "col"}, name)), el("th", {class: "text", scope: "col"}, "instruction"))), body));
  const place = section("code", "Code", el("p", {class: "soft"}, "Every instruction with how often it retired and the cycles that it is charged with; above it its source line, where there is one."),
    el("div", {class: "tools"}, choice, legend(parts)), said, holder);
  tabs.code = (listing) => {
    choice.selectedIndex = listing;
    show(listing);
    place.scrollIntoView();
    choice.focus({preventScroll: true});
  };
  show(0);
}

function memory() {
  const seen = data.data;
  if (!seen) return;
  const all = (row) => row[4] + row[5] + row[6], total = sum(seen.areas.map((row) => row[7]));
  const columns = [
    {name: "data", text: true, get: (row) => row[0]},
    {name: "kind", text: true, get: (row) => row[1]},
    {name: "bytes", get: (row) => row[3]},
    {name: "loads", get: all, title: "loads that L1D did not serve, or that do not read it"},
    {name: "from L2", get: (row) => row[4]}, {name: "from L3", get: (row) => row[5]}, {name: "from memory", get: (row) => row[6]},
    {name: "latency", get: (row) => row[7], title: "sum of latencies, in cycles"},
    {name: "share", get: (row) => row[7], show: (row) => percent(row[7], total)},
    {name: "mean", get: (row) => all(row) ? row[7] / all(row) : null, show: (row) => number(all(row) ? row[7] / all(row) : null, 1)},
    {name: "TLB misses", get: (row) => row[8]},
    {name: "where in it", get: all, show: (row) => heat(row[9])},
    {name: "address", text: true, get: (row) => row[2]},
  ];
  section("data", "Data", el("p", {class: "soft"}, `What the loads waited for that the first-level cache did not serve: arrays and other objects by their symbols, all else by where it lies. All such loads are here; areas are told apart to ${seen.piece} bytes.`),
    table(columns, seen.areas, {sort: 7, label: "data"}),
    el("details", {}, el("summary", {}, "By ranges of addresses"), ranges(seen.areas, total)));
  const bins = seen.latencies.filter(([, count]) => count);
  if (!bins.length) return;
  section("latencies", "Load latencies", histogram("Loads that L1D did not serve, by latency in cycles", bins.map(([value, count]) => [Math.max(1, value), count]), "cycles",
    [{at: bins[0][0], name: "L2"}, {at: seen.l3, name: "L3"}, {at: seen.memory, name: "memory"}].filter((mark) => mark.at >= bins[0][0])));
}
function ranges(areas, total) {
  const rows = areas.slice(0, 40).flatMap((area) => area[9].filter((part) => part[2] || part[3]).map((part) => [area[0], ...part]));
  return table([
    {name: "from", text: true, get: (row) => row[1]}, {name: "to", text: true, get: (row) => row[2]},
    {name: "loads", get: (row) => row[3]}, {name: "latency", get: (row) => row[4], title: "sum of latencies, in cycles"},
    {name: "share", get: (row) => row[4], show: (row) => percent(row[4], total)}, {name: "data", text: true, get: (row) => row[0]},
  ], rows, {sort: 3, label: "ranges of addresses"});
}
function heat(parts) {
  const counts = parts.map((part) => part[2]);
  const most = Math.max(1, ...counts);
  return el("span", {class: "heat", role: "img", "aria-label": "misses from the first to the last address"}, ...counts.map((count) => el("i", {style: `opacity:${count ? 0.15 + 0.85 * count / most : 0.05}`, title: number(count)})));
}

function counts() {
  if (!data.counts.length) return;
  const estimated = data.counts.some((row) => row.estimate), columns = [{name: "event", text: true, get: (row) => row.name}, {name: estimated ? "estimate" : "count", get: (row) => row.count}];
  if (estimated) {
    const error = (row) => row.estimate && row.estimate.true ? row.count / row.estimate.true - 1 : null;
    columns.push({name: "true value", get: (row) => row.estimate?.true ?? null}, {name: "error", get: (row) => error(row), show: (row) => error(row) === null ? "–" : percent(error(row), 1, 3)},
      {name: "counted", get: (row) => row.estimate?.raw ?? null}, {name: "set", get: (row) => row.estimate?.set ?? null}, {name: "share of time", get: (row) => row.estimate?.share ?? null, show: (row) => percent(row.estimate?.share ?? null, 1)});
  }
  if (data.counts.some((row) => row.formula)) columns.push({name: "formula", text: true, get: (row) => row.formula ?? ""});
  if (data.counts.some((row) => row.description)) columns.push({name: "what it is", text: true, get: (row) => row.description ?? ""});
  const place = section("counts", estimated ? "Counts: event sets that took turns" : "Counts", table(columns, data.counts, {sort: -1, label: "counts"}));
  const wrong = data.counts.filter((row) => row.estimate && row.estimate.true);
  if (wrong.length) {
    place.append(chart("How far estimates are from true values", {width: wide(), height: 60 + 24 * wrong.length, marginLeft: 260, x: {label: "error", tickFormat: "+.2%", ticks: 6, grid: true}, y: {label: null, domain: wrong.map((row) => row.name), tickSize: 0},
      marks: [Plot.barX(wrong, {x: (row) => row.count / row.estimate.true - 1, y: "name", fill: "var(--c3)", inset: 3}), Plot.ruleX([0])]}));
  }
}

function overTime() {
  const seen = data.intervals;
  if (!seen || !seen.rows.length) return;
  const place = section("time", "Counts over time", el("p", {class: "soft"}, `What was counted in each interval of ${number(seen.milliseconds)} ms, by when it ended: milliseconds of the program's own time.${seen.joined > 1 ? ` Each point stands for ${seen.joined} intervals that follow each other.` : ""}`));
  const plots = el("div", {class: "plots"});
  seen.events.forEach((event, number) => plots.append(lines(event, seen.rows.map((row) => ({x: row[0] / 1e6, y: row[1 + number], series: event})), {x: "ms", width: Math.min(wide(), 720), height: 190, curve: "step-before"})));
  place.append(plots);
}

function calls() {
  const names = data.calls.names, rows = data.calls.rows;
  flameSection("flame", "Calls", "What every way of calls came to, exactly: every call and return is followed. Click or Enter zooms, arrow keys move, the search marks functions.", [
    {label: "cycles", unit: "cycles", make: () => treeOf(rows, names, cyclesOf)},
    {label: "instructions", unit: "instructions", make: () => treeOf(rows, names, instructionsOf)},
    ...parts.slice(1).map((part, number) => ({label: "cycles: " + part, unit: "cycles", make: () => treeOf(rows, names, (counts) => counts[1 + number])})),
  ]);
}

function samples() {
  const seen = data.samples;
  if (!seen) return;
  flameSection("samples", "Samples", `${number(seen.total)} samples were taken${seen.stacks ? ", with the calls that led to them" : "; --smpl-stacks would take the calls that led to them, too"}.`,
    seen.events.map((event, place) => ({label: event, unit: "samples", make: () => treeOf(seen.rows, seen.names, (counts) => counts[place])})));
}

frame(data.title, "find a function, line, data…  ( / )");
summary();
breakdown();
counts();
overTime();
functions();
calls();
samples();
sourceLines();
code();
memory();
finish();
