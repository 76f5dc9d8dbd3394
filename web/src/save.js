// Every chart can be saved: as SVG, as PNG made from that, and its numbers as CSV.
import { color, h } from "./dom.js";

const INHERITED = [
  "fill",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "stroke-linejoin",
  "paint-order",
  "opacity",
  "font-family",
  "font-size",
  "font-weight",
  "text-anchor",
  "dominant-baseline",
];

/** `svg()` gives the drawing as an element (or null: not drawn yet), `csv()` rows with the heading first. */
export function saveTools(name, { svg, csv }) {
  const file = String(name ?? "chart").toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "") || "chart";
  const button = (kind, act) =>
    h(
      "button",
      { type: "button", class: "save", "data-testid": `save-${kind.toLowerCase()}`, "aria-label": `Save ${name} as ${kind}`, onclick: act },
      kind,
    );
  return h(
    "p",
    { class: "save-tools" },
    "save as ",
    svg && [
      button("SVG", () => {
        const text = svgText(svg());
        if (text) download(`${file}.svg`, new Blob([text], { type: "image/svg+xml" }));
      }),
      button("PNG", () => savePng(`${file}.png`, svgText(svg()))),
    ],
    button("CSV", () => download(`${file}.csv`, new Blob([csvText(csv())], { type: "text/csv" }))),
  );
}

export function csvText(rows) {
  const cell = (value) => {
    if (value === null || value === undefined || Number.isNaN(value)) return "";
    const text = String(value);
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return `${rows.map((row) => row.map(cell).join(",")).join("\n")}\n`;
}

/** A heading with its unit: "energy (pJ)". */
export const withUnit = (name, unit) => (unit && unit !== "1" ? `${name} (${unit})` : String(name));

/** A copy that needs no style sheet: what the page's gives it is written into it, on the colour of the panel. */
function svgText(drawing) {
  if (!drawing) return null;
  const copy = drawing.cloneNode(true);
  if (drawing.isConnected) inline(drawing, copy);
  const [x, y, width, height] = boxOf(drawing);
  copy.setAttribute("viewBox", [x, y, width, height].join(" "));
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  copy.prepend(h("rect", { x, y, width, height, fill: color("panel") }));
  return new XMLSerializer().serializeToString(copy);
}

/** [left, top, width, height] of what is drawn. */
function boxOf(drawing) {
  const box = drawing.getAttribute("viewBox");
  return box ? box.split(" ").map(Number) : [0, 0, ...["width", "height"].map((name) => Number(drawing.getAttribute(name)))];
}

/** Mixed colours as every program reads them. */
const plainColour = (text) =>
  text.replace(/^color\(srgb ([\d.e-]+) ([\d.e-]+) ([\d.e-]+)\)$/, (_, ...parts) => `rgb(${parts.slice(0, 3).map((part) => Math.round(255 * part)).join(",")})`);

function inline(from, to) {
  to.removeAttribute("style"); // may name colours of the style sheet
  const style = getComputedStyle(from);
  for (const name of INHERITED) to.style.setProperty(name, plainColour(style.getPropertyValue(name)));
  for (const name of ["class", "tabindex", "data-testid"]) to.removeAttribute(name);
  [...from.children].forEach((child, at) => inline(child, to.children[at]));
}

function savePng(file, text) {
  if (!text) return;
  const image = new Image();
  image.onload = () => {
    const canvas = h("canvas", { width: image.width * 2, height: image.height * 2 });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => download(file, blob), "image/png");
  };
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
}

function download(file, blob) {
  const address = URL.createObjectURL(blob);
  h("a", { href: address, download: file }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

/** Several drawings below each other as one. */
export function stacked(drawings) {
  if (drawings.length < 2) return drawings[0] ?? null;
  const boxes = drawings.map(boxOf);
  const width = Math.max(...boxes.map((box) => box[2]));
  let top = 0;
  const all = h("svg", {});
  drawings.forEach((one, at) => {
    const copy = one.cloneNode(true);
    inline(one, copy);
    copy.setAttribute("x", 0);
    copy.setAttribute("y", top);
    copy.setAttribute("width", boxes[at][2]);
    copy.setAttribute("height", boxes[at][3]);
    top += boxes[at][3];
    all.append(copy);
  });
  all.setAttribute("viewBox", `0 0 ${width} ${top}`);
  return all;
}
