// One run as the panels want it: header, summary, curves and notes joined per task.
import { FIGURES } from "./headline.js";
import { isMaximised, isMetric, natural, rankOf } from "./units.js";

const named = (value) => (typeof value === "string" ? { name: value } : (value ?? {}));
const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

/** Notes and plans: on pages of several runs in a block of their own, which is read when somebody asks. */
function detailsOf(raw) {
  if (raw.details === undefined) return raw;
  raw.read ??= JSON.parse(document.getElementById(`mercator-run-${raw.details}`)?.textContent ?? "{}");
  return raw.read;
}

export function openRun(raw) {
  const header = raw.header ?? {};
  const summary = raw.summary ?? {};
  const objective = summary.objective ?? header.objective ?? "score";
  const run = {
    raw,
    header,
    summary,
    objective,
    name: raw.name ?? "run",
    isFinished: Boolean(raw.summary),
    problem: named(header.problem ?? summary.problem),
    workload: named(header.workload ?? summary.workload),
    platform: named(header.platform ?? summary.platform),
    evaluator: named(header.evaluator ?? summary.evaluator),
    optimizer: named(header.optimizer ?? summary.optimizer),
    seed: header.seed ?? summary.seed,
    budget: header.budget ?? summary.budget,
    get notes() {
      return detailsOf(raw).notes ?? [];
    },
    infeasible: raw.infeasible ?? { count: 0, reasons: {} },
  };
  run.tasks = openTasks(run);
  run.hasPlans = raw.has_plans ?? (raw.plans ?? []).length > 0;
  run.best = summary.best ?? (run.tasks.length === 1 ? run.tasks[0].best : { feasible: false });
  run.bound = completeBound(
    summary.bound ?? (run.tasks.length === 1 ? run.tasks[0].bound : null),
    run.best.score,
    objective,
  );
  run.reference = summary.reference ?? null;
  run.evaluations = summary.evaluations ?? raw.trials ?? 0;
  // with `--count distinct` there are more trials than evaluations, and refusals are counted by trial
  run.trials = trialsOf(summary, run.evaluations, raw.trials);
  run.infeasibleCount = summary.infeasible?.count ?? run.infeasible.count ?? 0;
  run.reasons = summary.infeasible?.reasons ?? run.infeasible.reasons ?? {};
  run.metrics = metricColumns(run.tasks, objective);
  return run;
}

/** Trials, warm ones not counted: the summary has them; of those that do not say, what the log holds. */
const trialsOf = (result, evaluations = 0, logged = 0) => result.trials ?? Math.max(evaluations, logged);

/** What the curves of these runs count: with `--count distinct` some trials are no evaluations. */
export const stepOf = (runs) => (runs.some(({ header }) => header.count === "distinct") ? "trials" : "evaluations");

function openTasks(run) {
  const { header, summary, raw } = run;
  const declared = header.tasks ?? [];
  const results = summary.tasks ?? [];
  const size = Math.max(declared.length, results.length, 1);
  const curves = new Map((raw.curves ?? []).map((one) => [one.task, one.points]));
  return Array.from({ length: size }, (_, index) => {
    const about = declared[index] ?? {};
    // A run with one task may leave its list out: the summary itself is the task's result.
    const result = results[index] ?? (size === 1 ? summary : {});
    const curve = curves.get(index) ?? [];
    const last = curve.at(-1);
    const best = result.best ?? (last ? { score: last[1], feasible: true } : { feasible: false });
    return {
      index,
      curve,
      best,
      name: about.name ?? result.name ?? `task ${index}`,
      count: about.count ?? result.count ?? 1,
      macs: about.macs,
      knobs: about.knobs,
      log10Size: about.log10_size,
      evaluations: result.evaluations ?? last?.[0],
      trials: trialsOf(result, result.evaluations, last?.[0]),
      bound: completeBound(result.bound ?? about.bound, best.score, run.objective),
      reasons: result.infeasible?.reasons ?? null,
      milestones: result.milestones ?? [],
      front: result.front ?? [],
      get plan() {
        return (detailsOf(raw).plans ?? []).find((one) => one.task === index) ?? null;
      },
    };
  });
}

function completeBound(bound, score, objective) {
  if (!bound || !isNumber(bound.value))
    return { kind: "none", value: null, gap: null, proven: false };
  return {
    ...bound,
    gap: bound.gap ?? gapOf(score, bound.value, objective),
    proven: bound.proven ?? false,
  };
}

/** value/bound - 1, or bound/value - 1 for a maximised objective; null when it means nothing. */
export function gapOf(score, bound, objective) {
  const ratio = ratioOf(score, bound, objective);
  return ratio === null ? null : Math.max(0, ratio - 1);
}

export function ratioOf(score, bound, objective) {
  if (!isNumber(score) || !isNumber(bound)) return null;
  const value = natural(score, objective);
  const limit = natural(bound, objective);
  const [above, below] = isMaximised(objective) ? [limit, value] : [value, limit];
  return below > 0 && above > 0 ? above / below : null;
}

function metricColumns(tasks, objective) {
  const found = new Set();
  for (const task of tasks)
    for (const [name, value] of Object.entries(task.best))
      if (isNumber(value) && isMetric(name)) found.add(name);
  const sorted = [...found].sort((a, b) => rankOf(a) - rankOf(b));
  const names = sorted.filter((name, at) => at < 6 || FIGURES.includes(name));
  return names.length > 0 ? names : isMetric(objective) ? [objective] : [];
}

/** Best score so far at each evaluation count of a rising grid, through `to`; null before the first feasible trial. */
export function alongGrid(curve, grid, to) {
  let place = 0;
  let value = null;
  return grid.map((x) => {
    const before = place;
    while (place < curve.length && curve[place][0] <= x) place++;
    if (place > before) value = to(curve[place - 1][1]);
    return value;
  });
}
