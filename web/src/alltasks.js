// All tasks of a run in one picture: a column for each, as high as what it takes of the whole, cut into the parts that
// a plug-in's bars name where these add up to it. A click chooses the task.
import { niceTicks } from "./chart.js";
import { categoryCss, h, panel, watch } from "./dom.js";
import { saveTools, stacked, withUnit } from "./save.js";
import { brief, full, isSum, labels, percent, plural, short, title, unitOf } from "./units.js";
import { viewsOfKind } from "./views.js";

const MOST = 120; // columns; of more tasks those that take the most
const HEIGHT = 210;
const LETTERS = 18; // of a name below its column
const APART = 16; // names of columns closer than this would lie on each other
const TIMES = new Set(["cycle", "s"]);
const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

/** The metrics drawn: the first that adds up over tasks, and the first of another kind. */
function drawnMetrics(run) {
  const done = run.tasks.filter((task) => task.best.feasible !== false);
  const names = run.metrics.filter((name) => isSum(name) && done.some((task) => task.best[name] > 0));
  const first = names.includes(run.objective) ? run.objective : names[0];
  const isTime = (name) => TIMES.has(unitOf(name));
  const second = names.find((name) => name !== first && isTime(name) !== isTime(first));
  return [first, second].filter(Boolean);
}

/** {names, of(task): [values]}: the parts of a metric, of the bars that add up to it in every task; else the whole. */
function partsOf(run, metric) {
  for (const view of viewsOfKind(run, "bars")) {
    const rows = (task) => {
      const value = view.of(task.index);
      return value?.unit === unitOf(metric) ? value.rows : null;
    };
    const sum = (row) => row.values.reduce((all, one) => all + (one ?? 0), 0);
    const fits = run.tasks.every((task) => {
      if (!isNumber(task.best[metric])) return true;
      const all = (rows(task) ?? []).reduce((total, row) => total + sum(row), 0);
      return Math.abs(all - task.best[metric]) <= 1e-6 * Math.abs(task.best[metric]);
    });
    const names = [...new Set(run.tasks.flatMap((task) => (rows(task) ?? []).map((row) => row.name)))];
    if (!fits || names.length === 0) continue;
    const of = (task) =>
      names.map((name) => (rows(task) ?? []).filter((row) => row.name === name).reduce((all, row) => all + sum(row), 0));
    return { names, of };
  }
  return { names: [], of: (task) => [task.best[metric]] };
}

function readColumns(run, metric) {
  const parts = partsOf(run, metric);
  const columns = run.tasks
    .filter((task) => isNumber(task.best[metric]))
    .map((task) => ({
      task,
      parts: parts.of(task).map((value) => value * task.count),
      value: task.best[metric] * task.count,
    }));
  const total = columns.reduce((sum, { value }) => sum + value, 0);
  const least = columns.map(({ value }) => value).sort((a, b) => b - a)[MOST - 1] ?? -Infinity;
  return { metric, unit: unitOf(metric), parts: parts.names, total, columns: columns.filter(({ value }) => value >= least).slice(0, MOST) };
}

/** The panel of a run with several tasks; null of others. */
export function allTasksPanel(run, state) {
  if (run.tasks.length < 2 || drawnMetrics(run).length === 0) return null;
  const picture = charts(run, (task) => state.setTask(task), () => state.task);
  state.onTask(picture.mark);
  const left = run.tasks.length - Math.min(MOST, run.tasks.length);
  return panel(
    {
      id: "alltasks-panel",
      title: `The whole of ${run.workload.name ?? "the run"}`,
      wide: true,
      hint:
        "Each task as often as it occurs; choose one to see it below." +
        (left > 0 ? ` The ${MOST} largest of ${plural(run.tasks.length, "task")}.` : ""),
    },
    picture.element,
  );
}

/** The same for the first screen: `pick(task)` opens it. */
export function allTasksPicture(run, pick) {
  if (run.tasks.length < 2 || drawnMetrics(run).length === 0) return null;
  const metrics = drawnMetrics(run);
  const cut = metrics.find((metric) => partsOf(run, metric).names.length > 1);
  return charts(run, pick, () => -1, [cut ?? metrics[0]]).element;
}

function charts(run, pick, chosen, metrics = drawnMetrics(run)) {
  const data = metrics.map((metric) => readColumns(run, metric));
  const marks = [];
  const element = h(
    "div",
    { class: "alltasks", "data-testid": "alltasks" },
    data.map((one) => {
      const box = h("div", { class: "chart" });
      // columns of one task stand below each other
      const left = (width) => Math.max(...data.map((each) => leftOf(each, width)));
      const draw = () => box.clientWidth > 0 && box.replaceChildren(picture(one, box.clientWidth, left(box.clientWidth), pick, chosen()));
      watch(box, draw);
      marks.push(() => markChosen(box, chosen()));
      return h("div", {}, legend(one), box);
    }),
    saveTools(`${run.workload.name ?? "run"} by task`, {
      svg: () => stacked([...element.querySelectorAll("svg")]),
      csv: () => table(data),
    }),
  );
  return { element, mark: () => marks.forEach((mark) => mark()) };
}

function legend({ parts }) {
  if (parts.length < 2) return null;
  return h("p", { class: "legend" }, parts.map((name, at) => h("span", {}, h("i", { style: { background: categoryCss(at) } }), name)));
}

function table(data) {
  const heading = data.flatMap(({ metric, unit, parts }) => [
    withUnit(title(metric), unit),
    ...(parts.length > 1 ? parts.map((name) => withUnit(`${title(metric)} ${name}`, unit)) : []),
  ]);
  const rows = data[0].columns.map(({ task }) => [
    task.name,
    task.count,
    ...data.flatMap(({ columns, parts }) => {
      const one = columns.find((column) => column.task === task);
      return [one?.value, ...(parts.length > 1 ? parts.map((_, at) => one?.parts[at]) : [])];
    }),
  ]);
  return [["task", "count", ...heading], ...rows];
}

/** The axis of values: {top, ticks, texts}. */
function axisOf({ unit, columns }) {
  const top = Math.max(...columns.map(({ value }) => value), 1e-300);
  const ticks = niceTicks(0, top, 4, false);
  return { top, ticks, texts: labels(ticks, (tick, more) => short(tick, unit, more)) };
}

/** Room for the labels of the axis, and for names that reach beyond the first column. */
function leftOf(data, width) {
  const { columns } = data;
  const axis = Math.max(48, 30 + 6.8 * Math.max(...axisOf(data).texts.map((text) => text.length)));
  const step = (width - axis - 8) / columns.length;
  const reach = columns.map(({ task }, at) => 5.2 * brief(task.name, LETTERS).length - (at + 0.5) * step);
  return step < APART ? axis : Math.max(axis, ...reach);
}

function picture(data, width, left, pick, chosen) {
  const { metric, unit, parts, total, columns } = data;
  const { top, ticks, texts } = axisOf(data);
  const step = (width - left - 8) / columns.length;
  const isNamed = step >= APART;
  const letters = Math.min(LETTERS, Math.max(...columns.map(({ task }) => task.name.length)));
  const foot = isNamed ? 22 + letters * 4.3 : 12;
  const floor = HEIGHT;
  const y = (value) => floor - (value / Math.max(top, ticks.at(-1))) * (HEIGHT - 14);
  const first = columns.some(({ task }) => task.index === chosen) ? chosen : columns[0].task.index;
  return h(
    "svg",
    {
      class: "columns",
      width,
      height: floor + foot,
      viewBox: `0 0 ${width} ${floor + foot}`,
      role: "group",
      "aria-label": `${title(metric)} of ${plural(columns.length, "task")}, ${short(total, unit)} in all`,
    },
    ticks.map((tick, at) => [
      h("path", { class: "grid-line", d: `M${left} ${y(tick)}H${width - 4}` }),
      h("text", { class: "tick", x: left - 6, y: y(tick) + 4, "text-anchor": "end" }, texts[at]),
    ]),
    h("text", { class: "axis-name", x: 12, y: floor / 2, "text-anchor": "middle", transform: `rotate(-90 12 ${floor / 2})` }, title(metric)),
    columns.map((column, at) => {
      const { task, value } = column;
      const [x, wide] = [left + at * step + step * 0.12, step * 0.76];
      let begun = 0;
      return h(
        "g",
        {
          class: "column",
          role: "button",
          tabindex: task.index === first ? "0" : "-1",
          "data-task": task.index,
          "data-testid": `alltasks-${metric}-${task.index}`,
          "data-value": value,
          "aria-pressed": String(task.index === chosen),
          "aria-label": `${task.name}: ${title(metric)} ${short(value, unit)}`,
          onclick: () => pick(task.index),
          onkeydown: (event) => onKey(event, () => pick(task.index)),
        },
        h(
          "title",
          {},
          [
            `${task.name}${task.count > 1 ? ` × ${task.count}` : ""}`,
            `${title(metric)} ${full(value, unit)}, ${percent(value / total)} of all`,
            ...(parts.length > 1 ? parts.map((name, place) => `${name} ${short(column.parts[place], unit)}`) : []),
          ].join("\n"),
        ),
        h("rect", { class: "column-back", x: left + at * step, y: 0, width: step, height: floor + foot }),
        column.parts.map((part, place) => {
          const [from, to] = [y(begun), y(begun + part)];
          begun += part;
          return part > 0 && h("rect", { x, y: to, width: wide, height: Math.max(0.4, from - to), style: { fill: categoryCss(place) } });
        }),
      );
    }),
    isNamed &&
      columns.map(({ task }, at) => {
        const middle = left + (at + 0.5) * step;
        return h(
          "text",
          {
            class: "tick column-name",
            "aria-hidden": "true", // the column says it
            x: middle,
            y: floor + 12,
            "text-anchor": "end",
            transform: `rotate(-40 ${middle + 4} ${floor + 10})`,
          },
          brief(task.name, LETTERS),
        );
      }),
  );
}

function onKey(event, pick) {
  const { key, currentTarget } = event;
  if (key === "Enter" || key === " ") {
    event.preventDefault();
    pick();
  }
  const near = { ArrowRight: currentTarget.nextElementSibling, ArrowLeft: currentTarget.previousElementSibling }[key];
  if (!near?.classList.contains("column")) return;
  event.preventDefault();
  currentTarget.setAttribute("tabindex", "-1");
  near.setAttribute("tabindex", "0");
  near.focus();
}

function markChosen(box, chosen) {
  const columns = [...box.querySelectorAll(".column")];
  const isThere = columns.some((column) => column.dataset.task === String(chosen));
  for (const column of columns) {
    const isChosen = column.dataset.task === String(chosen);
    column.setAttribute("aria-pressed", String(isChosen));
    column.setAttribute("tabindex", isChosen || (!isThere && column === columns[0]) ? "0" : "-1");
  }
}
