// Line charts on uPlot: our axes, our colours, a readout below. Log axes are drawn on transformed
// values, because a range of 1.02 to 1.4 needs ticks that whole decades cannot give.
import uPlot from "uplot";
import { color, h, watch } from "./dom.js";
import { drawLines } from "./line_picture.js";
import { saveTools } from "./save.js";
import { svgOf } from "./svg_context.js";
import { labels } from "./units.js";

const FONT = "12px system-ui, -apple-system, 'Segoe UI', sans-serif";

const STEPS = [[1, 2, 5], [1, 3], [1]]; // of a decade, from many ticks to few

/** Round tick values between two values, about `wanted` of them, for a linear or a log axis. On a log axis they are
 *  1, 2, 5, 10, ... as soon as three of them fit; closer values get even steps. `isCount`: whole numbers only. */
export function niceTicks(low, high, wanted, isLog, isCount = false) {
  if (!(high > low)) return [low];
  const made = (isLog && logTicks(low, high, wanted)) || evenTicks(low, high, wanted);
  const whole = isCount ? made.filter(Number.isInteger) : made;
  return whole.length > 1 ? whole : isCount ? [Math.ceil(low), Math.floor(high)].filter((tick, at, all) => all.indexOf(tick) === at) : made;
}

function logTicks(low, high, wanted) {
  const [from, to] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  const powers = (stride) =>
    Array.from({ length: to - from + 1 }, (_, at) => from + at).filter((power) => power % stride === 0);
  const inside = (tick) => tick >= low * 0.999 && tick <= high * 1.001;
  const ticksOf = (steps, stride) => powers(stride).flatMap((power) => steps.map((step) => step * 10 ** power)).filter(inside);
  for (const steps of STEPS) {
    const ticks = ticksOf(steps, 1);
    if (ticks.length <= Math.max(2, wanted)) return ticks.length >= Math.min(3, wanted) ? ticks : null;
  }
  // every second power, or third, ..., as long as two of them fit
  let stride = Math.max(2, Math.ceil((to - from) / wanted));
  while (stride > 1 && ticksOf([1], stride).length < 2) stride--;
  return ticksOf([1], stride);
}

function evenTicks(low, high, wanted) {
  const raw = (high - low) / wanted;
  const scale = 10 ** Math.floor(Math.log10(raw));
  const factors = [0.5, 1, 2, 5, 10];
  const wide = factors.findIndex((factor) => factor * scale >= raw);
  // of few ticks a step that is too wide may leave one
  const found = [factors[wide], factors[wide - 1]].map((factor) => ticksBetween(low, high, factor * scale)).find((ticks) => ticks.length > 1);
  return found ?? [low, high];
}

function ticksBetween(low, high, step) {
  const ticks = [];
  for (let index = Math.ceil(low / step); index * step <= high * (1 + 1e-12); index++) ticks.push(index * step);
  return ticks;
}

const LETTER = 7; // width in pixels, roughly

function roomForLabels(chart, texts) {
  return Math.max(92, 20 + LETTER * Math.max(0, ...(texts ?? []).map((text) => text.length)));
}

function axis(isLog, format, grid, side, name, isCount) {
  const back = (value) => (isLog ? 10 ** value : value);
  return {
    side,
    font: FONT,
    stroke: color("ink-soft"),
    gap: 6,
    label: name,
    labelFont: FONT,
    labelSize: name ? 20 : 0,
    size: side === 3 ? roomForLabels : 34,
    grid: { stroke: grid, width: 1 },
    ticks: { stroke: grid, width: 1, size: 4 },
    splits: (chart, index, low, high) => {
      const room = side === 3 ? chart.bbox.height : chart.bbox.width;
      const wanted = Math.max(2, Math.floor(room / devicePixelRatio / (side === 3 ? 44 : 90)));
      return niceTicks(back(low), back(high), wanted, isLog, isCount).map((tick) =>
        isLog ? Math.log10(tick) : tick,
      );
    },
    values: (chart, splits) => labels(splits.map(back), format),
  };
}

function padded(low, high) {
  if (!Number.isFinite(low) || !Number.isFinite(high)) return [0, 1];
  const margin = (high - low || Math.abs(high) * 0.1 || 1) * 0.06;
  return [low - margin, high + margin];
}

/** Before the first feasible trial there is nothing to see: the axis starts where a curve does. */
function withoutEmptyStart(xs, lines) {
  const isThere = (value) => value !== null && value !== undefined;
  const first = xs.findIndex((_, at) =>
    lines.some((line) => !line.isStraight && isThere(line.ys[at])),
  );
  if (first <= 0) return { xs, lines };
  return {
    xs: xs.slice(first),
    lines: lines.map((line) => ({ ...line, ys: line.ys.slice(first) })),
  };
}

const hasNoLog = ({ ys }) => ys.some((value) => typeof value === "number" && value <= 0);
const withoutLog = (options) => ({
  ...options,
  isLogY: false,
  hint: `${options.hint ?? ""} The axis is linear: values of 0 and below have no logarithm.`,
});

/**
 * lines: [{name, xs, ys, variable (CSS colour), width, dash, alpha, points, band: [low line, high line]}] with
 * one shared `xs`. Options: height, label, isLogX, isLogY, isStepped, formatX, formatY, nameX, nameY, unitY, isCountX.
 */
export function lineChart(box, allXs, allLines, wanted) {
  const { xs, lines } = withoutEmptyStart(allXs, allLines);
  const options = wanted.isLogY && lines.some(hasNoLog) ? withoutLog(wanted) : wanted;
  const { isLogX = false, isLogY = false, formatX = String, formatY = String } = options;
  const toX = (value) => (isLogX ? Math.log10(Math.max(value, 1e-300)) : value);
  const toY = (value) =>
    value === null || value === undefined
      ? null
      : isLogY
        ? value > 0
          ? Math.log10(value)
          : null
        : value;
  const data = [xs.map(toX), ...lines.map((line) => line.ys.map(toY))];
  const readout = h("p", { class: "readout", "aria-hidden": "true" }, options.hint ?? "");
  const plot = h("div", { class: "plot", role: "img", "aria-label": options.label });
  const save = saveTools(options.name ?? "best so far", {
    svg: () => svgOf(Math.max(box.clientWidth, 480), options.height ?? 320, (context, width, height) => drawLines(context, width, height, xs, lines, options)),
    csv: () => [
      [options.nameX ?? "x", ...lines.map((line) => line.name)],
      ...xs.map((x, at) => [x, ...lines.map((line) => line.ys[at])]),
    ],
  });
  box.replaceChildren(plot, readout, save);
  const stepped = uPlot.paths.stepped({ align: 1 });
  const grid = color("grid-line");
  const chart = new uPlot(
    {
      width: Math.max(box.clientWidth, 200),
      height: options.height ?? 320,
      pxAlign: 0,
      padding: [10, 14, 0, 0],
      legend: { show: false },
      cursor: { y: false, points: { size: 7 }, focus: { prox: 24 }, drag: { x: true, y: false } },
      focus: { alpha: 0.45 },
      scales: {
        // uPlot spreads a single point over 0 to 100, which on a log axis is a googol
        x: {
          time: false,
          range: (u, low, high) => (xs.length > 1 ? [low, high] : padded(data[0][0], data[0][0])),
        },
        y: { range: (u, low, high) => padded(low, high) },
      },
      axes: [
        axis(isLogX, formatX, grid, 2, options.nameX, options.isCountX),
        axis(isLogY, formatY, grid, 3, options.nameY),
      ],
      bands: lines.flatMap((line, index) =>
        line.band ? [{ series: [index + 1, index + 2], fill: color(line.variable) + "26" }] : [],
      ),
      series: [
        {},
        ...lines.map((line) => ({
          label: line.name,
          stroke: color(line.variable) + (line.alpha ?? ""),
          width: line.width ?? 1.75,
          dash: line.dash,
          points: { show: line.points ?? false, size: 5, fill: color(line.variable) },
          spanGaps: false,
          paths:
            line.points === "only"
              ? () => null
              : options.isStepped && !line.isStraight
                ? stepped
                : undefined,
        })),
      ],
      hooks: {
        draw: [(u) => drawMarks(u, options.marks ?? [], toX)],
        setCursor: [(u) => showReadout(u, xs, lines, options, readout)],
        setSeries: [(u) => showReadout(u, xs, lines, options, readout)],
      },
    },
    data,
    plot,
  );
  return chart;
}

/** Vertical lines with a text: [{x, text}]. */
function drawMarks(chart, marks, toX) {
  const { ctx, bbox } = chart;
  const scale = devicePixelRatio;
  for (const { x, text } of marks) {
    const at = chart.valToPos(toX(x), "x", true);
    if (at < bbox.left || at > bbox.left + bbox.width) continue;
    const isRight = at > bbox.left + bbox.width * 0.72;
    ctx.save();
    ctx.fillStyle = color("accent-soft") + "66";
    ctx.globalCompositeOperation = "destination-over";
    ctx.fillRect(bbox.left, bbox.top, at - bbox.left, bbox.height);
    ctx.globalCompositeOperation = "source-over";
    ctx.strokeStyle = color("ink-faint");
    ctx.setLineDash([2 * scale, 3 * scale]);
    ctx.beginPath();
    ctx.moveTo(at, bbox.top);
    ctx.lineTo(at, bbox.top + bbox.height);
    ctx.stroke();
    ctx.fillStyle = color("ink-soft");
    ctx.font = `${11.5 * scale}px system-ui, sans-serif`;
    ctx.textAlign = isRight ? "right" : "left";
    ctx.fillText(text, at + (isRight ? -6 : 6) * scale, bbox.top + 14 * scale);
    ctx.restore();
  }
}

function showReadout(chart, xs, lines, options, readout) {
  const index = chart.cursor.idx;
  if (index === null || index === undefined) {
    readout.replaceChildren(options.hint ?? "");
    return;
  }
  const focused = chart.series.findIndex((series, at) => at > 0 && series._focus);
  const shown = lines
    .map((line, at) => ({ line, at }))
    .filter(
      ({ line, at }) => !line.isHidden && (lines.length <= 6 || at + 1 === focused || line.isMain),
    );
  const parts = shown.map(({ line }) =>
    h(
      "span",
      {},
      h("i", { style: { background: `var(--${line.variable})` } }),
      `${line.name} ${line.ys[index] === null ? "–" : (options.formatValue ?? options.formatY)(line.ys[index])}`,
    ),
  );
  readout.replaceChildren(
    h("span", {}, `${options.nameX ?? ""} ${options.formatX(xs[index])}`),
    ...parts,
  );
}

/** Builds the chart again whenever width or theme change; returns the function that does so. */
export function livingChart(box, build) {
  let chart = null;
  const draw = () => {
    chart?.destroy();
    chart = box.clientWidth > 0 ? build() : null;
  };
  watch(box, draw);
  return draw;
}
