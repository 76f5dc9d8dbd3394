// Names with values: [{name, value, unit, text, help}].
import { h } from "../dom.js";
import { count, full, percent, short } from "../units.js";

export const slug = (name) => String(name).toLowerCase().replace(/[^a-z0-9]+/g, "-");

/** Evaluations are shown with their share of those of the task. */
function shown({ value, unit, text }, evaluations) {
  if (text !== undefined) return text;
  if (typeof value !== "number") return "–";
  if (unit !== "evaluation") return short(value, unit);
  return `${count(value)}${evaluations > 0 ? ` (${percent(value / evaluations)} of the task)` : ""}`;
}

export function facts(list, id, { evaluations } = {}) {
  if (!Array.isArray(list) || list.length === 0) return null;
  return h(
    "dl",
    { class: "facts small-facts" },
    list.map((fact) =>
      h(
        "div",
        { title: fact.help },
        h("dt", {}, fact.name),
        h(
          "dd",
          {
            title: typeof fact.value === "number" ? full(fact.value, fact.unit) : undefined,
            "data-testid": `${id}-fact-${slug(fact.name)}`,
            "data-value": typeof fact.value === "number" ? fact.value : "",
          },
          shown(fact, evaluations),
        ),
      ),
    ),
  );
}
