// Results per task: sortable, filterable; a click chooses the task the panels below show.
import { h, panel } from "./dom.js";
import { gapBar, gapLegend } from "./gap.js";
import { quantity } from "./head.js";
import { isUnsearched } from "./headline.js";
import { sortableTable } from "./table.js";
import { helpOf, natural, title, unitOf } from "./units.js";

const FIRST = 3; // metrics before bound and gap; the others come after them

const metricColumn = (name) => ({
  key: name,
  title: title(name),
  help: helpOf(name),
  value: (task) => task.best[name],
  cell: (task) => quantity(task.best[name], unitOf(name), `task-${task.index}-${name}`),
});

export function taskColumns(run) {
  const hasMacs = run.tasks.some((task) => typeof task.macs === "number");
  const isOwnMetric = run.metrics.includes(run.objective);
  return [
    {
      key: "name",
      title: "task",
      align: "text",
      value: (task) => task.name,
      cell: (task) =>
        h(
          "span",
          { class: "task-name" },
          task.name,
          task.bound.proven && h("span", { class: "badge", title: "proven optimal" }, "proven"),
          isUnsearched(task) && h("span", { class: "muted small" }, " not searched"),
        ),
    },
    {
      key: "count",
      title: "×",
      help: "how often this task occurs",
      value: (task) => task.count,
      cell: (task) => String(task.count),
    },
    hasMacs && {
      key: "macs",
      title: "MACs",
      help: "multiply-accumulates of one occurrence",
      value: (task) => task.macs,
      cell: (task) => quantity(task.macs, ""),
    },
    ...run.metrics.slice(0, FIRST).map(metricColumn),
    !isOwnMetric && {
      key: "score",
      title: title(run.objective),
      value: (task) => natural(task.best.score, run.objective),
      cell: (task) =>
        quantity(
          natural(task.best.score, run.objective),
          unitOf(run.objective),
          `task-${task.index}-score`,
        ),
    },
    {
      key: "bound",
      title: "bound",
      help: "what no plan can beat",
      value: (task) => task.bound.value,
      cell: (task) =>
        h(
          "span",
          { title: task.bound.kind },
          quantity(
            natural(task.bound.value, run.objective),
            unitOf(run.objective),
            `task-${task.index}-bound`,
          ),
        ),
    },
    {
      key: "gap",
      title: "gap",
      align: "gap",
      value: (task) => task.bound.gap,
      cell: (task) => gapBar(task.bound.gap, `task-${task.index}-gap`),
    },
    ...run.metrics.slice(FIRST).map(metricColumn),
  ].filter(Boolean);
}

export function tasksPanel(run, state) {
  const table = sortableTable(taskColumns(run), run.tasks, {
    caption: "Results per task",
    rowid: (task) => `task-row-${task.index}`,
    onpick: (task) => state.setTask(task.index),
    isPicked: (task) => task.index === state.task,
  });
  state.onTask(table.mark);
  const input = h("input", {
    type: "search",
    placeholder: "filter tasks",
    "aria-label": "Filter tasks by name",
    oninput: () => {
      const wanted = input.value.trim().toLowerCase();
      table.setFilter((task) => task.name.toLowerCase().includes(wanted));
    },
  });
  return panel(
    {
      id: "tasks-panel",
      title: "Results",
      wide: true,
      tools: run.tasks.length > 4 ? [input] : [],
      hint:
        run.tasks.length > 1
          ? `${run.tasks.length} tasks; choose one to see its plan below.`
          : undefined,
    },
    table.element,
    gapLegend(),
  );
}
