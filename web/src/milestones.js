// A stream of tasks, each begun with what was found for those before: the best of what was carried over, and after
// so many generations. `milestones` of the tasks in the summary: [{generations, evaluations, value}].
import { panel } from "./dom.js";
import { quantity } from "./head.js";
import { sortableTable } from "./table.js";
import { count, title, unitOf } from "./units.js";

export function milestonesPanel(run) {
  const tasks = run.tasks.filter(({ milestones }) => milestones.length > 0);
  if (tasks.length === 0) return null;
  const all = tasks.flatMap(({ milestones }) => milestones);
  const stages = [...new Set(all.map(({ generations }) => generations))].sort((a, b) => a - b);
  const valueOf = (task, stage) =>
    task.milestones.find(({ generations }) => generations === stage)?.value;
  const columns = stages.map((stage) => ({
    key: `after-${stage}`,
    title: stage === 0 ? "carried" : count(stage),
    help: helpOf(all.find(({ generations }) => generations === stage)),
    value: (task) => valueOf(task, stage),
    cell: (task) =>
      quantity(valueOf(task, stage), unitOf(run.objective), `task-${task.index}-after-${stage}`),
  }));
  const names = { key: "name", title: "task", align: "text", value: (task) => task.name };
  const table = sortableTable([{ ...names, cell: names.value }, ...columns], tasks, {
    caption: "Values after so many generations",
    rowid: (task) => `milestones-row-${task.index}`,
  });
  const hint =
    `Best ${title(run.objective)} of what was carried over from the tasks before, ` +
    "and after so many generations.";
  return panel({ id: "milestones-panel", title: "Carried from task to task", hint }, table.element);
}

const helpOf = ({ generations, evaluations }) =>
  generations === 0
    ? "the best point of the tasks before, priced here, before the search"
    : `after ${count(evaluations)} evaluations`;
