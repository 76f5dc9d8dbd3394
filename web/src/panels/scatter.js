// Points over two axes, with lines: {axes: [{name, unit, better, log}], points: [{name, group, values, spread, marked}],
// lines: [{name, points: [[x, y]]}]}. Where axes say what is better, the front is drawn and what it beats is grey,
// but for marked points.
import { niceTicks } from "../chart.js";
import { categoryCss, checkbox, h, select, watch } from "../dom.js";
import { saveTools, withUnit } from "../save.js";
import { full, labels, plural, short, title } from "../units.js";

const HEIGHT = 320;
const APART = 6; // pixels between names
const EDGE = { top: 14, right: 20, bottom: 46 };
const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

/** Nobody else is at least as good in all of these axes and better in one. */
function isOnFront(point, points, axes) {
  const cost = (one, { at, better }) => (better < 0 ? one.values[at] : -one.values[at]);
  return !points.some(
    (other) =>
      axes.every((axis) => cost(other, axis) <= cost(point, axis)) &&
      axes.some((axis) => cost(other, axis) < cost(point, axis)),
  );
}

/** `isFrontShown`: the front of the two axes that are shown, not of all. */
export function scatterPanel(value, { isFrontShown = false } = {}) {
  const axes = (value.axes ?? []).map((axis, at) => ({ ...axis, at }));
  const points = (value.points ?? []).filter((point) => Array.isArray(point.values));
  if (axes.length < 2 || points.length + (value.lines?.length ?? 0) === 0) return null;
  const view = { x: 0, y: 1, isLog: [Boolean(axes[0].log), Boolean(axes[1].log)] };
  const scene = {
    id: value.id,
    axes,
    points,
    lines: value.lines ?? [],
    isFrontShown,
    groups: [...new Set(points.map((point) => point.group).filter((group) => group !== undefined))],
    readout: h("p", { class: "readout", "data-testid": `${value.id}-readout` }, `${plural(points.length, "point")}.`),
  };
  const box = h("div", { class: "chart" });
  const draw = () => box.clientWidth > 0 && box.replaceChildren(picture(scene, view, box.clientWidth));
  watch(box, draw);
  const choose = (axis, at) =>
    select(
      `Shown along ${axis}`,
      axes.map(({ name }, place) => [place, title(name)]),
      view[axis],
      (place) => {
        view[axis] = Number(place);
        view.isLog[at] = Boolean(axes[view[axis]].log);
        draw();
      },
    );
  const log = (text, at) =>
    checkbox(text, view.isLog[at], (on) => {
      view.isLog[at] = on;
      draw();
    });
  return h(
    "div",
    { class: "scatter" },
    h(
      "p",
      { class: "tools" },
      axes.length > 2 && [h("span", { class: "choose" }, "x ", choose("x", 0)), h("span", { class: "choose" }, "y ", choose("y", 1))],
      log("log x", 0),
      log("log y", 1),
    ),
    box,
    h(
      "p",
      { class: "legend" },
      scene.groups.map((group, at) =>
        h("span", {}, h("i", { style: { background: categoryCss(at) } }), String(group)),
      ),
      scene.lines.map((line, at) =>
        h("span", {}, h("i", { class: "sign-line", style: { background: lineCss(at) } }), line.name),
      ),
      axes.some(({ better }) => better) &&
        h("span", { class: "muted" }, "grey: another point is at least as good in everything"),
    ),
    scene.readout,
    saveTools(value.title ?? value.id, {
      svg: () => box.querySelector("svg"),
      csv: () => [
        ["name", "group", ...axes.map((axis) => withUnit(title(axis.name), axis.unit)), "spread"],
        ...points.map((point) => [point.name, point.group, ...point.values, point.spread]),
        ...scene.lines.flatMap((line) => line.points.map((place) => [line.name, "line", ...place])),
      ],
    }),
  );
}

const lineCss = (at) => (at === 0 ? "var(--accent)" : categoryCss(at));

/** A scale that holds all values with a margin: {place(value) from 0 to 1, ticks(wanted)}. */
function makeScale(values, wantsLog) {
  const known = values.filter(isNumber);
  const isLog = wantsLog && known.every((value) => value > 0);
  const to = (value) => (isLog ? Math.log10(value) : value);
  const low = Math.min(...known.map(to));
  const high = Math.max(...known.map(to));
  const margin = (high - low || Math.abs(high) * 0.1 || 1) * 0.06;
  const [from, until] = [low - margin, high + margin];
  const back = (value) => (isLog ? 10 ** value : value);
  return {
    place: (value) => (to(value) - from) / (until - from),
    ticks: (wanted) => niceTicks(back(from), back(until), wanted, isLog),
  };
}

function picture(scene, view, width) {
  const [x, y] = [scene.axes[view.x], scene.axes[view.y]];
  // Lines are of the first two axes.
  const lines = view.x === 0 && view.y === 1 ? scene.lines : [];
  const along = (axis, at) => [
    ...scene.points.map((point) => point.values[axis.at]),
    ...lines.flatMap((line) => line.points.map((point) => point[at])),
  ];
  const spreads = scene.points
    .filter((point) => point.spread > 0 && view.y === 1)
    .flatMap((point) => [point.values[1] - point.spread, point.values[1] + point.spread]);
  const scaleX = makeScale(along(x, 0), view.isLog[0]);
  const scaleY = makeScale([...along(y, 1), ...spreads], view.isLog[1]);
  const ticksY = scaleY.ticks(6);
  const textsY = labels(ticksY, (tick, more) => short(tick, y.unit, more));
  const left = Math.max(64, 32 + 6.8 * Math.max(...textsY.map((text) => text.length)));
  const toX = (value) => left + scaleX.place(value) * (width - left - EDGE.right);
  const toY = (value) => HEIGHT - EDGE.bottom - scaleY.place(value) * (HEIGHT - EDGE.top - EDGE.bottom);
  const allX = scaleX.ticks(Math.max(2, Math.floor((width - left) / 100)));
  const ticksX = thinned(allX, labels(allX, (tick, more) => short(tick, x.unit, more)), toX);
  const textsX = labels(ticksX, (tick, more) => short(tick, x.unit, more));
  const shown = scene.points.filter(
    (point) => isNumber(point.values[x.at]) && isNumber(point.values[y.at]),
  );
  const judged = (scene.isFrontShown ? [x, y] : scene.axes).filter(({ better }) => better);
  const front = new Set(
    judged.length < 2 ? [] : shown.filter((point) => isOnFront(point, shown, judged)),
  );
  const tools = { scene, view, x, y, toX, toY, shown, front, left, right: width - EDGE.right };
  const named = nameable(tools);
  return h(
    "svg",
    {
      width,
      height: HEIGHT,
      viewBox: `0 0 ${width} ${HEIGHT}`,
      role: "img",
      "aria-label": `${title(y.name)} against ${title(x.name)}, ${plural(shown.length, "point")}`,
    },
    ticksX.map((tick, at) => [
      h("path", { class: "grid-line", d: `M${toX(tick)} ${EDGE.top}V${HEIGHT - EDGE.bottom}` }),
      h("text", { class: "tick", x: tickPlace(toX(tick), textsX[at], width), y: HEIGHT - EDGE.bottom + 16, "text-anchor": "middle" }, textsX[at]),
    ]),
    ticksY.map((tick, at) => [
      h("path", { class: "grid-line", d: `M${left} ${toY(tick)}H${width - EDGE.right}` }),
      h("text", { class: "tick", x: left - 8, y: toY(tick) + 4, "text-anchor": "end" }, textsY[at]),
    ]),
    h("text", { class: "axis-name", x: (left + width - EDGE.right) / 2, y: HEIGHT - 8, "text-anchor": "middle" }, title(x.name)),
    h(
      "text",
      { class: "axis-name", x: 14, y: HEIGHT / 2, "text-anchor": "middle", transform: `rotate(-90 14 ${HEIGHT / 2})` },
      title(y.name),
    ),
    lines.map((line, at) => lineOf(line, at, tools)),
    frontLine(tools, judged),
    // The front lies above what it beats, and marked points above all.
    [...shown]
      .sort((a, b) => weightOf(a, front) - weightOf(b, front))
      .map((point) => pointOf(point, tools, named.get(point))),
  );
}

/** Every tick, or every second, ..., so that no text runs into the next. */
function thinned(ticks, texts, toX) {
  const isClose = (at, next) => toX(ticks[next]) - toX(ticks[at]) < 3.4 * (texts[at].length + texts[next].length) + APART;
  let every = 1;
  while (every < ticks.length && ticks.some((_, at) => at + every < ticks.length && isClose(at, at + every))) every++;
  return ticks.filter((_, at) => at % every === 0);
}

/** Labels at the right end move in rather than being cut. */
const tickPlace = (x, text, width) => Math.min(x, width - text.length * 3.4 - 2);

function lineOf(line, at, { toX, toY }) {
  const known = line.points.filter(([a, b]) => isNumber(a) && isNumber(b));
  const d = known.map(([a, b], place) => `${place ? "L" : "M"}${toX(a)} ${toY(b)}`).join("");
  return [
    h("path", { class: "line-of", style: { stroke: lineCss(at) }, d }),
    known.length <= 40 &&
      known.map(([a, b]) =>
        h("circle", { class: "on-line", cx: toX(a), cy: toY(b), r: 2.5, style: { fill: lineCss(at) } }),
      ),
  ];
}

/** Stairs along the front, where it is one of two axes. */
function frontLine({ x, y, toX, toY, front }, judged) {
  const isFlat = judged.length === 2 && judged.includes(x) && judged.includes(y);
  if (!isFlat || front.size < 2) return null;
  const points = [...front].sort((a, b) => a.values[x.at] - b.values[x.at]);
  const d = points
    .map(({ values }, at) =>
      at === 0
        ? `M${toX(values[x.at])} ${toY(values[y.at])}`
        : x.better < 0
          ? `H${toX(values[x.at])}V${toY(values[y.at])}`
          : `V${toY(values[y.at])}H${toX(values[x.at])}`,
    )
    .join("");
  return h("path", { class: "front-line", d });
}

/** What is drawn last and named first. */
const weightOf = (point, front) => 2 * Boolean(point.marked) + front.has(point);

/** Where names have room, those of marked points and of the front first: {x, y, anchor} by point. */
function nameable({ x, y, toX, toY, shown, front, left: least, right }) {
  const places = new Map();
  // names lie on no other point
  const dots = shown.map((point) => ({ point, x: toX(point.values[x.at]), y: toY(point.values[y.at]) }));
  const taken = [];
  const named = shown.filter((point) => point.name !== undefined);
  for (const point of named.sort((a, b) => weightOf(b, front) - weightOf(a, front)).slice(0, 60)) {
    const wide = String(point.name).length * 6.6;
    const [a, b] = [toX(point.values[x.at]), toY(point.values[y.at])];
    const middle = Math.max(least, Math.min(a - wide / 2, right - wide));
    const sides = [
      { left: a + 9, x: a + 9, y: b - 4, anchor: "start" },
      { left: a - 9 - wide, x: a - 9, y: b - 4, anchor: "end" },
      // a marked point has its name above or below itself where there is no place beside it
      ...(point.marked ? [b - 12, b + 20].map((y) => ({ left: middle, x: middle, y, anchor: "start" })) : []),
    ];
    for (const { left, ...place } of sides) {
      const box = { left, right: left + wide, top: place.y - 10, bottom: place.y + 4 };
      const isFree = taken.every(
        (one) => box.right + APART < one.left || box.left > one.right + APART || box.bottom < one.top || box.top > one.bottom,
      );
      const isOnDot = dots.some((dot) => dot.point !== point && dot.x > box.left - 6 && dot.x < box.right + 6 && dot.y > box.top - 4 && dot.y < box.bottom + 4);
      if (!isFree || (isOnDot && !point.marked) || box.right > right || box.left < least) continue;
      taken.push(box);
      places.set(point, place);
      break;
    }
  }
  return places;
}

function pointOf(point, { scene, view, x, y, toX, toY, front }, named) {
  const [a, b] = [point.values[x.at], point.values[y.at]];
  const isBeaten = front.size > 0 && !front.has(point) && !point.marked;
  const fill = isBeaten
    ? "var(--ink-faint)"
    : point.group !== undefined
      ? categoryCss(scene.groups.indexOf(point.group))
      : front.size > 0
        ? "var(--accent)"
        : "var(--bound)";
  const words = [
    point.name,
    point.group,
    ...scene.axes.map((axis) => `${title(axis.name)} ${short(point.values[axis.at], axis.unit)}`),
  ].filter((word) => word !== undefined);
  return h(
    "g",
    { class: "point", onmouseenter: () => (scene.readout.textContent = words.join(" · ")) },
    h("title", {}, [...words, full(a, x.unit), full(b, y.unit)].join("\n")),
    point.spread > 0 &&
      view.y === 1 &&
      h("path", { class: "spread", d: `M${toX(a)} ${toY(b - point.spread)}V${toY(b + point.spread)}` }),
    h("circle", {
      cx: toX(a),
      cy: toY(b),
      r: isBeaten ? 4 : 5.5,
      style: { fill },
      "data-testid": `${scene.id}-point`,
      "data-value": `${a},${b}`,
      "data-front": front.has(point) ? "true" : undefined,
    }),
    named && h("text", { class: "point-name", x: named.x, y: named.y, "text-anchor": named.anchor }, point.name),
  );
}
