"use strict";
// Elements, numbers, and the common parts of pages: frame, search, light and dark theme.

const file = JSON.parse(document.getElementById("data").textContent);
// Of several tasks the one that the page's address names, or else the largest.
const askedTask = Number(new URLSearchParams(location.search).get("task") ?? NaN);
const shownTask = file.tasks ? (file.tasks[askedTask] ? askedTask : file.shown) : null;
const data = shownTask === null ? file : file.tasks[shownTask];

function el(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined && value !== false)
      made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

const whole = new Intl.NumberFormat("en-US");
function number(value, digits = null) {
  if (value === null || value === undefined) return "–";
  if (digits !== null)
    return value.toLocaleString("en-US", {minimumFractionDigits: digits, maximumFractionDigits: digits});
  return Number.isInteger(value) ? whole.format(value) : value.toLocaleString("en-US", {maximumSignificantDigits: 6});
}
function percent(part, of, digits = 1) {
  return of ? ((100 * part) / of).toFixed(digits) + "%" : "–";
}
function sum(values) {
  let total = 0;
  for (const value of values) total += value;
  return total;
}

const sections = [];
function section(id, title, ...children) {
  const made = el("section", {id, "aria-labelledby": id + "-title"}, el("h2", {id: id + "-title"}, title), ...children);
  sections.push([id, title]);
  document.querySelector("main").append(made);
  return made;
}

const searchers = [];
function onSearch(act) {
  searchers.push(act);
}
function search(text) {
  for (const act of searchers) act(text.trim().toLowerCase());
}

function setTheme(name) {
  document.documentElement.dataset.theme = name;
  try {
    localStorage.setItem("pfmon-theme", name);
  } catch {
    /* localStorage is not available to files in some browsers */
  }
}
function firstTheme() {
  let kept = null;
  try {
    kept = localStorage.getItem("pfmon-theme");
  } catch {
    /* as above */
  }
  return kept || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
}

function frame(title, hint) {
  setTheme(firstTheme());
  const box = el("input", {
    type: "search",
    id: "search",
    placeholder: hint,
    "aria-label": hint,
    size: 32,
    oninput: () => search(box.value),
  });
  const theme = el(
    "button",
    {
      type: "button",
      id: "theme",
      "aria-label": "light or dark",
      title: "light or dark",
      onclick: () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"),
    },
    "◐",
  );
  document.body.append(
    el("header", {}, el("h1", {title}, title), el("nav", {"aria-label": "sections"}), box, theme),
    el("main"),
  );
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !/^(input|select|textarea)$/i.test(event.target.tagName)) {
      event.preventDefault();
      box.focus();
    } else if (event.key === "Escape" && event.target === box) {
      box.value = "";
      search("");
    }
  });
}
function finish() {
  document.querySelector("header nav").append(...sections.map(([id, title]) => el("a", {href: "#" + id}, title)));
  document.documentElement.dataset.drawn = "yes";
}

function cards(pairs) {
  return el(
    "div",
    {class: "cards"},
    ...pairs.map(([name, value]) =>
      el("div", {}, el("b", {class: value.length > 12 ? "long" : null}, value), el("span", {}, name)),
    ),
  );
}
