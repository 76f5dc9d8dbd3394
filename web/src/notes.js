// Panels that exist only when the run left a note for them; unknown notes are shown as they stand.
import { agentWarnings, isAgentNote } from "./agents.js";
import { cyclesByBandwidth } from "./bandwidth.js";
import { h, panel } from "./dom.js";
import { gantt } from "./gantt.js";
import { graphView } from "./graph.js";
import { dendrogram, heatmap } from "./heatmap.js";
import { notesFor } from "./run.js";
import { scatter } from "./scatter.js";
import { coresView, tenantsView } from "./tenants.js";

const VIEWS = [
  ["gantt", "Timeline", gantt, true],
  ["cycles_by_bandwidth", "Cycles against bandwidth", cyclesByBandwidth, true],
  ["tenants", "Tenants", tenantsView, false],
  ["schedule", "Cores and memory", coresView, false],
  ["graph", "Graph", graphView, true],
  ["pareto", "Trade-offs", scatter, false],
  ["correlation", "Correlation of the knobs", heatmap, false],
  ["dendrogram", "Clusters of knobs", dendrogram, false],
];
const SHOWN_ELSEWHERE = new Set([
  "breakdown",
  "plan",
  "warning",
  "warnings",
  ...VIEWS.map(([name]) => name),
]);

export function notePanels(run, state) {
  const panels = VIEWS.filter(([name]) => run.notes.some((note) => note.name === name)).map(
    ([name, title, view, wide]) => notePanel(run, state, { name, title, view, wide }),
  );
  if (Array.isArray(run.summary.front) && run.summary.front.length > 0) {
    const front = scatter(run.summary.front);
    if (front) panels.push(panel({ id: "front-panel", title: "Pareto front" }, front));
  }
  return panels;
}

function notePanel(run, state, { name, title, view, wide }) {
  const box = h("div", { "data-testid": name });
  let shown;
  const show = () => {
    const note = notesFor(run, name, state.task).at(-1);
    if (note === shown && box.hasChildNodes()) return;
    shown = note;
    const content = note && view(note.value);
    box.replaceChildren(
      content ?? (note ? rawNote(note) : h("p", { class: "empty" }, "Nothing for this task.")),
    );
  };
  state.onTask(show);
  show();
  return panel({ id: `${name}-panel`, title, wide }, box);
}

export function warnings(run) {
  const texts = run.notes
    .filter((note) => note.name === "warning" || note.name === "warnings")
    .flatMap((note) => (Array.isArray(note.value) ? note.value : [note.value]))
    .map((value) => (typeof value === "string" ? value : (value?.text ?? JSON.stringify(value))));
  const learned = agentWarnings(run);
  if (texts.length + learned.length === 0) return null;
  return h(
    "aside",
    { class: "warnings", role: "note", "data-testid": "warnings" },
    h("strong", {}, "Please note"),
    h(
      "ul",
      {},
      [...new Set(texts)].map((text) => h("li", {}, text)),
      learned.map(({ name, text, advice }) =>
        h("li", { "data-testid": name }, `${text}. `, advice && h("strong", {}, `Try ${advice}.`)),
      ),
    ),
  );
}

function rawNote(note) {
  return h(
    "details",
    { class: "raw" },
    h(
      "summary",
      {},
      note.name,
      h("span", { class: "muted small" }, ` from ${note.source ?? "run"}`),
    ),
    h("pre", { class: "code" }, JSON.stringify(note.value, null, 1).slice(0, 200000)),
  );
}

export function otherNotes(run) {
  const notes = run.notes.filter(
    (note) => !SHOWN_ELSEWHERE.has(note.name) && !isAgentNote(note.name),
  );
  if (notes.length === 0) return null;
  return panel(
    {
      id: "notes-panel",
      title: "Other notes",
      wide: true,
      hint: "What the plug-ins left in the log, as it stands.",
    },
    notes.slice(0, 200).map(rawNote),
    notes.length > 200 &&
      h("p", { class: "muted" }, `and ${notes.length - 200} more in the run log`),
  );
}
