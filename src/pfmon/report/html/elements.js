"use strict";
// Elements, numbers, and the common parts of pages: frame, search, tooltips, light and dark theme.

const file = JSON.parse(document.getElementById("page-data").textContent);
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

// A C++ name with the arguments of its templates left out, the innermost first, until it is short enough.
const LONG_NAME = 72;
function shortName(name) {
  if (name.length <= LONG_NAME) return name;
  for (const levels of [3, 2, 1, 0]) {
    const shown = withoutArguments(name, levels);
    if (shown.length <= LONG_NAME) return shown;
  }
  const shown = withoutArguments(name, 0).replace(/\([^()]{12,}\)/g, "(…)");
  return shown.length > 2 * LONG_NAME ? shown.slice(0, LONG_NAME) + "…" + shown.slice(-LONG_NAME) : shown;
}
function withoutArguments(name, levels) {
  let depth = 0,
    shown = "";
  for (const token of name.match(/operator(?:<=>|<<=?|>>=?|[<>]=?|->\*?)|->|[^<>o-]+|./g)) {
    if (token === "<") {
      if (depth <= levels) shown += depth < levels ? "<" : "<…>";
      depth += 1;
    } else if (token === ">") {
      depth -= 1;
      if (depth < levels) shown += ">";
    } else if (depth <= levels) shown += token;
  }
  return shown;
}

// Tooltips: shown while the pointer is over an element, while it has the focus, and after a touch. Escape hides them.
const tipBox = el("div", {id: "tip", role: "tooltip", hidden: true});
let tipped = null;
function tip(element, text) {
  element.dataset.tip = text;
  if (!element.matches("button, a, input, select, [tabindex]")) element.tabIndex = 0;
  return element;
}
function showTip(element) {
  if (element === tipped) return;
  hideTip();
  if (!element) return;
  tipped = element;
  tipBox.textContent = element.dataset.tip;
  tipBox.hidden = false;
  element.setAttribute("aria-describedby", "tip");
  const place = element.getBoundingClientRect(),
    own = tipBox.getBoundingClientRect();
  const above = place.bottom + own.height + 8 > innerHeight && place.top > own.height + 8;
  tipBox.style.left = Math.max(4, Math.min(place.left, innerWidth - own.width - 4)) + "px";
  tipBox.style.top = (above ? place.top - own.height - 6 : place.bottom + 6) + "px";
}
function hideTip() {
  if (tipped) tipped.removeAttribute("aria-describedby");
  tipped = null;
  tipBox.hidden = true;
}
function followTips() {
  const of = (event) => event.target.closest?.("[data-tip]") ?? null;
  document.addEventListener("pointerover", (event) => {
    if (event.target !== tipBox) showTip(of(event));
  });
  document.addEventListener("focusin", (event) => showTip(of(event)));
  document.addEventListener("focusout", hideTip);
  document.addEventListener("click", (event) => showTip(of(event)));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hideTip();
  });
  addEventListener("scroll", hideTip, {passive: true, capture: true});
}

const sections = [];
function section(id, title, ...children) {
  const made = el("section", {id, "aria-labelledby": id + "-title"}, el("h2", {id: id + "-title"}, title), ...children);
  sections.push([id, title]);
  document.querySelector("main").append(made);
  return made;
}

// The search marks what contains its text; each searcher returns how much it has found. Enter goes to the next row.
const searchers = [];
let hit = -1,
  searched = "";
function onSearch(act) {
  searchers.push(act);
}
function search(text) {
  const wanted = text.trim().toLowerCase();
  const found = sum(searchers.map((act) => act(wanted) ?? 0));
  hit = -1;
  searched = wanted;
  document.getElementById("found").textContent = wanted ? `${number(found)} found` : "";
}
function nextHit(step) {
  const hits = [...document.querySelectorAll("main tr.hit")];
  if (!hits.length) return;
  hit = (hit + step + hits.length) % hits.length;
  hits.forEach((row, place) => row.classList.toggle("here", place === hit));
  const folded = hits[hit].closest("details");
  if (folded) folded.open = true;
  hits[hit].scrollIntoView({block: "center"});
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
      onclick: () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"),
    },
    "◐",
  );
  tip(theme, "light or dark");
  document.body.append(
    el(
      "header",
      {},
      el("h1", {}, title),
      el("nav", {"aria-label": "sections"}),
      box,
      el("span", {id: "found", class: "soft", "aria-live": "polite"}),
      theme,
    ),
    el("main"),
    tipBox,
  );
  followTips();
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !/^(input|select|textarea)$/i.test(event.target.tagName)) {
      event.preventDefault();
      box.focus();
    } else if (event.key === "Escape" && event.target === box) {
      box.value = "";
      search("");
    } else if (event.key === "Enter" && event.target === box) {
      nextHit(event.shiftKey ? -1 : 1);
    }
  });
}
function finish() {
  document.querySelector("header nav").append(...sections.map(([id, title]) => el("a", {href: "#" + id}, title)));
  document.documentElement.dataset.drawn = "yes";
}

// What is made when it is opened.
function folded(title, make) {
  const made = el("details", {}, el("summary", {}, title));
  made.addEventListener("toggle", () => {
    if (made.open && made.children.length === 1) made.append(make());
  });
  return made;
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
