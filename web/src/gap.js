// How far from the bound, as colour, bar and words: the same five classes everywhere.
import { h } from "./dom.js";
import { percent } from "./units.js";

export const GAP_CLASSES = [
  { limit: 0.01, name: "at the bound", text: "≤ 1 %" },
  { limit: 0.1, name: "close", text: "≤ 10 %" },
  { limit: 0.5, name: "fair", text: "≤ 50 %" },
  { limit: 2, name: "far", text: "≤ 200 %" },
  { limit: Infinity, name: "very far", text: "> 200 %" },
];

export function gapClass(gap) {
  return GAP_CLASSES.findIndex(({ limit }) => gap <= limit);
}

export const gapCss = (gap) =>
  typeof gap === "number" ? `var(--gap-${gapClass(gap)})` : "var(--ink-faint)";

/** Logarithmic, so that 1 % and 1000 % can both be seen; full at 1000 %. */
export const gapWidth = (gap) =>
  Math.min(1, Math.max(0.015, Math.log10(1 + 9 * Math.min(gap, 11)) / 2));

export function gapBar(gap, testid) {
  if (typeof gap !== "number")
    return h("span", { class: "gap-cell muted", "data-testid": testid, "data-value": "" }, "–");
  const { name } = GAP_CLASSES[gapClass(gap)];
  return h(
    "span",
    {
      class: "gap-cell",
      title: `gap ${gap * 100} %, ${name}`,
      "data-testid": testid,
      "data-value": gap,
    },
    h(
      "span",
      { class: "gap-track", "aria-hidden": "true" },
      h("span", { style: { width: `${gapWidth(gap) * 100}%`, background: gapCss(gap) } }),
    ),
    h("span", { class: "gap-text" }, percent(gap)),
  );
}

export function gapLegend() {
  return h(
    "p",
    { class: "legend", "aria-label": "Colours of the gap" },
    h("span", {}, "gap to the bound:"),
    GAP_CLASSES.map(({ name, text }, index) =>
      h("span", {}, h("i", { style: { background: `var(--gap-${index})` } }), `${text} ${name}`),
    ),
    h("span", { class: "muted" }, "bars are logarithmic"),
  );
}
