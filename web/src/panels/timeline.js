// Who works when: one row per lane, stacked areas below on the same axis. Pointing at a box shows what it waits for
// and who waits for it; dragging, the wheel with Ctrl, or + and - zoom.
// {unit, amount_unit, names: {item, group, kind, set, stall},
//  lanes: [{name, items: [{id, name, start, end, group, kind, stall, amount, ready, deadline, set, after: [ids]}]}],
//  dropped: [items that never ran], below: [{name, unit, limit, series, segments: [[start, end, values]]}]}
import { canvas, categoryCss, h, select } from "../dom.js";
import { saveTools, withUnit } from "../save.js";
import { svgOf } from "../svg_context.js";
import { count, percent, plural, short, text } from "../units.js";
import { drawOverlay, drawScene, makeLayout, shadeCss } from "./timeline_draw.js";
import { isLate, itemAt, readScene, segmentAt } from "./timeline_scene.js";

const NAMES = { item: "item", group: "group", kind: "kind", set: "set", stall: "stalled" };
const REACH = 4; /* pixels beside a narrow box that still mean it */

export function timelinePanel(value) {
  if (!Array.isArray(value.lanes) || value.lanes.length + (value.below?.length ?? 0) === 0)
    return null;
  const scene = readScene(value);
  const view = { low: scene.start, high: scene.end, from: null, to: null, unit: value.unit ?? "", name: value.x?.name ?? "time" };
  const layout = makeLayout(scene, view);
  const chart = {
    scene,
    view,
    layout,
    id: value.id,
    names: { ...NAMES, ...value.names },
    amountUnit: value.amount_unit ?? "",
    chosen: null,
    key: "group",
  };
  chart.readout = h("p", { class: "readout", "data-testid": `${chart.id}-readout` }, help(chart));
  chart.legend = h("p", { class: "legend", "data-testid": `${chart.id}-groups` });
  chart.drawing = canvas(
    layout.height,
    scene.lanes.length > 0
      ? `${plural(scene.items.length, chart.names.item)} on ${plural(scene.lanes.length, "lane")}, the last ends at ${when(view, scene.end)}`
      : `${value.title ?? "Areas"}, up to ${when(view, scene.end)}`,
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
    { class: "timeline" },
    h("div", { class: "timeline-head" }, chart.legend, tools(chart)),
    chart.drawing.box,
    signs(chart),
    chart.readout,
    saveTools(value.title ?? value.id, {
      svg: () => svgOf(layout.width, layout.height, (context) => drawScene(context, chart)),
      csv: () => table(chart, value),
    }),
  );
}

/** The items, or where there are none the areas. */
function table({ scene, view, amountUnit }, value) {
  const { items, lanes, stacks } = scene;
  const time = (name) => withUnit(name, view.unit);
  if (items.length > 0)
    return [
      ["lane", "name", time("start"), time("end"), "group", "kind", time("stall"), withUnit("amount", amountUnit), time("deadline")],
      ...items.map((item) => [lanes[item.row].name, item.name, item.start, item.end, item.group, item.kind, item.stall, item.amount, item.deadline]),
    ];
  return [
    ["area", time("from"), time("to"), ...(stacks[0]?.series ?? [])],
    ...stacks.flatMap((stack) => stack.segments.map((segment) => [stack.name ?? value.title, ...segment])),
  ];
}

const when = (view, time) => short(time, view.unit);

function help({ scene, names }) {
  const arrows = scene.items.some((item) => item.after?.length > 0)
    ? ` Point at one ${names.item} to see what it waits for.`
    : "";
  return `Drag to zoom, double-click to see all; Ctrl and wheel, or + and −, zoom too.${arrows}`;
}

/** Boxes take their colour from `key` of their items; without it, from their row. */
function colorBy(chart, key) {
  const found = [...new Set(chart.scene.items.map((item) => item[key]))].filter(Boolean);
  const places = new Map(found.map((name, at) => [name, at]));
  chart.key = key;
  chart.isColoredByLane = found.length === 0;
  chart.seriesOf = (item) => places.get(item[key]) ?? 0;
  chart.legend.replaceChildren(
    ...found.map((name, at) =>
      h("span", {}, h("i", { style: { background: categoryCss(at) } }), String(name)),
    ),
  );
}

function tools(chart) {
  const button = (label, sign, act) =>
    h("button", { type: "button", title: label, "aria-label": label, onclick: act }, sign);
  const middle = () => (chart.view.low + chart.view.high) / 2;
  const hasKinds = chart.scene.items.some((item) => item.kind && item.kind !== item.group);
  const choice =
    hasKinds &&
    select(
      "Colour of the boxes",
      [
        ["group", `colour: ${chart.names.group}`],
        ["kind", `colour: ${chart.names.kind}`],
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
    button("Show all", "all", () => show(chart, chart.scene.start, chart.scene.end)),
  );
}

/** Late items, and the sets they are of. */
function lateness({ scene, names, id }) {
  const { items, sets } = scene;
  return [
    `late: ${plural(items.filter(isLate).length, names.item)}`,
    sets &&
      h(
        "span",
        { "data-testid": `${id}-sets`, "data-value": sets.all },
        "; ",
        h("span", { "data-testid": `${id}-missed`, "data-value": sets.missed }, count(sets.missed)),
        ` of ${plural(sets.all, names.set)} late or dropped (${percent(sets.missed / sets.all)})`,
      ),
  ];
}

/** What the signs mean; only those that occur. */
function signs(chart) {
  const { scene, names, id } = chart;
  const entries = [
    scene.items.some((item) => item.stall > 0) &&
      h("span", {}, h("i", { class: "sign-stall" }), names.stall),
    scene.marks.length > 0 && h("span", {}, h("i", { class: "sign-late" }), ...lateness(chart)),
    scene.dropped.length > 0 &&
      h(
        "span",
        {
          "data-testid": `${id}-dropped`,
          "data-value": scene.dropped.length,
          title: scene.dropped
            .slice(0, 40)
            .map((item) => item.name)
            .join(", "),
        },
        `${plural(scene.dropped.length, names.item)} dropped`,
      ),
  ];
  return h("div", {}, h("p", { class: "legend" }, entries), scene.stacks.map(stackLegend(id)));
}

const stackLegend = (id) => (stack, at) =>
  h(
    "p",
    { class: "legend", "data-testid": `${id}-stack-${at}` },
    h("span", { class: "muted" }, `${stack.name ?? ""}:`),
    stack.series.map((name, series) =>
      h(
        "span",
        {},
        h("i", { style: { background: shadeCss(series, stack.series.length) } }),
        String(name),
      ),
    ),
    typeof stack.limit === "number" &&
      h("span", {}, h("i", { class: "sign-limit" }), "what there is"),
  );

function show(chart, low, high) {
  const { view, scene } = chart;
  const all = scene.end - scene.start;
  const width = Math.min(Math.max(high - low, all * 1e-7), all);
  view.low = Math.min(Math.max(scene.start, low), scene.end - width);
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
    if (high - low > (view.high - view.low) * 0.005) show(chart, low, high);
    else over();
  });
  element.addEventListener("pointerleave", () => {
    chart.chosen = null;
    chart.readout.textContent = help(chart);
    over();
  });
  element.addEventListener("dblclick", () => show(chart, scene.start, scene.end));
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
      0: () => show(chart, scene.start, scene.end),
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
  const stack = scene.stacks[layout.stackAt(y)];
  if (item) chart.readout.textContent = describe(chart, item);
  else if (stack) chart.readout.textContent = describeUse(chart, stack, time);
  else chart.readout.textContent = when(view, Math.max(scene.start, time));
}

function describe({ scene, view, names, amountUnit }, item) {
  const owner = [item.group, item.kind].filter(Boolean);
  const [before, after] = [scene.before(item), scene.after(item)];
  const list = (others) =>
    others.length > 3
      ? plural(others.length, names.item)
      : others.map((one) => one.name).join(", ");
  const distance = item.deadline - item.end;
  return [
    `${item.name} on ${scene.lanes[item.row].name}: ${when(view, item.start)} to ${when(view, item.end)} ` +
      `(${when(view, item.end - item.start)}${item.stall > 0 ? `, ${when(view, item.stall)} of it: ${names.stall}` : ""})`,
    [...new Set(owner)].join(", "),
    typeof item.amount === "number" && text(item.amount, amountUnit),
    item.ready > 0 && `ready at ${when(view, item.ready)}`,
    before.length > 0 && `after ${list(before)}`,
    after.length > 0 && `before ${list(after)}`,
    typeof item.deadline === "number" &&
      `deadline ${when(view, item.deadline)}, ${when(view, Math.abs(distance))} ${distance < 0 ? "late" : "early"}`,
  ]
    .filter(Boolean)
    .join(" · ");
}

function describeUse({ scene, view }, stack, time) {
  const values = (segmentAt(stack.segments, time) ?? []).slice(2);
  const parts = stack.series
    .map((name, at) => ({ name, value: values[at] ?? 0 }))
    .filter(({ value }) => value > 0)
    .map(({ name, value }) => `${name} ${short(value)}`);
  const sum = values.reduce((all, value) => all + value, 0);
  const limit = typeof stack.limit === "number" ? ` of ${short(stack.limit)}` : "";
  return `${when(view, Math.max(scene.start, time))}: ${short(sum)}${limit} ${stack.unit ?? ""}${parts.length > 0 ? ` – ${parts.join(", ")}` : ""}`;
}
