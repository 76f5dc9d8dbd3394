// The chosen plan: a loop nest in boxes, one per memory level, each inside the one that feeds it.
import { categoryCss, h, panel } from "./dom.js";

const TENSORS = { W: "weights", I: "inputs", O: "outputs" };

export function planPanel(run, state) {
  const box = h("div", { "data-testid": "plan" });
  const title = h("span", {});
  const show = () => {
    const task = run.tasks[state.task];
    title.replaceChildren("Plan ", h("span", { class: "of-task" }, task.name));
    box.replaceChildren(planView(task.plan));
  };
  state.onTask(show);
  show();
  return panel({ id: "plan-panel", title }, box);
}

function planView(plan) {
  if (!plan) return h("p", { class: "empty" }, "This run keeps no plan for the task.");
  const body = plan.body ?? {};
  const plain =
    plan.text &&
    h("details", {}, h("summary", {}, "as text"), h("pre", { class: "code" }, plan.text));
  if (Array.isArray(body.levels))
    return h("div", {}, operatorLine(body.op), nestView(body.levels), plain);
  if (Array.isArray(body.directives))
    return h(
      "div",
      {},
      operatorLine(body.op),
      h("pre", { class: "code" }, body.directives.join("\n")),
      plain,
    );
  const rest = Object.entries(body).filter(([key]) => key !== "op");
  if (plan.text) return h("div", {}, operatorLine(body.op), h("pre", { class: "code" }, plan.text));
  return h(
    "div",
    {},
    operatorLine(body.op),
    rest.map(([key, value]) => h("div", { class: "pair" }, h("h4", {}, key), valueView(value))),
  );
}

export function valueView(value) {
  if (value === null || typeof value !== "object") return h("span", {}, String(value));
  const isFlat =
    !Array.isArray(value) &&
    Object.values(value).every((one) => one === null || typeof one !== "object");
  if (isFlat)
    return h(
      "dl",
      { class: "facts small-facts" },
      Object.entries(value).map(([key, one]) =>
        h("div", {}, h("dt", {}, key), h("dd", {}, String(one))),
      ),
    );
  return h("pre", { class: "code" }, JSON.stringify(value, null, 1));
}

function operatorLine(op) {
  if (!op) return null;
  const { kind, ...dims } = op;
  return h(
    "p",
    { class: "operator" },
    h("strong", {}, kind ?? "operator"),
    " ",
    Object.entries(dims).map(([name, value]) =>
      h("span", { class: "chip" }, `${name} ${Array.isArray(value) ? value.join("×") : value}`),
    ),
  );
}

/** "K16" -> {dim: "K", size: 16}; anything else is shown as it stands. */
export function parseLoop(text) {
  const match = /^([A-Za-z]+)(\d+)$/.exec(String(text));
  return match ? { dim: match[1], size: Number(match[2]) } : { dim: String(text), size: null };
}

/** Extent of each loop letter inside a level: what one tile of that level spans. */
export function tileSizes(levels, from) {
  const sizes = new Map();
  for (const level of levels.slice(from))
    for (const text of [...(level.temporal ?? []), ...(level.x ?? []), ...(level.y ?? [])]) {
      const { dim, size } = parseLoop(text);
      if (size !== null) sizes.set(dim, (sizes.get(dim) ?? 1) * size);
    }
  return sizes;
}

function nestView(levels) {
  const used = new Map();
  let inner = h("p", { class: "loop mac" }, "multiply-accumulate");
  for (let at = levels.length - 1; at >= 0; at--) inner = levelBox(levels, at, inner, used);
  return h(
    "div",
    { class: "nest", role: "group", "aria-label": "Loop nest, outermost memory first" },
    inner,
  );
}

function levelBox(levels, at, inner) {
  const level = levels[at];
  const tile = [...tileSizes(levels, at)].filter(([, size]) => size > 1);
  const loops = (level.temporal ?? []).map(parseLoop).filter(({ size }) => size !== 1);
  const spatial = ["x", "y"]
    .flatMap((axis) => (level[axis] ?? []).map((text) => ({ axis, ...parseLoop(text) })))
    .filter(({ size }) => size !== 1);
  return h(
    "div",
    { class: "level", style: { "--level": categoryCss(at) } },
    h(
      "div",
      { class: "level-head" },
      h("strong", {}, level.name ?? `level ${at}`),
      Object.keys(TENSORS).map(
        (tensor) =>
          Array.isArray(level.keep) &&
          h(
            "span",
            {
              class: level.keep.includes(tensor) ? "keep" : "keep off",
              title: `${TENSORS[tensor]} ${level.keep.includes(tensor) ? "kept here" : "pass by"}`,
            },
            tensor,
          ),
      ),
      at > 0 &&
        tile.length > 0 &&
        h(
          "span",
          { class: "tile", title: "tile held at this level" },
          tile.map(([dim, size]) => `${dim}${size}`).join(" "),
        ),
    ),
    loops.map(({ dim, size }) => loopLine("for", dim, size, "")),
    loops.length === 0 && spatial.length === 0 && h("p", { class: "loop muted" }, "one pass"),
    spatial.length > 0 &&
      h(
        "div",
        { class: "spatial" },
        spatial.map(({ axis, dim, size }) => loopLine("parallel", dim, size, `across ${axis}`)),
      ),
    inner,
  );
}

function loopLine(word, dim, size, note) {
  return h(
    "p",
    { class: "loop" },
    h("span", { class: "word" }, word),
    " ",
    h("b", {}, dim.toLowerCase()),
    size === null ? "" : [" in 0 .. ", h("b", {}, String(size))],
    note && h("span", { class: "muted" }, `  ${note}`),
  );
}
