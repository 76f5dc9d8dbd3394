// {unit, series: [names], rows: [{name, values, limit}], grouped, log, parts, rest}: stacked bars, or side by side.
import { category, categoryCss, color, h } from "../dom.js";
import { saveTools, withUnit } from "../save.js";
import { svgOf } from "../svg_context.js";
import { full, percent, short, text } from "../units.js";
import { slug } from "./facts.js";

const sumOf = (values) => values.reduce((sum, value) => sum + (value ?? 0), 0);

/** {chart, totals, used: [{name, at}] of the series that occur} of a view. */
function readBars(value) {
  const { series = [], rows, unit = "" } = value;
  const isShare = unit === "share";
  const isEmpty = (at) => Boolean(value.rest) && at === series.length - 1;
  const totals = rows.map(({ values }) => sumOf(values));
  const singles = rows.flatMap(({ values }) => values).filter((one) => one > 0);
  const reach = Math.max(
    ...(value.grouped ? singles : totals),
    ...rows.map(({ limit }) => limit ?? 0),
    isShare ? 1 : 1e-300,
  );
  const least = value.log ? Math.min(...singles, reach) / 2 : 0;
  const place = (number) =>
    value.log
      ? number > least
        ? Math.log(number / least) / Math.log(reach / least)
        : 0
      : number / reach;
  const chart = { ...value, series, unit, reach, place, isEmpty, total: sumOf(totals) };
  const used = series
    .map((name, at) => ({ name, at }))
    .filter(({ at }) => !isEmpty(at) && rows.some(({ values }) => values[at] > 0));
  return { chart, totals, used };
}

/** What saves the bars of a view. */
export function saveBars(value) {
  const { chart, used } = readBars(value);
  const { rows, series, unit } = chart;
  return saveTools(value.title ?? value.id, {
    svg: () => svgOf(760, 30 + rows.length * 24, (context) => drawBars(context, chart, used)),
    csv: () => [
      ["name", ...(series.length > 0 ? series : ["value"]).map((name) => withUnit(name, unit)), "limit"],
      ...rows.map((row) => [row.name, ...row.values, row.limit]),
    ],
  });
}

export function barsPanel(value) {
  if (!Array.isArray(value.rows) || value.rows.length === 0) return null;
  const { chart, totals, used } = readBars(value);
  return h(
    "div",
    {},
    chart.series.length > 1 &&
      h(
        "p",
        { class: "legend" },
        used.map(({ name, at }) =>
          h("span", {}, h("i", { style: { background: categoryCss(at) } }), name),
        ),
        value.log && h("span", { class: "muted" }, "bars are logarithmic"),
      ),
    value.parts || value.grouped ? partsTable(chart) : sums(chart, totals),
    saveBars(value),
  );
}

/** The bars as they are saved: names at the left, sums at the right, the legend above. */
function drawBars(context, { rows, unit, place, grouped, rest, isEmpty }, used) {
  const letter = 6.8;
  const left = 16 + letter * Math.max(...rows.map(({ name }) => String(name).length));
  const wide = 760 - left - 110;
  context.font = "12px system-ui, sans-serif";
  let at = left;
  for (const { name, at: series } of used.length > 1 ? used : []) {
    context.fillStyle = category(series);
    context.fillRect(at, 6, 10, 10);
    context.fillStyle = color("ink-soft");
    context.fillText(name, at + 15, 15);
    at += 34 + letter * String(name).length;
  }
  rows.forEach(({ name, values, limit }, row) => {
    const top = 26 + row * 24;
    const tall = grouped ? 18 / Math.max(1, values.length) : 18;
    let begun = 0;
    values.forEach((value, series) => {
      if (!(value > 0)) return;
      const from = grouped || begun === 0 ? 0 : place(begun);
      const to = place(grouped ? value : begun + value);
      begun += value;
      if (isEmpty(series)) return;
      context.fillStyle = category(series);
      context.fillRect(left + from * wide, top + (grouped ? series * tall : 0), (to - from) * wide, tall);
    });
    if (limit > 0) {
      context.fillStyle = color("bound");
      context.fillRect(left + place(limit) * wide - 2, top, 2, 18);
    }
    context.fillStyle = color("ink");
    context.textAlign = "right";
    context.fillText(String(name), left - 8, top + 13);
    context.textAlign = "left";
    // beside each other, or with a rest, a sum means nothing
    const shown = grouped || rest ? values.map((value) => short(value, unit)).join(", ") : text(sumOf(values), unit);
    context.fillText(shown, left + wide + 8, top + 13);
  });
}

function track(chart, { name, values, limit }) {
  const { series, unit, place, isEmpty } = chart;
  const bar = (part, at, width) =>
    h("span", {
      title: `${name}${series.length > 1 ? ` ${series[at]}` : ""}: ${full(part, unit)}`,
      style: {
        width: `${width * 100}%`,
        background: isEmpty(at) ? "transparent" : categoryCss(at),
      },
    });
  const shown = values.map((part, at) => ({ part, at })).filter(({ part }) => part > 0);
  let begun = 0;
  // On a log axis the stack is cut where its running sum stands.
  const stacked = shown.map(({ part, at }) => {
    const width = place(begun + part) - (begun > 0 ? place(begun) : 0);
    begun += part;
    return bar(part, at, width);
  });
  return h(
    "span",
    {
      class: chart.grouped ? "bar-track grouped" : "bar-track",
      role: "img",
      "aria-label": `${name}: ${values.map((part, at) => `${series[at]} ${text(part, unit)}`).join(", ")}`,
    },
    chart.grouped ? shown.map(({ part, at }) => bar(part, at, place(part))) : stacked,
    limit > 0 &&
      h("i", { class: "bar-limit", title: `limit ${full(limit, unit)}`, style: { left: `${place(limit) * 100}%` } }),
  );
}

/** Of the limit where bars have one, else of all bars together. */
function shareText({ id, unit, rows, total }, value, { name, limit }) {
  const whole = rows.some((row) => row.limit > 0) ? limit : total;
  if (unit === "share" || !(whole > 0)) return null;
  const title = whole === limit ? "of the limit" : "of all";
  return h("small", { title, "data-testid": `${id}-${slug(name)}-share`, "data-value": value / whole }, ` ${percent(value / whole)}`);
}

function sums(chart, totals) {
  return h(
    "div",
    { class: "bars" },
    chart.rows.map((row, at) =>
      h(
        "div",
        { class: "bar-row" },
        h("span", { class: "bar-name" }, row.name),
        track(chart, row),
        h(
          "span",
          {
            class: "bar-value",
            title: full(totals[at], chart.unit),
            "data-value": totals[at],
            "data-testid": `${chart.id}-${slug(row.name)}`,
          },
          text(totals[at], chart.unit),
          shareText(chart, totals[at], row),
        ),
      ),
    ),
  );
}

/** The numbers of all series beside their bar. */
function partsTable(chart) {
  return h(
    "div",
    { class: "table-box" },
    h(
      "table",
      { class: "parts" },
      h("caption", {}, chart.title),
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("td", {}),
          h("td", { class: "bar-cell" }),
          chart.series.map((name) => h("th", { scope: "col" }, name)),
        ),
      ),
      h(
        "tbody",
        {},
        chart.rows.map((row, at) =>
          h(
            "tr",
            { "data-testid": `${chart.id}-row-${at}` },
            h("th", { scope: "row", class: "text" }, row.name),
            h("td", { class: "bar-cell" }, track(chart, row)),
            row.values.map((part, place) =>
              h(
                "td",
                {
                  title: full(part, chart.unit),
                  "data-testid": `${chart.id}-${at}-${place}`,
                  "data-value": part,
                },
                short(part, chart.unit),
              ),
            ),
          ),
        ),
      ),
    ),
  );
}
