import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from './page.ts'

/**
 * Checks the blocks with the info `ts excerpt`: they start with the path of a file of the repository in a comment, and
 * contain lines of that file. A line `// ...` stands for omitted lines.
 */
export function checkExcerpts(root: string, pages: readonly Page[]): string[] {
  return pages.flatMap((page) =>
    [...page.text.matchAll(/^```\w+ excerpt\n([\s\S]*?)^```$/gm)].flatMap((match) => {
      const line = page.offset + page.text.slice(0, match.index).split('\n').length
      const problem = problemOf(root, match[1]!)
      return problem === undefined ? [] : [`docs/${page.path}:${line}: ${problem}`]
    }),
  )
}

function problemOf(root: string, block: string): string | undefined {
  const path = /^(?:\/\/|#) (\S+)\n/.exec(block)?.[1]
  if (path === undefined) return 'the excerpt names no file'
  if (!existsSync(join(root, path))) return `${path} does not exist`
  const source = readFileSync(join(root, path), 'utf8')
  const parts = block.slice(block.indexOf('\n') + 1).split(/^ *(?:\/\/|#) \.\.\.\n/m)
  let at = 0
  for (const part of parts) {
    const found = source.indexOf(part.trimEnd(), at)
    if (found < 0) return `${path} no longer contains: ${part.trim().split('\n')[0]}`
    at = found + part.trimEnd().length
  }
  return undefined
}
