// {unit, rows: [names], columns: [names] or as the rows, values: [[...]]}: a matrix in colours, around 0 where some are
// negative.
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
  const width = (names) => Math.max(...names.map((name) => String(name).length)) * 6.4;
  const left = rows.length <= NAMED ? Math.min(170, 10 + width(rows)) : 12;
  const top = columns.length <= NAMED ? Math.min(150, 16 + width(columns)) : 12;
  const height = Math.min(640, Math.max(160, top + rows.length * 22));
  const readout = h("p", { class: "readout" }, "Move over the matrix to read it.");
  const layout = { x: 1, y: 1 };
  const draw = (context, all) => {
      layout.y = (height - top) / rows.length;
      layout.x = Math.min(Math.max(layout.y, 34), (all - left) / columns.length);
      const gap = Math.min(layout.x, layout.y) > 6 ? 1 : 0;
      const [paper, high, low] = [color("panel"), color("warm"), color("cool")];
      values.forEach((row, r) =>
        row.forEach((one, c) => {
          context.fillStyle = mix(paper, one >= 0 ? high : low, Math.abs(one ?? 0) / largest);
          context.fillRect(left + c * layout.x, top + r * layout.y, layout.x - gap, layout.y - gap);
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
      columns.forEach((name, c) => {
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
    csv: () => [["", ...columns], ...values.map((row, at) => [rows[at], ...row])],
  });
  return h("div", {}, drawing.box, ramp(isSigned ? -largest : 0, largest, unit), readout, save);
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
