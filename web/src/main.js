// The page: reads the data block, shows one run, or a comparison with a way into each run.
import { comparison } from "./compare.js";
import { curvesPanel } from "./curves.js";
import { h, paintWaiting } from "./dom.js";
import { cards, runFacts } from "./head.js";
import { infeasiblePanel } from "./infeasible.js";
import { headline } from "./headline.js";
import { milestonesPanel } from "./milestones.js";
import { allTasksPanel } from "./alltasks.js";
import { goTo, onRoute, readRoute, runKeys } from "./route.js";
import { openRun } from "./run.js";
import { studyView } from "./study.js";
import { tasksPanel } from "./tasks.js";
import { setTheme, themeButton } from "./theme.js";
import { plural, setMetrics } from "./units.js";
import { otherNotes, planPanel, viewPanels, warnings } from "./views.js";

const FORMAT = /^mercator-report\/(\d+)$/;

function readData() {
  const data = JSON.parse(document.getElementById("mercator-data").textContent);
  const version = FORMAT.exec(data.format)?.[1];
  if (version !== "1") throw new Error(`format is ${data.format}, expected mercator-report/1`);
  if (!Array.isArray(data.runs) || (data.runs.length === 0 && !data.study))
    throw new Error("the report holds no run");
  return data;
}

/** The chosen task of a run; choosing goes by the address, which `follow` reads. */
function newState(run) {
  const listeners = [];
  return {
    task: firstTask(run),
    onTask(listener) {
      listeners.push(listener);
    },
    setTask(task) {
      goTo({ run: run.key, task });
    },
    follow(task) {
      const next = run.tasks[task] ? task : firstTask(run);
      if (next === this.task) return;
      this.task = next;
      for (const listener of listeners) listener();
    },
  };
}

/** The task with the most work is the one to look at first. */
function firstTask({ tasks }) {
  const work = (task) => (task.macs ?? 0) * task.count;
  return tasks.reduce((best, task) => (work(task) > work(tasks[best]) ? task.index : best), 0);
}

function runView(run, state) {
  const views = viewPanels(run, state);
  const plan = planPanel(run, state);
  const allTasks = allTasksPanel(run, state);
  const isBeside = run.tasks.length > 1; // then the plan stays in sight while tasks are chosen
  const narrow = [!isBeside && plan, ...views.narrow, infeasiblePanel(run, state)];
  return h(
    "div",
    { class: "run" },
    h("p", { class: "headline", "data-testid": "headline" }, headline(run)),
    runFacts(run),
    warnings(run),
    cards(run),
    h(
      "div",
      { class: "panel-grid" },
      isBeside
        ? [
            allTasks,
            h(
              "div",
              { class: "beside wide" },
              tasksPanel(run, state),
              h("div", { class: "beside-plan", "data-testid": "beside-plan" }, plan.element),
            ),
            views.ofTasks,
            views.joined,
            curvesPanel(run, state),
            milestonesPanel(run),
            views.wide,
          ]
        : [views.wide, tasksPanel(run, state), curvesPanel(run, state), milestonesPanel(run)],
      twoStacks(narrow.filter(Boolean)),
      otherNotes(run, state),
    ),
  );
}

/** Panels side by side, each in the stack that is shorter when its turn comes. */
function twoStacks(panels) {
  const stacks = [
    { weight: 0, elements: [] },
    { weight: 0, elements: [] },
  ];
  for (const { weight, element } of panels) {
    const shorter = stacks[0].weight <= stacks[1].weight ? stacks[0] : stacks[1];
    shorter.weight += weight;
    shorter.elements.push(element);
  }
  return stacks
    .filter(({ elements }) => elements.length > 0)
    .map(({ elements }, _, all) =>
      h("div", { class: all.length > 1 ? "stack" : "stack wide" }, elements),
    );
}

function logo() {
  const line = (d) => h("path", { d, fill: "none", stroke: "currentColor", "stroke-width": "1.4" });
  return h(
    "svg",
    { class: "logo", viewBox: "0 0 24 24", width: 26, height: 26, "aria-hidden": "true" },
    line("M2 2h20v20H2z"),
    line("M8.7 2v20M15.3 2v20"),
    line("M2 6.5h20M2 10.2h20M2 13.8h20M2 17.5h20"),
  );
}

function studyTitle({ groups = [] }) {
  const most = (key) => Math.max(0, ...groups.map((group) => group[key]?.length ?? 0));
  return most("methods") > 0 ? `Study of ${plural(most("methods"), "optimizer")} on ${plural(most("tasks"), "task")}` : "Study";
}

/** What all runs are of, as far as they agree. */
function titleOf(runs) {
  const only = (of) => (new Set(runs.map(of)).size === 1 ? of(runs[0]) : undefined);
  const [workload, platform] = [only((run) => run.workload.name), only((run) => run.platform.name)];
  const words = [workload, platform && `${workload ? "" : "different workloads "}on ${platform}`].filter(Boolean).join(" ");
  return words ? `${words}: ${plural(runs.length, "run")}` : plural(runs.length, "run");
}

function start(app, data) {
  setMetrics(data.metrics);
  const runs = data.runs.map(openRun);
  const title =
    data.title ||
    (runs.length === 0
      ? studyTitle(data.study)
      : runs.length === 1
        ? `${runs[0].workload.name ?? "run"} on ${runs[0].platform.name ?? "platform"}`
        : titleOf(runs));
  document.title = `${title} · Mercator`;
  const main = h("main", { id: "main", tabindex: "-1" });
  const keys = runs.length > 1 ? runKeys(runs) : [null];
  runs.forEach((run, at) => (run.key = keys[at]));
  let shown = null; // {run, state} of the run that is on the page
  const showAll = () => {
    shown = null;
    main.replaceChildren(
      ...[data.study && studyView(data.study), runs.length > 1 && comparison(runs, open)].filter(
        Boolean,
      ),
    );
    paintWaiting();
  };
  const open = (run, task = null) => goTo({ run: run.key, task });
  const showOne = (run, task) => {
    shown = { run, state: newState(run) };
    if (run.tasks[task]) shown.state.task = task;
    main.replaceChildren(
      ...[
        runs.length > 1 &&
          h(
            "p",
            { class: "way-back" },
            h("a", { href: "#", "data-testid": "all-runs" }, "← all runs"),
            " ",
            h("strong", {}, run.name),
          ),
        runView(run, shown.state),
      ].filter(Boolean),
    );
    paintWaiting();
    globalThis.scrollTo(0, 0);
  };
  const follow = () => {
    const { run: key, task } = readRoute();
    const run = runs.length === 1 ? runs[0] : runs.find((one) => one.key === key);
    if (!run) return shown || !main.hasChildNodes() ? showAll() : undefined;
    if (shown?.run === run) {
      shown.state.follow(task);
      return paintWaiting();
    }
    const isFirst = !main.hasChildNodes();
    showOne(run, task);
    // Who opened it by keyboard goes on from its beginning.
    if (!isFirst) main.focus({ preventScroll: true });
  };
  app.replaceChildren(
    h(
      "header",
      { class: "page-head" },
      h(
        "div",
        { class: "brand" },
        logo(),
        h(
          "div",
          {},
          h("p", { class: "eyebrow" }, "Mercator report"),
          h("h1", { "data-testid": "title" }, title),
        ),
      ),
      themeButton(),
    ),
    main,
    h(
      "footer",
      {},
      data.generated_by &&
        h("span", { "data-testid": "generated-by" }, `Written by ${data.generated_by}. `),
      "Everything on this page is in this file; the licences of its parts are in its source.",
    ),
  );
  onRoute(follow);
  follow();
}

const app = document.getElementById("app");
setTheme("auto");
try {
  start(app, readData());
  document.documentElement.dataset.ready = "true";
} catch (error) {
  app.replaceChildren(
    h(
      "main",
      {},
      h("h1", {}, "This report cannot be shown"),
      h("p", { "data-testid": "failure" }, error.message),
    ),
  );
  document.documentElement.dataset.ready = "failed";
}
