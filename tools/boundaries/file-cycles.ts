/** The cycles of a graph as lists of nodes: one for each strongly connected component with more than one node or a self-loop. */
export function cyclesOf(graph: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
  const order = finishingOrder(graph)
  const reversed = new Map<string, string[]>()
  for (const [from, targets] of graph) for (const to of targets) reversed.set(to, [...(reversed.get(to) ?? []), from])
  const component = new Map<string, string[]>()
  for (const start of order.reverse()) {
    if (component.has(start)) continue
    const members: string[] = []
    const pending = [start]
    while (pending.length > 0) {
      const node = pending.pop()!
      if (component.has(node)) continue
      component.set(node, members)
      members.push(node)
      pending.push(...(reversed.get(node) ?? []))
    }
  }
  return [...new Set(component.values())]
    .filter((members) => members.length > 1 || graph.get(members[0]!)?.has(members[0]!))
    .map((members) => members.sort())
}

/** Nodes in the order in which a depth-first walk leaves them. */
function finishingOrder(graph: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const order: string[] = []
  const seen = new Set<string>()
  const visit = (node: string): void => {
    if (seen.has(node)) return
    seen.add(node)
    for (const next of graph.get(node) ?? []) visit(next)
    order.push(node)
  }
  for (const node of graph.keys()) visit(node)
  return order
}
