// A study: many runs as curves over samples, one picture of tasks by optimizers, and its tables.
import { lineChart, livingChart } from "./chart.js";
import { quantile } from "./stats.js";
import { drawnGap, gapTick } from "./curves.js";
import { categoryVariable, checkbox, h, panel, select } from "./dom.js";
import { GAP_CLASSES, gapCss } from "./gap.js";
import { sortableTable } from "./table.js";
import { count, percent, short } from "./units.js";

export function studyView(study) {
  const view = { group: 0 };
  const box = h("div", {});
  const show = () => box.replaceChildren(groupView(study.groups[view.group]));
  show();
  return h(
    "div",
    { "data-testid": "study" },
    h(
      "p",
      { class: "tools problem-choice" },
      study.groups.length > 1 && [
        "Compared ",
        select(
          "Cost model, platform and objective",
          study.groups.map((group, at) => [at, group.title]),
          0,
          (at) => {
            view.group = Number(at);
            show();
          },
        ),
      ],
      h(
        "span",
        { class: "muted" },
        `${count(study.runs)} runs${study.unfinished > 0 ? `, ${count(study.unfinished)} more have not ended` : ""}`,
      ),
    ),
    box,
  );
}

function groupView(group) {
  const table = (id) => group.tables.find((one) => one.id === id);
  const first = ["final", "reach", "baseline"].map(table).filter(Boolean);
  const others = group.tables.filter((one) => !first.includes(one));
  return h(
    "div",
    { class: "panel-grid" },
    curvePanel(group),
    first.map(tablePanel),
    heatPanel(group),
    others.map(tablePanel),
  );
}

/** Ratio curves of one method: of a task (quartiles of the seeds), or of all (quartiles of the tasks' medians). */
function bandOf(group, method, task) {
  if (task >= 0) {
    const { low, median, high } = group.curves[task][method];
    return { low: low ?? [], median: median ?? [], high: high ?? [] };
  }
  const medians = group.curves.map((row) => row[method].median).filter(Boolean);
  const size = Math.max(0, ...medians.map((curve) => curve.length));
  const at = (share) =>
    Array.from({ length: size }, (_, x) => {
      const values = medians.map((curve) => curve[x] ?? Infinity);
      const value = quantile(values, share);
      return Number.isFinite(value) ? value : null;
    });
  return { low: at(0.25), median: at(0.5), high: at(0.75) };
}

function curvePanel(group) {
  const box = h("div", { class: "chart", "data-testid": "study-curves" });
  const hasBands = group.methods.length <= 5; // more of them cover each other
  const view = {
    task: -1,
    isLogX: true,
    isLogY: true,
    hasBands,
    shown: new Set(group.methods.keys()),
  };
  const draw = livingChart(box, () => drawCurves(box, group, view));
  const toggle = (name, key) =>
    checkbox(name, view[key], (on) => {
      view[key] = on;
      draw();
    });
  return panel(
    {
      id: "study-curves-panel",
      title: "Gap to the best known against samples",
      wide: true,
      hint: "Line: median; band: quartiles, of the tasks or of the seeds of one task. Choose optimizers below.",
      tools: [
        select(
          "Tasks drawn",
          [
            [-1, `Median of ${group.tasks.length} tasks`],
            ...group.tasks.map((task, at) => [at, `${at + 1} ${task.workload} ${task.name}`]),
          ],
          -1,
          (task) => {
            view.task = Number(task);
            draw();
          },
        ),
        toggle("bands", "hasBands"),
        toggle("log x", "isLogX"),
        toggle("log y", "isLogY"),
      ],
    },
    box,
    h(
      "p",
      { class: "legend choices" },
      group.methods.map((method, at) => methodButton(group, at, view, draw)),
    ),
  );
}

function methodButton(group, at, view, draw) {
  const button = h(
    "button",
    {
      type: "button",
      class: "choice",
      "aria-pressed": "true",
      title: `${count(group.methods[at].samples)} samples; click to hide or show, double click for this one alone`,
      onclick: () => {
        if (!view.shown.delete(at)) view.shown.add(at);
        button.setAttribute("aria-pressed", String(view.shown.has(at)));
        draw();
      },
    },
    h("i", { style: { background: `var(--${categoryVariable(at)})` } }),
    group.methods[at].name,
  );
  button.addEventListener("dblclick", () => {
    view.shown = new Set([at]);
    for (const other of button.parentElement.children)
      other.setAttribute("aria-pressed", String(other === button));
    draw();
  });
  return button;
}

function drawCurves(box, group, view) {
  const lines = [...view.shown]
    .sort((a, b) => a - b)
    .flatMap((method) => {
      const band = bandOf(group, method, view.task);
      const ys = (curve) =>
        group.samples.map((_, at) => {
          const ratio = curve[at];
          return typeof ratio === "number" ? drawnGap(ratio, view.isLogY) : null;
        });
      const variable = categoryVariable(method);
      const main = {
        name: group.methods[method].name,
        ys: ys(band.median),
        variable,
        width: 2.25,
        isMain: true,
      };
      const edge = { variable, width: 0.5, alpha: "40", isHidden: true };
      return view.hasBands
        ? [
            { ...edge, name: "upper", ys: ys(band.high), band: true },
            { ...edge, name: "lower", ys: ys(band.low) },
            main,
          ]
        : [main];
    });
  return lineChart(box, group.samples, lines, {
    isLogX: view.isLogX,
    isLogY: view.isLogY,
    isStepped: true,
    height: 420,
    name: "gap against samples",
    nameX: "samples",
    nameY: "gap to the best known",
    isCountX: true,
    formatX: (x, more) => short(x, "", more),
    formatY: gapTick,
    formatValue: percent,
    label: `Gap to the best known of ${group.methods.length} optimizers against samples, ${group.title}`,
  });
}

const lastOf = (curve) => curve?.median?.at(-1) ?? null;

/** Tasks by optimizers, coloured by the gap that was left at the end. */
function heatPanel(group) {
  const rows = group.tasks.map((task, at) => ({ task, at }));
  const table = sortableTable(
    [
      {
        key: "task",
        title: "task",
        align: "text",
        value: (row) => row.at,
        cell: (row) =>
          h(
            "span",
            { title: row.task.full_name },
            `${row.at + 1} ${row.task.workload} ${row.task.name}`,
          ),
      },
      ...group.methods.map((method, at) => ({
        key: `m${at}`,
        title: method.name,
        align: "heat",
        help: `${count(method.samples)} samples`,
        value: (row) => lastOf(group.curves[row.at][at]),
        cell: (row) => heatCell(lastOf(group.curves[row.at][at]), `gap-${row.at}-${at}`),
      })),
    ],
    rows,
    { caption: "Gap to the best known at the end, median of the seeds", class: "heat-table" },
  );
  return panel(
    {
      id: "heat-panel",
      title: "Gap to the best known at the end",
      wide: true,
      hint: "Median of the seeds, by task and optimizer.",
    },
    table.element,
    h(
      "p",
      { class: "legend" },
      GAP_CLASSES.map(({ text }, at) =>
        h("span", {}, h("i", { style: { background: `var(--gap-${at})` } }), text),
      ),
    ),
  );
}

function heatCell(ratio, testid) {
  const gap = ratio === null ? null : Math.max(0, ratio - 1);
  return h(
    "span",
    {
      class: "heat-cell",
      "data-testid": testid,
      "data-value": gap ?? "",
      style: {
        background:
          gap === null ? undefined : `color-mix(in srgb, ${gapCss(gap)} 30%, var(--panel))`,
      },
    },
    gap === null ? "none" : percent(gap),
  );
}

/** "1.03 (1.01-1.10)" sorts by 1.03, words sort last. */
function leading(text) {
  const number = Number.parseFloat(text);
  return Number.isNaN(number) ? null : number;
}

function tablePanel(table) {
  const columns = table.columns.map((column, at) => {
    const isNumber = column.startsWith(">");
    return {
      key: String(at),
      title: isNumber ? column.slice(1) : column,
      align: isNumber ? "number" : "text",
      value: (row) => (isNumber ? leading(row.cells[at]) : row.cells[at]),
      cell: (row) => h("span", { "data-testid": `${table.id}-${row.at}-${at}` }, row.cells[at]),
    };
  });
  const rows = table.rows.map((cells, at) => ({ cells, at }));
  const { element } = sortableTable(columns, rows, { caption: table.title, class: "study-table" });
  return panel(
    { id: `${table.id}-panel`, title: table.title, wide: true, hint: table.caption },
    element,
  );
}
