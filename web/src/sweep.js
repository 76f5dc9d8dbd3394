// A sweep over platforms: what was varied is in their names ("base memories.GLB.words=8Ki"). Two parameters make a
// matrix of what the best plan costs on each.
import { h, panel, select } from "./dom.js";
import { heatmapPanel } from "./panels/heatmap.js";
import { betterOf, natural, title, unitOf } from "./units.js";

const settings = (name) =>
  new Map(
    String(name ?? "")
      .split(/\s+/)
      .map((word) => /^([^=\s]+)=(.+)$/.exec(word))
      .filter(Boolean)
      .map(([, path, value]) => [path, value]),
  );

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

/** "16Ki", or "words=16Ki x=8" where several things differ. */
export function settingName(run, parameters) {
  const own = settings(run.platform.name);
  return parameters.length === 1
    ? own.get(parameters[0].path)
    : parameters.map(({ path, name }) => `${name}=${own.get(path)}`).join(" ");
}

/** The matrix of a sweep over two parameters; null of others. */
export function sweepMatrix(runs, metrics, id) {
  const parameters = parametersOf(runs);
  if (parameters.length !== 2) return null;
  const [down, across] = parameters;
  const { objective } = runs[0];
  const names = [...new Set([objective, ...metrics])];
  const box = h("div", {});
  const scoreOf = (run, name) =>
    name === objective ? natural(run.best.score, objective) : run.best[name];
  const best = (name, r, c) => {
    const values = runs
      .filter((run) => {
        const own = settings(run.platform.name);
        return own.get(down.path) === r && own.get(across.path) === c && run.best.feasible !== false;
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
        rows: down.values,
        columns: across.values,
        values: down.values.map((r) => across.values.map((c) => best(name, r, c))),
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
