// How good the answer of a run is, in words: from its bound, its gap and what is proven.
import { gapClass, GAP_CLASSES } from "./gap.js";
import { metricText, natural, percent, plural, title } from "./units.js";

/** "12 of 12 tasks proven optimal; resnet18 within 1.07 % of its bound, because each task is optimised alone". */
export function headline(run) {
  const { best, bound, tasks, workload } = run;
  if (typeof best.score !== "number") return `No feasible plan: ${best.reason ?? "none was found"}`;
  const whole = workload.name ?? "the whole";
  const proven = tasks.filter((task) => task.bound.proven).length;
  const scope = bound.scope ? ` (among ${bound.scope})` : "";
  if (bound.proven)
    return tasks.length > 1 && proven === tasks.length
      ? `All ${tasks.length} tasks and the whole of ${whole} proven optimal${scope}`
      : `Proven optimal: no plan is better${scope}`;
  const parts = [
    tasks.length > 1 && proven > 0 && `${proven} of ${plural(tasks.length, "task")} proven optimal`,
    gapText(run, tasks.length > 1 ? `${whole} within` : "Within", scope, proven),
  ];
  return parts.filter(Boolean).join("; ");
}

function gapText({ bound, tasks, isFinished }, within, scope, proven) {
  const end = isFinished ? "" : "; the run has not ended";
  if (typeof bound.gap !== "number") return `Best found, no bound to compare with${end}`;
  const limit = `${within} ${percent(bound.gap)} of its bound${scope}`;
  if (tasks.length > 1 && proven === tasks.length && bound.gap > 0)
    return `${limit}, because each task is optimised alone`;
  const word = gapClass(bound.gap) > 1 ? `: ${GAP_CLASSES[gapClass(bound.gap)].name}` : "";
  return `${limit}${word}${end}`;
}

/** "EDP 90.54 kJ·cycle · 7.116 Mcycles · 12.72 mJ". */
export function figures(run) {
  const { best, objective, metrics } = run;
  if (typeof best.score !== "number") return "";
  const others = metrics
    .filter((name) => name !== objective && typeof best[name] === "number")
    .slice(0, 2)
    .map((name) => `${title(name)} ${metricText(best[name], name)}`);
  return [`${title(objective)} ${metricText(natural(best.score, objective), objective)}`, ...others].join(" · ");
}
