// Trade-offs as a scatter plot: the front in colour, dominated points grey, the bound as a line.
import { lineChart, livingChart } from "./chart.js";
import { h, select } from "./dom.js";
import { isMetric, metricText, short, unitOf } from "./units.js";

/** Points from a summary's front ([{metric: value}]) or from a note {x, y, points: [{name, x, y, dominated, group}]}. */
export function readFront(value) {
  if (Array.isArray(value)) return { points: value, metrics: commonMetrics(value) };
  if (!Array.isArray(value?.points)) return null;
  const { x = "x", y = "y" } = value;
  const points = value.points.map((point) =>
    Array.isArray(point)
      ? { [x]: point[0], [y]: point[1] }
      : { ...point, [x]: point[x] ?? point.x, [y]: point[y] ?? point.y },
  );
  return { points, metrics: [x, y], bound: value.bound };
}

function commonMetrics(points) {
  const names = Object.keys(points[0] ?? {}).filter(
    (name) => isMetric(name) && points.every((point) => typeof point[name] === "number"),
  );
  return names.length >= 2
    ? names
    : Object.keys(points[0] ?? {}).filter(
        (name) => typeof points[0][name] === "number" && name !== "index" && name !== "task",
      );
}

export function scatter(value) {
  const front = readFront(value);
  if (!front || front.points.length === 0 || front.metrics.length < 2) return null;
  const view = { x: front.metrics[0], y: front.metrics[1] };
  const box = h("div", { class: "chart" });
  const draw = livingChart(box, () => drawFront(box, front, view));
  const choose = (axis) =>
    select(
      `Metric on the ${axis} axis`,
      front.metrics.map((name) => [name, name]),
      view[axis],
      (name) => {
        view[axis] = name;
        draw();
      },
    );
  return h(
    "div",
    {},
    front.metrics.length > 2 && h("p", { class: "tools" }, "x ", choose("x"), " y ", choose("y")),
    box,
  );
}

function drawFront(box, front, view) {
  const points = [...front.points].sort((a, b) => a[view.x] - b[view.x]);
  const xs = points.map((point) => point[view.x]);
  const ys = (test) => points.map((point) => (test(point) ? point[view.y] : null));
  return lineChart(
    box,
    xs,
    [
      {
        name: "dominated",
        ys: ys((point) => point.dominated),
        variable: "ink-faint",
        points: "only",
      },
      {
        name: "front",
        ys: ys((point) => !point.dominated && !point.group),
        variable: "accent",
        points: "only",
      },
      ...[...new Set(points.map((point) => point.group).filter(Boolean))]
        .slice(0, 7)
        .map((group, at) => ({
          name: group,
          variable: `series-${at + 2}`,
          points: "only",
          ys: ys((point) => point.group === group && !point.dominated),
        })),
    ],
    {
      height: 300,
      nameX: view.x,
      formatX: (x, more) => short(x, unitOf(view.x), more),
      formatY: (y, more) => short(y, unitOf(view.y), more),
      formatValue: (y) => metricText(y, view.y),
      hint: `${view.y} against ${view.x}, ${points.length} points.`,
      label: `${view.y} against ${view.x}, ${points.length} points`,
    },
  );
}
