// Top of a run: what was asked (problem, inputs, method) and what came out (cards).
import { h } from "./dom.js";
import { otherFigures, STOPPED } from "./headline.js";
import { GAP_CLASSES, gapClass, gapCss, gapWidth } from "./gap.js";
import {
  count,
  full,
  helpOf,
  natural,
  percent,
  seconds,
  split,
  text,
  title,
  unitOf,
} from "./units.js";

export function runFacts(run) {
  const plugin = ({ name, options }) =>
    h("span", { title: optionText(options) }, name ?? "–", optionShort(options));
  const input = ({ name, hash }) =>
    h(
      "span",
      {},
      name ?? "–",
      hash && h("code", { class: "hash", title: `hash ${hash}` }, hash.slice(0, 8)),
    );
  const facts = [
    ["problem", plugin(run.problem), "problem"],
    ["workload", input(run.workload), "workload"],
    ["platform", input(run.platform), "platform"],
    ["evaluator", plugin(run.evaluator), "evaluator"],
    ["optimizer", plugin(run.optimizer), "optimizer"],
    ["objective", h("span", { title: helpOf(run.objective) }, run.objective), "objective"],
    ["seed", String(run.seed ?? "–"), "seed"],
    ["budget", h("span", { title: "evaluations per task" }, count(run.budget)), "budget"],
    ["version", String(run.header.version ?? "–"), "version"],
  ];
  return h(
    "dl",
    { class: "facts" },
    facts.map(([name, value, id]) =>
      h("div", {}, h("dt", {}, name), h("dd", { "data-testid": id }, value)),
    ),
  );
}

function optionText(options) {
  const entries = Object.entries(options ?? {});
  return entries.length > 0
    ? entries.map(([key, value]) => `${key} = ${JSON.stringify(value)}`).join("\n")
    : undefined;
}

function optionShort(options) {
  const size = Object.keys(options ?? {}).length;
  return size > 0 && h("span", { class: "muted small" }, ` ${size} option${size > 1 ? "s" : ""}`);
}

/** A number with its unit set smaller, and the exact value on hover. */
export function quantity(value, unit, testid) {
  const parts = split(value, unit);
  return h(
    "span",
    {
      class: "quantity",
      title: full(value, unit),
      "data-testid": testid,
      "data-value": typeof value === "number" ? value : "",
    },
    parts.number,
    parts.unit && h("small", {}, parts.unit),
  );
}

function card(heading, main, note, options = {}) {
  return h(
    "div",
    { class: `card ${options.class ?? ""}`, style: options.style },
    h("h2", {}, heading),
    h("div", { class: "card-value" }, main),
    note && h("div", { class: "card-note" }, note),
  );
}

export function cards(run) {
  const share = run.trials > 0 ? run.infeasibleCount / run.trials : null;
  return h(
    "div",
    { class: "cards" },
    bestCard(run),
    boundCard(run),
    gapCard(run),
    evaluationsCard(run),
    card(
      "Infeasible",
      h(
        "span",
        { class: "quantity", "data-testid": "infeasible-share", "data-value": share ?? "" },
        percent(share),
      ),
      h(
        "span",
        { "data-testid": "infeasible-count", "data-value": run.infeasibleCount },
        `${count(run.infeasibleCount)} ${run.infeasibleCount === 1 ? "trial" : "trials"} refused`,
      ),
    ),
  );
}

function bestCard(run) {
  const { best, objective } = run;
  if (!best.feasible && typeof best.score !== "number")
    return card(
      "Best",
      h("span", { class: "quantity bad", "data-testid": "best-score", "data-value": "" }, "none"),
      best.reason ?? "no feasible plan was found",
    );
  const others = otherFigures(run).map((name) => [name, best[name]]);
  return card(
    `Best ${title(objective)}`,
    quantity(natural(best.score, objective), unitOf(objective), "best-score"),
    others.map(([name, value], at) => [
      at > 0 && " · ",
      h(
        "span",
        {
          title: `${name}: ${full(value, unitOf(name))}`,
          "data-testid": `best-${name}`,
          "data-value": value,
        },
        `${["1", "share", "B", ""].includes(unitOf(name)) ? `${title(name)} ` : ""}${text(value, unitOf(name))}`,
      ),
    ]),
  );
}

function boundCard({ bound, reference, objective }) {
  const kind = h("span", { "data-testid": "bound-kind" }, bound.kind ?? "none");
  const note = [
    kind,
    bound.scope && ` · among ${bound.scope}`,
    reference &&
      h(
        "div",
        {},
        `reference ${text(natural(reference.value, objective), unitOf(objective))} (${reference.scope || reference.kind})`,
      ),
  ];
  return card(
    "Bound",
    quantity(natural(bound.value, objective), unitOf(objective), "bound-value"),
    note,
  );
}

/** A total may be open although each task is settled: say so much. */
function provenText({ bound, tasks }) {
  const proven = tasks.filter((task) => task.bound.proven).length;
  if (bound.proven) return "proven optimal";
  if (tasks.length > 1 && proven === tasks.length) return `all ${proven} tasks proven optimal`;
  if (tasks.length > 1 && proven > 0) return `${proven} of ${tasks.length} tasks proven optimal`;
  return typeof bound.value === "number" ? "not proven" : "no bound to compare with";
}

function gapCard(run) {
  const { bound, isFinished } = run;
  const proven = provenText(run);
  const known = typeof bound.gap === "number";
  return card(
    "Gap",
    h(
      "span",
      {
        class: "quantity",
        "data-testid": "gap",
        "data-value": known ? bound.gap : "",
        title: known ? `${bound.gap * 100} %` : undefined,
      },
      percent(bound.gap),
    ),
    [
      known &&
        h(
          "span",
          { class: "gap-track", "aria-hidden": "true" },
          h("span", {
            style: { width: `${gapWidth(bound.gap) * 100}%`, background: gapCss(bound.gap) },
          }),
        ),
      h("span", { "data-testid": "proven" }, proven),
      known && !bound.proven && ` · ${GAP_CLASSES[gapClass(bound.gap)].name}`,
      !isFinished && h("div", { class: "bad" }, "run not finished"),
    ],
    { style: { "--card-edge": gapCss(bound.gap) }, class: "edged" },
  );
}

/** How long one took who decides while things happen. */
function decisionsNote({ count: times, mean_ms: mean, worst_ms: worst, allowed_ms: allowed, late }) {
  const limit = allowed > 0 ? `; ${text(allowed / 1000, "s")} allowed, ${count(late)} took longer` : "";
  return h(
    "div",
    { "data-testid": "decisions", "data-value": times },
    `${count(times)} decision${times === 1 ? "" : "s"} · ${text(mean / 1000, "s")} on average, `,
    h("span", { "data-testid": "decision-worst", "data-value": worst }, text(worst / 1000, "s")),
    ` at worst${limit}`,
  );
}

/** How long the phases of a training took, beside that of a model without choices. */
function trainingNote(phases) {
  return phases.map(({ phase, epochs, seconds: taken, relative }) =>
    h(
      "div",
      { "data-testid": `training-${phase}`, "data-value": relative ?? "", title: full(taken, "s") },
      `${phase} ${count(epochs)} epoch${epochs === 1 ? "" : "s"} · ${seconds(taken)}`,
      typeof relative === "number" &&
        ` · ${relative.toFixed(2)}× the processor time of a plain epoch`,
    ),
  );
}

function evaluationsCard(run) {
  const { summary } = run;
  const rate = summary.evaluations_per_s;
  const note = [
    typeof summary.wall_s === "number" &&
      h("span", { title: full(summary.wall_s, "s") }, seconds(summary.wall_s)),
    typeof rate === "number" && rate > 0 && ` · ${text(rate)}/s`,
    summary.stopped && ` · ${STOPPED[summary.stopped] ?? summary.stopped}`,
    summary.decisions?.count > 0 && decisionsNote(summary.decisions),
    summary.training && trainingNote(summary.training),
  ];
  return card(
    "Evaluations",
    h(
      "span",
      {
        class: "quantity",
        "data-testid": "evaluations",
        "data-value": run.evaluations,
        title: count(run.evaluations),
      },
      run.evaluations < 1e6 ? count(run.evaluations) : text(run.evaluations),
    ),
    note,
  );
}
