"use strict";
// Tables: sorted by a click or a key on a heading, filtered by the search, drawn a number of rows at a time.

const AT_FIRST = 40,
  MORE = 400;

// columns: {name, get(row), text?: true, show?(row) -> text or element, title?, search?: true, descending?: false}
function table(columns, rows, options = {}) {
  let order = options.sort ?? columns.findIndex((column) => !column.text),
    down = columns[order] ? !columns[order].text : true;
  if (options.descending !== undefined) down = options.descending;
  let wanted = "",
    shown = AT_FIRST,
    sorted = rows;
  const body = el("tbody"),
    said = el("div", {class: "soft", "aria-live": "polite"});
  const heads = columns.map((column, place) =>
    el(
      "th",
      {class: column.text ? "text" : null, scope: "col", title: column.title},
      el("button", {type: "button", onclick: () => sortBy(place)}, column.name),
    ),
  );
  const holder = el(
    "div",
    {class: "wide" + (options.limit ? " limit" : "")},
    el("table", {"aria-label": options.label}, el("thead", {}, el("tr", {}, ...heads)), body),
  );
  const keys = columns.filter((column) => column.text);

  function sortBy(place) {
    down = place === order ? !down : !columns[place].text;
    order = place;
    arrange();
  }
  function value(row) {
    return columns[order].get(row);
  }
  function arrange() {
    heads.forEach((head, place) =>
      head.setAttribute("aria-sort", place === order ? (down ? "descending" : "ascending") : "none"),
    );
    sorted = wanted
      ? rows.filter((row) => keys.some((key) => String(key.get(row)).toLowerCase().includes(wanted)))
      : rows.slice();
    if (order >= 0 && !(options.asGiven && order === options.sort && down === options.descending)) {
      sorted.sort((one, other) => {
        const a = value(one),
          b = value(other);
        if (a === null || a === undefined) return b === null || b === undefined ? 0 : 1;
        if (b === null || b === undefined) return -1;
        return (a < b ? -1 : a > b ? 1 : 0) * (down ? -1 : 1);
      });
    }
    draw();
  }
  function draw() {
    body.replaceChildren(
      ...sorted.slice(0, shown).map((row) =>
        el(
          "tr",
          {},
          ...columns.map((column) => {
            const given = column.show ? column.show(row) : column.get(row);
            const cell = el(
              "td",
              {class: column.text ? "text" : null},
              typeof given === "number" ? number(given) : (given ?? "–"),
            );
            if (column.text && typeof given === "string" && given.length > 60) cell.title = given;
            return cell;
          }),
        ),
      ),
    );
    said.replaceChildren();
    const left = sorted.length - Math.min(shown, sorted.length);
    if (wanted) said.append(`${number(sorted.length)} of ${number(rows.length)} `);
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
    wanted = text;
    shown = AT_FIRST;
    arrange();
  });
  arrange();
  return el("div", {}, holder, said);
}

// A stacked bar of parts, coloured by part number; its width is its share of `most`.
function stacked(parts, most, names) {
  const total = sum(parts),
    bar = el("span", {
      class: "bar",
      role: "img",
      "aria-label": parts.map((part, place) => `${names[place]} ${percent(part, total)}`).join(", "),
    });
  parts.forEach((part, place) => {
    if (part > 0)
      bar.append(
        el("i", {
          style: `width:${(100 * part) / most}%;background:var(--c${place})`,
          title: `${names[place]}: ${number(part)} (${percent(part, total)})`,
        }),
      );
  });
  return bar;
}
function legend(names) {
  return el(
    "div",
    {class: "legend"},
    ...names.map((name, place) => el("span", {}, el("i", {style: `background:var(--c${place})`}), name)),
  );
}
