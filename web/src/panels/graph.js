// A directed graph from left to right and row by row, coloured by group: {unit, group_name, nodes: [{name, group, parent,
// value, marked}], edges: [[from, to]]}. Nodes with the same parent are one block, which opens and closes by a click;
// large graphs begin closed.
import { categoryCss, checkbox, h, select, watch } from "../dom.js";
import { saveTools, stacked, withUnit } from "../save.js";
import { full, plural } from "../units.js";
import { arrange } from "./graph_layout.js";

const MOST_DRAWN = 1200; // dagre needs seconds beyond this
const MOST_OPEN = 250; // more nodes than this begin as blocks

export function graphPanel(value) {
  const nodes = value.nodes;
  if (!Array.isArray(nodes) || nodes.length === 0) return null;
  const parents = [...new Set(nodes.map((node) => node.parent).filter((one) => one !== undefined))];
  const graph = {
    ...value,
    parents,
    groups: [...new Set([...(value.groups ?? []), ...nodes.map((node) => node.group ?? "")])],
    open: new Set(nodes.length > MOST_OPEN ? [] : parents),
    isByValue: false,
  };
  const box = h("div", { class: "graph-box", tabindex: "0", role: "group", "aria-label": value.title });
  const said = h("p", { class: "readout" });
  const show = () => draw(graph, box, said, show);
  watch(box, show);
  return h(
    "div",
    {},
    h(
      "p",
      { class: "legend" },
      graph.groups.length > 1 &&
        graph.groups.map((group, at) =>
          h("span", {}, h("i", { style: { background: categoryCss(at) } }), String(group)),
        ),
      graph.groups.length > 1 &&
        nodes.some((node) => node.value > 0) &&
        select(
          "Colour of the nodes",
          [
            ["group", `colour: ${value.group_name ?? "group"}`],
            ["value", "colour: value"],
          ],
          "group",
          (key) => {
            graph.isByValue = key === "value";
            show();
          },
        ),
      nodes.some((node) => node.marked) && h("span", {}, h("i", { class: "sign-marked" }), "marked"),
      parents.length > 0 &&
        checkbox("open all blocks", graph.open.size === parents.length, (on) => {
          graph.open = new Set(on ? parents : []);
          show();
        }),
    ),
    box,
    said,
    saveTools(value.title ?? value.id, {
      svg: () => stacked([...box.querySelectorAll("svg")]),
      csv: () => [
        ["name", value.group_name ?? "group", "block", withUnit("value", value.unit), "marked"],
        ...nodes.map((node) => [node.name, node.group, node.parent, node.value, node.marked ? 1 : 0]),
      ],
    }),
  );
}

/** What is drawn: open nodes as they are, closed blocks as one with the sum of their values. */
function collapse({ nodes, edges = [], open }) {
  const drawn = new Map();
  const keys = nodes.map((node, at) =>
    node.parent === undefined || open.has(node.parent) ? `n${at}` : `b${node.parent}`,
  );
  nodes.forEach((node, at) => {
    const isBlock = keys[at][0] === "b";
    const one = drawn.get(keys[at]) ?? { name: isBlock ? node.parent : node.name, parent: node.parent, isBlock, size: 0, value: 0, uses: new Map(), marked: false };
    one.size++;
    one.value += node.value ?? 0;
    one.marked ||= Boolean(node.marked);
    one.uses.set(node.group ?? "", (one.uses.get(node.group ?? "") ?? 0) + 1);
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

function draw(graph, box, said, show) {
  const { drawn, links } = collapse(graph);
  if (drawn.size > MOST_DRAWN) {
    box.replaceChildren(
      h("p", { class: "empty" }, `${plural(drawn.size, "node")}: too many to draw; close some blocks.`),
    );
    return;
  }
  graph.most = [...drawn.values()].reduce((most, node) => Math.max(most, node.value), 1e-300);
  for (const node of drawn.values()) node.width = 26 + label(node).length * 6.6;
  const picture = arrange(drawn, links, Math.max(box.clientWidth, 320));
  countFar(picture);
  box.replaceChildren(
    h(
      "div",
      {
        role: "img",
        "aria-label": `Graph of ${plural(graph.nodes.length, "node")}, ${drawn.size} drawn`,
      },
      picture.rows.map((row) => rowBox(row, picture, graph, show)),
    ),
  );
  said.textContent = [
    graph.parents.length > 0
      ? `${plural(graph.nodes.length, "node")} in ${plural(graph.parents.length, "block")}. Click on a block to open it, on a node in a block to close it.`
      : plural(graph.nodes.length, "node"),
    picture.far.length > 0 && `${plural(picture.far.length, "long edge")} shown as dots.`,
  ]
    .filter(Boolean)
    .join(" ");
}

/** Names of the nodes at the other ends of links that are not drawn. */
function countFar({ nodes, far }) {
  const byKey = new Map(nodes.map((node) => [node.key, node]));
  for (const node of nodes) node.far = { in: [], out: [] };
  for (const { a, b } of far) {
    byKey.get(a).far.out.push(byKey.get(b).name);
    byKey.get(b).far.in.push(byKey.get(a).name);
  }
}

/** One row of ranks; lines that go on in the next row are cut at its border. */
function rowBox({ left, right, top, bottom }, { nodes, lines }, graph, show) {
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
    nodes.filter(isInside).map((node) => nodeBox(node, graph, show)),
  );
}

const MOST_LETTERS = 34;

/** Long names lose their middle. */
function label(node) {
  const half = MOST_LETTERS / 2 - 1;
  const name =
    node.name.length > MOST_LETTERS ? `${node.name.slice(0, half)}…${node.name.slice(-half)}` : node.name;
  return `${name}${node.isBlock ? ` (${node.size})` : ""}`;
}

const path = (points) =>
  points.map(({ x, y }, at) => `${at ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");

const MOST_NAMES = 6;
const names = (list) =>
  `${list.slice(0, MOST_NAMES).join(", ")}${list.length > MOST_NAMES ? `, ${list.length - MOST_NAMES} more` : ""}`;

function nodeBox(node, graph, show) {
  const [first] = [...node.uses].sort((a, b) => b[1] - a[1])[0];
  const uses = [...node.uses].filter(([name]) => name !== "");
  const toggle = () => {
    if (!graph.open.delete(node.parent)) graph.open.add(node.parent);
    show();
  };
  let begun = node.x - node.width / 2;
  return h(
    "g",
    { class: node.parent === undefined ? "" : "opens", onclick: node.parent !== undefined && toggle },
    h(
      "title",
      {},
      [
        node.name,
        ...uses.map(([name, size]) => `${graph.group_name ?? "group"} ${name}${node.isBlock ? `: ${size}` : ""}`),
        graph.unit !== undefined && full(node.value, graph.unit),
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
      "data-value": node.value,
      style: graph.isByValue
        ? {
            "--node": "var(--ink-faint)",
            fill: `color-mix(in srgb, var(--warm) ${Math.round((60 * node.value) / graph.most)}%, var(--panel))`,
          }
        : { "--node": categoryCss(graph.groups.indexOf(first)) },
    }),
    // A block of several groups shows their shares at its foot.
    uses.length > 1 &&
      uses.map(([name, size]) => {
        const wide = (node.width * size) / node.size;
        begun += wide;
        return h("rect", { x: begun - wide, y: node.y + 8, width: wide, height: 4, style: { fill: categoryCss(graph.groups.indexOf(name)) } });
      }),
    // Edges that are too long to be drawn: a dot where they begin or end.
    [node.far.in.length > 0 && -1, node.far.out.length > 0 && 1]
      .filter(Boolean)
      .map((side) =>
        h("circle", { class: "far", cx: node.x + (side * node.width) / 2, cy: node.y, r: 3 }),
      ),
    h("text", { x: node.x, y: node.y + 4, "text-anchor": "middle" }, label(node)),
  );
}

