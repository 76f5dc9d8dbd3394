// {columns: [{name, unit, help, bar}], rows: [[cell, ...]]}: a column without a unit holds texts.
import { h } from "../dom.js";
import { sortableTable } from "../table.js";
import { full, short } from "../units.js";

export function tablePanel(value) {
  const { columns, rows } = value;
  if (!Array.isArray(columns) || !Array.isArray(rows) || rows.length === 0) return null;
  const numbered = rows.map((cells, at) => ({ cells, at }));
  const made = columns.map((column, at) => {
    const isText = column.unit === undefined;
    return {
      key: String(at),
      title: column.name,
      help: column.help,
      align: isText ? "text" : column.bar ? "metered" : "number",
      value: (row) => row.cells[at],
      cell: (row) =>
        isText
          ? String(row.cells[at] ?? "–")
          : numberCell(row.cells[at], column, largest(rows, at, column), `${value.id}-${row.at}-${at}`),
    };
  });
  return sortableTable(made, numbered, {
    caption: value.title,
    rowid: (row) => `${value.id}-row-${row.at}`,
  }).element;
}

/** A share fills its bar at 1, another number at the largest of its column. */
function largest(rows, at, { unit }) {
  return unit === "share" ? 1 : Math.max(...rows.map((cells) => cells[at] ?? 0), 1e-300);
}

function numberCell(number, column, most, testid) {
  const isThere = typeof number === "number";
  const text = h(
    "span",
    {
      title: isThere ? full(number, column.unit) : undefined,
      "data-testid": testid,
      "data-value": isThere ? number : "",
    },
    isThere ? short(number, column.unit) : "–",
  );
  if (!column.bar || !isThere) return text;
  return h(
    "span",
    { class: "meter" },
    h(
      "span",
      { class: "meter-track", "aria-hidden": "true" },
      h("span", { style: { width: `${Math.min(1, Math.max(0, number / most)) * 100}%` } }),
    ),
    text,
  );
}
