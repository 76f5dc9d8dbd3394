// First screen of a page with several runs: one section per question asked, with the best answer to it in words, its
// first picture, and the way to the rest.
import { h, panel } from "./dom.js";
import { figures, headline } from "./headline.js";
import { allTasksPicture } from "./alltasks.js";
import { plural, title } from "./units.js";
import { firstPicture } from "./views.js";

const MOST = 12; // more questions than this are in the table only

const better = (a, b) => ((b.best.score ?? Infinity) < (a.best.score ?? Infinity) ? b : a);

/** groups: runs of one question each; open(run, task); about(runs): what comparing them says, in words, or "". */
export function overview(groups, open, about) {
  return h(
    "div",
    { class: "overview", "data-testid": "overview" },
    groups.slice(0, MOST).map((runs, at) => section(runs, at, groups.length > 1, open, about(runs))),
    groups.length > MOST && h("p", { class: "hint" }, `${plural(groups.length - MOST, "more question")}: see the table of all runs.`),
  );
}

function section(runs, at, hasPicture, open, found) {
  const run = runs.reduce(better);
  const [verb, workload, platform] = [run.problem.name, run.workload.name, run.platform.name];
  const asked = [
    title(run.objective),
    run.evaluator.name,
    run.optimizer.name,
    runs.length > 1 && `best of ${plural(runs.length, "run")}: ${run.name}`,
  ];
  return panel(
    {
      id: `overview-${at}`,
      title: `${verb ?? "run"}: ${workload ?? "–"} on ${platform ?? "–"}`,
      hint: asked.filter(Boolean).join(" · "),
      tools: [
        h(
          "button",
          { type: "button", "data-testid": `overview-open-${at}`, "aria-label": `Open ${run.name}`, onclick: () => open(run) },
          "open →",
        ),
      ],
    },
    h("p", { class: "headline", "data-testid": `headline-${at}` }, headline(run)),
    found && h("p", { class: "found", "data-testid": `found-${at}` }, found),
    h("p", { class: "figures" }, figures(run)),
    hasPicture && h("div", { class: "overview-picture" }, allTasksPicture(run, (task) => open(run, task)) ?? firstPicture(run, (task) => open(run, task))),
  );
}
