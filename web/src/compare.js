// Several runs side by side: curves by optimizer (median, quartile band over seeds), results with ranks.
import { lineChart, livingChart } from "./chart.js";
import { checkbox, h, panel, select, categoryVariable } from "./dom.js";
import { differencePanel } from "./difference.js";
import { gapBar, gapLegend } from "./gap.js";
import { drawnGap, endOf, gapTick, geometricMean, LEAST_GAP_TEXT, logGrid } from "./curves.js";
import { quantity } from "./head.js";
import { overview } from "./overview.js";
import { alongGrid, gapOf, ratioOf, stepOf } from "./run.js";
import { scatterPanel } from "./panels/scatter.js";
import { medianInterval, quantile, rankTest, sortedQuantile } from "./stats.js";
import { baseOf, curveOf, kneeOf, middleOf, settingNames, sweepMatrix, sweptNumber } from "./sweep.js";
import { sortableTable } from "./table.js";
import {
  betterOf,
  count,
  full,
  isMaximised,
  natural,
  percent,
  plural,
  rankOf,
  short,
  split,
  text,
  title,
  unitOf,
} from "./units.js";

const optimizerKey = (run) =>
  `${run.optimizer.name ?? "–"}${JSON.stringify(run.optimizer.options ?? {})}`;
const evaluatorKey = (run) =>
  `${run.evaluator.name ?? "–"}${JSON.stringify(run.evaluator.options ?? {})}`;
/** Runs whose results may be held against each other: the same question, priced in the same way. */
const questionKey = (run) =>
  [run.problem.name, run.workload.name, run.workload.hash, run.objective, evaluatorKey(run)].join("|");
/** And on the same platform. */
const problemKey = (run) => [questionKey(run), run.platform.name, run.platform.hash].join("|");
const problemName = (run) =>
  `${run.workload.name} on ${run.platform.name}, ${title(run.objective)}`;

/** Names of groups of runs, told apart by problem and evaluator where that is needed. */
function problemNames(groups) {
  const names = groups.map(([run]) => problemName(run));
  const isAlone = (name) => names.filter((one) => one === name).length === 1;
  return groups.map(([run], at) =>
    isAlone(names[at]) ? names[at] : `${names[at]} (${run.problem.name}, ${run.evaluator.name})`,
  );
}

function groupBy(runs, key) {
  const groups = new Map();
  for (const run of runs) {
    const name = key(run);
    if (groups.has(name)) groups.get(name).push(run);
    else groups.set(name, [run]);
  }
  return groups;
}

/** Optimizers get a short name, numbered when the same one appears with other options. */
function methodsOf(runs) {
  const groups = [...groupBy(runs, optimizerKey).values()];
  const uses = new Map();
  return groups.map((group, at) => {
    const name = group[0].optimizer.name ?? "–";
    uses.set(name, (uses.get(name) ?? 0) + 1);
    return {
      runs: group,
      variable: categoryVariable(at),
      name: uses.get(name) > 1 ? `${name} (${uses.get(name)})` : name,
      options: JSON.stringify(group[0].optimizer.options ?? {}),
    };
  });
}

export function comparison(runs, open) {
  const problems = [...groupBy(runs, problemKey).values()];
  const view = { problem: 0 };
  const isCompared = problems.some((group) => group.length > 1);
  const box = h("div", { class: "panel-grid" });
  const show = () => isCompared && box.replaceChildren(...problemPanels(problems[view.problem], view.problem));
  show();
  return h(
    "div",
    {},
    overview([...groupBy(runs, questionKey).values()], open, whatIsFound),
    h("div", { class: "panel-grid" }, tradeOffPanels(runs)),
    isCompared &&
      problems.length > 1 &&
      h(
        "p",
        { class: "tools problem-choice" },
        "Problem ",
        select(
          "Problem compared",
          problemNames(problems).map((name, at) => [at, name]),
          0,
          (at) => {
            view.problem = Number(at);
            show();
          },
        ),
      ),
    box,
    h("div", { class: "panel-grid" }, runsPanel(runs, open)),
  );
}

/** What holding the runs of one question against each other says: the best platform, or the best optimizer. */
function whatIsFound(runs) {
  const platforms = new Set(runs.map((run) => run.platform.name));
  const seeds = [...groupBy(runs, (run) => `${methodKey(run)} ${problemKey(run)}`).values()];
  const [best] = seeds.map(middleOf).filter(Boolean).sort((a, b) => a.y - b.y);
  if (platforms.size > 1 && best) {
    const nameOf = settingNames(runs);
    const knees = [...new Set(kneesOf(runs, sweptNumber(runs)).map(nameOf))];
    const isOneMethod = new Set(runs.map(methodKey)).size === 1; // else a setting alone does not say whose knee it is
    const isTold = knees.length === 1 || (isOneMethod && knees.length > 0 && knees.length <= MOST_KNEES);
    const knee = isTold ? `; knee${knees.length > 1 ? "s" : ""}: ${knees.join(", ")}` : "";
    const how = seeds.length < runs.length ? " by the median of the seeds" : "";
    return `Best of ${platforms.size} platforms${how}: ${nameOf(best.run)}${knee}.`;
  }
  const methods = methodsOf(runs)
    .map((method) => ({ ...method, scores: method.runs.map(scoreOf).filter(Number.isFinite) }))
    .map((method) => ({ ...method, median: quantile(method.scores, 0.5) }))
    .filter(({ median }) => median !== null)
    .sort((a, b) => a.median - b.median);
  if (platforms.size > 1 || methods.length < 2) return "";
  const [first, ...others] = methods;
  const behind = ({ name, median, scores }) => {
    const p = rankTest(scores, first.scores);
    const isTested = Math.min(scores.length, first.scores.length) > 2;
    if (median === first.median) return `${name} as good`;
    const gap = gapOf(median, first.median, runs[0].objective); // null: to a best of 0
    return `${name} ${gap === null ? "" : `${percent(gap)} `}behind${isTested ? ` (p ${p < 0.001 ? "< 0.001" : `= ${p.toFixed(3)}`})` : ""}`;
  };
  const rest = others.length > 3 ? `; ${plural(others.length - 3, "more optimizer")}` : "";
  return `Best by the median of its seeds: ${first.name}; ${others.slice(0, 3).map(behind).join(", ")}${rest}.`;
}

/** Runs of one question on several platforms: one point each. */
function tradeOffPanels(runs) {
  const questions = [...groupBy(runs, questionKey).values()];
  const sweeps = questions.filter(
    (group) => new Set(group.map((run) => `${run.platform.name} ${run.platform.hash}`)).size > 1,
  );
  return sweeps.map((group, at) => tradeOffPanel(group, sweeps.length > 1 ? at : -1));
}

const PREFERRED = ["cycles", "latency", "makespan"];
const MOST_LINES = 6;
const MOST_KNEES = 3;

const metricAxis = (name) => ({ name, unit: unitOf(name), better: betterOf(name), of: (run) => run.best[name] });

/** Time and energy first. */
function axesOfMetrics(metrics) {
  const x = PREFERRED.find((name) => metrics.includes(name)) ?? metrics[0];
  const y = metrics.includes("energy") && x !== "energy" ? "energy" : metrics.find((name) => name !== x);
  return [...new Set([x, y, ...metrics])].filter((name) => name !== undefined).map(metricAxis);
}

/** What was asked for over the number that was swept. */
function axesOverNumber([{ objective }], metrics, number) {
  const asked = { ...metricAxis(objective), better: isMaximised(objective) ? 1 : -1, of: (run) => natural(run.best.score, objective) };
  return [
    { name: number.name, unit: "1", log: number.isLog, of: number.of },
    asked,
    ...metrics.filter((name) => name !== objective).map(metricAxis),
  ];
}

const methodKey = (run) => `${optimizerKey(run)} ${run.budget}`;

/** Runs that differ in what was varied of one platform, and in their seed. */
const curvesOf = (runs) => [...groupBy(runs, (run) => `${methodKey(run)} ${baseOf(run)}`).values()];

function kneesOf(runs, number) {
  return number ? curvesOf(runs).map((group) => kneeOf(curveOf(group, number), number.isLog)).filter(Boolean) : [];
}

function lineOf(group, number, name) {
  return { name, points: curveOf(group, number).map(({ x, y }) => [x, natural(y, group[0].objective)]) };
}

/** what tells these runs apart, beside what they share with all others; "" where nothing does */
function methodNames(runs) {
  const methods = methodsOf(runs);
  const names = new Map(methods.flatMap((method) => method.runs.map((run) => [run, method.name])));
  const hasBudgets = new Set(runs.map((run) => run.budget)).size > 1;
  return (run) =>
    [methods.length > 1 && names.get(run), hasBudgets && `budget ${count(run.budget)}`].filter(Boolean).join(", ");
}

function tradeOffPanel(runs, place) {
  const done = runs.filter((run) => run.best.feasible !== false);
  const metrics = Object.keys(done[0]?.best ?? {})
    .filter((name) => betterOf(name) !== 0)
    .filter((name) => done.every((run) => typeof run.best[name] === "number"))
    .sort((a, b) => rankOf(a) - rankOf(b));
  const number = sweptNumber(runs);
  const axes = number ? axesOverNumber(done, metrics, number) : axesOfMetrics(metrics);
  if (axes.length < 2) return null;
  const curves = curvesOf(runs);
  const hasBases = new Set(runs.map(baseOf)).size > 1;
  const hasSeeds = new Set(runs.map((run) => run.seed)).size > 1;
  const methodOf = methodNames(runs);
  const platformOf = settingNames(runs);
  const knees = kneesOf(runs, number);
  const lines = number && curves.length <= MOST_LINES ? curves : [];
  const lineName = (run) => [hasBases && baseOf(run), methodOf(run)].filter(Boolean).join(", ") || what;
  const id = place < 0 ? "trade-off" : `trade-off-${place}`;
  const what = number ? `over ${number.name}` : "of the platforms";
  const front = panel(
    {
      id: `${id}-panel`,
      title: `Trade-off ${what}${place < 0 ? "" : `: ${done[0].workload.name}`}`,
      wide: true,
      hint: `${plural(done.length, "run")} of ${runs[0].workload.name} on several platforms.${knees.length > 0 ? " Knee: farthest below the straight line between the ends." : ""}${lines.length > 0 && hasSeeds ? " Lines: medians over the seeds." : ""}`,
    },
    scatterPanel(
      {
        id,
        title: `Trade-off ${what}`,
        axes,
        points: done.map((run) => ({
          name: [platformOf(run), methodOf(run), hasSeeds && `seed ${run.seed}`, knees.includes(run) && "knee"].filter(Boolean).join(", "),
          ...(knees.includes(run) ? { group: "knee", marked: true } : {}),
          values: axes.map((axis) => axis.of(run)),
        })),
        lines: lines.map((group) => lineOf(group, number, lineName(group[0]))),
      },
      { isFrontShown: true },
    ),
  );
  return [front, sweepMatrix(done, metrics, id)];
}

function problemPanels(runs, at) {
  const methods = methodsOf(runs);
  return [curvePanel(runs, methods), methodPanel(runs, methods, at), differencePanel(runs)].filter(Boolean);
}

/** One number per evaluation count: the score itself, or over several tasks the mean gap to their limits. */
function progress(run, grid, related, isLogY) {
  if (!related) return alongGrid(run.tasks[0].curve, grid, (score) => natural(score, run.objective));
  const curves = related.map(({ task, limit }) =>
    alongGrid(run.tasks[task.index]?.curve ?? [], grid, (score) => ratioOf(score, limit, run.objective)),
  );
  return geometricMean(curves, grid.length).map((ratio) => drawnGap(ratio, isLogY));
}

/** [{task, limit}]: the bound of each task or, without one, the best plan of all runs. */
function taskLimits(runs) {
  return runs[0].tasks.map((task, at) => ({
    task,
    limit: task.bound.value ?? Math.min(...runs.map((run) => run.tasks[at]?.best.score ?? Infinity)),
  }));
}

/** Those tasks to whose limit there is a gap: to a bound of 0 there is none. Null for runs of one task. */
function relatedTasks(runs) {
  if (runs[0].tasks.length === 1) return null;
  return taskLimits(runs).filter(({ limit }) => ratioOf(limit, limit, runs[0].objective) !== null);
}

/** "Gap to the bound, geometric mean over 2 of 3 tasks: ..." */
function whatIsMeant(runs, related) {
  const all = runs[0].tasks.length;
  const end = endOf(related.map(({ task }) => task));
  const others = related.length < all ? ` of ${all} tasks; the others have no gap, as their limit is 0 or unknown` : "";
  if (related.length === 1) return `Gap to ${end} of ${related[0].task.name}, 1${others}.`;
  return `Gap to ${end}, geometric mean over ${others ? `${related.length}${others}` : "tasks"}.`;
}

function curvePanel(runs, methods) {
  const box = h("div", { class: "chart", "data-testid": "comparison-curves" });
  const view = { isLogX: true, isLogY: true };
  const related = relatedTasks(runs);
  const isEmpty = related?.length === 0;
  const draw = livingChart(box, () => (isEmpty ? drawNothing(box, NO_GAP) : drawMethods(box, runs, methods, view, related)));
  return panel(
    {
      id: "compare-panel",
      title: "Best so far by optimizer",
      wide: true,
      hint: `${problemName(runs[0])}.${isEmpty ? "" : `${related ? ` ${whatIsMeant(runs, related)}` : ""} Line: median over seeds; band: quartiles.`}`,
      tools: isEmpty ? [] : [
        checkbox("log x", true, (on) => {
          view.isLogX = on;
          draw();
        }),
        checkbox("log y", true, (on) => {
          view.isLogY = on;
          draw();
        }),
      ],
    },
    box,
    !isEmpty &&
      h(
        "p",
        { class: "legend" },
        methods.map((method) =>
          h(
            "span",
            { title: method.options },
            h("i", { style: { background: `var(--${method.variable})` } }),
            `${method.name} (${method.runs.length} seed${method.runs.length > 1 ? "s" : ""})`,
          ),
        ),
      ),
  );
}

const NO_GAP = "No task has a gap to draw: there is none to a limit of 0, nor where no run has a feasible plan.";
const NO_CURVE = "No optimizer has a feasible plan of every task in each of its runs.";

function drawNothing(box, why) {
  box.replaceChildren(h("p", { class: "empty" }, why));
  return { destroy() {} };
}

function drawMethods(box, runs, methods, view, related) {
  const drawn = related ? related.map(({ task }) => task.index) : [0];
  const last = Math.max(1, ...runs.flatMap((run) => drawn.map((at) => run.tasks[at]?.curve.at(-1)?.[0] ?? 1)));
  const grid = logGrid(last);
  const lines = methods.flatMap((method) => {
    const curves = method.runs.map((run) => progress(run, grid, related, view.isLogY));
    const sorted = grid.map((_, x) =>
      curves.some((curve) => curve[x] === null) ? null : Float64Array.from(curves, (curve) => curve[x]).sort(),
    );
    const at = (share) => sorted.map((values) => values && sortedQuantile(values, share));
    const median = {
      name: method.name,
      ys: at(0.5),
      variable: method.variable,
      width: 2.25,
      isMain: true,
    };
    if (curves.length < 3) return [median];
    const edge = { variable: method.variable, width: 0.5, alpha: "55", isHidden: true };
    return [
      { ...edge, name: `${method.name} upper`, ys: at(0.75), band: true },
      { ...edge, name: `${method.name} lower`, ys: at(0.25) },
      median,
    ];
  });
  if (lines.every(({ ys }) => ys.every((y) => y === null))) return drawNothing(box, NO_CURVE);
  const { bound } = runs[0].tasks[0];
  const hasBound = !related && bound.value !== null;
  if (hasBound)
    lines.push({
      name: "bound",
      ys: grid.map(() => natural(bound.value, runs[0].objective)),
      variable: "bound",
      width: 1.25,
      dash: [6, 4],
      isStraight: true,
      isHidden: true,
    });
  const end = related && endOf(related.map(({ task }) => task));
  const formatValue = related ? percent : (y) => text(y, unitOf(runs[0].objective));
  const ends = lines.filter(({ isMain }) => isMain).map(({ name, ys }) => `${name} ${ys.at(-1) === null ? "nothing" : formatValue(ys.at(-1))}`);
  return lineChart(box, grid, lines, {
    ...view,
    isStepped: true,
    height: 380,
    name: "best so far by optimizer",
    nameX: `${stepOf(runs)}${related ? " per task" : ""}`,
    nameY: related ? `gap to ${end}` : `best ${title(runs[0].objective)}`,
    isCountX: true,
    formatX: (x, more) => short(x, "", more),
    formatY: related ? gapTick : (y, more) => short(y, unitOf(runs[0].objective), more),
    formatValue,
    hint: hasBound ? "Dashed: bound." : related && view.isLogY ? LEAST_GAP_TEXT : "",
    label: `${related ? `Gap to ${end}` : `Best ${title(runs[0].objective)}`} by optimizer, at the end: ${ends.join(", ")}`,
  });
}

/** Mean rank over seeds: seeds that every optimizer ran are ranked against each other, ties shared. */
export function meanRanks(methods, score) {
  const seeds = [...new Set(methods[0].runs.map((run) => run.seed))].filter((seed) =>
    methods.every((method) => method.runs.some((run) => run.seed === seed)),
  );
  return methods.map((method) => {
    if (seeds.length === 0) return null;
    const ranks = seeds.map((seed) => {
      const values = methods.map((one) => score(one.runs.find((run) => run.seed === seed)));
      const own = score(method.runs.find((run) => run.seed === seed));
      return (
        1 +
        values.filter((value) => value < own).length +
        (values.filter((value) => value === own).length - 1) / 2
      );
    });
    return ranks.reduce((a, b) => a + b, 0) / ranks.length;
  });
}

const scoreOf = (run) => (typeof run.best.score === "number" ? run.best.score : Infinity);

function methodPanel(runs, methods, problem) {
  const { objective } = runs[0];
  const unit = unitOf(objective);
  const ranks = meanRanks(methods, scoreOf);
  const rows = methods.map((method, at) => {
    const scores = method.runs.map(scoreOf).filter(Number.isFinite);
    return {
      ...method,
      at,
      rank: ranks[at],
      best: scores.length ? Math.min(...scores) : null,
      median: quantile(scores, 0.5),
      interval: medianInterval(scores),
      seconds: quantile(
        method.runs.map((run) => run.summary.wall_s),
        0.5,
      ),
      scores,
      gap: quantile(
        method.runs.map((run) => run.bound.gap),
        0.5,
      ),
      failed: method.runs.length - scores.length,
    };
  });
  // Against the optimizer with the best median.
  const first = rows.reduce((best, row) => ((row.median ?? Infinity) < (best.median ?? Infinity) ? row : best));
  for (const row of rows) row.p = row === first ? null : rankTest(row.scores, first.scores);
  const number = (key, title, help) => ({
    key,
    title,
    help,
    value: (row) => row[key],
    cell: (row) =>
      quantity(natural(row[key], objective), unit, `method-${problem}-${row.at}-${key}`),
  });
  const table = sortableTable(
    [
      {
        key: "name",
        title: "optimizer",
        align: "text",
        value: (row) => row.name,
        cell: (row) =>
          h(
            "span",
            { title: row.options },
            h("i", { class: "dot", style: { background: `var(--${row.variable})` } }),
            row.name,
          ),
      },
      {
        key: "runs",
        title: "seeds",
        value: (row) => row.runs.length,
        cell: (row) =>
          row.failed ? `${row.runs.length} (${row.failed} failed)` : String(row.runs.length),
      },
      {
        key: "rank",
        title: "mean rank",
        help: "over seeds that all optimizers ran",
        value: (row) => row.rank,
        cell: (row) => (row.rank === null ? "–" : row.rank.toFixed(2)),
      },
      number("median", `median ${title(objective)}`),
      {
        key: "interval",
        title: "95 % interval",
        help: "of the median, by resampling the seeds",
        value: (row) => row.interval?.[0],
        cell: (row) => intervalCell(row.interval, objective, `method-${problem}-${row.at}-interval`),
      },
      {
        key: "p",
        title: "p",
        help: `rank-sum test against ${first.name}, which has the best median; two-sided`,
        value: (row) => row.p,
        cell: (row) =>
          h(
            "span",
            { "data-testid": `method-${problem}-${row.at}-p`, "data-value": row.p ?? "" },
            row === first ? "best" : row.p === null ? "–" : row.p < 0.001 ? "< 0.001" : row.p.toFixed(3),
          ),
      },
      {
        key: "seconds",
        title: "seconds",
        help: "wall clock of a run, median of the seeds",
        value: (row) => row.seconds,
        cell: (row) => quantity(row.seconds, "s", `method-${problem}-${row.at}-seconds`),
      },
      number("best", "best", isMaximised(objective) ? "largest" : "smallest"),
      {
        key: "gap",
        title: "median gap",
        align: "gap",
        value: (row) => row.gap,
        cell: (row) => gapBar(row.gap, `method-${problem}-${row.at}-gap`),
      },
    ],
    rows,
    {
      caption: "Results by optimizer",
      sort: ["median", 1],
      rowid: (row) => `method-row-${row.at}`,
    },
  );
  return panel(
    { id: "methods-panel", title: "Results by optimizer", wide: true },
    table.element,
    gapLegend(),
  );
}

function intervalCell(interval, objective, testid) {
  if (!interval) return h("span", { "data-testid": testid, "data-value": "" }, "–");
  const ends = interval.map((score) => natural(score, objective)).sort((a, b) => a - b);
  const texts = ends.map((value) => split(value, unitOf(objective)));
  const isSame = texts[0].unit === texts[1].unit;
  return h(
    "span",
    { class: "quantity", "data-testid": testid, "data-value": ends.join(" "), title: ends.map((value) => full(value, unitOf(objective))).join(" to ") },
    `${texts[0].number}${isSame ? "" : ` ${texts[0].unit}`} – ${texts[1].number}`,
    h("small", {}, texts[1].unit),
  );
}

function runsPanel(runs, open) {
  const places = new Map(runs.map((run, at) => [run, at]));
  const table = sortableTable(
    [
      {
        key: "name",
        title: "run",
        align: "text",
        value: (run) => run.name,
        cell: (run) => run.name,
      },
      new Set(runs.map((run) => run.problem.name)).size > 1 && {
        key: "problem",
        title: "problem",
        align: "text",
        value: (run) => run.problem.name,
        cell: (run) => run.problem.name ?? "–",
      },
      {
        key: "workload",
        title: "workload",
        align: "text",
        value: (run) => run.workload.name,
        cell: (run) => run.workload.name ?? "–",
      },
      {
        key: "platform",
        title: "platform",
        align: "text wrap",
        value: (run) => run.platform.name,
        cell: (run) => run.platform.name ?? "–",
      },
      {
        key: "optimizer",
        title: "optimizer",
        align: "text",
        value: (run) => run.optimizer.name,
        cell: (run) => run.optimizer.name ?? "–",
      },
      {
        key: "seed",
        title: "seed",
        value: (run) => run.seed,
        cell: (run) => String(run.seed ?? "–"),
      },
      {
        key: "evaluations",
        title: "evaluations",
        value: (run) => run.evaluations,
        cell: (run) => count(run.evaluations),
      },
      {
        key: "score",
        title: "best",
        value: (run) => natural(run.best.score, run.objective),
        cell: (run) =>
          quantity(
            natural(run.best.score, run.objective),
            unitOf(run.objective),
            `run-${places.get(run)}-score`,
          ),
      },
      {
        key: "gap",
        title: "gap",
        align: "gap",
        value: (run) => run.bound.gap,
        cell: (run) => gapBar(run.bound.gap, `run-${places.get(run)}-gap`),
      },
      {
        key: "seconds",
        title: "seconds",
        value: (run) => run.summary.wall_s,
        cell: (run) => quantity(run.summary.wall_s, "s"),
      },
    ].filter(Boolean),
    runs,
    { caption: "All runs", onpick: open, rowid: (run) => `run-row-${places.get(run)}` },
  );
  return panel(
    { id: "runs-panel", title: "All runs", wide: true, hint: "Choose one to see it alone." },
    table.element,
  );
}
