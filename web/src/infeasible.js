// Why trials were refused: counts by class, and the examples that came nearest to fitting.
import { h, panel, select } from "./dom.js";
import { saveBars } from "./panels/bars.js";
import { count, percent } from "./units.js";

// Classes of the log format; what a trial of a class could not do stands in its text.
const MEANING = {
  capacity: "something does not fit where it is kept",
  "fan-out": "more parallel copies than units",
  coverage: "some of the work is not done",
  geometry: "no such hardware geometry",
  encoding: "the hardware cannot express it",
  budget: "over the resource budget",
  threading: "threads do not divide the work",
  "write-distance": "results written too close together",
  memory: "over a unit's memory",
  unsupported: "the unit cannot do this work",
  colocation: "parts torn apart that must stay together",
  contiguous: "parts are not contiguous",
  acyclic: "units would wait for each other in a circle",
  deadlock: "units wait for each other for ever",
  calls: "too many calls",
  constraint: "against what the user fixed",
};

export function infeasiblePanel(run, state) {
  if (Object.keys(run.reasons).length === 0) return null;
  const box = h("div", {});
  const perTask = run.tasks.length > 1 && run.tasks.some((task) => task.reasons);
  let isAll = true;
  const show = () => {
    const task = run.tasks[state.task];
    const examples = (run.infeasible.examples ?? []).filter(
      (example) => isAll || example.task === task.index,
    );
    box.replaceChildren(
      ...(isAll
        ? view(run, run.reasons, run.trials, examples)
        : view(run, task.reasons ?? {}, task.trials, examples)),
    );
  };
  state.onTask(() => isAll || show());
  show();
  const tools = perTask
    ? [
        select(
          "Tasks counted",
          [
            ["all", "All tasks"],
            ["task", "Selected task"],
          ],
          "all",
          (value) => {
            isAll = value === "all";
            show();
          },
        ),
      ]
    : [];
  const rows = Object.keys(run.reasons).length + Math.min(8, run.infeasible.examples?.length ?? 0);
  return {
    weight: 120 + 27 * rows,
    element: panel({ id: "infeasible-panel", title: "Why trials were infeasible", tools }, box),
  };
}

function view(run, counts, trials, examples) {
  const reasons = Object.entries(counts).sort((a, b) => b[1] - a[1]);
  const total = reasons.reduce((sum, [, value]) => sum + value, 0);
  return [
    h("p", { class: "hint" }, `${count(total)} of ${count(trials)} trials.`),
    h(
      "div",
      { class: "bars" },
      reasons.map(([name, value]) =>
        h(
          "div",
          { class: "bar-row", title: MEANING[name] },
          h("span", { class: "bar-name" }, name),
          h(
            "span",
            { class: "bar-track", role: "img", "aria-label": `${name}: ${value}` },
            h("span", {
              style: { width: `${(value / reasons[0][1]) * 100}%`, background: "var(--refused)" },
            }),
          ),
          h(
            "span",
            { class: "bar-value", "data-testid": `infeasible-${name}`, "data-value": value },
            count(value),
            h("small", {}, ` ${percent(value / total)}`),
          ),
        ),
      ),
    ),
    reasons.length > 0 &&
      saveBars({
        title: "Why trials were infeasible",
        series: ["trials"],
        rows: reasons.map(([name, value]) => ({ name, values: [value] })),
      }),
    examples.length > 0 &&
      h(
        "div",
        { class: "examples" },
        h("h3", {}, "Nearest misses"),
        h(
          "ul",
          {},
          examples
            .slice(0, 8)
            .map((example) =>
              h(
                "li",
                {},
                h("code", {}, `${example.class}: ${example.text}`),
                h(
                  "span",
                  { class: "muted small" },
                  ` trial ${count(example.index)}, ${run.tasks[example.task]?.name ?? `task ${example.task}`}`,
                ),
              ),
            ),
        ),
      ),
  ].filter(Boolean);
}
