import type { BuiltinResource, BuiltinTable } from './builtin-resources.ts'

/** Joins tables; where several add to one resource, each field is the last one's, and subresources are joined. */
export function mergeBuiltinTables(...tables: readonly BuiltinTable[]): BuiltinTable {
  const merged: Record<string, BuiltinResource> = {}
  for (const table of tables) {
    for (const [key, added] of Object.entries(table)) {
      const known = merged[key]
      const subresources = { ...known?.subresources, ...added.subresources }
      merged[key] = { ...known, ...added, ...(Object.keys(subresources).length > 0 ? { subresources } : {}) }
    }
  }
  return merged
}
