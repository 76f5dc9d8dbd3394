// The operator graph in layers (dagre), coloured by group: {nodes: [{id, label, group}], edges: [[a, b]]}.
import { graphlib, layout } from "@dagrejs/dagre";
import { categoryCss, h } from "./dom.js";

const LIMIT = 1200; // dagre needs seconds beyond this

export function graphView(value) {
  const nodes = value?.nodes;
  if (!Array.isArray(nodes) || nodes.length === 0) return null;
  if (nodes.length > LIMIT)
    return h(
      "p",
      { class: "empty" },
      `The graph has ${nodes.length} operators, too many to draw; see the plan file.`,
    );
  const graph = new graphlib.Graph();
  graph.setGraph({ rankdir: "LR", nodesep: 10, ranksep: 34, marginx: 8, marginy: 8 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const node of nodes)
    graph.setNode(String(node.id), {
      ...node,
      width: 26 + String(node.label ?? node.id).length * 6.6,
      height: 24,
    });
  for (const [from, to] of value.edges ?? [])
    if (graph.hasNode(String(from)) && graph.hasNode(String(to)))
      graph.setEdge(String(from), String(to));
  layout(graph);
  const groups = [...new Set(nodes.map((node) => node.group ?? ""))];
  const { width, height } = graph.graph();
  return h(
    "div",
    {},
    groups.length > 1 &&
      h(
        "p",
        { class: "legend" },
        groups.map((group, at) =>
          h("span", {}, h("i", { style: { background: categoryCss(at) } }), String(group)),
        ),
      ),
    h(
      "div",
      { class: "graph-box", tabindex: "0", role: "region", "aria-label": "Operator graph" },
      h(
        "svg",
        {
          width,
          height,
          viewBox: `0 0 ${width} ${height}`,
          role: "img",
          "aria-label": `Graph of ${nodes.length} operators`,
        },
        graph.edges().map((edge) => h("path", { class: "edge", d: path(graph.edge(edge).points) })),
        graph.nodes().map((id) => nodeBox(graph.node(id), groups)),
      ),
    ),
  );
}

const path = (points) =>
  points.map(({ x, y }, at) => `${at ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");

function nodeBox(node, groups) {
  return h(
    "g",
    {},
    h("title", {}, `${node.label ?? node.id}${node.group ? ` on ${node.group}` : ""}`),
    h("rect", {
      x: node.x - node.width / 2,
      y: node.y - 12,
      width: node.width,
      height: 24,
      rx: 4,
      class: "node",
      style: { "--node": categoryCss(groups.indexOf(node.group ?? "")) },
    }),
    h("text", { x: node.x, y: node.y + 4, "text-anchor": "middle" }, String(node.label ?? node.id)),
  );
}
