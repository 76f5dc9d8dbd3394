// What the plug-ins of a run declared: views (notes named `view`, of one of the kinds below), warnings, and the other
// notes as they stand. The page knows kinds of panels, never what they are about.
import { h, panel } from "./dom.js";
import { areasPanel } from "./panels/areas.js";
import { barsPanel } from "./panels/bars.js";
import { facts } from "./panels/facts.js";
import { graphPanel } from "./panels/graph.js";
import { heatmapPanel } from "./panels/heatmap.js";
import { scatterPanel } from "./panels/scatter.js";
import { tablePanel } from "./panels/table.js";
import { textPanel } from "./panels/text.js";
import { timelinePanel } from "./panels/timeline.js";
import { treePanel } from "./panels/tree.js";
import { betterOf, brief, count, plural, rankOf, title, unitOf } from "./units.js";

const KINDS = {
  timeline: { draw: timelinePanel, isWide: () => true },
  areas: { draw: areasPanel, isWide: () => true },
  graph: { draw: graphPanel, isWide: () => true },
  tree: { draw: treePanel, isWide: (value) => Array.isArray(value.merges) },
  heatmap: { draw: heatmapPanel, isWide: (value) => (value.columns ?? value.rows)?.length > 12 },
  table: { draw: tablePanel, isWide: (value) => value.columns?.length > 7 },
  bars: { draw: barsPanel, isWide: () => false },
  scatter: { draw: (value) => scatterPanel(value), isWide: () => false },
  text: { draw: textPanel, isWide: () => false },
  facts: { draw: () => null, isWide: () => false },
};
const PICTURES = ["timeline", "graph", "areas", "scatter", "heatmap", "tree", "bars"]; // those first that tell the most
const WARNING = "warning";
const PLAN = "plan"; // a view with this id shows the plan itself

const isView = (note) => note.name === "view" && note.value && typeof note.value === "object";
const isWarning = (note) => note.name === "warning" || note.name === "warnings";
const ofWholeRun = (note) => !(note.task >= 0);

/** The views of a run by source and id, in the order they came: [{key, of(task)}]. */
function listViews(run) {
  const found = new Map();
  for (const note of run.notes) {
    if (!isView(note) || note.value.panel === WARNING) continue;
    const key = `${note.source} ${note.value.id}`;
    if (!found.has(key)) found.set(key, []);
    found.get(key).push(note);
  }
  return [...found].map(([key, notes]) => {
    const byTask = new Map(notes.map((note) => [note.task, note.value])); // the newest stays
    const whole = notes.findLast(ofWholeRun)?.value;
    return {
      key,
      id: notes[0].value.id,
      first: notes[0].value,
      of: (task) => byTask.get(task) ?? whole,
    };
  });
}

const MOST_LETTERS = 22; // of a task beside its point

/** Scatter views of several tasks with one point each, the same axes and the same lines are one picture, with a point for
    each task; null of other views. */
function joined(run, view) {
  const values = run.tasks.map((task) => view.of(task.index));
  const found = values.filter(Boolean);
  const frames = new Set(found.map(({ panel, axes, lines }) => JSON.stringify([panel, axes, lines])));
  const isJoint = view.first.panel === "scatter" && new Set(found).size > 1 && frames.size === 1;
  if (!isJoint || found.some(({ points }) => points?.length !== 1)) return null;
  const points = values.flatMap((value, at) =>
    value ? [{ ...value.points[0], name: brief(run.tasks[at].name, MOST_LETTERS) }] : [],
  );
  const value = { ...view.first, title: `${view.first.title ?? view.id}, a point for each task`, points };
  return { ...view, first: value, of: () => value, isJoined: true };
}

/** Marks on the axis of evaluations of a task: [{x, text}]. */
export function marksOf(run, task) {
  return listViews(run)
    .map((view) => view.of(task.index)?.mark)
    .filter((mark) => mark?.at > 0)
    .map(({ at, text }) => ({ x: at, text }));
}

/** What a drawing may know of the page around it. */
const contextOf = (run, state) => ({
  run,
  chosen: () => state.task,
  pick: (task) => state.setTask(task),
  onTask: (listener) => state.onTask(listener),
});

/** Facts and drawing; a view that cannot be drawn is shown as it stands. */
function content(value, run, state) {
  const { evaluations } = run.tasks[state.task] ?? {};
  try {
    const parts = [facts(value.facts, value.id, { evaluations }), KINDS[value.panel]?.draw(value, contextOf(run, state))];
    const shown = parts.filter(Boolean);
    if (shown.length > 0) return value.folded ? [folded(value, shown)] : shown;
  } catch (error) {
    console.error(`view ${value.id}: ${error.message}`);
  }
  return [raw(value.id ?? "view", value)];
}

function folded(value, shown) {
  return h("details", {}, h("summary", {}, `show ${String(value.title ?? value.id).toLowerCase()}`), shown);
}

function viewPanel(run, state, view) {
  const box = h("div", { "data-testid": `view-${view.id}` });
  const hint = h("p", { class: "hint" });
  let shown;
  const show = () => {
    const value = view.of(state.task);
    if (value === shown && box.hasChildNodes()) return;
    shown = value;
    hint.textContent = value?.help ?? "";
    box.replaceChildren(
      ...(value
        ? content(value, run, state)
        : [h("p", { class: "empty" }, "Nothing for this task.")]),
    );
  };
  state.onTask(show);
  show();
  const { first } = view;
  const isWide = view.isJoined || Boolean(KINDS[first.panel]?.isWide(first));
  return {
    isWide,
    isJoined: view.isJoined,
    order: PICTURES.includes(first.panel) ? PICTURES.indexOf(first.panel) : PICTURES.length,
    isOfTasks: (first.nodes ?? []).some?.((node) => run.tasks[node.task]),
    weight: weightOf(first),
    element: panel(
      {
        id: `view-${view.id}-panel`,
        title: first.title ?? view.id,
        wide: isWide,
      },
      hint,
      box,
    ),
  };
}

/** How tall a panel will be, roughly, in pixels. */
function weightOf(value) {
  const lines = (value.blocks ?? []).reduce(
    (sum, block) => sum + (block.title ? 45 : 7) + 22 * String(block.text ?? "").split("\n").length,
    0,
  );
  const rows = value.folded ? 0 : 33 * (value.rows?.length ?? 0);
  return 105 + lines + rows + (value.facts ? 60 : 0) + (value.panel === "scatter" ? 370 : 0);
}

/** {ofTasks: [elements], joined: [elements], wide: [elements], narrow: [{element, weight}]} of all views but that of the plan;
    `ofTasks` are those in which tasks can be chosen, `joined` those that show all tasks at once. */
export function viewPanels(run, state) {
  const panels = listViews(run)
    .filter((view) => view.id !== PLAN)
    .map((view) => viewPanel(run, state, joined(run, view) ?? view));
  return {
    ofTasks: panels.filter(({ isOfTasks }) => isOfTasks).map(({ element }) => element),
    joined: panels.filter(({ isJoined }) => isJoined).map(({ element }) => element),
    wide: [
      frontPanel(run, state),
      ...panels
        .filter(({ isWide, isOfTasks, isJoined }) => isWide && !isOfTasks && !isJoined)
        .sort((a, b) => a.order - b.order)
        .map(({ element }) => element),
    ].filter(Boolean),
    narrow: panels.filter(({ isWide, isOfTasks }) => !isWide && !isOfTasks),
  };
}

/** What a run shows first of itself: a wide drawing before others, and those by their kinds. */
export function firstPicture(run, pick) {
  if (run.tasks[0].front.length > 1) {
    const front = frontOf(run, run.tasks[0]);
    if (front) return h("figure", {}, h("figcaption", {}, "Trade-offs found"), front);
  }
  const values = listViews(run)
    .map((view) => view.of(0))
    .filter((value) => PICTURES.includes(value?.panel) && !value.folded);
  const order = (one) => PICTURES.indexOf(one.panel) - (KINDS[one.panel].isWide(one) ? PICTURES.length : 0);
  const [value] = values.sort((a, b) => order(a) - order(b));
  if (!value) return null;
  return h("figure", {}, h("figcaption", {}, value.title ?? value.id), KINDS[value.panel].draw(value, { run, pick }));
}

/** The views that the tasks share, of one kind: [{id, title, of(task)}]. */
export function viewsOfKind(run, kind) {
  return listViews(run).filter((view) => view.first.panel === kind);
}

const MOST_AXES = 6;

/** The trade-offs of the chosen task. */
function frontPanel(run, state) {
  if (run.tasks.every((task) => task.front.length === 0)) return null;
  const title = h("span", {});
  const hint = h("p", { class: "hint" });
  const box = h("div", {});
  const show = () => {
    const task = run.tasks[state.task];
    const drawing = frontOf(run, task);
    title.replaceChildren("Trade-offs found", ...(run.tasks.length > 1 ? [" ", h("span", { class: "of-task" }, task.name)] : []));
    hint.textContent = drawing ? `${whatIsDrawn(run, task)} On the line, nothing is better in both.` : "";
    box.replaceChildren(drawing ?? h("p", { class: "empty" }, "Nothing for this task."));
  };
  state.onTask(show);
  show();
  return panel({ id: "front-panel", title, wide: true }, hint, box);
}

function whatIsDrawn(run, task) {
  const feasible = run.trials - run.infeasibleCount;
  const drawn = pointsOf(run, task).length;
  if (!costsOf(run)) return "Only the trials that no other beats.";
  return drawn >= feasible ? "Every feasible trial." : `${count(drawn)} of ${count(feasible)} feasible trials, among them all that no other beats.`;
}

/** What the trials came to, or some of them: known of a run with one task. */
const costsOf = (run) => (run.tasks.length === 1 ? run.raw.costs : undefined);

const isNear = (a, b) => Math.abs(a - b) <= 1e-9 * Math.abs(b); // log and summary have their own numbers of digits

/** The front of a task, [{metric: value}], among its trials as far as these are known. */
function pointsOf(run, { front }) {
  const costs = costsOf(run) ?? [];
  const isKnown = (point) => costs.some((cost) => askedOf(front).every((name) => isNear(cost[name], point[name])));
  return [...costs, ...front.filter((point) => !isKnown(point))];
}

/** The metrics that a front is of: what is looked for goes upwards, what it costs to the right. */
const askedOf = (front) =>
  Object.keys(front[0] ?? {})
    .filter((name) => betterOf(name) !== 0)
    .sort((a, b) => betterOf(a) - betterOf(b));

/** Other metrics that all points have can be chosen. */
function frontOf(run, task) {
  const points = pointsOf(run, task);
  const isKnown = (name) => points.every((point) => typeof point[name] === "number");
  const asked = askedOf(task.front).filter(isKnown);
  const others = Object.keys(points[0] ?? {})
    .filter((name) => betterOf(name) !== 0 && isKnown(name) && !asked.includes(name))
    .filter((name) => new Set(points.map((point) => point[name])).size > 1)
    .sort((a, b) => rankOf(a) - rankOf(b));
  if (asked.length < 2) return null;
  const names = [...asked, ...others].slice(0, Math.max(MOST_AXES, asked.length));
  const best = points.find((point) => names.every((name) => isNear(point[name], task.best[name]))); // others may be equal
  return scatterPanel(
    {
      id: "front",
      title: `${title(asked[1])} against ${title(asked[0])}`,
      axes: names.map((name) => ({ name, unit: unitOf(name), better: betterOf(name) })),
      points: points.map((point) => ({ ...(point === best ? { name: "chosen", marked: true } : {}), values: names.map((name) => point[name]) })),
    },
    { isFrontShown: true },
  );
}

/** The chosen plan: the view that shows it, else its text. */
export function planPanel(run, state) {
  const view = listViews(run).find(({ id }) => id === PLAN);
  const box = h("div", { "data-testid": "plan" });
  const title = h("span", {});
  const show = () => {
    const task = run.tasks[state.task];
    const value = view?.of(state.task);
    title.replaceChildren(value?.title ?? "Plan", " ", h("span", { class: "of-task" }, task.name));
    const text = task.plan?.text;
    const isSame = value?.blocks?.length === 1 && value.blocks[0].text === text;
    box.replaceChildren(
      ...[
        value?.help && h("p", { class: "hint" }, value.help),
        ...(value ? content(value, run, state) : []),
        text && !value && h("pre", { class: "code", tabindex: "0" }, text),
        text &&
          value &&
          !isSame &&
          h("details", {}, h("summary", {}, "as text"), h("pre", { class: "code", tabindex: "0" }, text)),
        !text && !value && h("p", { class: "empty" }, "This run keeps no plan for the task."),
      ].filter(Boolean),
    );
  };
  state.onTask(show);
  show();
  const first = view?.first ?? { blocks: [{ text: run.tasks[state.task].plan?.text }] };
  return { weight: weightOf(first), element: panel({ id: "plan-panel", title }, box) };
}

/** [{title, text, advice, task}] of views and of plain notes. */
function readWarnings(run) {
  return run.notes.flatMap((note) => {
    if (isView(note) && note.value.panel === WARNING)
      return [{ ...note.value, advice: note.value.try, task: note.task }];
    if (!isWarning(note)) return [];
    const texts = Array.isArray(note.value) ? note.value : [note.value];
    return texts.map((value) => ({
      text: typeof value === "string" ? value : (value?.text ?? JSON.stringify(value)),
      task: note.task,
    }));
  });
}

function groupBy(list, key) {
  const groups = new Map();
  for (const one of list) groups.set(key(one), [...(groups.get(key(one)) ?? []), one]);
  return [...groups.values()];
}

/** Which tasks a warning is of; nothing where that is plain. */
function tasksText(run, list) {
  const tasks = [...new Set(list.map(({ task }) => task))].filter((task) => run.tasks[task]);
  if (run.tasks.length < 2 || tasks.length === 0) return "";
  if (tasks.length === run.tasks.length) return " – all tasks";
  const names = tasks.map((task) => run.tasks[task].name);
  return ` – ${names.slice(0, 3).join(", ")}${names.length > 3 ? ` and ${names.length - 3} more` : ""}`;
}

/** Warnings with the same title and advice stand together, each with its own numbers. */
export function warnings(run) {
  const all = readWarnings(run);
  if (all.length === 0) return null;
  const groups = groupBy(all, ({ title, text, advice }) =>
    title ? `${title}|${advice ?? ""}` : `|${text}`,
  );
  return h(
    "aside",
    { class: "warnings", role: "note", "data-testid": "warnings" },
    h("strong", {}, "Please note"),
    h("ul", {}, groups.map((group) => warningLine(run, group))),
  );
}

function warningLine(run, group) {
  const { id, title, advice } = group[0];
  const texts = groupBy(group, ({ text }) => text);
  const line = (list) => h("li", {}, `${list[0].text}${tasksText(run, list)}`);
  const remedy = advice && h("strong", {}, ` Try ${advice}.`);
  if (texts.length === 1)
    return h(
      "li",
      { "data-testid": id && `warning-${id}` },
      `${title ? `${title}: ` : ""}${texts[0][0].text}${tasksText(run, texts[0])}.`,
      remedy,
    );
  return h(
    "li",
    { "data-testid": id && `warning-${id}` },
    `${title ?? "warning"}, ${plural(texts.length, "time")}.`,
    remedy,
    h("ul", {}, texts.slice(0, 3).map(line)),
    texts.length > 3 &&
      h(
        "details",
        {},
        h("summary", {}, `${texts.length - 3} more`),
        h("ul", {}, texts.slice(3).map(line)),
      ),
  );
}

function raw(name, value, source) {
  return h(
    "details",
    { class: "raw" },
    h("summary", {}, name, source && h("span", { class: "muted small" }, ` from ${source}`)),
    h("pre", { class: "code", tabindex: "0" }, JSON.stringify(value, null, 1).slice(0, 200000)),
  );
}

/** Notes that are data, of the chosen task and of the whole run. */
export function otherNotes(run, state) {
  const notes = run.notes.filter((note) => !isView(note) && !isWarning(note));
  if (notes.length === 0) return null;
  const box = h("div", {});
  const show = () => {
    const shown = notes.filter((note) => ofWholeRun(note) || note.task === state.task);
    box.replaceChildren(
      ...(shown.length > 0
        ? shown.map((note) => raw(note.name, note.value, note.source ?? "run"))
        : [h("p", { class: "empty" }, "Nothing for this task.")]),
    );
  };
  state.onTask(show);
  show();
  return panel(
    {
      id: "notes-panel",
      title: "Data notes",
      wide: true,
      hint: "What the plug-ins left in the log for other programs, as it stands.",
    },
    box,
  );
}
