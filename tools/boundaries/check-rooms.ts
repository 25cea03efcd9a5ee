import { relative, sep } from 'node:path'
import { cyclesOf } from './file-cycles.ts'
import { allowedImports, type LayerTable, tableProblems } from './layer-tables.ts'
import { importsOf, sourceFiles } from './source-imports.ts'

/** The room of files directly in `src`: they wire the rooms and are imported by none. */
const top = 'src'

/** Compares the imports between the rooms of a package with its table. */
export function checkRooms(name: string, source: string, table: LayerTable): string[] {
  const title = `Rooms of ${name}`
  const problems = tableProblems(title, table)
  const used = new Set<string>()
  for (const file of sourceFiles(source)) {
    const room = roomOf(source, file)
    used.add(room)
    if (!table.has(room)) {
      problems.push(`${title}: the folder ${room} has no row (${relative(source, file)})`)
      continue
    }
    const allowed = allowedImports(table, room)
    for (const { target } of importsOf(file)) {
      if (target === undefined) continue
      const other = roomOf(source, target)
      if (other !== room && !allowed.has(other)) {
        problems.push(
          `${title}: ${relative(source, file)} imports ${relative(source, target)}; \`${room}\` may not import \`${other}\``,
        )
      }
    }
  }
  for (const room of table.keys())
    if (!used.has(room)) problems.push(`${title}: there is no folder for the row \`${room}\``)
  return [...new Set(problems)]
}

/** Files of a package that load each other in a cycle. Types and dynamic imports do not count: they load nothing at start. */
export function checkFileCycles(name: string, source: string): string[] {
  const graph = new Map<string, ReadonlySet<string>>()
  for (const file of sourceFiles(source)) {
    const targets = importsOf(file).flatMap(({ target, atLoad }) => (target !== undefined && atLoad ? [target] : []))
    graph.set(file, new Set(targets))
  }
  return cyclesOf(graph).map(
    (files) =>
      `packages/${name}: these files import each other: ${files.map((file) => relative(source, file)).join(', ')}`,
  )
}

function roomOf(source: string, file: string): string {
  const parts = relative(source, file).split(sep)
  return parts.length === 1 ? top : parts[0]!
}
