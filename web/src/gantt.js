// Who works when: one row per unit, the bandwidth stack below on the same axis. Pointing at a box shows what
// it waits for and who waits for it; dragging, the wheel with Ctrl, or + and - zoom.
// {unit, lanes: [{name, items: [{id, name, start, end, group, model, stall, traffic, release, deadline,
//  request: [model, number], after: [ids]}]}],
//  dropped: [{name, deadline, request}], bandwidth: {limit, unit, segments: [[start, end, use of lane 0, ...]]}}
import { canvas, categoryCss, h, select } from "./dom.js";
import { drawOverlay, drawScene, laneCss, makeLayout } from "./gantt_draw.js";
import { isLate, itemAt, readScene, segmentAt } from "./gantt_scene.js";
import { count, percent, short, text } from "./units.js";

const REACH = 4; /* pixels beside a narrow box that still mean it */

export function gantt(value) {
  if (!Array.isArray(value?.lanes) || value.lanes.length === 0) return null;
  const scene = readScene(value);
  const view = {
    low: 0,
    high: scene.end,
    from: null,
    to: null,
    unit: value.unit === "cycles" ? "cycle" : (value.unit ?? ""),
  };
  const layout = makeLayout(scene, view);
  const chart = { scene, view, layout, chosen: null, key: "group" };
  chart.readout = h("p", { class: "readout", "data-testid": "gantt-readout" }, help(scene));
  chart.names = h("p", { class: "legend", "data-testid": "gantt-groups" });
  chart.drawing = canvas(
    layout.height,
    `Timeline of ${scene.items.length} items on ${scene.lanes.length} units, ends at ${when(view, scene.end)}`,
    (context, width) => {
      layout.width = width;
      drawScene(context, chart);
    },
    (context) => drawOverlay(context, chart),
  );
  colorBy(chart, "group");
  listen(chart);
  return h(
    "div",
    { class: "gantt" },
    h("div", { class: "gantt-head" }, chart.names, tools(chart)),
    chart.drawing.box,
    signs(scene),
    chart.readout,
  );
}

const when = (view, time) => short(time, view.unit);

function help(scene) {
  const arrows = scene.items.some((item) => item.after?.length > 0)
    ? " Point at a job to see what it waits for."
    : "";
  return `Drag to zoom, double-click to see all; Ctrl and wheel, or + and −, zoom too.${arrows}`;
}

/** Boxes take their colour from `key` of their items; without it, from their row. */
function colorBy(chart, key) {
  const names = [...new Set(chart.scene.items.map((item) => item[key]))].filter(Boolean);
  const places = new Map(names.map((name, at) => [name, at]));
  chart.key = key;
  chart.isColoredByLane = names.length === 0;
  chart.seriesOf = (item) => places.get(item[key]) ?? 0;
  chart.names.replaceChildren(
    ...names.map((name, at) =>
      h("span", {}, h("i", { style: { background: categoryCss(at) } }), String(name)),
    ),
  );
}

function tools(chart) {
  const button = (label, sign, act) =>
    h("button", { type: "button", title: label, "aria-label": label, onclick: act }, sign);
  const middle = () => (chart.view.low + chart.view.high) / 2;
  const isOwned = chart.scene.items.some((item) => item.model && item.model !== item.group);
  const choice =
    isOwned &&
    select(
      "Colour of the boxes",
      [
        ["group", "colour: tenant"],
        ["model", "colour: model"],
      ],
      chart.key,
      (key) => {
        colorBy(chart, key);
        chart.drawing.paint();
      },
    );
  return h(
    "div",
    { class: "tools" },
    choice,
    button("Zoom out", "−", () => zoom(chart, middle(), 2)),
    button("Zoom in", "+", () => zoom(chart, middle(), 0.5)),
    button("Earlier", "‹", () => move(chart, -0.5)),
    button("Later", "›", () => move(chart, 0.5)),
    button("Show all", "all", () => show(chart, 0, chart.scene.end)),
  );
}

/** Late jobs, and the requests they are of, as the metric `miss_rate` counts them. */
function lateness({ items, requests }) {
  const late = items.filter(isLate).length;
  return [
    `late: ${count(late)} job${late === 1 ? "" : "s"}`,
    requests &&
      h(
        "span",
        { "data-testid": "gantt-requests", "data-value": requests.all },
        "; ",
        h("span", { "data-testid": "gantt-missed", "data-value": requests.missed }, count(requests.missed)),
        ` of ${count(requests.all)} requests late or dropped (${percent(requests.missed / requests.all)})`,
      ),
  ];
}

/** What the signs mean; only those that occur. */
function signs(scene) {
  const entries = [
    scene.items.some((item) => item.stall > 0) &&
      h("span", {}, h("i", { class: "sign-stall" }), "waits for memory"),
    scene.marks.length > 0 && h("span", {}, h("i", { class: "sign-late" }), ...lateness(scene)),
    scene.dropped.length > 0 &&
      h(
        "span",
        {
          "data-testid": "gantt-dropped",
          "data-value": scene.dropped.length,
          title: scene.dropped
            .slice(0, 40)
            .map((item) => item.name)
            .join(", "),
        },
        `${count(scene.dropped.length)} jobs dropped`,
      ),
  ];
  const uses =
    scene.stack &&
    h(
      "p",
      { class: "legend", "data-testid": "bandwidth-legend" },
      h("span", { class: "muted" }, "bandwidth used by"),
      scene.lanes.map((lane, at) =>
        h(
          "span",
          {},
          h("i", { style: { background: laneCss(at, scene.lanes.length) } }),
          String(lane.name),
        ),
      ),
      typeof scene.stack.limit === "number" &&
        h("span", {}, h("i", { class: "sign-limit" }), "what there is"),
    );
  return h("div", {}, h("p", { class: "legend" }, entries), uses);
}

function show(chart, low, high) {
  const { view, scene } = chart;
  const least = scene.end * 1e-7;
  const width = Math.min(Math.max(high - low, least), scene.end);
  view.low = Math.min(Math.max(0, low), scene.end - width);
  view.high = view.low + width;
  soon(chart, chart.drawing.paint);
}

/** One painting per frame, however many events come. */
function soon(chart, paint) {
  const isNew = !chart.pending;
  chart.pending = paint === chart.drawing.paint || !chart.pending ? paint : chart.pending;
  if (isNew)
    requestAnimationFrame(() => {
      const next = chart.pending;
      chart.pending = null;
      next();
    });
}

function zoom(chart, time, factor) {
  const { low, high } = chart.view;
  show(chart, time - (time - low) * factor, time + (high - time) * factor);
}

function move(chart, share) {
  const { low, high } = chart.view;
  show(chart, low + (high - low) * share, high + (high - low) * share);
}

function listen(chart) {
  const { view, layout, scene } = chart;
  const { element, paintOver } = chart.drawing;
  const over = () => soon(chart, paintOver);
  element.tabIndex = 0;
  element.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || event.pointerType === "touch") return;
    element.setPointerCapture(event.pointerId);
    view.from = layout.timeAt(event.offsetX);
  });
  element.addEventListener("pointermove", (event) => {
    const time = layout.timeAt(event.offsetX);
    if (view.from !== null) {
      view.to = time;
      over();
    } else point(chart, event.offsetX, event.offsetY, over);
  });
  element.addEventListener("pointerup", (event) => {
    if (view.from === null) return point(chart, event.offsetX, event.offsetY, over);
    const [low, high] = [view.from, layout.timeAt(event.offsetX)].sort((a, b) => a - b);
    view.from = view.to = null;
    if (high - low > (view.high - view.low) * 0.005) show(chart, Math.max(0, low), high);
    else over();
  });
  element.addEventListener("pointerleave", () => {
    chart.chosen = null;
    chart.readout.textContent = help(scene);
    over();
  });
  element.addEventListener("dblclick", () => show(chart, 0, scene.end));
  element.addEventListener(
    "wheel",
    (event) => {
      if (event.ctrlKey || event.metaKey) {
        event.preventDefault();
        zoom(chart, layout.timeAt(event.offsetX), Math.exp(event.deltaY * 0.002));
      } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        event.preventDefault();
        move(chart, (event.deltaX || event.deltaY) / layout.width);
      }
    },
    { passive: false },
  );
  element.addEventListener("keydown", (event) => {
    const middle = (view.low + view.high) / 2;
    const act = {
      "+": () => zoom(chart, middle, 0.5),
      "=": () => zoom(chart, middle, 0.5),
      "-": () => zoom(chart, middle, 2),
      ArrowLeft: () => move(chart, -0.25),
      ArrowRight: () => move(chart, 0.25),
      0: () => show(chart, 0, scene.end),
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
}

/** Says what is under the pointer. */
function point(chart, x, y, over) {
  const { scene, view, layout } = chart;
  const time = layout.timeAt(x);
  const row = scene.rows[layout.rowAt(y)];
  const reach = layout.timeAt(x + REACH) - time;
  const item = row ? itemAt(row, time, reach) : null;
  if (item !== chart.chosen) {
    chart.chosen = item;
    over();
  }
  if (item) chart.readout.textContent = describe(chart, item);
  else if (scene.stack && y > layout.bottom) chart.readout.textContent = describeUse(chart, time);
  else chart.readout.textContent = when(view, Math.max(0, time));
}

function describe({ scene, view }, item) {
  const owner = [item.group, item.model].filter(Boolean);
  const [before, after] = [scene.before(item), scene.after(item)];
  const names = (list) =>
    list.length > 3
      ? `${list.length} jobs`
      : list.map((one) => one.name).join(", ");
  const distance = item.deadline - item.end;
  return [
    `${item.name} on ${scene.lanes[item.row].name}: ${when(view, item.start)} to ${when(view, item.end)} ` +
      `(${when(view, item.end - item.start)}${item.stall > 0 ? `, ${when(view, item.stall)} of it stalled` : ""})`,
    [...new Set(owner)].join(", "),
    typeof item.traffic === "number" && text(item.traffic, "B"),
    item.release > 0 && `released at ${when(view, item.release)}`,
    before.length > 0 && `after ${names(before)}`,
    after.length > 0 && `before ${names(after)}`,
    typeof item.deadline === "number" &&
      `deadline ${when(view, item.deadline)}, ${when(view, Math.abs(distance))} ${distance < 0 ? "late" : "early"}`,
  ]
    .filter(Boolean)
    .join(" · ");
}

function describeUse({ scene, view }, time) {
  const segment = segmentAt(scene.stack.segments, time);
  const unit = scene.stack.unit ?? "";
  const uses = (segment ?? []).slice(2);
  const parts = scene.lanes
    .map((lane, at) => ({ name: lane.name, use: uses[at] ?? 0 }))
    .filter(({ use }) => use > 0)
    .map(({ name, use }) => `${name} ${short(use)}`);
  const sum = uses.reduce((all, use) => all + use, 0);
  const limit = typeof scene.stack.limit === "number" ? ` of ${short(scene.stack.limit)}` : "";
  return `${when(view, Math.max(0, time))}: ${short(sum)}${limit} ${unit}${parts.length > 0 ? ` – ${parts.join(", ")}` : ""}`;
}
