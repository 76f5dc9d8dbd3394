// Correlation matrix and dendrogram of the knobs, as the multi-agent search found them.
import { canvas, color, h } from "./dom.js";

/** {labels, matrix} in any of the spellings a note may use. */
function readMatrix(value) {
  const matrix = Array.isArray(value) ? value : (value?.matrix ?? value?.values);
  if (!Array.isArray(matrix) || matrix.length === 0 || !Array.isArray(matrix[0])) return null;
  return { matrix, labels: value.labels ?? value.names ?? matrix.map((_, at) => String(at)) };
}

function mix(from, to, share) {
  const parse = (hex) => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
  const [a, b] = [parse(from), parse(to)];
  return `rgb(${a.map((value, at) => Math.round(value + (b[at] - value) * share)).join(" ")})`;
}

export function heatmap(value) {
  const data = readMatrix(value);
  if (!data) return null;
  const { matrix, labels } = data;
  const size = matrix.length;
  const longest = Math.max(...labels.map((label) => String(label).length));
  const margin = size <= 60 ? Math.min(150, 10 + longest * 6.4) : 12;
  const height = Math.min(620, Math.max(220, margin + size * 22));
  const readout = h("p", { class: "readout" }, "Move over the matrix to read it.");
  const layout = { cell: 1 };
  const drawing = canvas(height, `Correlation matrix of ${size} knobs`, (context, width) => {
    const cell = Math.min((width - margin) / size, (height - margin) / size);
    layout.cell = cell;
    const [paper, high, low] = [color("panel"), color("warm"), color("cool")];
    context.font = `${Math.min(11.5, cell)}px system-ui, sans-serif`;
    context.textBaseline = "middle";
    for (let row = 0; row < size; row++)
      for (let column = 0; column < size; column++) {
        const entry = matrix[row][column] ?? 0;
        context.fillStyle = mix(paper, entry >= 0 ? high : low, Math.min(1, Math.abs(entry)));
        context.fillRect(
          margin + column * cell,
          margin + row * cell,
          cell - (cell > 6 ? 1 : 0),
          cell - (cell > 6 ? 1 : 0),
        );
      }
    if (size > 60) return;
    context.fillStyle = color("ink-soft");
    labels.forEach((label, at) => {
      context.textAlign = "right";
      context.fillText(label, margin - 5, margin + (at + 0.5) * cell);
      context.save();
      context.translate(margin + (at + 0.5) * cell, margin - 5);
      context.rotate(-Math.PI / 2);
      context.textAlign = "left";
      context.fillText(label, 0, 0);
      context.restore();
    });
  });
  drawing.element.addEventListener("mousemove", (event) => {
    const column = Math.floor((event.offsetX - margin) / layout.cell);
    const row = Math.floor((event.offsetY - margin) / layout.cell);
    const entry = matrix[row]?.[column];
    if (typeof entry === "number")
      readout.textContent = `${labels[row]} – ${labels[column]}: ${entry.toFixed(3)}`;
  });
  return h(
    "div",
    {},
    drawing.box,
    h(
      "p",
      { class: "legend" },
      h("span", {}, h("i", { style: { background: "var(--cool)" } }), "−1"),
      h(
        "span",
        {},
        h("i", { style: { background: "var(--panel)", outline: "1px solid var(--line)" } }),
        "0",
      ),
      h("span", {}, h("i", { style: { background: "var(--warm)" } }), "+1"),
    ),
    readout,
  );
}

/** {labels, merges: [[a, b, height], ...]}: leaves 0..n-1, merge k makes node n + k. */
export function dendrogram(value) {
  const merges = value?.merges;
  if (!Array.isArray(merges) || merges.length === 0) return null;
  const leaves = merges.length + 1;
  const labels =
    value.labels ?? value.names ?? Array.from({ length: leaves }, (_, at) => String(at));
  const order = [];
  const visit = (node) =>
    node < leaves
      ? order.push(node)
      : (visit(merges[node - leaves][0]), visit(merges[node - leaves][1]));
  visit(leaves + merges.length - 1);
  const row = 22;
  const height = leaves * row + 34;
  const margin = Math.min(150, 12 + Math.max(...labels.map((label) => String(label).length)) * 6.6);
  const drawing = canvas(height, `Dendrogram of ${leaves} knobs`, (context, width) => {
    const tallest = Math.max(...merges.map((merge) => merge[2]), 1e-12);
    const x = (level) => margin + (level / tallest) * (width - margin - 16);
    const y = new Map(order.map((leaf, at) => [leaf, (at + 0.5) * row]));
    const base = new Map(order.map((leaf) => [leaf, 0]));
    context.font = "11.5px system-ui, sans-serif";
    context.textBaseline = "middle";
    context.textAlign = "right";
    context.fillStyle = color("ink-soft");
    for (const leaf of order)
      context.fillText(labels[leaf] ?? String(leaf), margin - 6, y.get(leaf));
    context.strokeStyle = color("accent");
    context.lineWidth = 1.5;
    context.beginPath();
    merges.forEach(([a, b, level], at) => {
      context.moveTo(x(base.get(a)), y.get(a));
      context.lineTo(x(level), y.get(a));
      context.lineTo(x(level), y.get(b));
      context.lineTo(x(base.get(b)), y.get(b));
      y.set(leaves + at, (y.get(a) + y.get(b)) / 2);
      base.set(leaves + at, level);
    });
    context.stroke();
    drawCut(context, value, x, height, tallest);
  });
  return drawing.box;
}

function drawCut(context, value, x, height, tallest) {
  context.fillStyle = color("ink-faint");
  context.textAlign = "center";
  for (const share of [0, 0.5, 1])
    context.fillText((share * tallest).toPrecision(2), x(share * tallest), height - 10);
  if (typeof value.cut !== "number") return;
  context.strokeStyle = color("bound");
  context.setLineDash([5, 4]);
  context.beginPath();
  context.moveTo(x(value.cut), 0);
  context.lineTo(x(value.cut), height - 22);
  context.stroke();
  context.setLineDash([]);
}
