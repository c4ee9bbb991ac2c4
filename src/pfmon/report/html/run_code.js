"use strict";
// Functions, source lines and instructions of a run, with their counts.

const parts = data.cpi.parts.map((part) => part.name);
const cyclesOf = (counts) => sum(counts.slice(0, parts.length));
const instructionsOf = (counts) => counts[parts.length];

const tabs = {};

function functions() {
  const events = data.functions.events,
    first = 3 + parts.length,
    most = Math.max(1, ...data.functions.rows.map((row) => cyclesOf(row.slice(3))));
  const listed = new Map(data.listings.map((listing, place) => [listing.function, place]));
  const columns = [
    {
      name: "function",
      text: true,
      get: (row) => row[0],
      show: (row) =>
        listed.has(row.at)
          ? el("button", {class: "link", type: "button", onclick: () => tabs.code(listed.get(row.at))}, row[0])
          : row[0],
    },
    {name: "cycles", get: (row) => row.cycles},
    {name: "share", get: (row) => row.cycles, show: (row) => percent(row.cycles, data.cpi.cycles)},
    {name: "by cause", get: (row) => row.cycles, show: (row) => stacked(row.slice(3, first), most, parts)},
    {name: "instructions", get: (row) => row[first]},
    {
      name: "CPI",
      get: (row) => (row[first] ? row.cycles / row[first] : null),
      show: (row) => (row[first] ? number(row.cycles / row[first], 3) : "–"),
    },
    ...parts.slice(1).map((part, number) => ({name: part, get: (row) => row[4 + number]})),
    ...events.map((event, number) => ({name: event, get: (row) => row[first + 1 + number]})),
    {name: "address", text: true, get: (row) => row[1]},
  ];
  data.functions.rows.forEach((row, place) => {
    row.at = place;
    row.cycles = cyclesOf(row.slice(3));
  });
  section("functions", "Functions", legend(parts), table(columns, data.functions.rows, {sort: 1, label: "functions"}));
}

function sourceLines() {
  if (!data.lines.length) return;
  const listed = new Map(); // "file:line" -> listing and source, where its instructions are listed
  data.listings.forEach((listing, place) => {
    for (const [, , , source] of listing.rows) {
      const key = source < 0 ? null : data.sources[source].slice(0, 2).join(":");
      if (key && !listed.has(key)) listed.set(key, [place, source]);
    }
  });
  const shown = (row) => {
    const name = `${row[0].split("/").pop()}:${row[1]}`,
      there = listed.get(`${row[0]}:${row[1]}`);
    return there ? el("button", {class: "link", type: "button", onclick: () => tabs.code(...there)}, name) : name;
  };
  const most = Math.max(1, ...data.lines.map((row) => cyclesOf(row.slice(3))));
  const columns = [
    {
      name: "line",
      text: true,
      get: (row) => `${row[0].split("/").pop()}:${String(row[1]).padStart(5)}`,
      show: shown,
    },
    {name: "cycles", get: (row) => cyclesOf(row.slice(3))},
    {
      name: "share",
      get: (row) => cyclesOf(row.slice(3)),
      show: (row) => percent(cyclesOf(row.slice(3)), data.cpi.cycles),
    },
    {
      name: "by cause",
      get: (row) => cyclesOf(row.slice(3)),
      show: (row) => stacked(row.slice(3, 3 + parts.length), most, parts),
    },
    {name: "instructions", get: (row) => row[3 + parts.length]},
    {name: "source", text: true, get: (row) => row[2]},
  ];
  section("lines", "Source lines", table(columns, data.lines, {sort: 1, label: "source lines"}));
}

function code() {
  if (!data.listings.length) return;
  const body = el("tbody"),
    said = el("p", {class: "soft"});
  const title = (listing) =>
    `${data.functions.rows[listing.function][0]} (${percent(data.functions.rows[listing.function].cycles, data.cpi.cycles)})`;
  const choice = el(
    "select",
    {id: "function", "aria-label": "function", onchange: () => show(choice.selectedIndex)},
    ...data.listings.map((listing) => el("option", {}, title(listing))),
  );
  function cell(value, extra) {
    return el("td", extra ?? {}, value);
  }
  function show(place, wanted = -1) {
    const listing = data.listings[place],
      own = data.functions.rows[listing.function].cycles,
      rows = [];
    const most = Math.max(1, ...listing.rows.map((row) => (row[2] ? cyclesOf(row[2]) : 0)));
    let before = -2,
      hottest = null,
      heading = null;
    for (const [address, text, counts, source] of listing.rows) {
      if (source !== before && source >= 0) {
        const [file, line, words] = data.sources[source];
        rows.push(
          el(
            "tr",
            {class: "source"},
            el("td", {colspan: 5, class: "text"}, `${file.split("/").pop()}:${line}  ${words}`),
          ),
        );
      }
      if (source === wanted && source !== before) heading ??= rows[rows.length - 1];
      before = source;
      const cycles = counts ? cyclesOf(counts) : 0;
      rows.push(
        el(
          "tr",
          {},
          cell(counts ? number(instructionsOf(counts)) : ""),
          cell(cycles ? number(cycles) : ""),
          cell(cycles ? percent(cycles, own) : ""),
          cell(cycles ? stacked(counts.slice(0, parts.length), most, parts) : ""),
          cell(`${address}  ${text}`, {class: "text"}),
        ),
      );
      if (cycles === most) hottest ??= rows[rows.length - 1];
    }
    body.replaceChildren(...rows);
    holder.scrollTop = 0;
    hottest = heading ?? hottest;
    if (heading) heading.classList.add("found");
    if (hottest) holder.scrollTop = Math.max(0, hottest.offsetTop - holder.clientHeight / 2);
    said.textContent = listing.whole
      ? ""
      : "Only the function's instructions with counts, and their neighbours, are listed.";
  }
  const holder = el(
    "div",
    {class: "wide limit", tabindex: 0, role: "region", "aria-label": "instructions"},
    el(
      "table",
      {},
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          ...["retired", "cycles", "of function", "by cause"].map((name) => el("th", {scope: "col"}, name)),
          el("th", {class: "text", scope: "col"}, "instruction"),
        ),
      ),
      body,
    ),
  );
  const place = section(
    "code",
    "Code",
    el(
      "p",
      {class: "soft"},
      "Each instruction with its retired count and its cycles, below its source line if that is known.",
    ),
    el("div", {class: "tools"}, choice, legend(parts)),
    said,
    holder,
  );
  tabs.code = (listing, source) => {
    choice.selectedIndex = listing;
    show(listing, source);
    place.scrollIntoView();
    choice.focus({preventScroll: true});
  };
  show(0);
}
