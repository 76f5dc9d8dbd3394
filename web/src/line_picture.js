// A line chart as it is saved: the same lines, bands and axes as on the page, drawn on any context.
import { niceTicks } from "./chart.js";
import { color } from "./dom.js";
import { labels } from "./units.js";

const FONT = "12px system-ui, sans-serif";
const EDGE = { top: 12, right: 16, bottom: 46 };

const isThere = (value) => typeof value === "number" && Number.isFinite(value);

function scaleOf(values, isLog, margin) {
  const to = (value) => (isLog ? Math.log10(Math.max(value, 1e-300)) : value);
  const [low, high] = values.reduce(([a, b], value) => [Math.min(a, to(value)), Math.max(b, to(value))], [Infinity, -Infinity]);
  const room = (high - low || Math.abs(high) * 0.1 || 1) * margin || (high > low ? 0 : 1);
  const [from, until] = [low - room, high + room];
  const back = (value) => (isLog ? 10 ** value : value);
  return { low: back(from), high: back(until), place: (value) => (to(value) - from) / (until - from) };
}

export function drawLines(context, width, height, xs, lines, options) {
  const { isLogX = false, isLogY = false } = options;
  const ys = lines.flatMap((line) => line.ys).filter((value) => isThere(value) && (!isLogY || value > 0));
  if (ys.length === 0) return;
  const [scaleX, scaleY] = [scaleOf(xs, isLogX, 0), scaleOf(ys, isLogY, 0.06)];
  const ticksY = niceTicks(scaleY.low, scaleY.high, 7, isLogY);
  const textsY = labels(ticksY, options.formatY ?? String);
  const left = 36 + 7 * Math.max(...textsY.map((text) => text.length));
  const x = (value) => left + scaleX.place(value) * (width - left - EDGE.right);
  const y = (value) => height - EDGE.bottom - scaleY.place(value) * (height - EDGE.top - EDGE.bottom);
  const ticksX = niceTicks(scaleX.low, scaleX.high, Math.max(2, Math.floor((width - left) / 90)), isLogX, options.isCountX);
  const textsX = labels(ticksX, options.formatX ?? String);
  const stroke = (style, wide, draw) => {
    context.strokeStyle = style;
    context.lineWidth = wide;
    context.beginPath();
    draw();
    context.stroke();
  };
  context.font = FONT;
  context.fillStyle = color("ink-soft");
  context.textAlign = "right";
  ticksY.forEach((tick, at) => {
    stroke(color("grid-line"), 1, () => (context.moveTo(left, y(tick)), context.lineTo(width - EDGE.right, y(tick))));
    context.fillText(textsY[at], left - 6, y(tick) + 4);
  });
  context.textAlign = "center";
  ticksX.forEach((tick, at) => {
    stroke(color("grid-line"), 1, () => (context.moveTo(x(tick), EDGE.top), context.lineTo(x(tick), height - EDGE.bottom)));
    context.fillText(textsX[at], x(tick), height - EDGE.bottom + 16);
  });
  context.fillText(options.nameX ?? "", (left + width) / 2, height - 10);
  context.save();
  context.translate(14, height / 2);
  context.rotate(-Math.PI / 2);
  context.fillText(options.nameY ?? "", 0, 0);
  context.restore();
  const usable = (value) => isThere(value) && (!isLogY || value > 0);
  const trace = (line, isStepped) => {
    let last = null;
    line.ys.forEach((value, at) => {
      if (!usable(value)) return (last = null);
      if (last === null) context.moveTo(x(xs[at]), y(value));
      else {
        if (isStepped) context.lineTo(x(xs[at]), y(last));
        context.lineTo(x(xs[at]), y(value));
      }
      last = value;
    });
  };
  for (const line of lines) {
    context.setLineDash(line.dash ?? []);
    stroke(color(line.variable) + (line.alpha ?? ""), line.width ?? 1.75, () => trace(line, options.isStepped && !line.isStraight));
  }
  context.setLineDash([]);
  context.textAlign = "left";
  const named = lines.filter((line) => !line.isHidden).slice(0, 12);
  if (named.length < 2) return;
  named.forEach((line, at) => {
    context.fillStyle = color(line.variable);
    context.fillRect(width - 200, EDGE.top + 6 + at * 16, 10, 10);
    context.fillStyle = color("ink-soft");
    context.fillText(line.name, width - 184, EDGE.top + 15 + at * 16);
  });
}
