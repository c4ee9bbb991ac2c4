"use strict";
// Tables: sorted by a click or a key on a heading, drawn a number of rows at a time. The search marks rows and takes none
// away; rows can be folded into groups.

const AT_FIRST = 40,
  MORE = 400,
  MOST_HITS = 200,
  LONG_CELL = 40;

// columns: {name, get(row), text?: true, show?(row) -> text or element, title?, code?: true}
// options: {sort?, descending?, label?, limit?: true, asGiven?: true, fold?}
// fold: {key(row) -> name or null, group(name, rows) -> row, title(row, rows) -> text}; a group is a row that opens.
function table(columns, rows, options = {}) {
  let order = options.sort ?? columns.findIndex((column) => !column.text),
    down = columns[order] ? !columns[order].text : true;
  if (options.descending !== undefined) down = options.descending;
  let wanted = searched,
    shown = AT_FIRST,
    sorted = rows;
  const body = el("tbody"),
    said = el("div", {class: "soft", "aria-live": "polite"}),
    opened = new Set();
  const heads = columns.map((column, place) => {
    const button = el("button", {type: "button", onclick: () => sortBy(place)}, column.name);
    if (column.title) tip(button, column.title);
    return el("th", {class: column.text ? "text" : null, scope: "col"}, column.name ? button : "");
  });
  const holder = el(
    "div",
    {class: "wide" + (options.limit ? " limit" : ""), tabindex: 0, role: "region", "aria-label": options.label},
    el("table", {"aria-label": options.label}, el("thead", {}, el("tr", {}, ...heads)), body),
  );
  const keys = columns.filter((column) => column.text);
  const wraps = columns.map(
    (column) => column.text && rows.some((row) => String(column.get(row) ?? "").length > LONG_CELL),
  );
  const groups = options.fold ? groupsOf(rows, options.fold) : new Map();

  function sortBy(place) {
    down = place === order ? !down : !columns[place].text;
    order = place;
    arrange();
  }
  function matches(row) {
    return keys.some((key) => String(key.get(row) ?? "").toLowerCase().includes(wanted));
  }
  function inOrder(some) {
    if (order < 0 || (options.asGiven && order === options.sort && down === options.descending)) return some.slice();
    const value = columns[order].get;
    return some.slice().sort((one, other) => {
      const a = value(one),
        b = value(other);
      if (a === null || a === undefined) return b === null || b === undefined ? 0 : 1;
      if (b === null || b === undefined) return -1;
      return (a < b ? -1 : a > b ? 1 : 0) * (down ? -1 : 1);
    });
  }
  function arrange() {
    heads.forEach((head, place) =>
      head.setAttribute("aria-sort", place === order ? (down ? "descending" : "ascending") : "none"),
    );
    const folded = new Set([...groups.values()].flatMap((group) => group.rows));
    sorted = inOrder([...rows.filter((row) => !folded.has(row)), ...[...groups.values()].map((group) => group.row)]);
    draw();
  }
  // The rows to draw: {row, group?, within?}; what the search found is drawn however far down it is.
  function lines() {
    let left = MOST_HITS;
    const wants = (row, place) => place < shown || (wanted !== "" && matches(row) && left-- > 0);
    return sorted.flatMap((row, place) => {
      const group = groups.get(row),
        open = group && opened.has(group);
      const inner = group && (open || wanted) ? inOrder(group.rows).filter((one, n) => wants(one, open ? n : shown)) : [];
      const own = wants(row, place) || inner.length ? [{row, group}] : [];
      return own.concat(inner.map((one) => ({row: one, within: true})));
    });
  }
  function drawn({row, group, within}) {
    return el(
      "tr",
      {class: [within ? "within" : "", wanted && matches(row) ? "hit" : ""].join(" ").trim() || null},
      ...columns.map((column, place) => {
        const given = column.show ? column.show(row) : column.get(row);
        const content = group && place === 0 ? opener(row, group) : given;
        return el(
          "td",
          {class: (column.text ? "text" : "") + (column.code ? " code" : wraps[place] ? " wide-text" : "") || null},
          typeof content === "number" ? number(content) : (content ?? "–"),
        );
      }),
    );
  }
  function opener(row, group) {
    const open = opened.has(group);
    return el(
      "button",
      {
        type: "button",
        class: "link",
        "aria-expanded": String(open),
        onclick: () => {
          if (open) opened.delete(group);
          else opened.add(group);
          draw();
        },
      },
      `${open ? "▾" : "▸"} ${options.fold.title(row, group.rows)}`,
    );
  }
  function draw() {
    body.replaceChildren(...lines().map(drawn));
    said.replaceChildren();
    const left = sorted.length - Math.min(shown, sorted.length);
    if (wanted) said.append(`${number(rows.filter(matches).length)} of ${number(rows.length)} rows contain the text `);
    if (left)
      said.append(
        el(
          "button",
          {
            type: "button",
            onclick: () => {
              shown += MORE;
              draw();
            },
          },
          `${number(Math.min(MORE, left))} more of ${number(left)}`,
        ),
      );
  }
  onSearch((text) => {
    if (text === wanted) return wanted ? rows.filter(matches).length : 0;
    wanted = text;
    draw();
    return wanted ? rows.filter(matches).length : 0;
  });
  arrange();
  return el("div", {}, holder, said);
}

// The groups of two rows and more, by the row that stands for them.
// A scrolling table of code, with a last column of text; ``body``: its rows.
function listingTable(label, names, last, body) {
  const heads = [...names.map((name) => el("th", {scope: "col"}, name)), el("th", {class: "text", scope: "col"}, last)];
  const head = el("thead", {}, el("tr", {}, ...heads));
  return el(
    "div",
    {class: "wide limit", tabindex: 0, role: "region", "aria-label": label},
    el("table", {class: "listing"}, head, body),
  );
}

function groupsOf(rows, fold) {
  const named = new Map();
  for (const row of rows) {
    const key = fold.key(row);
    if (key !== null) named.set(key, [...(named.get(key) ?? []), row]);
  }
  const groups = new Map();
  for (const [name, some] of named) {
    const row = fold.group(name, some);
    groups.set(row, {row, rows: some});
  }
  return groups;
}

// A stacked bar of parts, coloured by part number; its width is its share of `most`.
function stacked(parts, most, names) {
  const total = sum(parts),
    shown = names.map((name, place) => [name, parts[place]]).filter(([, part]) => part > 0);
  const bar = el("span", {
    class: "bar",
    role: "img",
    "aria-label": shown.map(([name, part]) => `${name} ${percent(part, total)}`).join(", "),
  });
  parts.forEach((part, place) => {
    if (part > 0) bar.append(el("i", {style: `width:${(100 * part) / most}%;background:var(--c${place})`}));
  });
  return tip(bar, shown.map(([name, part]) => `${name}: ${number(part)} (${percent(part, total)})`).join("\n"));
}
function legend(names, colours = "c") {
  return el(
    "div",
    {class: "legend"},
    ...names.map((name, place) => el("span", {}, el("i", {style: `background:var(--${colours}${place})`}), name)),
  );
}

// The name of a function, short; the whole one is in its tooltip. `act`: what a click does.
function functionName(name, act = null) {
  const short = shortName(name);
  const made = act ? el("button", {class: "link", type: "button", onclick: act}, short) : el("span", {}, short);
  return short === name ? made : tip(made, name);
}
