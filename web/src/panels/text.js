// {keywords, blocks: [{title, depth, note, tags: [{text, help, off}], text}]}: lines of code in boxes, each inside the
// nearest one before it that is less deep.
import { categoryCss, h } from "../dom.js";

export function textPanel(value) {
  const blocks = value.blocks;
  if (!Array.isArray(blocks) || blocks.length === 0) return null;
  const keywords = new Set(String(value.keywords ?? "").split(" ").filter(Boolean));
  const root = h("div", { class: "blocks", tabindex: "0", role: "group", "aria-label": value.title });
  const open = [{ depth: -1, element: root }];
  blocks.forEach((block, at) => {
    const depth = block.depth ?? 0;
    while (open.at(-1).depth >= depth) open.pop();
    const element = blockBox(block, at, keywords);
    open.at(-1).element.append(element);
    open.push({ depth, element });
  });
  return root;
}

function blockBox(block, at, keywords) {
  const lines = String(block.text ?? "")
    .replace(/\n$/, "")
    .split("\n")
    .filter((line, _, all) => line || all.length > 1)
    .map((line) => h("p", { class: "line" }, highlight(line, keywords)));
  if (!block.title) return h("div", { class: "plain-block" }, lines);
  return h(
    "div",
    { class: "block", style: { "--block": categoryCss(at) } },
    h(
      "div",
      { class: "block-head" },
      h("strong", {}, block.title),
      (block.tags ?? []).map((tag) =>
        h("span", { class: tag.off ? "tag off" : "tag", title: tag.help }, tag.text),
      ),
      block.note && h("span", { class: "block-note" }, block.note),
    ),
    lines,
  );
}

/** Keywords quiet, numbers heavy, the rest as it stands. */
function highlight(line, keywords) {
  return line
    .split(/([A-Za-z_]+|\d[\d.,]*)/)
    .map((part) =>
      keywords.has(part)
        ? h("span", { class: "word" }, part)
        : /^\d/.test(part)
          ? h("b", {}, part)
          : part,
    );
}
