// How good the answer of a run is, in words: from its bound, its gap and what is proven.
import { gapClass, GAP_CLASSES } from "./gap.js";
import { metricText, natural, percent, plural, title, unitOf } from "./units.js";

/** "12 of 12 tasks proven optimal; resnet18 within 1.07 % of its bound, because each task is optimised alone". */
export function headline(run) {
  const { best, bound, tasks, workload } = run;
  if (typeof best.score !== "number") return withoutPlan(run);
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

/** Tasks that nobody came to are not infeasible. */
function withoutPlan({ best, tasks, summary, isFinished }) {
  const missing = tasks.filter((task) => typeof task.best.score !== "number");
  const solved = tasks.length - missing.length;
  const open = missing.filter(isUnsearched).length;
  const reason = open > 0 ? missing.find((task) => !isUnsearched(task))?.best.reason : best.reason;
  const isFailed = missing.length > open;
  if (solved === 0 && open === 0) return `No feasible plan: ${reason ?? "none was found"}`;
  return [
    solved > 0 ? `${solved} of ${plural(tasks.length, "task")} have a feasible plan` : "No feasible plan",
    open > 0 && `${plural(open, "task")} not searched (${STOPPED[summary.stopped] ?? summary.stopped ?? "unknown"})`,
    isFailed && (isFinished ? `nearest miss of the others: ${reason ?? "unknown"}` : "the run has not ended"),
  ]
    .filter(Boolean)
    .join("; ");
}

/** The run ended before it came to this task. */
export const isUnsearched = (task) => task.evaluations === 0 && typeof task.best.score !== "number";

export const STOPPED = { budget: "budget spent", time: "time up", gap: "gap reached" };

function gapText({ best, bound, objective, tasks, isFinished }, within, scope, proven) {
  const end = isFinished ? "" : "; the run has not ended";
  const found = tasks.length > 1 && proven > 0 ? "best found" : "Best found";
  const text = (score) => metricText(natural(score, objective), objective);
  // there is no gap to a bound of 0
  if (typeof bound.gap !== "number" && typeof bound.value === "number")
    return `${found}: ${title(objective)} ${text(best.score)}, bound ${text(bound.value)}${end}`;
  if (typeof bound.gap !== "number") return `${found}, no bound to compare with${end}`;
  const limit = `${within} ${percent(bound.gap)} of its bound${scope}`;
  if (tasks.length > 1 && proven === tasks.length && bound.gap > 0)
    return `${limit}, because each task is optimised alone`;
  const word = gapClass(bound.gap) > 1 ? `: ${GAP_CLASSES[gapClass(bound.gap)].name}` : "";
  return `${limit}${word}${end}`;
}

// What people look for besides the objective, and how often it is the same thing in another unit.
export const FIGURES = ["latency", "cycles", "throughput", "energy", "accuracy", "miss_rate", "peak_bytes", "utilisation"];
const TIMES = new Set(["cycle", "s", "op/s"]);
const kindOf = (name) => (TIMES.has(unitOf(name)) ? "time" : unitOf(name) === "share" ? name : unitOf(name));

/** Metrics of the best besides the objective that say something else than it and each other. */
export function otherFigures({ best, objective }) {
  const kinds = new Set([kindOf(objective)]);
  return FIGURES.filter((name) => {
    const isNew = name !== objective && typeof best[name] === "number" && !kinds.has(kindOf(name));
    if (isNew) kinds.add(kindOf(name));
    return isNew;
  }).slice(0, 3);
}

/** "EDP 90.54 kJ·cycle · cycles 7.116 Mcycles · energy 12.72 mJ". */
export function figures(run) {
  const { best, objective } = run;
  if (typeof best.score !== "number") return "";
  return [
    `${title(objective)} ${metricText(natural(best.score, objective), objective)}`,
    ...otherFigures(run).map((name) => `${title(name)} ${metricText(best[name], name)}`),
  ].join(" · ");
}
