// Elements as expressions: h("td", {class: "number"}, text). Text is always set as text.
const SVG_TAGS = new Set([
  "svg",
  "g",
  "path",
  "rect",
  "line",
  "text",
  "circle",
  "title",
  "defs",
  "clipPath",
  "marker",
  "polyline",
]);

// Asked from the parser, so that the page holds no address at all.
const SVG_SPACE = (() => {
  const template = document.createElement("template");
  template.innerHTML = "<svg></svg>";
  return template.content.firstChild.namespaceURI;
})();

export function h(tag, attributes = {}, ...children) {
  const element = SVG_TAGS.has(tag)
    ? document.createElementNS(SVG_SPACE, tag)
    : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style" && typeof value === "object") setStyle(element, value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(
    ...children
      .flat(Infinity)
      .filter((child) => child !== null && child !== undefined && child !== false),
  );
  return element;
}

function setStyle(element, style) {
  for (const [name, value] of Object.entries(style)) element.style.setProperty(name, value);
}

/** A section with a heading; `tools` are the controls at its right. */
export function panel({ title, hint, id, tools = [], wide = false }, ...children) {
  const heading = `${id}-title`;
  return h(
    "section",
    // a group: a landmark for each of so many panels would help nobody
    { class: wide ? "panel wide" : "panel", id, role: "group", "aria-labelledby": heading },
    h(
      "header",
      { class: "panel-head" },
      h("div", {}, h("h2", { id: heading }, title), hint && h("p", { class: "hint" }, hint)),
      tools.length > 0 && h("div", { class: "tools" }, tools),
    ),
    ...children,
  );
}

export function checkbox(label, checked, onchange) {
  const input = h("input", { type: "checkbox", onchange: () => onchange(input.checked) });
  input.checked = checked;
  return h("label", { class: "check" }, input, label);
}

export function select(label, options, value, onchange) {
  const element = h(
    "select",
    { "aria-label": label, onchange: () => onchange(element.value) },
    options.map(([key, text]) => h("option", { value: key }, text)),
  );
  element.value = String(value);
  return element;
}

/** A canvas of the width of its box that draws itself again when box or theme change. What `drawOver` draws lies
 *  above it and is drawn alone by `paintOver`. */
export function canvas(height, label, draw, drawOver) {
  const element = h("canvas", { role: "img", "aria-label": label });
  const above = drawOver && h("canvas", { class: "above", "aria-hidden": "true" });
  const box = h("div", { class: "canvas-box" }, element, above);
  const fit = (target) => {
    const width = box.clientWidth;
    const scale = globalThis.devicePixelRatio || 1;
    target.width = Math.round(width * scale);
    target.height = Math.round(height * scale);
    target.style.width = `${width}px`;
    target.style.height = `${height}px`;
    const context = target.getContext("2d");
    context.scale(scale, scale);
    return [context, width, height];
  };
  const paintOver = () => above && box.clientWidth > 0 && drawOver(...fit(above));
  const paint = () => {
    if (!box.clientWidth) return;
    draw(...fit(element));
    paintOver();
  };
  watch(box, paint);
  return { box, element, paint, paintOver };
}

const unpainted = [];

/** Calls `paint` when the box gets its size, changes its width, or the theme changes. */
export function watch(box, paint) {
  let width = 0;
  const fit = () => {
    if (box.clientWidth === width) return;
    width = box.clientWidth;
    paint();
  };
  unpainted.push(fit);
  new ResizeObserver(fit).observe(box);
  document.addEventListener("themechange", () => box.isConnected && paint());
}

/** Paints every box that has a size by now, without waiting for the browser to report it. */
export function paintWaiting() {
  for (const fit of unpainted.splice(0)) fit();
}

export function color(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

export const PALETTE_SIZE = 12;
export const categoryVariable = (index) => `series-${(index % PALETTE_SIZE) + 1}`;
export const category = (index) => color(categoryVariable(index));
export const categoryCss = (index) => `var(--${categoryVariable(index)})`;
