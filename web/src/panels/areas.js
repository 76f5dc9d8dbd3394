// {x: {name, unit}, name, unit, limit, series, segments: [[from, to, value of each series]]}: a timeline without lanes.
import { timelinePanel } from "./timeline.js";

export function areasPanel(value) {
  if (!Array.isArray(value.segments) || value.segments.length === 0) return null;
  return timelinePanel({ ...value, unit: value.x?.unit, lanes: [], below: [value] });
}
