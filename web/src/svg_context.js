// A drawing context that makes SVG of what is drawn on it: the part of a canvas' that the page's drawings use.
import { color, h } from "./dom.js";

const ANCHORS = { left: "start", start: "start", center: "middle", right: "end", end: "end" };
const BASELINES = { middle: "central", top: "hanging", alphabetic: undefined };
const number = (value) => Number(value.toFixed(2));

/** The SVG element of what `draw(context, width, height)` draws. */
export function svgOf(width, height, draw) {
  const context = new SvgContext(width, height);
  draw(context, width, height);
  return context.root;
}

class SvgContext {
  fillStyle = "#000";
  strokeStyle = "#000";
  lineWidth = 1;
  font = "12px sans-serif";
  textAlign = "left";
  textBaseline = "alphabetic";
  globalCompositeOperation = "source-over";

  constructor(width, height) {
    this.root = h("svg", { viewBox: `0 0 ${width} ${height}`, width, height });
    this.parent = this.root;
    this.moves = "";
    this.dash = [];
    this.kept = [];
    this.clips = 0;
    this.path = "";
    this.meter = document.createElement("canvas").getContext("2d");
  }

  static KEPT = ["fillStyle", "strokeStyle", "lineWidth", "font", "textAlign", "textBaseline", "globalCompositeOperation", "parent", "moves", "dash"];

  save() {
    this.kept.push(SvgContext.KEPT.map((name) => this[name]));
  }
  restore() {
    this.kept.pop()?.forEach((value, at) => (this[SvgContext.KEPT[at]] = value));
  }
  translate(x, y) {
    this.moves += `translate(${number(x)} ${number(y)}) `;
  }
  rotate(angle) {
    this.moves += `rotate(${number((angle * 180) / Math.PI)}) `;
  }
  scale() {}
  setLineDash(dash) {
    this.dash = dash;
  }
  measureText(text) {
    this.meter.font = this.font;
    return this.meter.measureText(text);
  }
  createPattern() {
    return null;
  }
  clearRect() {}
  add(tag, attributes, ...children) {
    const element = h(tag, { ...attributes, transform: this.moves || undefined }, ...children);
    if (this.globalCompositeOperation === "destination-over") this.parent.prepend(element);
    else this.parent.append(element);
  }
  /** Patterns (hatching) become a veil. */
  paint() {
    return typeof this.fillStyle === "string" ? { fill: this.fillStyle } : { fill: color("panel"), "fill-opacity": 0.45 };
  }
  line() {
    return { fill: "none", stroke: this.strokeStyle, "stroke-width": this.lineWidth, "stroke-dasharray": this.dash.join(" ") || undefined };
  }
  box(x, y, width, height) {
    return { x: number(x), y: number(y), width: number(Math.max(0, width)), height: number(Math.max(0, height)) };
  }
  fillRect(x, y, width, height) {
    this.add("rect", { ...this.box(x, y, width, height), ...this.paint() });
  }
  strokeRect(x, y, width, height) {
    this.add("rect", { ...this.box(x, y, width, height), ...this.line() });
  }
  fillText(text, x, y) {
    const { size, family } = /(?<size>[\d.]+px)\s+(?<family>.*)$/.exec(this.font)?.groups ?? {};
    this.add(
      "text",
      {
        x: number(x),
        y: number(y),
        fill: this.fillStyle,
        "font-size": size,
        "font-family": family,
        "text-anchor": ANCHORS[this.textAlign],
        "dominant-baseline": BASELINES[this.textBaseline],
      },
      String(text),
    );
  }
  beginPath() {
    this.path = "";
  }
  moveTo(x, y) {
    this.path += `M${number(x)} ${number(y)}`;
  }
  lineTo(x, y) {
    this.path += `L${number(x)} ${number(y)}`;
  }
  bezierCurveTo(...places) {
    this.path += `C${places.map(number).join(" ")}`;
  }
  rect(x, y, width, height) {
    this.path += `M${number(x)} ${number(y)}h${number(width)}v${number(height)}h${number(-width)}z`;
  }
  stroke() {
    this.add("path", { d: this.path, ...this.line() });
  }
  fill() {
    this.add("path", { d: this.path, ...this.paint() });
  }
  /** What follows until `restore` goes into a group that is cut. */
  clip() {
    const id = `cut-${++this.clips}`;
    this.root.append(h("defs", {}, h("clipPath", { id }, h("path", { d: this.path }))));
    const group = h("g", { "clip-path": `url(#${id})` });
    this.parent.append(group);
    this.parent = group;
  }
}
