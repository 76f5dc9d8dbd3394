// A directed graph from left to right and row by row: {unit, value_name, group_name, columns, nodes: [{name, group, parent,
// value, marked, task, cells}], edges: [[from, to]]}. The reader chooses what colours the nodes. Nodes with the same parent
// are one block, which opens and closes by a click; a node of a task chooses it. Large graphs begin as blocks, and of what
// is still large a window is drawn.
import { checkbox, h, select, watch } from "../dom.js";
import { saveTools, stacked, withUnit } from "../save.js";
import { full, plural } from "../units.js";
import { coloursOf, firstColour, painter } from "./graph_colours.js";
import { arrange } from "./graph_layout.js";
import { leaveOut } from "./graph_thin.js";

const WINDOW = 300; // nodes drawn at once
const MOST_OPEN = 250; // more nodes than this begin as blocks

/** `context`: {run, chosen(), pick(task), onTask(listener)} of the page around it, or nothing. */
export function graphPanel(value, context = null) {
  if (!Array.isArray(value.nodes) || value.nodes.length === 0) return null;
  const graph = openGraph(value, context);
  const box = h("div", { class: "graph-box" });
  const said = h("p", { class: "readout" });
  const steps = h("span", { class: "tools" });
  const show = () => draw(graph, { box, said, steps }, show);
  watch(box, show);
  if (graph.hasTasks) context.onTask?.(() => box.isConnected && followTask(graph, box, show));
  return h(
    "div",
    {},
    tools(graph, steps, show),
    box,
    said,
    saveTools(value.title ?? value.id, {
      svg: () => stacked([...box.querySelectorAll("svg")]),
      csv: () => table(graph),
    }),
  );
}

function openGraph(value, context) {
  const run = context?.run ?? null;
  // one node is no block
  const sizes = new Map();
  for (const { parent } of value.nodes) if (parent !== undefined) sizes.set(parent, (sizes.get(parent) ?? 0) + 1);
  const parents = [...sizes.keys()].filter((parent) => sizes.get(parent) > 1);
  const nodes = value.nodes.map((node) => (sizes.get(node.parent) === 1 ? { ...node, parent: undefined } : node));
  const colours = coloursOf({ ...value, nodes }, run);
  const graph = {
    context,
    run,
    value,
    parents,
    colours,
    colour: firstColour(colours, run),
    open: new Set(value.nodes.length > MOST_OPEN ? [] : parents),
    all: { nodes, edges: value.edges ?? [] },
    from: 0,
    hasTasks: value.nodes.some((node) => run?.tasks[node.task]),
  };
  // There is much that nothing is known of and that only passes results on.
  const isBare = (node) => (graph.hasTasks ? node.task === undefined : ["group", "cells", "value", "parent", "marked"].every((key) => node[key] === undefined));
  graph.thin = graph.all.nodes.every(isBare) ? graph.all : leaveOut(graph.all, isBare);
  graph.isThin = graph.thin.nodes.length < graph.all.nodes.length;
  return graph;
}

const shownOf = (graph) => (graph.isThin ? graph.thin : graph.all);

function tools(graph, steps, show) {
  const { colours, parents, all, thin } = graph;
  return h(
    "p",
    { class: "tools graph-tools" },
    colours.length > 1 &&
      h(
        "label",
        { class: "check" },
        "colour by ",
        select(
          "Colour by",
          colours.map(({ key, name }) => [key, name]),
          graph.colour.key,
          (key) => {
            graph.colour = colours.find((one) => one.key === key);
            show();
          },
        ),
      ),
    all.nodes.some((node) => node.marked) && h("span", {}, h("i", { class: "sign-marked" }), "marked"),
    parents.length > 0 &&
      checkbox("open all blocks", graph.open.size === parents.length, (on) => {
        graph.open = new Set(on ? parents : []);
        show();
      }),
    thin.nodes.length < all.nodes.length &&
      checkbox(`all ${plural(all.nodes.length, "node")}`, false, (on) => {
        graph.isThin = !on;
        graph.from = 0;
        show();
      }),
    steps,
  );
}

function table({ value, all, colours, run }) {
  return [
    ["name", run && "task", ...colours.map(({ name, unit }) => withUnit(name, unit)), "block", "marked"].filter((one) => one !== null),
    ...all.nodes.map((node) =>
      [
        node.name,
        run && (run.tasks[node.task]?.name ?? ""),
        ...colours.map(({ of }) => of(node)),
        node.parent,
        node.marked ? 1 : 0,
      ].filter((one) => one !== null),
    ),
  ];
}

/** What is drawn: open nodes as they are, closed blocks as one: {drawn: Map by key, links}. */
function collapse({ nodes, edges }, open) {
  const drawn = new Map();
  const keys = nodes.map((node, at) =>
    node.parent === undefined || open.has(node.parent) ? `n${at}` : `b${node.parent}`,
  );
  nodes.forEach((node, at) => {
    const isBlock = keys[at][0] === "b";
    const one = drawn.get(keys[at]) ?? { name: isBlock ? node.parent : node.name, parent: node.parent, task: isBlock ? undefined : node.task, isBlock, members: [], marked: false };
    one.members.push(node);
    one.marked ||= Boolean(node.marked);
    drawn.set(keys[at], one);
  });
  const links = new Map();
  for (const [from, to] of edges) {
    const [a, b] = [keys[from], keys[to]];
    if (a === undefined || b === undefined || a === b) continue;
    const key = `${a}>${b}`;
    const isMarked = Boolean(nodes[from].marked && nodes[to].marked);
    links.set(key, { a, b, isMarked: isMarked || Boolean(links.get(key)?.isMarked) });
  }
  return { drawn, links: [...links.values()] };
}

/** So many of the drawn nodes from `from` on, in their order, and the links among them; the others are named at the nodes. */
function cut({ drawn, links }, from) {
  for (const node of drawn.values()) node.far = { in: [], out: [] };
  if (drawn.size <= WINDOW) return { drawn, links };
  const inside = new Map([...drawn].slice(from, from + WINDOW));
  const isInside = ({ a, b }) => inside.has(a) && inside.has(b);
  nameFar(drawn, links.filter((link) => !isInside(link)));
  return { drawn: inside, links: links.filter(isInside) };
}

/** Names of the nodes at the other ends of links that are not drawn. */
function nameFar(drawn, links) {
  for (const { a, b } of links) {
    drawn.get(a).far.out.push(drawn.get(b).name);
    drawn.get(b).far.in.push(drawn.get(a).name);
  }
}

function draw(graph, { box, said, steps }, show) {
  const whole = collapse(shownOf(graph), graph.open);
  graph.from = Math.max(0, Math.min(graph.from, whole.drawn.size - WINDOW));
  const { drawn, links } = cut(whole, graph.from);
  const width = Math.max(box.clientWidth, 280);
  const paint = painter(graph.colour, drawn.values(), graph.value.groups);
  for (const node of drawn.values()) {
    node.label = label(node, width);
    node.width = 22 + node.label.length * 6.6;
    node.said = paint.text(node);
  }
  const picture = arrange(drawn, links, width);
  nameFar(drawn, picture.far);
  const isFocused = box.contains(document.activeElement);
  box.replaceChildren(
    ...[
      paint.legend(width),
      h(
        "div",
        { role: "group", "aria-label": `${graph.value.title ?? "Graph"}: ${plural(shownOf(graph).nodes.length, "node")}, ${drawn.size} drawn` },
        picture.rows.map((row) => rowBox(row, picture, paint, graph, show)),
      ),
    ].filter(Boolean),
  );
  mark(graph, box);
  // Without a node that takes the focus the box itself does: it may have to be scrolled.
  const holds = box.querySelector("[role='button']") === null;
  for (const [name, text] of [["tabindex", "0"], ["role", "group"], ["aria-label", graph.value.title ?? "Graph"]])
    if (holds) box.setAttribute(name, text);
    else box.removeAttribute(name);
  if (isFocused) box.querySelector("[tabindex='0']")?.focus({ preventScroll: true });
  steps.replaceChildren(...stepButtons(graph, whole.drawn.size, show));
  said.textContent = [
    graph.parents.length > 0
      ? `${plural(graph.all.nodes.length, "node")} in ${plural(graph.parents.length, "block")}. Click on a block to open it, on a node in a block to close it.`
      : `${plural(shownOf(graph).nodes.length, "node")}.`,
    graph.isThin && `${graph.all.nodes.length - graph.thin.nodes.length} that only pass results on are left out.`,
    drawn.size === whole.drawn.size && picture.far.length > 0 && `${plural(picture.far.length, "long edge")} shown as dots.`,
  ]
    .filter(Boolean)
    .join(" ");
}

function stepButtons(graph, size, show) {
  if (size <= WINDOW) return [];
  const go = (text, name, from, isOff) =>
    h("button", { type: "button", "aria-label": name, disabled: isOff, onclick: () => ((graph.from = from), show()) }, text);
  const { from } = graph;
  return [
    go("‹", "Nodes before these", from - WINDOW, from === 0),
    h("span", { "data-testid": "graph-window", "data-value": from }, `${from + 1} – ${from + WINDOW} of ${size}`),
    go("›", "Nodes after these", from + WINDOW, from + WINDOW >= size),
  ];
}

/** Another task was chosen: its nodes are marked, and brought into the window. */
function followTask(graph, box, show) {
  const task = graph.context.chosen();
  if (!shownOf(graph).nodes.some((node) => node.task === task)) return mark(graph, box);
  const keys = [...collapse(shownOf(graph), graph.open).drawn.values()];
  const at = keys.findIndex((node) => node.task === task);
  const isOut = keys.length > WINDOW && !keys.slice(graph.from, graph.from + WINDOW).some((node) => node.task === task);
  if (!isOut) return mark(graph, box);
  graph.from = at - WINDOW / 3;
  return show();
}

function mark(graph, box) {
  const chosen = graph.context?.chosen ? String(graph.context.chosen()) : null;
  const nodes = [...box.querySelectorAll("[role='button']")];
  const first = nodes.find((node) => node.dataset.task === chosen) ?? nodes[0];
  for (const node of nodes) {
    if (node.dataset.task !== undefined) node.setAttribute("aria-pressed", String(node.dataset.task === chosen));
    node.setAttribute("tabindex", node === first ? "0" : "-1");
  }
}

/** One row of ranks; lines that go on in the next row are cut at its border. */
function rowBox({ left, right, top, bottom }, { nodes, lines }, paint, graph, show) {
  const [width, height] = [right - left, bottom - top];
  const isInside = ({ x }) => x >= left && x <= right;
  const crosses = ({ points }) => points[0].x < right && points[points.length - 1].x > left;
  return h(
    "svg",
    { class: "graph-row", width, height, viewBox: `${left} ${top} ${width} ${height}` },
    lines
      .filter(crosses)
      .map(({ points, link }) =>
        h("path", { class: link.isMarked ? "edge marked" : "edge", d: path(points) }),
      ),
    nodes.filter(isInside).map((node) => nodeBox(node, paint, graph, show)),
  );
}

/** Long names lose their beginning, at a border of their parts where one is near; in a narrow window more of it. */
function label(node, width) {
  const most = width < 560 ? 16 : 26;
  const end = node.name.slice(-most - 3);
  const border = end.slice(0, most / 2).search(/[/.:_]/);
  const name = node.name.length > most ? `…${border >= 0 ? end.slice(border) : node.name.slice(-most + 1)}` : node.name;
  return `${name}${node.isBlock ? ` (${node.members.length})` : ""}`;
}

/** What is read on a node is a part of what is heard of it, in whole words. */
function heard({ label: seen }, [name, ...more]) {
  if (!seen.startsWith("…")) return [seen, ...more].join(", ");
  return [/^…[/.:_]/.test(seen) && name.endsWith(seen.slice(1)) ? null : seen.slice(1), name, ...more].filter(Boolean).join(", ");
}

const path = (points) =>
  points.map(({ x, y }, at) => `${at ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");

const MOST_NAMES = 6;
const names = (list) =>
  `${list.slice(0, MOST_NAMES).join(", ")}${list.length > MOST_NAMES ? `, ${list.length - MOST_NAMES} more` : ""}`;

/** What a click on a node does, or nothing. */
function actOf(node, graph, show) {
  if (graph.run?.tasks[node.task] && graph.context.pick) return () => graph.context.pick(node.task);
  if (node.parent === undefined) return undefined;
  return () => {
    if (!graph.open.delete(node.parent)) graph.open.add(node.parent);
    show();
  };
}

/** The arrow keys go from node to node, through all rows. */
function onKey(event, act) {
  const { key, currentTarget } = event;
  if (key === "Enter" || key === " ") {
    event.preventDefault();
    act();
    return;
  }
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[key];
  if (!step) return;
  event.preventDefault();
  const all = [...currentTarget.closest(".graph-box").querySelectorAll("[role='button']")];
  const next = all[all.indexOf(currentTarget) + step];
  if (!next) return;
  currentTarget.setAttribute("tabindex", "-1");
  next.setAttribute("tabindex", "0");
  next.focus();
}

function nodeBox(node, paint, graph, show) {
  const act = actOf(node, graph, show);
  const about = [
    node.name,
    node.said,
    graph.value.unit !== undefined && graph.colour?.key !== "value" && !node.isBlock && node.members[0].value > 0 && full(node.members[0].value, graph.value.unit),
  ].filter(Boolean);
  let begun = node.x - node.width / 2;
  return h(
    "g",
    {
      class: act ? "graph-item opens" : "graph-item",
      role: act && "button",
      tabindex: act && "-1",
      "data-task": node.task,
      "aria-label": act && heard(node, about),
      onclick: act,
      onkeydown: act && ((event) => onKey(event, act)),
    },
    h(
      "title",
      {},
      [
        ...about,
        node.far.in.length > 0 && `after ${names(node.far.in)}`,
        node.far.out.length > 0 && `before ${names(node.far.out)}`,
      ]
        .filter(Boolean)
        .join("\n"),
    ),
    h("rect", {
      x: node.x - node.width / 2,
      y: node.y - 12,
      width: node.width,
      height: 24,
      rx: 4,
      class: node.marked ? "node marked" : "node",
      "data-testid": node.isBlock ? "graph-block" : "graph-node",
      "data-value": node.members.reduce((sum, one) => sum + (one.value ?? 0), 0),
      style: paint.style(node),
    }),
    paint.shares(node).map(({ share, css }) => {
      const wide = node.width * share;
      begun += wide;
      return h("rect", { x: begun - wide, y: node.y + 8, width: wide, height: 4, style: { fill: css } });
    }),
    // Edges that are too long to be drawn: a dot where they begin or end.
    [node.far.in.length > 0 && -1, node.far.out.length > 0 && 1]
      .filter(Boolean)
      .map((side) =>
        h("circle", { class: "far", cx: node.x + (side * node.width) / 2, cy: node.y, r: 3 }),
      ),
    h("text", { x: node.x, y: node.y + 4, "text-anchor": "middle" }, node.label),
  );
}
