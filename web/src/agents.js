// How the multi-agent search shared out the knobs: correlation matrix in the order of the dendrogram,
// the cut, and the agents it gives. Notes `partition` and `recluster` of marl.
import { categoryCss, h, panel, select, watch } from "./dom.js";
import { notesFor } from "./run.js";
import { count, percent } from "./units.js";

const NAMES = ["partition", "recluster"];
const WARNINGS = { sparse_reward: sparseText, correlation_drift: driftText };
const CHARACTER = 6.5;

export const isAgentNote = (name) => NAMES.includes(name) || Object.hasOwn(WARNINGS, name);

function sparseText(value) {
  const share = value.trials > 0 ? ` (${percent(value.feasible / value.trials)} feasible)` : "";
  return `sparse reward: ${value.found ?? "nothing to learn from"} in the first ${count(value.trials)} samples${share}`;
}

function driftText(value) {
  const index = typeof value.adjusted_rand === "number" ? value.adjusted_rand.toFixed(2) : "–";
  return (
    `correlation drift: after ${count(value.trials)} samples the best 20\u202f% ask for other clusters than the first ` +
    `samples did (adjusted Rand index ${index}, 1 means the same; ${value.agents} agents now, ${value.agents_best} by the best)`
  );
}

/** [{text, advice, tasks: [names]}]: what marl and its kin warned of, equal warnings joined. */
export function agentWarnings(run) {
  const found = new Map();
  for (const note of run.notes) {
    if (!Object.hasOwn(WARNINGS, note.name) || typeof note.value !== "object") continue;
    const key = `${note.name}|${note.value?.try ?? ""}`;
    const entry = found.get(key) ?? { name: note.name, notes: [], advice: note.value?.try };
    entry.notes.push(note);
    found.set(key, entry);
  }
  return [...found.values()].map(({ name, notes, advice }) => {
    const first = WARNINGS[name](notes[0].value);
    const names = notes.map((note) => run.tasks[note.task]?.name ?? `task ${note.task}`);
    const where =
      run.tasks.length > 1
        ? ` – ${names.slice(0, 3).join(", ")}${names.length > 3 ? ` and ${names.length - 3} more` : ""}`
        : "";
    return { name, text: `${first}${where}`, advice };
  });
}

// Samples of an earlier run cost no evaluations; logs of earlier versions do not say that they are warm.
function isWarm(note, evaluations) {
  return note.value.warm > 0 || note.value.samples > (evaluations ?? Infinity);
}

function sampleText(note, evaluations) {
  const { samples } = note.value;
  if (!(samples > 0)) return "none";
  if (isWarm(note, evaluations)) return `${count(samples)} of an earlier run`;
  return `${count(samples)}${evaluations > 0 ? ` (${percent(samples / evaluations)} of the task)` : ""}`;
}

/** Where clustering ended on the axis of evaluations of a task: [{x, text}]. */
export function clusteringMarks(run, task) {
  const note = notesFor(run, "partition", task.index).at(-1);
  const samples = note?.value?.samples;
  if (!(samples > 0)) return [];
  return isWarm(note, task.evaluations) ? [] : [{ x: samples, text: `${count(samples)} samples for clustering` }];
}

function knobNames(run, value, task) {
  const size = value.owner?.length ?? value.matrix?.length ?? 0;
  const names = value.knobs ?? value.names ?? value.labels ?? run.header.tasks?.[task]?.knob_names;
  return Array.from({ length: size }, (_, at) => names?.[at] ?? `knob ${at + 1}`);
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

/** The height at which the tree falls into so many clusters: the threshold, where that is what was asked. */
function cutHeight(run, value, merges) {
  if (typeof value.cut === "number") return value.cut;
  const heights = merges.map((merge) => merge[2]).sort((a, b) => a - b);
  const below = heights[merges.length - value.agents] ?? 0;
  const above = heights[merges.length + 1 - value.agents] ?? heights.at(-1) * 1.08;
  const threshold = value.threshold ?? run.optimizer.options?.threshold;
  const isAsked = typeof threshold === "number" && threshold >= below && threshold <= above;
  return isAsked ? threshold : (below + above) / 2;
}

/** {names, owner, order, merges, matrix, cut, sizes, largest} of a note, ready to draw. */
function readPartition(run, note) {
  const value = note.value;
  const names = knobNames(run, value, note.task);
  const owner = value.owner ?? names.map(() => 0);
  const merges = value.merges ?? [];
  const sizes = Array.from(
    { length: Math.max(...owner) + 1 },
    (_, agent) => owner.filter((one) => one === agent).length,
  );
  let largest = 0;
  (value.matrix ?? []).forEach((row, i) =>
    row.forEach((entry, j) => {
      if (i !== j) largest = Math.max(largest, Math.abs(entry));
    }),
  );
  return {
    names,
    owner,
    merges,
    sizes,
    largest,
    order: leafOrder(merges, names.length),
    matrix: value.matrix ?? null,
    cut: merges.length > 0 ? cutHeight(run, value, merges) : null,
  };
}

/** Agents with several knobs have a colour each; those with one share a quiet one. */
function agentColors(sizes) {
  let used = 0;
  return sizes.map((size) => (size > 1 ? categoryCss(used++) : "var(--ink-faint)"));
}

export function agentsPanel(run, state) {
  if (!run.notes.some((note) => note.name === "partition")) return null;
  const box = h("div", { "data-testid": "agents" });
  const view = { name: "partition" };
  const show = () => {
    const note =
      notesFor(run, view.name, state.task).at(-1) ?? notesFor(run, "partition", state.task).at(-1);
    box.replaceChildren(
      ...(note?.value
        ? content(run, note, state.task)
        : [h("p", { class: "empty" }, "Nothing for this task.")]),
    );
  };
  state.onTask(show);
  show();
  const hasLater = run.notes.some((note) => note.name === "recluster");
  return panel(
    {
      id: "agents-panel",
      title: "Agents and their knobs",
      wide: true,
      hint: "Knobs that move together in good samples share an agent: correlation in the order of the tree, the tree, and where it was cut.",
      tools: hasLater
        ? [
            select(
              "Clusters shown",
              [
                ["partition", "First clusters"],
                ["recluster", "Newest clusters"],
              ],
              view.name,
              (name) => {
                view.name = name;
                show();
              },
            ),
          ]
        : [],
    },
    box,
  );
}

function content(run, note, task) {
  const data = readPartition(run, note);
  const colors = agentColors(data.sizes);
  // Of a run with one task they stand at the top of the page already.
  const parts = [facts(run, note, data, task), run.tasks.length > 1 && warningsOf(run, task)];
  if (data.matrix && data.merges.length > 0) parts.push(drawing(data, colors));
  parts.push(agentList(data, colors));
  return parts.filter(Boolean);
}

function facts(run, note, data, task) {
  const { samples } = note.value;
  const evaluations = run.tasks[task]?.evaluations;
  const entries = [
    ["agents", String(note.value.agents ?? data.sizes.length), "agent-count"],
    ["knobs", String(data.names.length)],
    note.name === "partition" && [
      "samples for clustering",
      sampleText(note, evaluations),
      "clustering-samples",
    ],
    note.name === "recluster" && ["best samples used", count(samples)],
    data.matrix &&
      typeof note.value.feasible === "number" && [
        "correlation rests on",
        `${count(note.value.feasible)} feasible sample${note.value.feasible === 1 ? "" : "s"}`,
        "correlation-samples",
        note.value.feasible,
      ],
    ["by", run.optimizer.options?.partition ?? "correlation"],
    data.cut !== null && ["linkage", run.optimizer.options?.linkage ?? "average"],
    data.cut !== null && ["cut at distance", data.cut.toPrecision(2)],
  ].filter(Boolean);
  return h(
    "dl",
    { class: "facts small-facts" },
    entries.map(([name, value, id, exact = samples]) =>
      h(
        "div",
        {},
        h("dt", {}, name),
        h("dd", { "data-testid": id, "data-value": id && exact }, value),
      ),
    ),
  );
}

function warningsOf(run, task) {
  const notes = run.notes.filter(
    (note) => Object.hasOwn(WARNINGS, note.name) && note.task === task,
  );
  if (notes.length === 0) return null;
  return h(
    "div",
    { class: "warnings" },
    h(
      "ul",
      {},
      notes.map((note) =>
        h(
          "li",
          {},
          `${WARNINGS[note.name](note.value)}. `,
          note.value.try && h("strong", {}, `Try ${note.value.try}.`),
        ),
      ),
    ),
  );
}

/** Matrix and tree share their rows, so that a cluster is one block and one branch. */
function drawing(data, colors) {
  const readout = h("p", { class: "readout" }, "Move over the matrix to read it.");
  const box = h("div", { class: "agents-drawing" });
  const draw = () =>
    box.clientWidth > 0 && box.replaceChildren(picture(data, colors, box.clientWidth, readout));
  watch(box, draw);
  return h("div", {}, box, scaleLegend(data), readout);
}

function picture(data, colors, width, readout) {
  const size = data.names.length;
  const longest = Math.max(...data.names.map((name) => name.length));
  const left = Math.min(200, 32 + longest * CHARACTER);
  const tree = Math.min(380, Math.max(130, width * 0.32));
  const cell = Math.max(5, Math.min(34, (width - left - tree - 34) / size));
  const isNamed = cell >= 10;
  const top = cell >= 13 ? Math.min(150, 12 + longest * CHARACTER) : 10;
  const height = top + size * cell + 30;
  const x = (at) => left + at * cell;
  const y = (at) => top + at * cell;
  const treeLeft = x(size) + 22;
  const svg = h("svg", {
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    role: "img",
    "aria-label": `Correlation of ${size} knobs and the tree of their clusters`,
    "data-testid": "agents-picture",
  });
  data.order.forEach((knob, at) => {
    const fill = colors[data.owner[knob]];
    if (isNamed)
      svg.append(
        h("circle", { cx: 9, cy: y(at + 0.5), r: 4.5, style: { fill } }),
        h(
          "text",
          { x: left - 7, y: y(at + 0.5), class: "knob", "text-anchor": "end" },
          data.names[knob],
        ),
      );
    if (cell >= 13)
      svg.append(
        h(
          "text",
          { class: "knob", transform: `translate(${x(at + 0.5)} ${top - 6}) rotate(-90)` },
          data.names[knob],
        ),
      );
  });
  svg.append(
    matrixCells(data, { x, y, cell }, readout),
    ...clusterFrames(data, colors, { x, y, cell }),
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
        readout.textContent = `${data.names[row]} – ${data.names[column]}: ${entry.toFixed(3)}`;
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

/** Clusters stand side by side in the tree's order: one frame each, on the diagonal. */
function clusterFrames(data, colors, { x, y, cell }) {
  const frames = [];
  for (let at = 0; at < data.order.length;) {
    const agent = data.owner[data.order[at]];
    let end = at + 1;
    while (end < data.order.length && data.owner[data.order[end]] === agent) end++;
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
          style: { stroke: colors[agent] },
        }),
      );
    at = end;
  }
  return frames;
}

function treeLines(data, colors, { y, left, right, bottom }) {
  const leaves = data.names.length;
  const tallest = Math.max(...data.merges.map((merge) => merge[2]), data.cut, 1e-12);
  const place = (level) => left + (level / tallest) * (right - left);
  const nodes = new Map(
    data.order.map((leaf, at) => [leaf, { y: y(at + 0.5), level: 0, agent: data.owner[leaf] }]),
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
          ? `distance ${tallest.toPrecision(2)}`
          : (share * tallest).toPrecision(2).replace("0.0", "0"),
      ),
    ),
  ];
  data.merges.forEach(([a, b, level], at) => {
    const [first, second] = [nodes.get(a), nodes.get(b)];
    const isInside = first.agent === second.agent && first.agent !== null;
    parts.push(
      h("path", {
        class: isInside ? "branch inside" : "branch",
        style: isInside ? { stroke: colors[first.agent] } : undefined,
        d: `M${place(first.level)} ${first.y}H${place(level)}V${second.y}H${place(second.level)}`,
      }),
    );
    nodes.set(leaves + at, {
      y: (first.y + second.y) / 2,
      level,
      agent: isInside ? first.agent : null,
    });
  });
  parts.push(
    h("path", {
      class: "cut",
      "data-testid": "cut",
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

function scaleLegend(data) {
  const step = (share, name) =>
    h("i", { style: { background: `color-mix(in srgb, var(--${name}) ${share}%, var(--panel))` } });
  return h(
    "p",
    { class: "legend ramp" },
    h(
      "span",
      {},
      `−${data.largest.toFixed(2)} `,
      [100, 66, 33].map((share) => step(share, "cool")),
      step(0, "warm"),
      [33, 66, 100].map((share) => step(share, "warm")),
      ` +${data.largest.toFixed(2)}`,
    ),
    h("span", { class: "muted" }, "correlation in good samples; full colour at the largest found"),
  );
}

function agentList(data, colors) {
  const members = data.sizes.map((_, agent) =>
    data.names.filter((_, knob) => data.owner[knob] === agent),
  );
  const alone = members.filter((list) => list.length === 1).flat();
  const several = members
    .map((list, agent) => ({ list, agent }))
    .filter(({ list }) => list.length > 1);
  return h(
    "ul",
    { class: "agent-list", "data-testid": "agent-list" },
    several.map(({ list, agent }) =>
      h(
        "li",
        {},
        h("i", { class: "dot", style: { background: colors[agent] } }),
        h("strong", {}, `agent ${agent + 1} `),
        list.map((name) => h("code", {}, name)),
      ),
    ),
    alone.length > 0 &&
      h(
        "li",
        {},
        h("i", { class: "dot", style: { background: "var(--ink-faint)" } }),
        h("strong", {}, `${alone.length} agent${alone.length > 1 ? "s" : ""} with one knob `),
        alone.map((name) => h("code", {}, name)),
      ),
  );
}
