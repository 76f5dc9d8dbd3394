// What a timeline shows, made ready once: items by row and time, who waits for whom, the marks of the
// deadlines, and the stacked areas below on the same axis.

export const isLate = (item) => typeof item.deadline === "number" && !(item.end <= item.deadline);

/** {lanes, rows: [[item, ...] by start], items, dropped, before, after, marks, sets, stacks, end} of a view. */
export function readScene(value) {
  const lanes = value.lanes;
  const rows = lanes.map((lane, row) =>
    (lane.items ?? []).map((item) => ({ ...item, row })).sort((a, b) => a.start - b.start),
  );
  const items = rows.flat();
  const dropped = (value.dropped ?? []).map((item) => ({ ...item, end: NaN }));
  const known = new Map(items.filter((item) => item.id !== undefined).map((one) => [one.id, one]));
  const followers = new Map();
  for (const item of items)
    for (const id of item.after ?? [])
      if (known.has(id)) followers.set(id, [...(followers.get(id) ?? []), item]);
  const stacks = (value.below ?? [])
    .filter((stack) => Array.isArray(stack.segments))
    .map((stack) => ({
      ...stack,
      series: stack.series ?? lanes.map((lane) => lane.name),
      top: stackTop(stack),
    }));
  const ends = [
    ...rows.map((row) => row.reduce((latest, item) => Math.max(latest, item.end), 0)),
    ...stacks.map(({ segments }) => segments.at(-1)?.[1] ?? 0),
  ];
  return {
    lanes,
    rows,
    items,
    dropped,
    stacks,
    start: items.length > 0 ? 0 : Math.min(...stacks.map(({ segments }) => segments[0]?.[0] ?? 0), Infinity),
    end: Math.max(...ends, 1e-12),
    before: (item) => (item.after ?? []).map((id) => known.get(id)).filter(Boolean),
    after: (item) => followers.get(item.id) ?? [],
    marks: deadlineMarks([...items, ...dropped]),
    sets: countSets([...items, ...dropped]),
  };
}

/** One mark per deadline: its time and whether somebody missed it. */
function deadlineMarks(items) {
  const missed = new Map();
  for (const item of items)
    if (typeof item.deadline === "number")
      missed.set(item.deadline, Boolean(missed.get(item.deadline)) || isLate(item));
  return [...missed].map(([time, isMissed]) => ({ time, isMissed })).sort((a, b) => a.time - b.time);
}

/** {all, missed} of the sets with a deadline: one late or dropped item is enough to miss it. Null where the items
 *  do not say which set they are of. */
function countSets(items) {
  const missed = new Map();
  for (const item of items) {
    if (typeof item.deadline !== "number") continue;
    if (item.set === undefined) return null;
    missed.set(item.set, Boolean(missed.get(item.set)) || isLate(item));
  }
  return { all: missed.size, missed: [...missed.values()].filter(Boolean).length };
}

function stackTop(stack) {
  let most = stack.limit ?? 0;
  for (const segment of stack.segments) {
    let sum = 0;
    for (let at = 2; at < segment.length; at++) sum += segment[at];
    most = Math.max(most, sum);
  }
  return most * 1.08 || 1;
}

/** The item of a row at a time, or the nearest one within `reach`. */
export function itemAt(items, time, reach) {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (items[middle].start <= time) low = middle + 1;
    else high = middle;
  }
  const near = [items[low - 1], items[low]].filter(Boolean);
  const distance = (item) => Math.max(item.start - time, time - item.end, 0);
  near.sort((a, b) => distance(a) - distance(b));
  return near.length > 0 && distance(near[0]) <= reach ? near[0] : null;
}

/** The segment of the stack at a time. */
export function segmentAt(segments, time) {
  return segments.find(([start, end]) => start <= time && time < end) ?? null;
}

/** Mean of each series in each of `columns` equal parts of a stretch: a segment narrower than a pixel counts
 *  by its share of it. */
export function binStack(stack, low, high, columns) {
  const bins = stack.series.map(() => new Float64Array(columns));
  const width = (high - low) / columns;
  for (const segment of stack.segments) {
    const start = Math.max(segment[0], low);
    const end = Math.min(segment[1], high);
    if (!(end > start)) continue;
    const last = Math.min(columns - 1, Math.floor((end - low) / width));
    for (let at = Math.floor((start - low) / width); at <= last; at++) {
      const share =
        (Math.min(end, low + (at + 1) * width) - Math.max(start, low + at * width)) / width;
      bins.forEach((bin, series) => {
        bin[at] += share * (segment[series + 2] ?? 0);
      });
    }
  }
  return bins;
}
