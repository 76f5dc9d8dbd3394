// Two plans of one task, line by line: what only one of them says is marked.
import { h, panel, select } from "./dom.js";

const MOST = 600; // lines of a plan that are compared

const linesOf = (text) => String(text ?? "").split("\n").slice(0, MOST);

/** [{sign: " ", "-" or "+", text}] by the longest common subsequence of lines. */
export function diffLines(first, second) {
  const [a, b] = [linesOf(first), linesOf(second)];
  // length[i][j]: the longest common part of what begins at line i of a and line j of b
  const length = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      length[i][j] = a[i] === b[j] ? length[i + 1][j + 1] + 1 : Math.max(length[i + 1][j], length[i][j + 1]);
  const lines = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) lines.push({ sign: " ", text: a[(j++, i++)] });
    else if (i < a.length && (j === b.length || length[i + 1][j] >= length[i][j + 1])) lines.push({ sign: "-", text: a[i++] });
    else lines.push({ sign: "+", text: b[j++] });
  }
  return lines;
}

/** For runs of one question: choose a task and two runs. Null where fewer than two keep plans. */
export function differencePanel(runs) {
  const kept = runs.filter((run) => run.hasPlans);
  if (kept.length < 2) return null;
  const order = [...kept].sort((a, b) => (a.best.score ?? Infinity) - (b.best.score ?? Infinity));
  if (!order.slice(0, 2).every((run) => run.tasks.some((task) => task.plan?.text))) return null;
  const view = { task: 0, first: kept.indexOf(order[0]), second: kept.indexOf(order[1]) };
  const box = h("div", { "data-testid": "difference" });
  const show = () => {
    const [a, b] = [view.first, view.second].map((at) => kept[at].tasks[view.task]?.plan?.text);
    const lines = diffLines(a, b);
    const changed = lines.filter(({ sign }) => sign !== " ").length;
    box.replaceChildren(
      h(
        "p",
        { class: "hint", "data-testid": "difference-lines", "data-value": changed },
        a === b ? "The two plans are the same." : `${changed} lines differ: − only in ${kept[view.first].name}, + only in ${kept[view.second].name}.`,
      ),
      h(
        "pre",
        { class: "code difference", tabindex: "0" },
        lines.map(({ sign, text }) =>
          h("span", { class: { "-": "line-out", "+": "line-in", " ": "line-both" }[sign] }, `${sign === "-" ? "−" : sign} ${text}`),
        ),
      ),
    );
  };
  const choose = (label, key, options) =>
    select(label, options, view[key], (at) => {
      view[key] = Number(at);
      show();
    });
  const names = kept.map((run, at) => [at, run.name]);
  const tasks = kept[0].tasks.map((task) => [task.index, task.name]);
  show();
  return panel(
    {
      id: "difference-panel",
      title: "Two plans compared",
      wide: true,
      tools: [
        tasks.length > 1 && choose("Task whose plans are compared", "task", tasks),
        choose("First plan", "first", names),
        choose("Second plan", "second", names),
      ].filter(Boolean),
    },
    box,
  );
}
