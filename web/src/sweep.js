// A sweep over platforms: what was varied is in their names ("base memories.GLB.words=8Ki"). One number is an axis, and
// its curve has a knee; two parameters make a matrix of what the best plan costs on each.
import { h, panel, select } from "./dom.js";
import { heatmapPanel } from "./panels/heatmap.js";
import { quantile } from "./stats.js";
import { betterOf, natural, title, unitOf } from "./units.js";

const SETTING = /^([^=\s]+)=(.+)$/;
const wordsOf = (name) => String(name ?? "–").split(/\s+/);
const settings = (name) =>
  new Map(
    wordsOf(name)
      .map((word) => SETTING.exec(word))
      .filter(Boolean)
      .map(([, path, value]) => [path, value]),
  );

/** The platform without what was varied: "s256". */
export const baseOf = (run) => wordsOf(run.platform.name).filter((word) => !SETTING.test(word)).join(" ");
const basesOf = (runs) => [...new Set(runs.map(baseOf))];

/** [{path, name and full_name (short ends that tell it apart), values in the order they came}] of what differs. */
export function parametersOf(runs) {
  const all = runs.map((run) => settings(run.platform.name));
  const paths = [...new Set(all.flatMap((one) => [...one.keys()]))];
  const varied = paths
    .map((path) => ({ path, values: [...new Set(all.map((one) => one.get(path)))] }))
    .filter(({ values }) => values.length > 1 && !values.includes(undefined));
  return varied.map((one) => ({
    ...one,
    name: shortEnd(one.path, varied, 1),
    full_name: shortEnd(one.path, varied, 2),
  }));
}

function shortEnd(path, all, least) {
  const parts = path.split(".");
  for (let size = least; size <= parts.length; size++) {
    const end = parts.slice(-size).join(".");
    if (all.every((other) => other.path === path || !other.path.endsWith(end))) return end;
  }
  return path;
}

/** How a run's platform is called among these: "words=16Ki", "words=16Ki x=8" where several things differ, "s256
 *  words=16Ki" where bases do; its name where nothing was varied. */
export function settingNames(runs) {
  const parameters = parametersOf(runs);
  const hasBases = basesOf(runs).length > 1;
  return (run) => {
    const own = settings(run.platform.name);
    const words = parameters.map(({ path, name }) => `${name}=${own.get(path)}`);
    if (words.length === 0) return run.platform.name ?? "–";
    return (hasBases ? [baseOf(run), ...words] : words).join(" ");
  };
}

/** Numbers as platform files write them: 16Ki, 1.5k, 1e9; NaN of other texts. */
function numberOf(text) {
  const [, digits, letter = "", binary] = /^([-+]?[\d.]+(?:e[-+]?\d+)?)([kKMGT]?)(i?)$/i.exec(text) ?? [];
  return Number(digits) * (binary ? 1024 : 1000) ** " kMGT".indexOf(letter === "K" ? "k" : letter || " ");
}

/** The one number that differs: {name, isLog (its steps are equal factors), of(run)}; null of other sweeps. */
export function sweptNumber(runs) {
  const parameters = parametersOf(runs);
  if (parameters.length !== 1) return null;
  const [{ path, full_name: name, values }] = parameters;
  const numbers = values.map(numberOf).sort((a, b) => a - b);
  if (!numbers.every(Number.isFinite)) return null;
  const isEven = (value, at) => at < 2 || Math.abs((value * numbers[at - 2]) / numbers[at - 1] ** 2 - 1) < 1e-6;
  const isLog = numbers.length > 2 && numbers[0] > 0 && numbers.every(isEven);
  return { name, isLog, of: (run) => numberOf(settings(run.platform.name).get(path)) };
}

const LEAST = 0.05; // below this a curve is as good as straight
const ROUNDING = 1e-9; // and level below this

/** The middle of runs that differ in their seed alone, {y, run}: the median score, and the run that has it or comes just
 *  before it; undefined where half of them or more found no plan. */
export function middleOf(seeds) {
  const found = seeds
    .filter((run) => run.best.feasible !== false && Number.isFinite(run.best.score))
    .sort((a, b) => a.best.score - b.best.score);
  if (2 * found.length <= seeds.length) return undefined;
  const y = quantile(found.map((run) => run.best.score), 0.5);
  return { y, run: found[Math.floor((found.length - 1) / 2)] };
}

/** The curve over a swept number of runs that differ in it and in their seed alone: [{x, y, run}], see middleOf. */
export function curveOf(runs, number) {
  const xs = [...new Set(runs.map(number.of))].sort((a, b) => a - b);
  return xs.flatMap((x) => {
    const middle = middleOf(runs.filter((run) => number.of(run) === x));
    return middle ? [{ x, ...middle }] : [];
  });
}

/** The run at the point of a curve that is farthest below the straight line between its ends, both axes brought to
 *  0 .. 1, as src/cli/sweep_knee.c has it; undefined where the curve is straight, or ends no better than it begins. */
export function kneeOf(curve, isLog) {
  if (curve.length < 3) return undefined;
  const xOf = ({ x }) => (isLog ? Math.log2(x) : x);
  const [first, last] = [curve[0], curve.at(-1)];
  const ys = curve.map(({ y }) => y);
  const [low, high] = [Math.min(...ys), Math.max(...ys)];
  const fall = first.y - last.y;
  if (!(fall > ROUNDING * Math.max(Math.abs(low), Math.abs(high)))) return undefined;
  const line = (point) => first.y - (fall * (xOf(point) - xOf(first))) / (xOf(last) - xOf(first));
  const below = curve.map((point, at) => (at > 0 && at < curve.length - 1 ? (line(point) - point.y) / (high - low) : 0));
  const most = Math.max(...below);
  return most > LEAST ? curve[below.indexOf(most)].run : undefined;
}

/** The matrix of a sweep over two parameters; null of others. */
export function sweepMatrix(runs, metrics, id) {
  const parameters = parametersOf(runs);
  if (parameters.length !== 2) return null;
  const [down, across] = parameters;
  const bases = basesOf(runs);
  const rows = bases.flatMap((base) => down.values.map((value) => ({ base, value, name: bases.length > 1 ? `${base} ${value}` : value })));
  const { objective } = runs[0];
  const names = [...new Set([objective, ...metrics])];
  const box = h("div", {});
  const scoreOf = (run, name) =>
    name === objective ? natural(run.best.score, objective) : run.best[name];
  const best = (name, r, c) => {
    const values = runs
      .filter((run) => {
        const own = settings(run.platform.name);
        return baseOf(run) === r.base && own.get(down.path) === r.value && own.get(across.path) === c && run.best.feasible !== false;
      })
      .map((run) => scoreOf(run, name))
      .filter((value) => typeof value === "number");
    if (values.length === 0) return null;
    return betterOf(name) > 0 ? Math.max(...values) : Math.min(...values);
  };
  const show = (name) =>
    box.replaceChildren(
      heatmapPanel({
        id: `${id}-matrix`,
        title: `${title(name)} by ${down.full_name} and ${across.full_name}`,
        unit: unitOf(name),
        names: { row: down.full_name, column: across.full_name },
        rows: rows.map((row) => row.name),
        columns: across.values,
        values: rows.map((r) => across.values.map((c) => best(name, r, c))),
        spread: true,
      }),
    );
  show(objective);
  return panel(
    {
      id: `${id}-matrix-panel`,
      title: `By ${down.full_name} and ${across.full_name}`,
      wide: true,
      hint: `Best ${title(objective)} found for each pair of settings, or another metric of these plans.`,
      tools: names.length > 1 ? [select("Metric shown", names.map((name) => [name, title(name)]), objective, show)] : [],
    },
    h("div", { "data-testid": `${id}-matrix` }, box),
  );
}
