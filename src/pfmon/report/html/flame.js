"use strict";
// Flame and icicle graph of a call tree, by d3-flame-graph, with keyboard navigation.

// rows: [parent, name, calls, counts...]; parents precede their children. value(counts) -> number; shares(counts) -> the
// parts that give a frame its colours, if there are any.
function treeOf(rows, names, value, shares = () => []) {
  const nodes = rows.map(([, name, calls, ...counts]) => ({
    name: names[name],
    calls,
    own: Math.max(0, value(counts)),
    value: 0,
    shares: shares(counts),
    children: [],
  }));
  for (let i = rows.length - 1; i >= 0; i--) {
    nodes[i].value += nodes[i].own;
    if (i) {
      nodes[rows[i][0]].children.push(nodes[i]);
      nodes[rows[i][0]].value += nodes[i].value;
      nodes[i].shares.forEach((share, part) => (nodes[rows[i][0]].shares[part] += share));
    }
  }
  const trim = (node) => {
    node.children = node.children.filter((child) => child.value > 0);
    node.children.forEach(trim);
  };
  trim(nodes[0]);
  return nodes[0];
}

function hueOf(name) {
  let hash = 0;
  for (let i = 0; i < name.length; i++) hash = (hash * 31 + name.charCodeAt(i)) >>> 0;
  return `hsl(${18 + (hash % 42)} ${62 + (hash % 23)}% ${66 + ((hash >> 8) % 12)}%)`;
}

// The fill of a frame: a stripe for each part, as wide as its share, in steps of 2%.
const gradients = new Map();
function fillOf(node) {
  const whole = sum(node.shares);
  if (!whole) return hueOf(node.name);
  const steps = node.shares.map((share) => Math.round((50 * share) / whole)),
    key = "stripes-" + steps.join("-");
  if (!gradients.has(key)) gradients.set(key, stripes(key, steps));
  return `url(#${key})`;
}
function stripes(id, steps) {
  const svg = (name, attributes) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
    return made;
  };
  let holder = document.querySelector("svg.gradients");
  if (!holder) {
    holder = svg("svg", {class: "gradients", "aria-hidden": "true"});
    document.body.append(holder);
  }
  const made = svg("linearGradient", {id}),
    whole = sum(steps);
  let from = 0;
  steps.forEach((step, part) => {
    if (!step) return;
    for (const at of [from, from + step])
      made.append(svg("stop", {offset: `${(100 * at) / whole}%`, style: `stop-color:var(--f${part})`}));
    from += step;
  });
  holder.append(made);
  return made;
}

// trees: [{label, unit, make() -> tree}]; names: of the parts that give the colours, if they do.
function flameSection(id, title, words, trees, names = []) {
  const holder = el("div", {
    class: "flame",
    tabindex: 0,
    role: "application",
    "aria-label": title + ": arrow keys move, Enter zooms, Escape goes back",
  });
  const said = el("div", {id: id === "flame" ? "flame-said" : id + "-said", class: "soft", "aria-live": "polite"});
  let icicle = true,
    tree = 0,
    drawn = null,
    root = null,
    at = null,
    wanted = "";

  function say(node) {
    const unit = trees[tree].unit,
      parts = [
        node.data.name,
        `${number(node.data.value)} ${unit} (${percent(node.data.value, root.value)})`,
        `itself ${number(node.data.own)} (${percent(node.data.own, root.value)})`,
      ];
    if (node.data.calls) parts.push(`${number(node.data.calls)} ${node.data.calls === 1 ? "call" : "calls"}`);
    const whole = sum(node.data.shares);
    names.forEach((name, part) => {
      if (node.data.shares[part]) parts.push(`${name} ${percent(node.data.shares[part], whole)}`);
    });
    said.textContent = parts.join(" · ");
  }
  function frames() {
    return d3.select(holder).selectAll("g.frame");
  }
  function go(node) {
    if (!node) return;
    at = node;
    frames().classed("at", (one) => one === node);
    say(node);
  }
  function zoom(node) {
    const chosen = node.data;
    drawn.zoomTo(node);
    settle();
    frames().each((one) => {
      if (one.data === chosen) go(one);
    });
  }
  // Skip the library's transition: frames get their final width at once.
  function settle() {
    frames().each(function (node) {
      d3.select(this).select("rect").interrupt().attr("width", this.getAttribute("width"));
      d3.select(this).select("div").interrupt().text(node.data.name);
    });
  }
  function draw() {
    holder.replaceChildren();
    root = trees[tree].make();
    drawn = flamegraph
      .default()
      .width(Math.max(240, holder.clientWidth))
      .cellHeight(19)
      .inverted(icicle)
      .transitionDuration(0)
      .minFrameSize(1.5)
      .sort((one, other) => other.value - one.value || (one.data.name < other.data.name ? -1 : 1))
      .selfValue(false)
      .setColorMapper((node) => (node.highlight ? "#e24bd3" : fillOf(node.data)))
      .title("")
      .tooltip(false)
      .setDetailsHandler(() => {})
      .onHover((node) => say(node))
      .onClick((node) => go(node))
      .setLabelHandler(
        (node) =>
          `${node.data.name}: ${number(node.data.value)} ${trees[tree].unit} (${percent(node.data.value, root.value)})`,
      );
    d3.select(holder).datum(root).call(drawn);
    at = null;
    said.textContent = `${number(root.value)} ${trees[tree].unit}`;
    if (wanted) drawn.search(wanted);
    settle();
  }
  holder.addEventListener("keydown", (event) => {
    const now =
      at ??
      frames()
        .data()
        .find((node) => !node.parent);
    const siblings = now && now.parent ? now.parent.children : [now];
    const ordered = siblings.slice().sort((one, other) => one.x0 - other.x0),
      place = ordered.indexOf(now);
    const child = now && now.children ? now.children.slice().sort((one, other) => one.x0 - other.x0)[0] : null;
    const keys = {
      ArrowLeft: () => go(ordered[place - 1]),
      ArrowRight: () => go(ordered[place + 1]),
      Enter: () => zoom(now),
      Escape: () => {
        drawn.resetZoom();
        at = null;
      },
      [icicle ? "ArrowDown" : "ArrowUp"]: () => go(at ? child : now),
      [icicle ? "ArrowUp" : "ArrowDown"]: () => go(now && now.parent),
    };
    if (keys[event.key]) {
      event.preventDefault();
      keys[event.key]();
    }
  });
  const kind = ["icicle", "flame"].map((name) =>
    el(
      "button",
      {
        type: "button",
        "aria-pressed": name === "icicle" ? "true" : "false",
        onclick: () => {
          icicle = name === "icicle";
          kind.forEach((button) => button.setAttribute("aria-pressed", String(button.textContent === name)));
          draw();
        },
      },
      name,
    ),
  );
  const choice = el(
    "select",
    {
      "aria-label": "frame width",
      onchange: () => {
        tree = choice.selectedIndex;
        draw();
      },
    },
    ...trees.map((one) => el("option", {}, one.label)),
  );
  section(
    id,
    title,
    el("p", {class: "soft"}, words),
    el(
      "div",
      {class: "tools"},
      choice,
      ...kind,
      el(
        "button",
        {
          type: "button",
          onclick: () => {
            drawn.resetZoom();
            at = null;
          },
        },
        "whole run",
      ),
    ),
    names.length ? legend(names, "f") : "",
    said,
    holder,
  );
  onSearch((text) => {
    wanted = text;
    if (text) drawn.search(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    else drawn.clear();
    return 0;
  });
  draw();
  let width = holder.clientWidth;
  addEventListener("resize", () => {
    if (holder.clientWidth !== width) {
      width = holder.clientWidth;
      draw();
    }
  });
}
