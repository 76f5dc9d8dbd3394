// Who owned the jobs of a schedule and how they fared, and how cores and memory were used. Notes `tenants` and
// `schedule` of the evaluator `bandwidth`.
import { h } from "./dom.js";
import { count, percent, short, text } from "./units.js";

const number = (value, digits = 3) =>
  typeof value === "number" ? String(Number(value.toPrecision(digits))) : "–";

function facts(entries) {
  return h(
    "dl",
    { class: "facts small-facts" },
    entries
      .filter(Boolean)
      .map(([name, value, help, id, exact]) =>
        h(
          "div",
          { title: help },
          h("dt", {}, name),
          h("dd", { "data-testid": id, "data-value": exact }, value),
        ),
      ),
  );
}

/** columns: [[title, help, cell(row)]]; the first is the row's heading. */
function table(columns, rows, rowid) {
  return h(
    "div",
    { class: "table-box" },
    h(
      "table",
      {},
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          columns.map(([title, help], at) =>
            h("th", { scope: "col", title: help, class: at === 0 ? "text" : "number" }, title),
          ),
        ),
      ),
      h(
        "tbody",
        {},
        rows.map((row, at) =>
          h(
            "tr",
            { "data-testid": `${rowid}-${at}` },
            columns.map(([, , cell], place) =>
              place === 0
                ? h("th", { scope: "row", class: "text" }, cell(row))
                : h("td", { class: "number" }, cell(row)),
            ),
          ),
        ),
      ),
    ),
  );
}

/** Nothing of a tenant that was dropped ended, ever. */
function slowdown(tenant) {
  return tenant.alone_cycles > 0 ? `${number(tenant.shared_cycles / tenant.alone_cycles)}×` : "∞";
}

/** {stp, antt, weighted_antt, jain, tenants: [{name, weight, jobs, late, dropped, done, alone_cycles, shared_cycles}]} */
export function tenantsView(value) {
  const tenants = value?.tenants;
  if (!Array.isArray(tenants) || tenants.length === 0) return null;
  const hasDeadlines = tenants.some((tenant) => tenant.late !== undefined);
  const hasDropped = tenants.some((tenant) => tenant.dropped > 0);
  const columns = [
    ["tenant", "", (tenant) => tenant.name],
    ["weight", "", (tenant) => number(tenant.weight)],
    ["jobs", "", (tenant) => count(tenant.jobs)],
    hasDeadlines && ["late", "jobs that ended after their deadline", (one) => count(one.late)],
    hasDropped && ["dropped", "jobs that never ran", (one) => count(one.dropped)],
    hasDropped && ["done", "share of its work", (one) => percent(one.done)],
    [
      "alone",
      "cycles of the jobs that ran, the better of fcfs and lpt with the platform to itself",
      (tenant) => short(tenant.alone_cycles),
    ],
    [
      "shared",
      "cycles from the first release of those to their last end",
      (tenant) => short(tenant.shared_cycles),
    ],
    ["slower", "shared over alone", slowdown],
  ].filter(Boolean);
  return h(
    "div",
    {},
    facts([
      ["STP", number(value.stp, 4), "sum of alone over shared, by work done", "stp", value.stp],
      ["ANTT", number(value.antt, 4), "mean of shared over alone times", "antt", value.antt],
      ["weighted ANTT", number(value.weighted_antt, 4), "the same by the tenants' weights"],
      ["Jain", number(value.jain, 4), "fairness, 1: all are slowed alike", "jain", value.jain],
    ]),
    table(columns, tenants, "tenant-row"),
  );
}

/** {bytes_per_cycle, bytes_per_s, clock_hz, gflop_per_s, table_hash, longest_job, cores: [{name, busy, stalled, idle}]} */
export function coresView(value) {
  const cores = value?.cores;
  if (!Array.isArray(cores) || cores.length === 0) return null;
  const part = (share, name, background) =>
    h("span", {
      title: `${name} ${percent(share)}`,
      style: { width: `${100 * share}%`, background },
    });
  const bar = (core) =>
    h(
      "span",
      { class: "use-bar", "aria-hidden": "true" },
      part(core.busy, "busy", "var(--accent)"),
      part(core.stalled, "stalled", "color-mix(in srgb, var(--accent) 40%, var(--panel))"),
    );
  return h(
    "div",
    {},
    facts([
      [
        "bandwidth",
        `${short(value.bytes_per_cycle)} B/cycle` +
          (value.bytes_per_s > 0 ? ` = ${short(value.bytes_per_s, "B")}/s` : ""),
      ],
      value.clock_hz > 0 && ["clock", `${short(value.clock_hz)}Hz`],
      value.gflop_per_s > 0 && ["throughput", `${number(value.gflop_per_s, 4)} GFLOP/s`],
      value.longest_job && [
        "longest job",
        `${value.longest_job.name}, ${text(value.longest_job.cycles, "cycle")}`,
        "at its best core: no schedule is shorter",
      ],
    ]),
    table(
      [
        ["core", "", (core) => core.name],
        ["", "", bar],
        ["busy", "computing", (core) => percent(core.busy)],
        ["stalled", "slowed down by memory", (core) => percent(core.stalled)],
        ["idle", "", (core) => percent(core.idle)],
      ],
      cores,
      "core-row",
    ),
  );
}
