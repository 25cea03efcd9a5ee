import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { allDiagrams } from './all-diagrams.ts'
import { draw } from './draw.ts'

const folderOf = (docs: string): string => join(docs, 'pictures', 'diagrams')

/** Writes all diagrams. */
export function writeDiagrams(docs: string): void {
  mkdirSync(folderOf(docs), { recursive: true })
  for (const [name, diagram] of Object.entries(allDiagrams)) {
    writeFileSync(join(folderOf(docs), `${name}.svg`), draw(diagram))
  }
}

/** Reports diagrams that are not as they would be drawn now. */
export function checkDiagrams(docs: string): string[] {
  const folder = folderOf(docs)
  const stale = Object.entries(allDiagrams).flatMap(([name, diagram]) => {
    const file = join(folder, `${name}.svg`)
    return existsSync(file) && readFileSync(file, 'utf8') === draw(diagram) ? [] : [`${name}.svg`]
  })
  const unknown = existsSync(folder) ? readdirSync(folder).filter((file) => !(file.slice(0, -4) in allDiagrams)) : []
  return [...stale, ...unknown].map((file) => `docs/pictures/diagrams/${file} is stale. Run: npm run docs -- generate`)
}
