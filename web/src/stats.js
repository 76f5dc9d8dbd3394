// What can be said of a few seeds: an interval of their median, and how likely a difference is by chance.

export function quantile(values, share) {
  const sorted = values.filter((value) => typeof value === "number").sort((a, b) => a - b);
  return sorted.length === 0 ? null : sortedQuantile(sorted, share);
}

export function sortedQuantile(sorted, share) {
  const place = (sorted.length - 1) * share;
  const low = Math.floor(place);
  return sorted[low] + (sorted[Math.min(low + 1, sorted.length - 1)] - sorted[low]) * (place - low);
}

const RESAMPLES = 2000;
const MOST_DRAWN = 200000; // values in all: many seeds need fewer resamples

/** 95 % bootstrap interval of the median: [low, high]. The same numbers each time: the generator starts anew. */
export function medianInterval(values) {
  if (values.length < 2) return null;
  let state = 2463534242;
  const next = (size) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % size;
  };
  const size = Math.max(200, Math.min(RESAMPLES, Math.floor(MOST_DRAWN / values.length)));
  // Drawn are places in the sorted list: how often each one was says where the middle is.
  const sorted = [...values].sort((a, b) => a - b);
  const places = values.map((value) => sorted.indexOf(value));
  const times = new Uint32Array(sorted.length);
  const valueAt = (rank) => {
    let place = 0;
    for (let seen = times[0]; seen <= rank; seen += times[place]) place++;
    return sorted[place];
  };
  const medians = Array.from({ length: size }, () => {
    times.fill(0);
    for (let at = 0; at < values.length; at++) times[places[next(values.length)]]++;
    const middle = (values.length - 1) / 2;
    return (valueAt(Math.floor(middle)) + valueAt(Math.ceil(middle))) / 2;
  });
  return [quantile(medians, 0.025), quantile(medians, 0.975)];
}

/** Twice the rank of each value among all, ties sharing theirs: whole numbers. */
function doubledRanks(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const ranks = new Map(); // of a value: 1 + twice those below it + those equal to it
  sorted.forEach((value, at) => ranks.set(value, (ranks.get(value) ?? 1 + 2 * at) + 1));
  return values.map((value) => ranks.get(value));
}

const MOST_EXACT = 40;

/** Two-sided p of the rank-sum test (Mann and Whitney 1947): over all ways to share out the ranks, or by the normal
 *  distribution where these are too many. Null where one side is empty. */
export function rankTest(a, b) {
  if (a.length === 0 || b.length === 0) return null;
  const ranks = doubledRanks([...a, ...b]);
  const sum = ranks.slice(0, a.length).reduce((all, rank) => all + rank, 0);
  const mean = (a.length * ranks.reduce((all, rank) => all + rank, 0)) / ranks.length;
  const far = Math.abs(sum - mean);
  if (ranks.length > MOST_EXACT) {
    const centre = mean / a.length;
    const spread = ranks.reduce((all, rank) => all + (rank - centre) ** 2, 0) / (ranks.length - 1);
    const deviation = Math.sqrt((spread * a.length * b.length) / ranks.length);
    return deviation > 0 ? Math.min(1, 2 * upperTail(Math.max(0, far - 1) / deviation)) : 1; // half a step, doubled
  }
  // ways[size]: sum of ranks -> how many choices of that size have it
  const ways = Array.from({ length: a.length + 1 }, () => new Map());
  ways[0].set(0, 1);
  for (const rank of ranks)
    for (let size = a.length; size > 0; size--)
      for (const [below, times] of ways[size - 1])
        ways[size].set(below + rank, (ways[size].get(below + rank) ?? 0) + times);
  let all = 0;
  let extreme = 0;
  for (const [one, times] of ways[a.length]) {
    all += times;
    if (Math.abs(one - mean) >= far - 1e-9) extreme += times;
  }
  return extreme / all;
}

/** Of the standard normal distribution (Abramowitz and Stegun 26.2.17). */
function upperTail(z) {
  const t = 1 / (1 + 0.2316419 * z);
  const series = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * series;
}
