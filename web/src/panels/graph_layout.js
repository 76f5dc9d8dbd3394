// Where the nodes of a directed graph stand: in ranks from left to right (dagre), and the ranks in rows below each other, as
// lines of text are, so that a long graph needs no scrolling to the side.
import { graphlib, layout } from "@dagrejs/dagre";

const MANY = 60; // of more nodes than this, long edges do not shape the picture
const LONG = 2; // ranks that an edge may cross in it
const GAP = 34; // between ranks
export const HEIGHT = 24; // of a node

/** The rank of each node: one more than the last before it. Nodes without edges in stand right before the first that needs
    them. Edges that close a circle do not count. */
function findRanks(keys, links) {
  const after = new Map(keys.map((key) => [key, []]));
  for (const link of links) after.get(link.a).push(link);
  const state = new Map();
  const order = [];
  for (const root of keys) {
    const stack = [[root, 0]];
    while (stack.length > 0) {
      const top = stack[stack.length - 1];
      const [key] = top;
      if (top[1] === 0 && state.get(key)) stack.pop();
      else {
        state.set(key, 1); // on the way: an edge to it closes a circle
        const link = after.get(key)[top[1]++];
        if (link === undefined) {
          state.set(key, 2);
          order.push(key);
          stack.pop();
        } else if (state.get(link.b) === 1) link.isBack = true;
        else if (!state.get(link.b)) stack.push([link.b, 0]);
      }
    }
  }
  const ranks = new Map(keys.map((key) => [key, 0]));
  for (const key of order.reverse())
    for (const { b, isBack } of after.get(key))
      if (!isBack) ranks.set(b, Math.max(ranks.get(b), ranks.get(key) + 1));
  const fed = new Set(links.map(({ b }) => b));
  for (const key of keys)
    if (!fed.has(key) && after.get(key).length > 0)
      ranks.set(key, Math.min(...after.get(key).map(({ b }) => ranks.get(b))) - 1);
  return ranks;
}

/** Links that dagre sees: of large graphs the short ones, and the shortest into each node, which keeps it in its rank. */
function shaping(keys, links) {
  if (keys.length <= MANY) return new Set(links);
  const ranks = findRanks(keys, links);
  const span = ({ a, b }) => ranks.get(b) - ranks.get(a);
  const shortest = new Map();
  const kept = new Set();
  for (const link of links) {
    if (link.isBack) continue;
    if (span(link) <= LONG) kept.add(link);
    const known = shortest.get(link.b);
    if (!known || span(link) < span(known)) shortest.set(link.b, link);
  }
  for (const link of shortest.values()) kept.add(link);
  return kept;
}

/** Ranks as columns {left, right}, from left to right. */
function findColumns(nodes) {
  const columns = [];
  for (const node of [...nodes].sort((one, other) => one.x - other.x)) {
    const last = columns[columns.length - 1];
    const [left, right] = [node.x - node.width / 2, node.x + node.width / 2];
    if (last && node.x - last.x < 1) {
      last.left = Math.min(last.left, left);
      last.right = Math.max(last.right, right);
    } else columns.push({ x: node.x, left, right });
  }
  return columns;
}

/** As many columns as fit into `width` make a row {left, right, top, bottom}. */
function findRows(nodes, width) {
  const rows = [];
  for (const { left, right } of findColumns(nodes)) {
    const row = rows[rows.length - 1];
    if (row && right - row.left <= width - GAP) row.right = Math.max(row.right, right);
    else rows.push({ left, right, top: Infinity, bottom: -Infinity });
  }
  for (const node of nodes) {
    const row = rows.find((one) => node.x <= one.right);
    row.top = Math.min(row.top, node.y - HEIGHT / 2);
    row.bottom = Math.max(row.bottom, node.y + HEIGHT / 2);
  }
  for (const row of rows) {
    row.left -= GAP / 2;
    row.right += GAP / 2;
    row.top -= 8;
    row.bottom += 8;
  }
  return rows;
}

/** {nodes, lines: [{points, link}], far: [link], rows}: `far` are the links that are too long to be drawn. */
export function arrange(drawn, links, width) {
  const made = new graphlib.Graph();
  const near = shaping([...drawn.keys()], links);
  made.setGraph({ rankdir: "LR", nodesep: 8, edgesep: 4, ranksep: GAP, marginx: 8, marginy: 8 });
  made.setDefaultEdgeLabel(() => ({}));
  for (const [key, node] of drawn) made.setNode(key, Object.assign(node, { key, height: HEIGHT }));
  for (const link of near) made.setEdge(link.a, link.b, { link });
  layout(made);
  const nodes = made.nodes().map((key) => made.node(key));
  return {
    nodes,
    lines: made.edges().map((edge) => made.edge(edge)),
    far: links.filter((link) => !near.has(link)),
    rows: findRows(nodes, width),
  };
}
