// Numbers for people: engineering prefixes, and the full value for the title attribute.
const PREFIXES = [
  [1e24, "Y"],
  [1e21, "Z"],
  [1e18, "E"],
  [1e15, "P"],
  [1e12, "T"],
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
  [1, ""],
  [1e-3, "m"],
  [1e-6, "µ"],
  [1e-9, "n"],
  [1e-12, "p"],
  [1e-15, "f"],
];

// Unit of the files -> factor to the unit that takes prefixes, and that unit.
const BASE = {
  pJ: [1e-12, "J"],
  "pJ.cycle": [1e-12, "J·cycle"],
  mW: [1e-3, "W"],
  cycle: [1, "cycles"],
  s: [1, "s"],
  B: [1, "B"],
  "B/s": [1, "B/s"],
  Hz: [1, "Hz"],
  "op/s": [1, "op/s"],
  MAC: [1, "MAC"],
  word: [1, "words"],
};

let metrics = {};
let ranks = new Map();
export function setMetrics(table) {
  metrics = table ?? {};
  ranks = new Map(Object.keys(metrics).map((name, at) => [name, at]));
}

// Metrics without unit that are parts of a whole read better in percent.
const SHARES = new Set([
  "utilisation",
  "bandwidth_use",
  "drop_rate",
  "miss_rate",
  "accuracy",
  "test_accuracy",
  "float_accuracy",
  "integer_accuracy",
]);

export const unitOf = (metric) => (SHARES.has(metric) ? "share" : (metrics[metric]?.unit ?? ""));
export const helpOf = (metric) => metrics[metric]?.help ?? "";
/** A total over tasks is their sum, each as often as it occurs. */
export const isSum = (metric) => metrics[metric]?.total === "sum";
export const isMetric = (name) => Object.hasOwn(metrics, name);
/** -1: smaller is better, +1: larger is; 0: not a metric. */
export const betterOf = (name) => metrics[name]?.direction ?? 0;
/** Metrics are listed with those first that people look for first. */
export const rankOf = (name) => ranks.get(name) ?? -1;

/** Scores are minimised; a maximised objective is logged negated. */
export function isMaximised(objective) {
  return metrics[objective]?.direction > 0 || String(objective).startsWith("max:");
}

/** The value as its metric means it. */
export function natural(score, objective) {
  return typeof score === "number" && isMaximised(objective) && score < 0 ? -score : score;
}

function digits(value, more = 0) {
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size >= 1e5 || size < 1e-3) return value.toExponential(2 + more).replace("e+", "e");
  const places = size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3;
  return value.toFixed(places + more);
}

/** {number, unit}: `3.189e14` in pJ.cycle gives 318.9 and J·cycle; `more` digits than usual. */
export function split(value, unit = "", more = 0) {
  if (typeof value !== "number" || !Number.isFinite(value)) return { number: "–", unit: "" };
  if (unit === "share")
    return { number: value > 0 && value < 1e-5 ? "< 0.001" : digits(value * 100, more), unit: "%" };
  if (unit === "um2")
    return value >= 1e4
      ? { number: digits(value * 1e-6, more), unit: "mm²" }
      : { number: digits(value, more), unit: "µm²" };
  const known = BASE[unit];
  if (!known && unit && unit !== "1") return { number: digits(value, more), unit };
  const [factor, base] = known ?? [1, ""];
  const scaled = value * factor;
  const size = Math.abs(scaled);
  const smallest = base === "J" || base === "s" || base === "W" || base === "J·cycle" ? 1e-15 : 1;
  // 999.96 would print as 1000.0: step up one prefix early.
  const [scale, prefix] =
    size === 0
      ? [1, ""]
      : (PREFIXES.find(([step]) => step <= Math.max(smallest, size * 1.00004)) ?? [1, ""]);
  if (!base && scale === 1)
    return { number: Number.isInteger(scaled) ? String(scaled) : digits(scaled, more), unit: "" };
  if (scale === 1 && Number.isInteger(scaled)) return { number: String(scaled), unit: base };
  return { number: digits(scaled / scale, more), unit: prefix + base };
}

export function text(value, unit = "") {
  const parts = split(value, unit);
  return parts.unit ? `${parts.number}\u202f${parts.unit}` : parts.number;
}

/** The same without trailing zeros, for axes: 1 k, not 1.000 k. */
export function short(value, unit = "", more = 0) {
  const parts = split(value, unit, more);
  const number =
    parts.number.includes(".") && !parts.number.includes("e")
      ? parts.number.replace(/\.?0+$/, "")
      : parts.number;
  return parts.unit ? `${number}\u202f${parts.unit}` : number;
}

/** Labels of an axis, with as many digits as it takes to tell them apart; `format(value, more)`. */
export function labels(values, format) {
  const isClear = (texts) => new Set(texts).size === new Set(values).size;
  const made = Array.from({ length: 12 }, (_, more) => values.map((value) => format(value, more)));
  return made.find(isClear) ?? made[0];
}

/** Metric names as people write them. */
export const title = (metric) => (metric === "edp" ? "EDP" : String(metric).replaceAll("_", " "));

export const metricText = (value, metric) => text(value, unitOf(metric));

/** The exact value with digit groups, for title attributes. */
export function full(value, unit = "") {
  if (typeof value !== "number" || !Number.isFinite(value)) return "no value";
  const number =
    Math.abs(value) >= 1e15 || (value !== 0 && Math.abs(value) < 1e-4)
      ? String(value)
      : value.toLocaleString("en-US", { maximumSignificantDigits: 17 });
  const name =
    unit === "pJ.cycle"
      ? "pJ·cycle"
      : unit === "1" || unit === "share"
        ? ""
        : unit === "cycle"
          ? "cycles"
          : unit;
  return name ? `${number} ${name}` : number;
}

export function percent(share) {
  if (typeof share !== "number" || !Number.isFinite(share)) return "–";
  const value = share * 100;
  if (value === 0) return "0\u202f%";
  if (value < 0.01) return "<\u202f0.01\u202f%";
  return `${value >= 1e5 ? value.toExponential(1).replace("e+", "e") : value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2)}\u202f%`;
}

export function seconds(value) {
  if (typeof value !== "number" || value < 120) return text(value, "s");
  const minutes = Math.floor(value / 60);
  return minutes < 120
    ? `${minutes} min ${Math.round(value % 60)} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** The end of a long name tells more than its beginning. */
export const brief = (name, most) => (name.length > most ? `…${name.slice(1 - most)}` : name);

/** 1 item, 2 items, 3 boxes, 4 entries. */
export function plural(number, name) {
  const many = /[^aeiou]y$/.test(name)
    ? `${name.slice(0, -1)}ies`
    : `${name}${/(s|x|ch|sh)$/.test(name) ? "es" : "s"}`;
  return `${count(number)} ${number === 1 ? name : many}`;
}

export const count = (value) => (typeof value === "number" ? value.toLocaleString("en-US") : "–");
