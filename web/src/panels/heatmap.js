// {unit, rows: [names], columns: [names] or as the rows, values: [[...]], names: {row, column}, spread}: a matrix in
// colours, around 0 where some are negative; `spread`: from the least value instead of 0. Cells with space say theirs.
import { canvas, color, h } from "../dom.js";
import { saveTools } from "../save.js";
import { svgOf } from "../svg_context.js";
import { full, short } from "../units.js";

const NAMED = 60; // more rows than this have no room for their names

export function mix(from, to, share) {
  const parse = (hex) => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
  const [a, b] = [parse(from), parse(to)];
  return `rgb(${a.map((value, at) => Math.round(value + (b[at] - value) * share)).join(" ")})`;
}

export function heatmapPanel(value) {
  const { values, rows, unit = "" } = value;
  const columns = value.columns ?? rows;
  if (!Array.isArray(values) || values.length === 0 || !Array.isArray(rows)) return null;
  const known = values.flat().filter((one) => typeof one === "number");
  const largest = known.reduce((most, one) => Math.max(most, Math.abs(one)), 1e-300);
  const isSigned = known.some((one) => one < 0);
  const least = value.spread && !isSigned ? Math.min(...known) : 0;
  const share = (one) => (largest > least ? (Math.abs(one ?? 0) - least) / (largest - least) : 1);
  const { row: rowName = "", column: columnName = "" } = value.names ?? {};
  const areLevel = columns.length <= 8 && columns.every((name) => String(name).length < 8); // names that need no turning
  const width = (names) => Math.max(...names.map((name) => String(name).length)) * 6.4;
  const left = rows.length <= NAMED ? Math.min(170, 10 + Math.max(width(rows), width([rowName]))) : 12;
  const top = columns.length <= NAMED ? (areLevel ? 24 : Math.min(150, 16 + width(columns))) + (columnName ? 18 : 0) : 12;
  const height = Math.min(640, Math.max(160, top + rows.length * 22));
  const readout = h("p", { class: "readout" }, "Move over the matrix to read it.");
  const layout = { x: 1, y: 1 };
  const draw = (context, all) => {
    layout.y = (height - top) / rows.length;
    layout.x = Math.min(Math.max(layout.y, areLevel ? 110 : 34), (all - left) / columns.length);
    const hasNumbers = layout.y >= 16 && known.every((one) => layout.x >= 12 + 6.6 * short(one, unit).length);
    const gap = Math.min(layout.x, layout.y) > 6 ? 1 : 0;
    const [paper, high, low] = [color("panel"), color("warm"), color("cool")];
    values.forEach((row, r) =>
      row.forEach((one, c) => {
        if (typeof one !== "number") return;
        context.fillStyle = mix(paper, one >= 0 ? high : low, share(one));
        context.fillRect(left + c * layout.x, top + r * layout.y, layout.x - gap, layout.y - gap);
        if (!hasNumbers) return;
        context.font = "11.5px system-ui, sans-serif";
        context.textAlign = "center";
        context.textBaseline = "middle";
        context.fillStyle = share(one) > 0.55 ? color("on-series") : color("ink");
        context.fillText(short(one, unit), left + (c + 0.5) * layout.x, top + (r + 0.5) * layout.y);
      }),
    );
    context.textBaseline = "middle";
    context.fillStyle = color("ink-soft");
    if (rows.length <= NAMED) {
      context.font = `${Math.min(11.5, layout.y)}px system-ui, sans-serif`;
      context.textAlign = "right";
      rows.forEach((name, r) => context.fillText(name, left - 5, top + (r + 0.5) * layout.y));
    }
    if (columns.length > NAMED) return;
    context.font = `${Math.min(11.5, layout.x)}px system-ui, sans-serif`;
    context.textAlign = "left";
    context.fillText(columnName, left, 10);
    if (rowName) context.fillText(rowName, 4, top - 10);
    context.textAlign = areLevel ? "center" : "left";
    columns.forEach((name, c) => {
      if (areLevel) return context.fillText(name, left + (c + 0.5) * layout.x, top - 10);
      context.save();
      context.translate(left + (c + 0.5) * layout.x, top - 5);
      context.rotate(-Math.PI / 2);
      context.fillText(name, 0, 0);
      context.restore();
    });
  };
  const drawing = canvas(height, `Matrix of ${rows.length} by ${columns.length} values`, draw);
  drawing.element.addEventListener("mousemove", (event) => {
    const column = Math.floor((event.offsetX - left) / layout.x);
    const row = Math.floor((event.offsetY - top) / layout.y);
    const one = values[row]?.[column];
    if (typeof one === "number")
      readout.textContent = `${rows[row]} – ${columns[column]}: ${full(one, unit)}`;
  });
  const save = saveTools(value.title ?? value.id, {
    svg: () => svgOf(drawing.box.clientWidth, height, draw),
    csv: () => [[rowName, ...columns], ...values.map((row, at) => [rows[at], ...row])],
  });
  return h("div", {}, drawing.box, ramp(isSigned ? -largest : least, largest, unit), readout, save);
}

/** The colours between two values, of which the first may be negative. */
export function ramp(low, high, unit = "", text = "") {
  const step = (share, name) =>
    h("i", { style: { background: `color-mix(in srgb, var(--${name}) ${share}%, var(--panel))` } });
  return h(
    "p",
    { class: "legend ramp" },
    h(
      "span",
      {},
      `${short(low, unit)} `,
      low < 0 && [100, 66, 33].map((share) => step(share, "cool")),
      step(0, "warm"),
      [33, 66, 100].map((share) => step(share, "warm")),
      ` ${low < 0 ? "+" : ""}${short(high, unit)}`,
    ),
    text && h("span", { class: "muted" }, text),
  );
}
