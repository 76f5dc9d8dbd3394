// Why trials were refused: counts by class, and the examples that came nearest to fitting.
import { h, panel, select } from "./dom.js";
import { count, percent } from "./units.js";

const MEANING = {
  capacity: "a tile does not fit its memory",
  "fan-out": "more parallel copies than units",
  coverage: "loops do not cover the layer",
  geometry: "no such hardware geometry",
  encoding: "not expressible in the instruction set",
  budget: "over the resource budget",
  threading: "threads do not divide the work",
  "write-distance": "results written too close together",
  memory: "over a unit's memory",
  unsupported: "the unit cannot run this operator",
  colocation: "operators torn apart that must stay together",
  contiguous: "parts are not contiguous",
  acyclic: "units would wait for each other",
  deadlock: "the schedule deadlocks",
  calls: "too many calls",
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
        ? view(run, run.reasons, run.evaluations, examples)
        : view(run, task.reasons ?? {}, task.evaluations, examples)),
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
  return panel({ id: "infeasible-panel", title: "Why trials were infeasible", tools }, box);
}

function view(run, counts, evaluations, examples) {
  const reasons = Object.entries(counts).sort((a, b) => b[1] - a[1]);
  const total = reasons.reduce((sum, [, value]) => sum + value, 0);
  return [
    h("p", { class: "hint" }, `${count(total)} of ${count(evaluations)} evaluations.`),
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
    examples.length > 0 &&
      h(
        "div",
        { class: "examples" },
        h("h4", {}, "Nearest misses"),
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
