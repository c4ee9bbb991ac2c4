"use strict";
// What takes the time: the largest causes of stalls, with the places where they happen and what usually helps.

function findings() {
  const cpi = data.cpi;
  if (!cpi.cycles) return;
  const retired = sum(cpi.parts[0].of.map(([, cycles]) => cycles)),
    stalls = data.causes.length === 1 ? "The largest cause of the other cycles:" : "The largest causes of the other cycles:";
  section(
    "findings",
    "Findings",
    el(
      "p",
      {},
      `${number(cpi.cycles)} cycles for ${number(cpi.instructions)} instructions. In ${percent(retired, cpi.cycles)} of the cycles instructions retired: only fewer instructions make these fewer. `,
      data.causes.length ? stalls : "No cause of stalls takes more than 1% of the cycles.",
    ),
    el("ol", {class: "findings"}, ...data.causes.map(finding)),
  );
}

function stripped(name) {
  return name.startsWith("[no symbol]")
    ? ": its file has no symbols; those of a debug file are taken (--debug-dir, or the distribution's -dbgsym package)"
    : "";
}

function finding(cause) {
  const share = (cycles) => ` (${percent(cycles, cause.cycles)} of them)`,
    place = el("dl", {class: "place"});
  const add = (name, ...shown) => place.append(el("dt", {}, name), el("dd", {}, ...shown));
  if (cause.name)
    add("function", functionName(cause.name, cause.function < 0 ? null : () => tabs.function(cause.function)), share(cause.in_function), stripped(cause.name));
  if (cause.source)
    add("line", lineName(...cause.source), share(cause.in_line), el("br"), el("code", {}, sourceText(...cause.source).trim()));
  return el(
    "li",
    {style: `--of:var(--c${parts.indexOf(cause.part)})`},
    el("h3", {}, el("b", {}, percent(cause.cycles, data.cpi.cycles)), cause.cause),
    place,
    el("p", {}, cause.advice),
  );
}
