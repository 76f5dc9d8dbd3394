// The timeline on its canvas: boxes with their stalls, marks of deadlines, axis, stacked areas; and above it what
// the pointer asks for.
import { niceTicks } from "../chart.js";
import { category, color } from "../dom.js";
import { labels, short } from "../units.js";
import { binStack, isLate } from "./timeline_scene.js";

const ROW = 26;
const BOX = ROW - 6;
const MARKS = 18;
const AXIS = 26;
const STACK = 124;
const RIGHT = 12;

/** Where things stand: {margin, marksTop, bottom, height, x(time), timeAt(x), rowAt(y), stackAt(y)} for a scene. */
export function makeLayout(scene, view) {
  const names = [
    ...scene.lanes.map((lane) => lane.name),
    ...scene.stacks.flatMap((stack) => [stack.name ?? "", limitText(stack), ...stackTicks(stack).texts]),
  ];
  const longest = Math.max(...names.map((name) => String(name).length));
  const margin = Math.min(150, Math.max(scene.stacks.length > 0 ? 86 : 0, 18 + longest * 6.8));
  const marksTop = scene.lanes.length * ROW;
  const bottom = marksTop + (scene.marks.length > 0 ? MARKS : 0) + AXIS;
  const layout = {
    margin,
    marksTop,
    bottom,
    height: bottom + scene.stacks.length * STACK,
    width: 0,
    right: () => layout.width - RIGHT,
    x: (time) =>
      margin + ((time - view.low) / (view.high - view.low)) * (layout.right() - margin),
    timeAt: (x) =>
      view.low + ((x - margin) / Math.max(1, layout.right() - margin)) * (view.high - view.low),
    rowAt: (y) => Math.floor(y / ROW),
    stackAt: (y) => Math.floor((y - bottom) / STACK),
    floor: (stack) => bottom + (stack + 1) * STACK - 10,
  };
  return layout;
}

const limitText = ({ limit, unit }) => (typeof limit === "number" ? short(limit, unit ?? "") : "");

/** Shades of one colour, so that a series is not taken for a colour of the boxes; dark and light in turn, so that
 *  neighbours differ. */
const shade = (at, all) =>
  Math.round((at % 2 === 0 ? 100 : 60) - (34 * at) / Math.max(3, all - 1));
export const shadeCss = (at, all) =>
  `color-mix(in srgb, var(--accent) ${shade(at, all)}%, var(--panel))`;

/** The colours of one painting: asked of the page once, not per box. */
function readColors() {
  const names = ["track", "ink", "ink-soft", "ink-faint", "panel", "accent", "bound", "on-series"];
  return {
    ...Object.fromEntries(names.map((name) => [name, color(name)])),
    series: Array.from({ length: 12 }, (_, at) => category(at)),
  };
}

/** A part of `top` over `ground`, both #rrggbb. */
function mix(top, ground, percent) {
  const part = (text, at) => Number.parseInt(text.slice(1 + 2 * at, 3 + 2 * at), 16);
  const parts = [0, 1, 2].map((at) =>
    Math.round((part(top, at) * percent + part(ground, at) * (100 - percent)) / 100),
  );
  return `rgb(${parts.join(" ")})`;
}

/** Diagonal lines over what a box spent waiting. */
function hatch(context, ink) {
  const swatch = document.createElement("canvas");
  swatch.width = swatch.height = 6;
  const pen = swatch.getContext("2d");
  pen.strokeStyle = ink;
  pen.lineWidth = 1.4;
  pen.beginPath();
  for (const at of [-6, 0, 6]) {
    pen.moveTo(at - 1, 7);
    pen.lineTo(at + 7, -1);
  }
  pen.stroke();
  return context.createPattern(swatch, "repeat");
}

export function drawScene(context, { scene, layout, view, seriesOf, isColoredByLane }) {
  const ink = readColors();
  const { margin } = layout;
  const right = layout.right();
  context.clearRect(0, 0, layout.width, layout.height);
  context.font = "11.5px system-ui, sans-serif";
  context.textBaseline = "middle";
  context.textAlign = "right";
  scene.lanes.forEach((lane, row) => {
    context.fillStyle = ink.track;
    context.fillRect(margin, row * ROW + 3, right - margin, BOX);
    context.fillStyle = ink["ink-soft"];
    context.fillText(lane.name, margin - 8, (row + 0.5) * ROW);
  });
  context.save();
  context.beginPath();
  context.rect(margin, 0, right - margin, layout.height);
  context.clip();
  context.textAlign = "left";
  const pen = { context, layout, ink, stalls: hatch(context, ink["on-series"]) };
  for (const row of scene.rows) {
    let covered = -Infinity; /* pixels that are painted already: what ends there adds nothing */
    for (const item of row) {
      if (item.start > view.high) break;
      if (item.end < view.low) continue;
      const end = layout.x(item.end);
      if (end <= covered && !isLate(item)) continue;
      const at = isColoredByLane ? item.row : seriesOf(item);
      drawItem(pen, item, ink.series[at % ink.series.length]);
      covered = Math.max(covered, Math.floor(end));
    }
  }
  if (scene.marks.length > 0) drawMarks(pen, scene);
  scene.stacks.forEach((stack, at) => drawStack(pen, stack, at, view));
  context.restore();
  drawAxis(pen, view);
  if (scene.marks.length > 0) drawName(pen, "deadlines", layout.marksTop + MARKS / 2);
  scene.stacks.forEach((stack, at) => drawStackAxis(pen, stack, at));
}

function drawName({ context, layout, ink }, text, y, name = "ink-faint") {
  context.textAlign = "right";
  context.fillStyle = ink[name];
  context.fillText(text, layout.margin - 8, y);
}

function drawItem({ context, layout, ink, stalls }, item, fill) {
  const left = Math.max(layout.x(item.start), -50);
  const end = Math.min(layout.x(item.end), layout.width + 50);
  const wide = Math.max(0.7, end - left - (end - left > 4 ? 1 : 0));
  const top = item.row * ROW + 3;
  context.fillStyle = fill;
  context.fillRect(left, top, wide, BOX);
  const stalled = wide * Math.min(1, item.stall / (item.end - item.start) || 0);
  if (stalled >= 1) {
    context.fillStyle = stalls;
    context.fillRect(left + wide - stalled, top + BOX - 7, stalled, 7);
  }
  if (isLate(item)) {
    context.fillStyle = ink.bound;
    context.fillRect(left, top - 2, wide, 3);
  }
  if (wide > 34) {
    const shown = Math.max(left, layout.margin);
    const room = Math.floor((left + wide - shown - 8) / 6.4);
    const name = String(item.name);
    context.fillStyle = ink["on-series"];
    if (room > 1)
      context.fillText(
        name.length > room ? `${name.slice(0, room - 1)}…` : name,
        shown + 5,
        top + BOX / 2 - (stalled >= 1 ? 2 : 0),
      );
  }
}

function drawMarks({ context, layout, ink }, scene) {
  for (const isMissed of [false, true]) {
    context.fillStyle = isMissed ? ink.bound : ink["ink-faint"];
    let last = -10;
    for (const mark of scene.marks) {
      const at = layout.x(mark.time);
      if (mark.isMissed !== isMissed || at - last < 1) continue;
      last = at;
      const tall = isMissed ? MARKS - 5 : MARKS - 10;
      context.fillRect(at - 0.6, layout.marksTop + 1, isMissed ? 1.8 : 1.2, tall);
    }
  }
}

function drawAxis({ context, layout, ink }, view) {
  const right = layout.right();
  const y = layout.bottom - AXIS;
  const ticks = niceTicks(view.low, view.high, Math.floor((right - layout.margin) / 110), false);
  const texts = labels(ticks, (tick, more) => short(tick, view.unit, more));
  drawName({ context, layout, ink }, view.name, y + AXIS / 2 + 3);
  context.textAlign = "center";
  context.fillStyle = ink["ink-faint"];
  ticks.forEach((tick, at) => {
    const half = context.measureText(texts[at]).width / 2;
    context.fillText(texts[at], Math.min(Math.max(layout.x(tick), layout.margin + half), right - half), y + AXIS / 2 + 3);
    context.fillRect(layout.x(tick), y, 1, 5);
  });
}

const STACK_HEIGHT = STACK - 20;

/** From the topmost series down, each area reaching to the floor: what is above it stays visible. */
function drawStack({ context, layout, ink }, stack, place, view) {
  const { margin } = layout;
  const columns = Math.max(1, Math.ceil(layout.right() - margin));
  const bins = binStack(stack, view.low, view.high, columns);
  for (let series = 1; series < bins.length; series++)
    for (let at = 0; at < columns; at++) bins[series][at] += bins[series - 1][at];
  const floor = layout.floor(place);
  const scale = STACK_HEIGHT / stack.top;
  for (let series = bins.length - 1; series >= 0; series--) {
    context.fillStyle = mix(ink.accent, ink.panel, shade(series, bins.length));
    context.beginPath();
    context.moveTo(margin, floor);
    for (let at = 0; at < columns; at++) {
      const y = floor - bins[series][at] * scale;
      context.lineTo(margin + at, y);
      context.lineTo(margin + at + 1, y);
    }
    context.lineTo(margin + columns, floor);
    context.fill();
  }
  if (typeof stack.limit === "number") {
    context.fillStyle = ink.bound;
    context.fillRect(margin, floor - stack.limit * scale, columns, 1.25);
  }
}

/** Name, limit, and of the numbers those that they leave a place for. */
function drawStackAxis(pen, stack, place) {
  const floor = pen.layout.floor(place);
  const toY = (value) => floor - (value / stack.top) * STACK_HEIGHT;
  const taken = [];
  const write = (text, y, name) => {
    drawName(pen, text, y, name);
    taken.push(y);
  };
  if (stack.name) write(stack.name, floor - STACK_HEIGHT + 8, "ink-soft");
  if (typeof stack.limit === "number") write(limitText(stack), toY(stack.limit) + 18);
  const { ticks, texts } = stackTicks(stack);
  ticks.forEach((tick, at) => {
    const y = tick === 0 ? floor - 4 : toY(tick);
    if (taken.some((other) => Math.abs(other - y) < 14)) return;
    write(texts[at], y);
    pen.context.fillRect(pen.layout.margin - 5, toY(tick), 5, 1);
  });
}

function stackTicks({ top, unit = "" }) {
  const ticks = niceTicks(0, top, 3, false);
  return { ticks, texts: labels(ticks, (tick, more) => short(tick, unit, more)) };
}

/** The chosen item with arrows from those it waits for and to those that wait for it, its deadline, and the
 *  stretch that is being chosen. */
export function drawOverlay(context, { scene, layout, view, chosen }) {
  const ink = readColors();
  const { margin } = layout;
  context.clearRect(0, 0, layout.width, layout.height);
  context.save();
  context.beginPath();
  context.rect(margin, 0, layout.right() - margin, layout.height);
  context.clip();
  if (view.to !== null) {
    const [left, right] = [layout.x(view.from), layout.x(view.to)].sort((a, b) => a - b);
    context.fillStyle = ink.accent + "33";
    context.fillRect(left, 0, right - left, layout.height);
  }
  if (chosen) {
    const others = [...scene.before(chosen), ...scene.after(chosen)];
    for (const item of others) outline(context, layout, item, ink.ink, 1);
    outline(context, layout, chosen, ink.ink, 2);
    for (const item of scene.before(chosen)) arrow(context, layout, item, chosen, ink);
    for (const item of scene.after(chosen)) arrow(context, layout, chosen, item, ink);
    if (typeof chosen.deadline === "number") {
      context.fillStyle = isLate(chosen) ? ink.bound : ink["ink-soft"];
      context.fillRect(layout.x(chosen.deadline) - 0.75, 0, 1.5, layout.marksTop + MARKS);
    }
  }
  context.restore();
}

function outline(context, layout, item, stroke, width) {
  const left = layout.x(item.start);
  context.strokeStyle = stroke;
  context.lineWidth = width;
  context.strokeRect(
    left,
    item.row * ROW + 3,
    Math.max(1, layout.x(item.end) - left),
    BOX,
  );
}

/** From inside the end of one box to inside the start of the other; along a row, over the boxes between. */
function arrow(context, layout, from, to, ink) {
  const inset = (item) => Math.min(6, (layout.x(item.end) - layout.x(item.start)) / 2);
  const [x1, x2] = [layout.x(from.end) - inset(from), layout.x(to.start) + inset(to)];
  const [y1, y2] = [from, to].map((item) => (item.row + 0.5) * ROW);
  const bend = Math.max(3, Math.min(50, (x2 - x1) / 2));
  const rise = from.row === to.row ? -BOX : (y2 - y1) * 0.35;
  const fall = from.row === to.row ? -BOX : (y1 - y2) * 0.35;
  for (const [width, stroke] of [
    [4, ink.panel + "cc"], // a light edge, so that it is seen over boxes of any colour
    [1.5, ink.ink],
  ]) {
    context.lineWidth = width;
    context.strokeStyle = stroke;
    context.beginPath();
    context.moveTo(x1, y1);
    context.bezierCurveTo(x1 + bend, y1 + rise, x2 - bend, y2 + fall, x2, y2);
    context.stroke();
  }
  context.save();
  context.translate(x2, y2);
  context.rotate(Math.atan2(-fall, bend));
  context.fillStyle = ink.ink;
  context.beginPath();
  context.moveTo(2, 0);
  context.lineTo(-7, -4);
  context.lineTo(-7, 4);
  context.fill();
  context.restore();
}
