// Where the energy goes: stacked bars per memory level and tensor, with the access counts below.
import { h, panel } from "./dom.js";
import { notesFor } from "./run.js";
import { sortableTable } from "./table.js";
import { count, full, percent, text } from "./units.js";

const TENSOR_NAMES = { W: "weights", I: "inputs", O: "outputs" };
const tensorCss = (name) =>
  `var(--tensor-${TENSOR_NAMES[name] ? name.toLowerCase() : name === "network" ? "n" : "x"})`;

export function breakdownPanel(run, state) {
  if (!run.notes.some((note) => note.name === "breakdown")) return null;
  const box = h("div", { "data-testid": "breakdown" });
  const show = () => {
    const note = notesFor(run, "breakdown", state.task).at(-1);
    box.replaceChildren(
      ...(note ? view(note.value) : [h("p", { class: "empty" }, "No breakdown for this task.")]),
    );
  };
  state.onTask(show);
  show();
  return panel({ id: "breakdown-panel", title: "Energy by level and tensor" }, box);
}

function view(value) {
  const levels = value.levels ?? [];
  const names = [...new Set(levels.flatMap((level) => Object.keys(level.tensors ?? {})))];
  const rows = levels.map((level) => ({
    level,
    parts: [
      ...names.map((name) => ({ name, energy: level.tensors?.[name]?.energy ?? 0 })),
      { name: "network", energy: level.network_energy ?? 0 },
    ],
  }));
  const hasNetwork = levels.some((level) => level.network_energy > 0);
  if (typeof value.mac_energy === "number")
    rows.push({ level: { name: "MAC" }, parts: [{ name: "MAC", energy: value.mac_energy }] });
  const sums = rows.map(({ parts }) => parts.reduce((sum, part) => sum + part.energy, 0));
  const largest = Math.max(...sums, 1e-300);
  const total = sums.reduce((a, b) => a + b, 0);
  return [
    h(
      "p",
      { class: "legend" },
      names.map((name) =>
        h(
          "span",
          {},
          h("i", { style: { background: tensorCss(name) } }),
          `${name} ${TENSOR_NAMES[name] ?? ""}`,
        ),
      ),
      hasNetwork &&
        h("span", {}, h("i", { style: { background: tensorCss("network") } }), "network"),
      h("span", {}, h("i", { style: { background: tensorCss("MAC") } }), "MAC"),
      h("strong", { title: full(total, "pJ") }, `total ${text(total, "pJ")}`),
    ),
    h(
      "div",
      { class: "bars" },
      rows.map(({ level, parts }, at) => bar(level, parts, sums[at], largest, total)),
    ),
    value.binding &&
      h(
        "p",
        { class: "binding", "data-testid": "binding" },
        "Time is bound by ",
        h("strong", {}, bindingText(value.binding)),
        ".",
      ),
    levels.length > 0 && h("div", { class: "meters" }, levels.map(meters)),
    h("details", {}, h("summary", {}, "access counts"), accessTable(levels, names)),
  ].filter(Boolean);
}

const bindingText = (binding) =>
  typeof binding === "string" ? binding : (binding.name ?? JSON.stringify(binding));

function bar(level, parts, sum, largest, total) {
  return h(
    "div",
    { class: "bar-row" },
    h("span", { class: "bar-name" }, level.name),
    h(
      "span",
      { class: "bar-track", role: "img", "aria-label": `${level.name}: ${text(sum, "pJ")}` },
      parts
        .filter(({ energy }) => energy > 0)
        .map(({ name, energy }) =>
          h("span", {
            title: `${level.name} ${name}: ${full(energy, "pJ")} (${percent(energy / total)})`,
            style: { width: `${(energy / largest) * 100}%`, background: tensorCss(name) },
          }),
        ),
    ),
    h(
      "span",
      {
        class: "bar-value",
        title: full(sum, "pJ"),
        "data-value": sum,
        "data-testid": `energy-${level.name}`,
      },
      `${text(sum, "pJ")}`,
      h("small", {}, ` ${percent(sum / total)}`),
    ),
  );
}

function meters(level) {
  const meter = (label, share, title) =>
    typeof share === "number" &&
    h(
      "span",
      { class: "meter", title },
      label,
      h(
        "span",
        { class: "meter-track" },
        h("span", { style: { width: `${Math.min(1, share) * 100}%` } }),
      ),
      percent(share),
    );
  const share = level.capacity_words > 0 ? level.occupancy_words / level.capacity_words : null;
  if (share === null && typeof level.bandwidth_use !== "number") return null;
  return h(
    "div",
    { class: "meter-row" },
    h("span", { class: "bar-name" }, level.name),
    meter(
      "filled",
      share,
      `${count(level.occupancy_words)} of ${count(level.capacity_words)} words`,
    ),
    meter("bandwidth", level.bandwidth_use, "busy share of the level's bandwidth"),
  );
}

function accessTable(levels, names) {
  const rows = levels.flatMap((level) =>
    names
      .filter((name) => level.tensors?.[name])
      .map((name) => ({ level: level.name, name, ...level.tensors[name] })),
  );
  const number = (key, unit = "") => ({
    key,
    title: key,
    value: (row) => row[key],
    cell: (row) => h("span", { title: full(row[key], unit) }, text(row[key], unit)),
  });
  return sortableTable(
    [
      { key: "level", title: "level", align: "text", cell: (row) => row.level },
      { key: "tensor", title: "tensor", align: "text", cell: (row) => row.name },
      number("reads"),
      number("fills"),
      number("updates"),
      number("energy", "pJ"),
    ],
    rows,
    { caption: "Accesses in words" },
  ).element;
}
