// Who goes together: {names: {leaf, group, height}, leaves, groups: [of each leaf], merges: [[a, b, height]], cut, matrix}
// as a matrix in the order of its tree beside the tree; or a hierarchy: {unit, nodes: [{name, parent, value}]}.
import { categoryCss, h, watch } from "../dom.js";
import { saveTools } from "../save.js";
import { full, plural, short } from "../units.js";
import { ramp } from "./heatmap.js";

const CHARACTER = 6.5;
const NAMES = { leaf: "leaf", group: "group", height: "height" };

export function treePanel(value) {
  if (Array.isArray(value.nodes)) return hierarchy(value);
  if (!Array.isArray(value.leaves) || value.leaves.length === 0) return null;
  const data = readClusters(value);
  const colors = groupColors(data.sizes);
  return h(
    "div",
    {},
    data.merges.length > 0 && drawing(data, colors),
    value.groups && groupList(data, colors),
  );
}

/** Folded below the second level; bars show the share of the whole. */
function hierarchy({ unit, nodes }) {
  const children = nodes.map(() => []);
  const roots = [];
  nodes.forEach((node, at) => (children[node.parent] ?? roots).push(at));
  const whole = Math.max(...roots.map((at) => nodes[at].value ?? 0), 1e-300);
  const line = ({ name, value }) => [
    h("span", {}, name),
    typeof value === "number" && [
      h(
        "span",
        { class: "meter-track", "aria-hidden": "true" },
        h("span", { style: { width: `${Math.min(1, value / whole) * 100}%` } }),
      ),
      h("span", { class: "muted", title: full(value, unit) }, short(value, unit)),
    ],
  ];
  const entry = (at, depth) =>
    children[at].length === 0
      ? h("li", { class: "branch-line" }, line(nodes[at]))
      : h(
          "li",
          {},
          h(
            "details",
            { open: depth < 2 },
            h("summary", { class: "branch-line" }, line(nodes[at])),
            h("ul", {}, children[at].map((child) => entry(child, depth + 1))),
          ),
        );
  return h("ul", { class: "hierarchy" }, roots.map((at) => entry(at, 0)));
}

/** Leaves in the order in which the tree can be drawn without crossings. */
function leafOrder(merges, leaves) {
  if (merges.length !== leaves - 1) return Array.from({ length: leaves }, (_, at) => at);
  const order = [];
  const open = [leaves + merges.length - 1];
  while (open.length > 0) {
    const node = open.pop();
    if (node < leaves) order.push(node);
    else open.push(merges[node - leaves][1], merges[node - leaves][0]);
  }
  return order;
}

/** {names, leaves, owner, order, merges, matrix, cut, sizes, largest} of a view, ready to draw. */
function readClusters(value) {
  const { leaves, matrix = null, merges = [] } = value;
  const owner = value.groups ?? leaves.map(() => 0);
  const sizes = Array.from(
    { length: Math.max(...owner) + 1 },
    (_, group) => owner.filter((one) => one === group).length,
  );
  let largest = 0;
  (matrix ?? []).forEach((row, i) =>
    row.forEach((entry, j) => {
      if (i !== j) largest = Math.max(largest, Math.abs(entry));
    }),
  );
  return {
    names: { ...NAMES, ...value.names },
    id: value.id,
    leaves,
    owner,
    merges,
    sizes,
    largest,
    matrix,
    order: leafOrder(merges, leaves.length),
    cut: value.cut ?? null,
  };
}

/** Groups of several have a colour each; those of one share a quiet one. */
function groupColors(sizes) {
  let used = 0;
  return sizes.map((size) => (size > 1 ? categoryCss(used++) : "var(--ink-faint)"));
}

/** Matrix and tree share their rows, so that a cluster is one block and one branch. */
function drawing(data, colors) {
  const readout = h("p", { class: "readout" }, data.matrix && "Move over the matrix to read it.");
  const box = h("div", { class: "clusters", tabindex: "0", role: "group", "aria-label": `${data.names.leaf}s by ${data.names.group}` });
  const draw = () =>
    box.clientWidth > 0 && box.replaceChildren(picture(data, colors, box.clientWidth, readout));
  watch(box, draw);
  return h(
    "div",
    {},
    box,
    data.matrix && ramp(-data.largest, data.largest, "", "full colour at the largest found"),
    readout,
    saveTools(`${data.names.group}s`, {
      svg: () => box.querySelector("svg"),
      csv: () => [
        [data.names.leaf, data.names.group, ...(data.matrix ? data.leaves : [])],
        ...data.leaves.map((leaf, at) => [leaf, data.owner[at], ...(data.matrix?.[at] ?? [])]),
      ],
    }),
  );
}

function picture(data, colors, width, readout) {
  const size = data.leaves.length;
  const longest = Math.max(...data.leaves.map((name) => name.length));
  const left = Math.min(200, 32 + longest * CHARACTER);
  const tree = Math.min(380, Math.max(130, width * 0.32));
  const cell = data.matrix ? Math.max(5, Math.min(34, (width - left - tree - 34) / size)) : 22;
  const columns = data.matrix ? size : 0;
  const isNamed = cell >= 10;
  const top = data.matrix && cell >= 13 ? Math.min(150, Math.max(26, 14 + longest * CHARACTER)) : 22;
  const height = top + size * cell + 30;
  const x = (at) => left + at * cell;
  const y = (at) => top + at * cell;
  const treeLeft = x(columns) + (data.matrix ? 22 : 4);
  const svg = h("svg", {
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    role: "img",
    "aria-label": `${plural(size, data.names.leaf)} and the tree of their groups`,
    "data-testid": `${data.id}-picture`,
  });
  data.order.forEach((leaf, at) => {
    const fill = colors[data.owner[leaf]];
    if (isNamed)
      svg.append(
        h("circle", { cx: 9, cy: y(at + 0.5), r: 4.5, style: { fill } }),
        h(
          "text",
          { x: left - 7, y: y(at + 0.5), class: "leaf", "text-anchor": "end" },
          data.leaves[leaf],
        ),
      );
    if (data.matrix && cell >= 13)
      svg.append(
        h(
          "text",
          { class: "leaf", transform: `translate(${x(at + 0.5)} ${top - 6}) rotate(-90)` },
          data.leaves[leaf],
        ),
      );
  });
  if (data.matrix)
    svg.append(
      matrixCells(data, { x, y, cell }, readout),
      ...groupFrames(data, colors, { x, y, cell }),
    );
  svg.append(...treeLines(data, colors, { y, left: treeLeft, right: width - 12, bottom: y(size) }));
  return svg;
}

function matrixCells(data, { x, y, cell }, readout) {
  const gap = cell > 8 ? 1 : 0;
  const group = h("g", {
    onmousemove: (event) => {
      const [row, column] = (event.target.dataset.at ?? "").split(",").map(Number);
      const entry = data.matrix[row]?.[column];
      if (typeof entry === "number")
        readout.textContent = `${data.leaves[row]} – ${data.leaves[column]}: ${entry.toFixed(3)}`;
    },
  });
  data.order.forEach((row, i) =>
    data.order.forEach((column, j) => {
      const entry = data.matrix[row][column] ?? 0;
      const share = data.largest > 0 ? Math.min(1, Math.abs(entry) / data.largest) : 0;
      const fill =
        row === column
          ? "var(--track)"
          : `color-mix(in srgb, var(--${entry >= 0 ? "warm" : "cool"}) ${Math.round(share * 100)}%, var(--panel))`;
      group.append(
        h("rect", {
          x: x(j),
          y: y(i),
          width: cell - gap,
          height: cell - gap,
          "data-at": `${row},${column}`,
          style: { fill },
        }),
      );
    }),
  );
  return group;
}

/** Groups stand side by side in the tree's order: one frame each, on the diagonal. */
function groupFrames(data, colors, { x, y, cell }) {
  const frames = [];
  for (let at = 0; at < data.order.length;) {
    const group = data.owner[data.order[at]];
    let end = at + 1;
    while (end < data.order.length && data.owner[data.order[end]] === group) end++;
    if (end - at > 1)
      frames.push(
        h("rect", {
          x: x(at) - 1,
          y: y(at) - 1,
          width: (end - at) * cell + 1,
          height: (end - at) * cell + 1,
          rx: 2,
          fill: "none",
          "stroke-width": 2,
          style: { stroke: colors[group] },
        }),
      );
    at = end;
  }
  return frames;
}

function treeLines(data, colors, { y, left, right, bottom }) {
  const leaves = data.leaves.length;
  const tallest = Math.max(...data.merges.map((merge) => merge[2]), data.cut ?? 0, 1e-12);
  const place = (level) => left + (level / tallest) * (right - left);
  const nodes = new Map(
    data.order.map((leaf, at) => [leaf, { y: y(at + 0.5), level: 0, group: data.owner[leaf] }]),
  );
  const parts = [
    h("path", { class: "axis", d: `M${left} ${bottom + 6}H${right}` }),
    ...[0, 0.5, 1].map((share) =>
      h(
        "text",
        {
          class: "tick",
          x: place(share * tallest),
          y: bottom + 20,
          "text-anchor": share === 1 ? "end" : "middle",
        },
        share === 1
          ? `${data.names.height} ${tallest.toPrecision(2)}`
          : (share * tallest).toPrecision(2).replace("0.0", "0"),
      ),
    ),
  ];
  data.merges.forEach(([a, b, level], at) => {
    const [first, second] = [nodes.get(a), nodes.get(b)];
    const isInside = first.group === second.group && first.group !== null;
    parts.push(
      h("path", {
        class: isInside ? "branch inside" : "branch",
        style: isInside ? { stroke: colors[first.group] } : undefined,
        d: `M${place(first.level)} ${first.y}H${place(level)}V${second.y}H${place(second.level)}`,
      }),
    );
    nodes.set(leaves + at, {
      y: (first.y + second.y) / 2,
      level,
      group: isInside ? first.group : null,
    });
  });
  if (data.cut === null) return parts;
  parts.push(
    h("path", {
      class: "cut",
      "data-testid": `${data.id}-cut`,
      d: `M${place(data.cut)} ${y(0) - 8}V${bottom + 6}`,
    }),
    h(
      "text",
      { class: "tick cut-name", x: place(data.cut), y: y(0) - 12, "text-anchor": "middle" },
      "cut",
    ),
  );
  return parts;
}

/** The members of each group of several, and those who are alone. */
function groupList(data, colors) {
  const members = data.sizes.map((_, group) =>
    data.leaves.filter((_, leaf) => data.owner[leaf] === group),
  );
  const alone = members.filter((list) => list.length === 1).flat();
  const several = members
    .map((list, group) => ({ list, group }))
    .filter(({ list }) => list.length > 1);
  return h(
    "ul",
    { class: "group-list", "data-testid": `${data.id}-groups` },
    several.map(({ list, group }) =>
      h(
        "li",
        {},
        h("i", { class: "dot", style: { background: colors[group] } }),
        h("strong", {}, `${data.names.group} ${group + 1} `),
        list.map((name) => h("code", {}, name)),
      ),
    ),
    alone.length > 0 &&
      h(
        "li",
        {},
        h("i", { class: "dot", style: { background: "var(--ink-faint)" } }),
        h("strong", {}, `${plural(alone.length, data.names.group)} with one ${data.names.leaf} `),
        alone.map((name) => h("code", {}, name)),
      ),
  );
}
