"use strict";
// Instructions of a run's functions, with their counts.

tabs.listed = new Map(data.listings.map((listing, place) => [listing.function, place]));

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
        const [file, line] = data.sources[source];
        rows.push(
          el(
            "tr",
            {class: "source"},
            el("td", {colspan: 5, class: "text"}, `${baseName(file)}:${line}  ${sourceText(file, line).trim()}`),
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
  tabs.code = (listing, source, move = true) => {
    choice.selectedIndex = listing;
    if (move) place.scrollIntoView();
    show(listing, source);
    if (move) choice.focus({preventScroll: true});
  };
  show(0);
}
