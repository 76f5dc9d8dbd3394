// Best-so-far curves of one run: one task with its bound, or all tasks relative to their bounds or to the best plans found.
import { lineChart, livingChart } from "./chart.js";
import { checkbox, h, panel, select } from "./dom.js";
import { alongGrid, ratioOf, stepOf } from "./run.js";
import { metricText, natural, percent, plural, short, title, unitOf } from "./units.js";
import { marksOf } from "./views.js";

const GRID_POINTS = 320;

/** Evaluation counts spread evenly on a log axis: 1, 2, 3, ... , last. */
export function logGrid(last, size = GRID_POINTS) {
  const grid = new Set([1, last]);
  for (let step = 0; step < size; step++)
    grid.add(Math.max(1, Math.round(last ** (step / (size - 1)))));
  return [...grid].sort((a, b) => a - b);
}

// A gap of 0 has no place on a log axis: what is closer than this is drawn here.
const LEAST_GAP = 1e-4;

/** Ratio to the bound -> gap, as the log axis can draw it. */
export const drawnGap = (ratio, isLog) =>
  ratio === null ? null : isLog ? Math.max(ratio - 1, LEAST_GAP) : ratio - 1;
export const gapTick = (gap, more = 0) => `${Number((gap * 100).toPrecision(3 + more))}\u202f%`;

/** Score over its task's bound (or, without one, over its own best): 1 is the end of the road. */
export function ratioCurve(task, grid, objective) {
  const bound = task.bound.value ?? task.best.score;
  return alongGrid(task.curve, grid, (score) => ratioOf(score, bound, objective));
}

/** What the gaps of these tasks are gaps to. */
export function endOf(tasks) {
  const known = tasks.filter((task) => task.bound.value !== null).length;
  return known === tasks.length ? "the bound" : known > 0 ? "the bound or, without one, the best plan found" : "the best plan found";
}

export const LEAST_GAP_TEXT = ` A gap below ${gapTick(LEAST_GAP)} is drawn at ${gapTick(LEAST_GAP)}.`;

export function geometricMean(curves, size) {
  return Array.from({ length: size }, (_, at) => {
    let sum = 0;
    for (const curve of curves) {
      if (curve[at] === null) return null;
      sum += Math.log(curve[at]);
    }
    return Math.exp(sum / curves.length);
  });
}

export function curvesPanel(run, state) {
  const withCurve = run.tasks.filter((task) => task.curve.length > 0);
  if (run.tasks.every((task) => task.curve.length < 2)) return null; // no search: there is no way to draw
  const related = withCurve.filter((task) => ratioOf(task.best.score, task.bound.value ?? task.best.score, run.objective) !== null);
  const several = related.length > 1;
  const end = endOf(related);
  const view = { mode: several ? "all" : "task", isLogX: true, isLogY: true };
  const box = h("div", { class: "chart", "data-testid": "curves" });
  const draw = livingChart(box, () =>
    view.mode === "all"
      ? drawAll(box, run, related, state.task, view)
      : drawTask(box, run, run.tasks[state.task], view),
  );
  state.onTask(draw);
  const tools = [
    several &&
      select(
        "Curves shown",
        [
          ["all", "All tasks"],
          ["task", "Selected task"],
        ],
        view.mode,
        (mode) => {
          view.mode = mode;
          draw();
        },
      ),
    checkbox("log x", view.isLogX, (on) => {
      view.isLogX = on;
      draw();
    }),
    checkbox("log y", view.isLogY, (on) => {
      view.isLogY = on;
      draw();
    }),
  ].filter(Boolean);
  return panel(
    {
      id: "curves-panel",
      title: several && end !== "the bound" ? `Best so far, relative to ${end}` : "Best so far",
      tools,
      wide: true,
      hint: several
        ? `Gap between the best plan so far and ${end === "the bound" ? "the limit no plan can beat" : end}, per task.`
        : `Best score found against the number of ${stepOf([run])}.`,
    },
    box,
  );
}

function drawAll(box, run, tasks, selected, view) {
  const end = endOf(tasks);
  const grid = logGrid(Math.max(...tasks.map((task) => task.curve.at(-1)[0])));
  const curves = tasks.map((task) => ratioCurve(task, grid, run.objective));
  const gaps = (curve) => curve.map((ratio) => drawnGap(ratio, view.isLogY));
  const lines = tasks.map((task, at) => ({
    name: task.name,
    ys: gaps(curves[at]),
    width: task.index === selected ? 2 : 1,
    variable: task.index === selected ? "accent" : "curve-quiet",
    isMain: task.index === selected,
  }));
  lines.push({
    name: "geometric mean",
    ys: gaps(geometricMean(curves, grid.length)),
    variable: "ink",
    width: 2.25,
    isMain: true,
  });
  const chosen = tasks.find((task) => task.index === selected); // may have no gap to draw
  const ends = curves.map((curve) => curve.at(-1)).filter((value) => value !== null);
  return lineChart(box, grid, lines, {
    ...view,
    isStepped: true,
    height: 330,
    name: `gap to ${end} of all tasks`,
    nameX: `${stepOf([run])} per task`,
    nameY: `gap to ${end}`,
    isCountX: true,
    formatX: (x, more) => short(x, "", more),
    formatY: gapTick,
    formatValue: percent,
    marks: chosen ? marksOf(run, chosen) : [],
    hint: `Heavy line: geometric mean of ${tasks.length} tasks.${chosen ? ` Blue: ${chosen.name}.` : ""}${view.isLogY ? LEAST_GAP_TEXT : ""}`,
    label:
      `Gap to ${end} against ${stepOf([run])} for ${tasks.length} tasks; at the end between ` +
      `${percent(Math.min(...ends) - 1)} and ${percent(Math.max(...ends) - 1)}`,
  });
}

function drawTask(box, run, task, view) {
  const curve = task.curve;
  if (curve.length === 0) {
    box.replaceChildren(h("p", { class: "empty" }, "No feasible trial of this task yet."));
    return { destroy() {} };
  }
  const xs = curve.map((point) => point[0]);
  const lines = [
    {
      name: "best",
      ys: curve.map((point) => natural(point[1], run.objective)),
      variable: "accent",
      width: 2,
      points: curve.length < 80,
    },
  ];
  if (task.bound.value !== null)
    lines.push({
      name: `bound (${task.bound.kind})`,
      ys: xs.map(() => natural(task.bound.value, run.objective)),
      variable: "bound",
      width: 1.25,
      dash: [6, 4],
      isStraight: true,
    });
  return lineChart(box, xs, lines, {
    ...view,
    isStepped: true,
    height: 330,
    name: `best so far of ${task.name}`,
    nameX: stepOf([run]),
    nameY: `best ${title(run.objective)}`,
    isCountX: true,
    formatX: (x, more) => short(x, "", more),
    formatY: (y, more) => short(y, unitOf(run.objective), more),
    formatValue: (y) => metricText(y, run.objective),
    marks: marksOf(run, task),
    hint: `${task.name}: ${plural(curve.length, "point")}.${task.bound.value !== null ? " Dashed: bound." : ""}`,
    label:
      `Best ${run.objective} of ${task.name} against ${stepOf([run])}, from ` +
      `${metricText(natural(curve[0][1], run.objective), run.objective)} to ` +
      `${metricText(natural(curve.at(-1)[1], run.objective), run.objective)}`,
  });
}
