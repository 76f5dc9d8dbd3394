// What the nodes of a graph can be coloured by: their group and other texts as categories, numbers along a scale, and
// what their tasks came to.
import { categoryCss, h } from "../dom.js";
import { GAP_CLASSES, gapClass, gapCss } from "../gap.js";
import { isSum, percent, short, title, unitOf } from "../units.js";

const STEPS = 8; // of the scale, as the legend shows it
const DEEPEST = 62; // per cent of the colour at its end: texts stay legible on it
const isNumber = (value) => typeof value === "number" && Number.isFinite(value);
const ADDING = new Set(["cycle", "s", "pJ", "B", "word", "MAC"]);

/** [{key, name, unit (undefined: categories), adds, isGap, of(node)}]; `run` is null where there are no tasks. */
export function coloursOf(value, run) {
  const { nodes, columns = [] } = value;
  const task = (node) => run?.tasks[node.task];
  const hasTasks = nodes.some((node) => task(node));
  const list = [
    ...(hasTasks ? run.metrics : []).map((name) => ({
      key: `metric ${name}`,
      name: title(name),
      metric: name,
      unit: unitOf(name),
      adds: isSum(name),
      of: (node) => task(node)?.best[name],
    })),
    hasTasks && { key: "gap", name: "gap to the bound", unit: "share", isGap: true, of: (node) => task(node)?.bound.gap },
    { key: "group", name: value.group_name ?? "group", of: (node) => node.group },
    ...columns.map(({ name, unit }, at) => ({ key: `column ${at}`, name, unit, adds: ADDING.has(unit), of: (node) => node.cells?.[at] })),
    value.unit !== undefined && { key: "value", name: value.value_name ?? "value", unit: value.unit, adds: true, of: (node) => node.value },
  ].filter(Boolean);
  return list.filter(({ unit, isGap, of }) => {
    const known = nodes.map(of).filter((one) => one !== undefined && one !== null);
    return unit === undefined ? new Set(known).size > 1 : known.some((one) => isNumber(one) && (one > 0 || isGap));
  });
}

/** The one to begin with: what tasks take of the whole, the objective or energy before others; else the first. */
export function firstColour(colours, run) {
  const sums = colours.filter(({ metric, adds }) => metric && adds);
  const find = (name) => sums.find(({ metric }) => metric === name);
  return find(run?.objective) ?? find("energy") ?? sums[0] ?? colours[0] ?? null;
}

/** What a drawn node, of one or of several nodes, has of it: a number, or how often each category; null: nothing. */
function measure(colour, members) {
  const known = members.map(colour.of).filter((one) => one !== undefined && one !== null);
  if (known.length === 0) return null;
  if (colour.unit === undefined) {
    const uses = new Map();
    for (const one of known) uses.set(one, (uses.get(one) ?? 0) + 1);
    return [...uses].sort((a, b) => b[1] - a[1]);
  }
  const numbers = known.filter(isNumber);
  if (numbers.length === 0) return null;
  return colour.adds ? numbers.reduce((sum, one) => sum + one, 0) : Math.max(...numbers);
}

/** How `colour` paints what is drawn: {fill(node), edge(node), shares(node), text(node), legend(width)}; `order` lists
    categories in the order of their colours. */
export function painter(colour, drawn, order = []) {
  if (!colour) return { style: () => plain, shares: () => [], text: () => "", legend: () => null };
  const found = new Map([...drawn].map((node) => [node, measure(colour, node.members)]));
  if (colour.unit === undefined) return categories(colour, found, order);
  if (colour.isGap) return gaps(found);
  return scale(colour, found);
}

const plain = { "--node": "var(--ink-faint)", fill: "var(--panel)" };

function categories(colour, found, order) {
  const met = [...found.values()].flatMap((uses) => (uses ?? []).map(([name]) => name));
  const names = [...new Set([...order.filter((name) => met.includes(name)), ...met])];
  const css = (name) => categoryCss(names.indexOf(name));
  return {
    style: (node) => (found.get(node) ? { "--node": css(found.get(node)[0][0]) } : plain),
    // a block of several categories shows their shares at its foot
    shares: (node) => {
      const uses = found.get(node) ?? [];
      const all = uses.reduce((sum, [, size]) => sum + size, 0);
      return uses.length > 1 ? uses.map(([name, size]) => ({ share: size / all, css: css(name) })) : [];
    },
    text: (node) => (found.get(node) ?? []).map(([name, size], _, all) => `${colour.name} ${name}${all.length > 1 ? `: ${size}` : ""}`).join("\n"),
    legend: (width) => legendRow(width, `${colour.name}:`, names.map((name) => ({ text: String(name), css: css(name) }))),
  };
}

function gaps(found) {
  return {
    style: (node) => {
      const gap = found.get(node);
      return isNumber(gap) ? { "--node": gapCss(gap), fill: `color-mix(in srgb, ${gapCss(gap)} 38%, var(--panel))` } : plain;
    },
    shares: () => [],
    text: (node) => (isNumber(found.get(node)) ? `gap to the bound ${percent(found.get(node))}, ${GAP_CLASSES[gapClass(found.get(node))].name}` : ""),
    legend: (width) =>
      legendRow(
        width,
        "gap to the bound:",
        GAP_CLASSES.map(({ text, name }, at) => ({ text: `${text} ${name}`, css: `var(--gap-${at})` })),
      ),
  };
}

const shade = (share) => `color-mix(in srgb, var(--warm) ${Math.round(4 + (DEEPEST - 4) * share)}%, var(--panel))`;

function scale(colour, found) {
  const most = Math.max(1e-300, ...[...found.values()].filter(isNumber));
  return {
    style: (node) =>
      isNumber(found.get(node)) ? { "--node": "var(--ink-faint)", fill: shade(Math.max(0, found.get(node)) / most) } : plain,
    shares: () => [],
    text: (node) => (isNumber(found.get(node)) ? `${colour.name} ${short(found.get(node), colour.unit)}` : ""),
    legend: (width) => scaleRow(width, `${colour.name}:`, short(most, colour.unit)),
  };
}

const LETTER = 6.3;
const LINE = 20;

/** Entries after each other, in as many lines as they need. */
function legendRow(width, name, entries) {
  let [x, y] = [8 + name.length * LETTER + 8, 14];
  const parts = entries.map(({ text, css }) => {
    const wide = 16 + text.length * LETTER + 14;
    if (x + wide > width && x > 8) [x, y] = [8, y + LINE];
    const made = [
      h("rect", { x, y: y - 9, width: 10, height: 10, rx: 2.5, style: { fill: css } }),
      h("text", { class: "tick", x: x + 15, y }, text),
    ];
    x += wide;
    return made;
  });
  return legendBox(width, y + 8, name, parts);
}

function scaleRow(width, name, most) {
  const left = 8 + name.length * LETTER + 8;
  const wide = 14;
  const parts = [
    h("text", { class: "tick", x: left, y: 14 }, "0"),
    Array.from({ length: STEPS }, (_, at) =>
      h("rect", { x: left + 13 + at * wide, y: 5, width: wide, height: 10, style: { fill: shade(at / (STEPS - 1)) } }),
    ),
    h("text", { class: "tick", x: left + 19 + STEPS * wide, y: 14 }, most),
  ];
  return legendBox(width, 22, name, parts);
}

function legendBox(width, height, name, parts) {
  return h(
    "svg",
    { class: "graph-legend", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Legend of the colours" },
    h("text", { class: "tick", x: 8, y: 14 }, name),
    parts,
  );
}
