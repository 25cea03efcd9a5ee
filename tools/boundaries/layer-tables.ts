// Reads the import tables of ARCHITECTURE.md: one for the packages, and one for the rooms of each package that has rooms.

/** Each row's name with the names that it may import directly. */
export type LayerTable = ReadonlyMap<string, ReadonlySet<string>>

/** The import tables of ARCHITECTURE.md. */
export interface LayerTables {
  readonly packages: LayerTable
  /** By package: its rooms, which are the folders directly in its `src`. */
  readonly rooms: ReadonlyMap<string, LayerTable>
}

/**
 * Parses the page. The table of packages follows the heading `## The packages`; the table of a package's rooms follows
 * `### Rooms of NAME`. Throws when there is no table of packages.
 */
export function readLayerTables(page: string): LayerTables {
  const packages = new Map<string, ReadonlySet<string>>()
  const rooms = new Map<string, Map<string, ReadonlySet<string>>>()
  let current: Map<string, ReadonlySet<string>> | undefined
  for (const line of page.split('\n')) {
    if (line.startsWith('#')) {
      const room = /^### Rooms of `?([a-z0-9]+)`?$/.exec(line)
      if (room) rooms.set(room[1]!, (current = new Map()))
      else current = line === '## The packages' ? packages : undefined
      continue
    }
    const row = /^\| `([a-z0-9-]+)` \|.*\| ([^|]*) \|$/.exec(line)
    if (row) current?.set(row[1]!, new Set([...row[2]!.matchAll(/`([a-z0-9-]+)`/g)].map((match) => match[1]!)))
  }
  if (packages.size === 0) throw new Error('ARCHITECTURE.md has no table under "## The packages"')
  return { packages, rooms }
}

/** Everything that a row may import: its direct imports and, transitively, theirs. */
export function allowedImports(table: LayerTable, name: string): ReadonlySet<string> {
  const seen = new Set<string>()
  const visit = (current: string): void => {
    for (const next of table.get(current) ?? []) {
      if (seen.has(next)) continue
      seen.add(next)
      visit(next)
    }
  }
  visit(name)
  return seen
}

/** Problems of a table by itself: rows that import an unknown name, and rows that reach themselves. */
export function tableProblems(title: string, table: LayerTable): string[] {
  const problems: string[] = []
  for (const [name, imports] of table) {
    for (const target of imports) {
      if (!table.has(target)) problems.push(`${title}: \`${name}\` may import \`${target}\`, which has no row`)
    }
    if (allowedImports(table, name).has(name)) problems.push(`${title}: \`${name}\` is part of an import cycle`)
  }
  return problems
}
