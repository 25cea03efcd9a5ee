import type { GraphNode } from '../../src/wire/messages.ts'

/** A node with its place: columns from owner to dependent, rows from top to bottom. */
export interface PlacedNode {
  readonly node: GraphNode
  readonly column: number
  readonly row: number
}

/** Places every node one column after its deepest owner, and owners at the height of the middle of their dependents. */
export function layoutGraph(
  nodes: readonly GraphNode[],
  edges: readonly (readonly [string, string])[],
): readonly PlacedNode[] {
  const byUid = new Map(nodes.map((node) => [node.uid, node]))
  const children = new Map<string, string[]>()
  const columns = new Map<string, number>()
  const hasOwner = new Set<string>()
  for (const [owner, child] of edges) {
    children.set(owner, [...(children.get(owner) ?? []), child])
    hasOwner.add(child)
  }
  const descend = (uid: string, column: number): void => {
    // A cycle of owners would never end; it is cut at the number of nodes.
    if (column <= (columns.get(uid) ?? -1) || column > nodes.length) return
    columns.set(uid, column)
    for (const child of children.get(uid) ?? []) descend(child, column + 1)
  }
  const tops = nodes.filter(({ uid }) => !hasOwner.has(uid))
  for (const { uid } of tops) descend(uid, 0)
  const rows = new Map<string, number>()
  let nextRow = 0
  const place = (uid: string): number => {
    const known = rows.get(uid)
    if (known !== undefined) return known
    // Set first, so that a cycle ends here.
    rows.set(uid, nextRow)
    const own = (children.get(uid) ?? []).filter((child) => byUid.has(child) && !rows.has(child)).sort(byName)
    if (own.length === 0) return nextRow++
    const places = own.map(place)
    const middle = ((places[0] ?? 0) + (places.at(-1) ?? 0)) / 2
    rows.set(uid, middle)
    return middle
  }
  const byName = (a: string, b: string): number => {
    const [first, second] = [byUid.get(a), byUid.get(b)]
    return `${first?.kind}/${first?.name}` < `${second?.kind}/${second?.name}` ? -1 : 1
  }
  for (const { uid } of tops) place(uid)
  return nodes.map((node) => ({ node, column: columns.get(node.uid) ?? 0, row: rows.get(node.uid) ?? nextRow++ }))
}
