// A graph without nodes that only pass on what one other made: their followers follow that one.

/** {nodes, edges} without the nodes for which `mayGo(node)` holds and that have at most one before them. */
export function leaveOut({ nodes, edges }, mayGo) {
  const before = nodes.map(() => new Set());
  const after = nodes.map(() => new Set());
  for (const [from, to] of edges) {
    if (!before[to] || !after[from] || from === to) continue;
    before[to].add(from);
    after[from].add(to);
  }
  const isGone = nodes.map(() => false);
  nodes.forEach((node, at) => {
    if (!mayGo(node) || before[at].size > 1) return;
    isGone[at] = true;
    const [from] = before[at];
    if (from !== undefined) after[from].delete(at);
    for (const to of after[at]) {
      before[to].delete(at);
      if (from === undefined) continue;
      before[to].add(from);
      after[from].add(to);
    }
  });
  const place = new Map();
  nodes.forEach((_, at) => !isGone[at] && place.set(at, place.size));
  return {
    nodes: nodes.filter((_, at) => !isGone[at]),
    edges: [...place.keys()].flatMap((from) => [...after[from]].map((to) => [place.get(from), place.get(to)])),
  };
}
