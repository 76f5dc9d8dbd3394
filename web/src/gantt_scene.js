// What a timeline shows, made ready once: items by row and time, who waits for whom, the marks of the
// deadlines, and the bandwidth that is in use in a stretch of time.

export const isLate = (item) => typeof item.deadline === "number" && !(item.end <= item.deadline);

/** {lanes, rows: [[item, ...] by start], items, dropped, before, after, marks, requests, stack, end} of a note. */
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
  const stack = value.bandwidth?.segments ? value.bandwidth : null;
  return {
    lanes,
    rows,
    items,
    dropped,
    stack,
    end: items.reduce((latest, item) => Math.max(latest, item.end), 1e-12),
    before: (item) => (item.after ?? []).map((id) => known.get(id)).filter(Boolean),
    after: (item) => followers.get(item.id) ?? [],
    marks: deadlineMarks([...items, ...dropped]),
    requests: countRequests([...items, ...dropped]),
    stackTop: stack && stackTop(stack),
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

/** {all, missed} of the requests with a deadline: one late or dropped job is enough to miss it. Null where the jobs
 *  do not say which request they are of. */
function countRequests(items) {
  const missed = new Map();
  for (const item of items) {
    if (typeof item.deadline !== "number") continue;
    if (!Array.isArray(item.request)) return null;
    const request = item.request.join(" ");
    missed.set(request, Boolean(missed.get(request)) || isLate(item));
  }
  return { all: missed.size, missed: [...missed.values()].filter(Boolean).length };
}

function stackTop(stack) {
  let most = stack.limit ?? 0;
  for (const segment of stack.segments) {
    let sum = 0;
    for (let lane = 2; lane < segment.length; lane++) sum += segment[lane];
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

/** Mean use of each lane in each of `columns` equal parts of a stretch: a segment narrower than a pixel counts
 *  by its share of it. */
export function binStack(stack, lanes, low, high, columns) {
  const bins = Array.from({ length: lanes }, () => new Float64Array(columns));
  const width = (high - low) / columns;
  for (const segment of stack.segments) {
    const start = Math.max(segment[0], low);
    const end = Math.min(segment[1], high);
    if (!(end > start)) continue;
    const last = Math.min(columns - 1, Math.floor((end - low) / width));
    for (let at = Math.floor((start - low) / width); at <= last; at++) {
      const share =
        (Math.min(end, low + (at + 1) * width) - Math.max(start, low + at * width)) / width;
      for (let lane = 0; lane < lanes; lane++) bins[lane][at] += share * (segment[lane + 2] ?? 0);
    }
  }
  return bins;
}
