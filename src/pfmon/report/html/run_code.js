"use strict";
// Instructions of a run's functions, with their counts.

tabs.listed = new Map(data.listings.map((listing, place) => [listing.function, place]));

const MOST_CODE = 1200;

function code() {
  if (!data.listings.length) return;
  const body = el("tbody"),
    said = el("p", {class: "soft"});
  const title = (listing) =>
    `${shortName(data.functions.rows[listing.function][0])} (${percent(data.functions.rows[listing.function].cycles, data.cpi.cycles)})`;
  const choice = el(
    "select",
    {id: "function", "aria-label": "function", onchange: () => show(choice.selectedIndex)},
    ...data.listings.map((listing) => el("option", {}, title(listing))),
  );
  function cell(value, extra) {
    return el("td", extra ?? {}, value);
  }
  // The instructions to draw: all of them, or those near the wanted source line, or near the one with most cycles.
  function near(rows, wanted, most) {
    let at = rows.findIndex(([, , , source]) => source === wanted);
    if (at < 0) at = Math.max(0, rows.findIndex(([, , counts]) => counts && cyclesOf(counts) === most));
    const from = rows.length > MOST_CODE ? Math.max(0, at - MOST_CODE / 2) : 0;
    return [at, from, rows.length > MOST_CODE ? from + MOST_CODE : rows.length];
  }
  function heading(source, found) {
    const [file, line] = data.sources[source];
    return el(
      "tr",
      {class: found ? "source found" : "source"},
      el("td", {colspan: 5, class: "text"}, `${baseName(file)}:${line}  ${sourceText(file, line).trim()}`),
    );
  }
  function instruction([address, text, counts], own, most) {
    const cycles = counts ? cyclesOf(counts) : 0;
    return el(
      "tr",
      {},
      cell(counts ? number(instructionsOf(counts)) : ""),
      cell(cycles ? number(cycles) : ""),
      cell(cycles ? percent(cycles, own) : ""),
      cell(cycles ? stacked(counts.slice(0, parts.length), most, parts) : ""),
      cell(`${address}  ${text}`, {class: "text"}),
    );
  }
  function show(place, wanted = -1, all = false) {
    const listing = data.listings[place],
      own = data.functions.rows[listing.function].cycles,
      most = Math.max(1, ...listing.rows.map((row) => (row[2] ? cyclesOf(row[2]) : 0))),
      rows = [];
    const [at, from, beyond] = all ? [0, 0, listing.rows.length] : near(listing.rows, wanted, most);
    let before = -2,
      target = null;
    listing.rows.slice(from, beyond).forEach((row, place) => {
      const source = row[3];
      if (source !== before && source >= 0) rows.push(heading(source, from + place === at && source === wanted));
      if (from + place === at) target = source === wanted && source !== before ? rows[rows.length - 1] : null;
      before = source;
      rows.push(instruction(row, own, most));
      if (from + place === at) target ??= rows[rows.length - 1];
    });
    body.replaceChildren(...rows);
    holder.scrollTop = target ? Math.max(0, target.offsetTop - holder.clientHeight / 2) : 0;
    said.replaceChildren(
      listing.whole ? "" : "Only the function's instructions with counts, and their neighbours, are listed. ",
      beyond - from < listing.rows.length
        ? el("button", {type: "button", onclick: () => show(place, wanted, true)}, `all ${number(listing.rows.length)} instructions`)
        : "",
    );
  }
  const holder = listingTable("instructions", ["retired", "cycles", "of function", "by cause"], "instruction", body);
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
  tabs.code = (listing, source, move = true) => {
    choice.selectedIndex = listing;
    if (move) place.scrollIntoView();
    show(listing, source);
    if (move) choice.focus({preventScroll: true});
  };
  show(0);
}
