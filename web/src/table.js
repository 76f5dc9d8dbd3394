// Tables that sort by their headings; rows may be chosen with mouse or keyboard.
import { h } from "./dom.js";
import { count } from "./units.js";

const MOST = 100; // rows shown at first: more take the browser long, and nobody reads them

/**
 * columns: [{key, title, help, align, value(row) for sorting, cell(row, index)}]
 * options: caption, onpick(row), isPicked(row), rowid(row), sort: [key, direction], class
 */
export function sortableTable(columns, rows, options = {}) {
  let [sortKey, direction] = options.sort ?? [null, 1];
  let filter = () => true;
  const body = h("tbody");
  const heads = columns.map((column) => {
    const button =
      column.value &&
      h(
        "button",
        { type: "button", class: "sort", onclick: () => sortBy(column.key) },
        column.title,
      );
    return h(
      "th",
      { scope: "col", class: column.align ?? "number", title: column.help },
      button ?? column.title,
    );
  });
  const made = new Map(); // rows that were shown once: their elements
  const elementOf = (row) => {
    if (!made.has(row)) made.set(row, makeRow(row));
    return made.get(row);
  };
  let most = MOST;
  const more = h("button", { type: "button", class: "more-rows", onclick: () => ((most = Infinity), show()) });

  function makeRow(row) {
    const pick = options.onpick && (() => options.onpick(row));
    return h(
      "tr",
      {
        tabindex: pick && "0",
        "data-testid": options.rowid?.(row),
        onclick: pick,
        onkeydown:
          pick &&
          ((event) => {
            if (event.key === "Enter" || event.key === " ") {
              event.preventDefault();
              pick();
            }
            if (event.key === "ArrowDown") event.currentTarget.nextElementSibling?.focus();
            if (event.key === "ArrowUp") event.currentTarget.previousElementSibling?.focus();
          }),
      },
      columns.map((column, at) =>
        h(
          at === 0 ? "th" : "td",
          { scope: at === 0 && "row", class: column.align ?? "number" },
          column.cell(row),
        ),
      ),
    );
  }

  function sortBy(key) {
    direction = sortKey === key ? -direction : 1;
    sortKey = key;
    show();
  }

  function show() {
    const column = columns.find(({ key }) => key === sortKey);
    const found = rows.filter(filter);
    if (column) found.sort((a, b) => direction * compare(column.value(a), column.value(b)));
    // The chosen row is among those shown.
    const shown = found.filter((row, at) => at < most || options.isPicked?.(row));
    columns.forEach((one, at) =>
      heads[at].setAttribute(
        "aria-sort",
        one.key !== sortKey ? "none" : direction > 0 ? "ascending" : "descending",
      ),
    );
    body.replaceChildren(...shown.map(elementOf));
    more.textContent = `show all ${count(found.length)} rows`;
    more.hidden = shown.length === found.length;
    mark();
  }

  function mark() {
    for (const [row, element] of made) {
      const picked = Boolean(options.isPicked?.(row));
      element.classList.toggle("picked", picked);
      if (options.onpick) element.setAttribute("aria-selected", String(picked));
    }
  }

  show();
  const table = h(
    "table",
    { class: options.class },
    h("caption", {}, options.caption),
    h("thead", {}, h("tr", {}, heads)),
    body,
  );
  return {
    element: h(
      "div",
      { class: "table-box", tabindex: "0", role: "group", "aria-label": options.caption },
      table,
      more,
    ),
    mark: () => {
      if (rows.some((row) => options.isPicked?.(row) && !made.has(row))) show();
      else mark();
    },
    setFilter(test) {
      filter = test;
      show();
    },
  };
}

function compare(a, b) {
  const missing = (value) => value === null || value === undefined || Number.isNaN(value);
  if (missing(a) || missing(b)) return missing(a) - missing(b);
  return typeof a === "string" ? a.localeCompare(b, "en", { numeric: true }) : a - b;
}
