// Cycles of a plan at other bandwidths: its queues stay as they are. The middle point is the platform's own.
import { lineChart, livingChart } from "./chart.js";
import { h } from "./dom.js";
import { metricText, short, unitOf } from "./units.js";

/** pairs: [[bytes per cycle, cycles], ...], by ascending bandwidth. */
export function cyclesByBandwidth(pairs) {
  if (!Array.isArray(pairs) || pairs.length < 2) return null;
  const box = h("div", { class: "chart" });
  const lines = [
    {
      name: "cycles",
      ys: pairs.map(([, cycles]) => cycles),
      variable: "accent",
      width: 2,
      points: true,
    },
  ];
  // Steps are even around the platform's own bandwidth.
  if (pairs.length % 2 === 1) {
    const own = (pairs.length - 1) / 2;
    lines.push({
      name: "here",
      ys: pairs.map(([, cycles], at) => (at === own ? cycles : null)),
      variable: "bound",
      points: "only",
      isHidden: true,
    });
  }
  const [first, last] = [pairs[0], pairs.at(-1)];
  livingChart(box, () =>
    lineChart(
      box,
      pairs.map(([bandwidth]) => bandwidth),
      lines,
      {
        isLogX: true,
        isLogY: true,
        height: 240,
        nameX: "B/cycle",
        formatX: (x, more) => short(x, "", more),
        formatY: (y, more) => short(y, unitOf("cycles"), more),
        formatValue: (y) => metricText(y, "cycles"),
        hint: `The same plan on platforms with more or less bandwidth than ${pairs.length % 2 ? `${short(pairs[(pairs.length - 1) / 2][0])} bytes per cycle (red)` : "this one"}.`,
        label:
          `Cycles against bandwidth, from ${metricText(first[1], "cycles")} at ${short(first[0])} to ` +
          `${metricText(last[1], "cycles")} at ${short(last[0])} bytes per cycle`,
      },
    ),
  );
  return box;
}
