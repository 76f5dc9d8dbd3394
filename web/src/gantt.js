// Who works when: one row per unit, zoom by dragging, the bandwidth stack below on the same axis.
// {unit, lanes: [{name, items: [{name, start, end, group, stall, deadline}]}],
//  bandwidth: {limit, unit, segments: [[start, end, use of lane 0, ...]]}}
import { niceTicks } from "./chart.js";
import { canvas, category, categoryCss, color, h } from "./dom.js";
import { short } from "./units.js";

const ROW = 26;
const AXIS = 26;

export function gantt(value) {
  const lanes = value?.lanes;
  if (!Array.isArray(lanes) || lanes.length === 0) return null;
  const items = lanes.flatMap((lane, row) => (lane.items ?? []).map((item) => ({ ...item, row })));
  const end = Math.max(...items.map((item) => item.end), 1e-12);
  const groups = [...new Set(items.map((item) => item.group ?? null))].filter(
    (group) => group !== null,
  );
  const stack = value.bandwidth?.segments ? value.bandwidth : null;
  const view = { low: 0, high: end, from: null, to: null };
  const margin = Math.min(
    140,
    Math.max(stack ? 86 : 0, 18 + Math.max(...lanes.map((lane) => String(lane.name).length)) * 6.8),
  );
  const bottom = lanes.length * ROW + AXIS;
  const height = bottom + (stack ? 124 : 0);
  const unit = value.unit ?? "";
  const when = (time) => short(time, unit === "cycles" ? "cycle" : unit);
  const readout = h("p", { class: "readout" }, "Drag to zoom, double-click to see all.");
  const scene = { lanes, items, groups, stack, view, margin, bottom, height, when };
  const drawing = canvas(
    height,
    `Timeline of ${items.length} items on ${lanes.length} units, ends at ${when(end)}`,
    (context, width) => drawScene(context, width, scene),
  );
  const timeAt = (event) =>
    view.low +
    ((event.offsetX - margin) / (drawing.box.clientWidth - margin - 12)) * (view.high - view.low);
  drawing.element.addEventListener("mousedown", (event) => {
    view.from = timeAt(event);
  });
  drawing.element.addEventListener("mousemove", (event) => {
    const time = timeAt(event);
    if (view.from !== null) {
      view.to = time;
      drawing.paint();
      return;
    }
    const row = Math.floor(event.offsetY / ROW);
    const item = items.find((one) => one.row === row && one.start <= time && time <= one.end);
    readout.textContent = item
      ? `${item.name}: ${when(item.start)} to ${when(item.end)} (${when(item.end - item.start)})${item.group ? `, ${item.group}` : ""}`
      : when(Math.max(0, time));
  });
  drawing.element.addEventListener("mouseup", (event) => {
    const [a, b] = [view.from, timeAt(event)].sort((x, y) => x - y);
    view.from = view.to = null;
    if (b - a > (view.high - view.low) * 0.005)
      [view.low, view.high] = [Math.max(0, a), Math.min(end, b)];
    drawing.paint();
  });
  drawing.element.addEventListener("dblclick", () => {
    [view.low, view.high] = [0, end];
    drawing.paint();
  });
  return h(
    "div",
    {},
    groups.length > 0 &&
      h(
        "p",
        { class: "legend" },
        groups.map((group, at) =>
          h("span", {}, h("i", { style: { background: categoryCss(at) } }), String(group)),
        ),
      ),
    drawing.box,
    readout,
  );
}

function drawScene(context, width, scene) {
  const { lanes, items, groups, view, margin, bottom, when, stack } = scene;
  const right = width - 12;
  const x = (time) => margin + ((time - view.low) / (view.high - view.low)) * (right - margin);
  context.clearRect(0, 0, width, scene.height);
  context.font = "11.5px system-ui, sans-serif";
  context.textBaseline = "middle";
  context.textAlign = "right";
  lanes.forEach((lane, row) => {
    context.fillStyle = color("track");
    context.fillRect(margin, row * ROW + 3, right - margin, ROW - 6);
    context.fillStyle = color("ink-soft");
    context.fillText(lane.name, margin - 8, (row + 0.5) * ROW);
  });
  context.save();
  context.beginPath();
  context.rect(margin, 0, right - margin, scene.height);
  context.clip();
  context.textAlign = "left";
  const colors =
    groups.length > 0 ? groups.map((_, at) => category(at)) : lanes.map((_, at) => category(at));
  for (const item of items)
    drawItem(
      context,
      item,
      x,
      colors[groups.length > 0 ? Math.max(0, groups.indexOf(item.group)) : item.row],
      right,
    );
  if (stack) drawStack(context, scene, x);
  if (view.to !== null) {
    context.fillStyle = color("accent") + "33";
    context.fillRect(
      x(Math.min(view.from, view.to)),
      0,
      Math.abs(x(view.to) - x(view.from)),
      scene.height,
    );
  }
  context.restore();
  context.textAlign = "center";
  context.fillStyle = color("ink-faint");
  for (const tick of niceTicks(view.low, view.high, Math.floor((right - margin) / 110), false)) {
    context.fillText(when(tick), Math.min(x(tick), right - 18), bottom - AXIS / 2 + 3);
    context.fillRect(x(tick), bottom - AXIS, 1, 5);
  }
  if (stack) drawStackAxis(context, scene);
}

function drawItem(context, item, x, fill, right) {
  const left = x(item.start);
  const wide = Math.max(0.7, x(item.end) - left);
  if (left > right || left + wide < 0) return;
  const top = item.row * ROW + 3;
  context.fillStyle = fill;
  context.fillRect(left, top, Math.max(0.7, wide - (wide > 4 ? 1 : 0)), ROW - 6);
  if (item.stall > 0) {
    context.fillStyle = color("panel") + "88";
    context.fillRect(
      left + wide * (1 - Math.min(1, item.stall / (item.end - item.start))),
      top + ROW - 11,
      wide,
      5,
    );
  }
  if (wide > 34) {
    context.fillStyle = color("on-series");
    const room = Math.floor((wide - 8) / 6.4);
    const name = String(item.name);
    context.fillText(
      name.length > room ? `${name.slice(0, Math.max(1, room - 1))}…` : name,
      left + 5,
      top + (ROW - 6) / 2,
    );
  }
}

const stackTop = (scene) => scene.bottom + 10;
const stackRoom = (scene) => scene.height - scene.bottom - 20;

function stackLimit({ stack }) {
  const sums = stack.segments.map((segment) => segment.slice(2).reduce((a, b) => a + b, 0));
  return Math.max(stack.limit ?? 0, ...sums) * 1.08 || 1;
}

function drawStack(context, scene, x) {
  const limit = stackLimit(scene);
  const floor = stackTop(scene) + stackRoom(scene);
  for (const [start, end, ...uses] of scene.stack.segments) {
    let level = floor;
    uses.forEach((use, lane) => {
      const tall = (use / limit) * stackRoom(scene);
      context.fillStyle = category(lane);
      context.fillRect(x(start), level - tall, Math.max(0.7, x(end) - x(start)), tall);
      level -= tall;
    });
  }
  if (typeof scene.stack.limit !== "number") return;
  context.fillStyle = color("bound");
  context.fillRect(
    scene.margin,
    floor - (scene.stack.limit / limit) * stackRoom(scene),
    4000,
    1.25,
  );
}

function drawStackAxis(context, scene) {
  const floor = stackTop(scene) + stackRoom(scene);
  context.textAlign = "right";
  context.fillStyle = color("ink-soft");
  context.fillText("bandwidth", scene.margin - 8, stackTop(scene) + 8);
  context.fillStyle = color("ink-faint");
  if (typeof scene.stack.limit === "number")
    context.fillText(
      `${scene.stack.limit} ${scene.stack.unit ?? ""}`.trim(),
      scene.margin - 8,
      floor - (scene.stack.limit / stackLimit(scene)) * stackRoom(scene) + 18,
    );
  context.fillText("0", scene.margin - 8, floor - 4);
}
