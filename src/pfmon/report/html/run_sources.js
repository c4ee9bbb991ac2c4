"use strict";
// Source lines with most cycles, and whole source files with counts beside each line.

const MOST_LINES = 1500,
  AROUND = 20;

function sourceText(file, line) {
  const {text, some} = data.files[file];
  if (text) return text[line - 1] ?? "";
  const found = some.find(([number]) => number === line);
  return found ? found[1] : "";
}
function baseName(file) {
  return data.files[file].path.split("/").pop();
}

// "file:line" -> listing and source, where its instructions are listed
const listedLines = new Map();
data.listings.forEach((listing, place) => {
  for (const [, , , source] of listing.rows) {
    const key = source < 0 ? null : data.sources[source].join(":");
    if (key && !listedLines.has(key)) listedLines.set(key, [place, source]);
  }
});

// A link to a line: in its file, if the page has it, or else to its instructions.
function lineName(file, line) {
  const name = `${baseName(file)}:${line}`,
    listed = listedLines.get(`${file}:${line}`);
  const act = data.files[file].text ? () => tabs.source(file, line) : listed ? () => tabs.code(...listed) : null;
  return act ? el("button", {class: "link", type: "button", onclick: act}, name) : el("span", {}, name);
}

function sourceLines() {
  if (!data.lines.length) return;
  const cycles = (row) => cyclesOf(row.slice(2)),
    most = Math.max(1, ...data.lines.map(cycles));
  const columns = [
    {
      name: "line",
      text: true,
      get: (row) => `${baseName(row[0])}:${String(row[1]).padStart(5)}`,
      show: (row) => lineName(row[0], row[1]),
    },
    {name: "cycles", get: cycles},
    {name: "share", get: cycles, show: (row) => percent(cycles(row), data.cpi.cycles)},
    {name: "by cause", get: cycles, show: (row) => stacked(row.slice(2, 2 + parts.length), most, parts)},
    {name: "instructions", get: (row) => row[2 + parts.length]},
    {name: "source", text: true, code: true, get: (row) => sourceText(row[0], row[1]).trim()},
  ];
  section("lines", "Source lines", table(columns, data.lines, {sort: 1, label: "source lines"}));
}

function sourceFiles() {
  const lines = new Map(); // file -> line -> counts
  for (const [file, line, ...counts] of data.lines) {
    if (!lines.has(file)) lines.set(file, new Map());
    lines.get(file).set(line, counts);
  }
  const whole = (file) => sum([...lines.get(file).values()].map(cyclesOf));
  const here = [...lines.keys()].filter((file) => data.files[file].text).sort((a, b) => whole(b) - whole(a));
  if (!here.length) return;
  const body = el("tbody"),
    said = el("p", {class: "soft"});
  const choice = el(
    "select",
    {id: "file", "aria-label": "source file", onchange: () => show(here[choice.selectedIndex])},
    ...here.map((file) => el("option", {}, `${data.files[file].path} (${percent(whole(file), data.cpi.cycles)})`)),
  );
  const holder = listingTable("source file", ["retired", "cycles", "share", "by cause", "line"], "source", body);
  function near(file, text, all) {
    if (all || text.length <= MOST_LINES) return text.map((_, place) => place + 1);
    const shown = new Set();
    for (const line of lines.get(file).keys())
      for (let step = -AROUND; step <= AROUND; step++) if (text[line + step - 1] !== undefined) shown.add(line + step);
    return [...shown].sort((a, b) => a - b);
  }
  function lineRow(file, line, text, most) {
    const counts = lines.get(file).get(line),
      cycles = counts ? cyclesOf(counts) : 0,
      listed = listedLines.get(`${file}:${line}`);
    const numbered = listed
      ? el("button", {class: "link", type: "button", "aria-label": `line ${line}: its instructions`, onclick: () => tabs.code(...listed)}, String(line))
      : String(line);
    return el(
      "tr",
      {class: counts ? "line" : "line none"},
      el("td", {}, counts ? number(instructionsOf(counts)) : ""),
      el("td", {}, cycles ? number(cycles) : ""),
      el("td", {}, cycles ? percent(cycles, data.cpi.cycles) : ""),
      el("td", {}, cycles ? stacked(counts.slice(0, parts.length), most, parts) : ""),
      el("td", {}, numbered),
      el("td", {class: "text"}, text),
    );
  }
  function show(file, wanted = 0, all = false) {
    const text = data.files[file].text,
      most = Math.max(1, ...[...lines.get(file).values()].map(cyclesOf)),
      shown = near(file, text, all || (wanted > 0 && !lines.get(file).has(wanted)));
    const rows = shown.map((line) => lineRow(file, line, text[line - 1], most));
    body.replaceChildren(...rows);
    const hottest = [...lines.get(file)].reduce((one, other) => (cyclesOf(other[1]) > cyclesOf(one[1]) ? other : one))[0];
    const target = rows[shown.indexOf(wanted || hottest)];
    if (wanted) target?.classList.add("found");
    holder.scrollTop = target ? Math.max(0, target.offsetTop - holder.clientHeight / 2) : 0;
    said.replaceChildren(
      ...(shown.length < text.length
        ? [
            "Lines near those with counts. ",
            el("button", {type: "button", onclick: () => show(file, wanted, true)}, `all ${number(text.length)} lines`),
          ]
        : []),
    );
  }
  const left = [...lines.keys()].filter((file) => !data.files[file].text).length;
  const place = section(
    "files",
    "Source files",
    el(
      "p",
      {class: "soft"},
      `Whole files, with retired instructions and cycles beside each line; a number leads to the line's instructions.${left ? ` ${number(left)} more files with counts are not on this machine, or too large for the page.` : ""}`,
    ),
    el("div", {class: "tools"}, choice, legend(parts)),
    said,
    holder,
  );
  tabs.source = (file, line) => {
    choice.selectedIndex = here.indexOf(file);
    place.scrollIntoView();
    show(file, line);
  };
  show(here[0]);
}
