// Where the reader is, in the address: #run=NAME&task=3 (tasks count from 1). So Back works, and a task can be sent
// to somebody else.

/** Names for the address: those of the runs where they differ, else their places from 1. */
export function runKeys(runs) {
  const uses = new Map();
  for (const { name } of runs) uses.set(name, (uses.get(name) ?? 0) + 1);
  return runs.map((run, at) => (uses.get(run.name) === 1 ? run.name : String(at + 1)));
}

/** {run: its key or null, task: from 0, or null}. */
export function readRoute() {
  const parts = new URLSearchParams(location.hash.slice(1));
  const task = Number.parseInt(parts.get("task") ?? "", 10);
  return { run: parts.get("run"), task: task >= 1 ? task - 1 : null };
}

function hashOf({ run, task }) {
  const parts = new URLSearchParams();
  if (run !== null) parts.set("run", run);
  if (task !== null) parts.set("task", String(task + 1));
  return `#${parts}`;
}

/** Goes there: the page follows the address (`onRoute`). */
export function goTo(route) {
  location.hash = hashOf(route);
}

export function onRoute(listener) {
  globalThis.addEventListener("hashchange", listener);
}
