import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from './page.ts'

/** A block with the info `ts excerpt`, which shows parts of a file of the repository. */
export interface Excerpt {
  /** The line of the fence in the text of the page. */
  readonly line: number
  /** The file below the root of the repository. */
  readonly file: string
  readonly source: string
  /** Where each part is in the block and in the file. */
  readonly parts: readonly { readonly start: number; readonly at: number; readonly length: number }[]
  readonly problem?: string
}

/** Finds the excerpts of a page: they start with the path of a file. A line `// ...` stands for omitted lines. */
export function excerptsOf(root: string, text: string): Excerpt[] {
  return [...text.matchAll(/^```\w+ excerpt\n([\s\S]*?)^```$/gm)].map((match) => {
    const block = match[1]!
    const line = text.slice(0, match.index).split('\n').length
    const file = /^(?:\/\/|#) (\S+)\n/.exec(block)?.[1]
    const none = { line, file: file ?? '', source: '', parts: [] }
    if (file === undefined) return { ...none, problem: 'the excerpt names no file' }
    if (!existsSync(join(root, file))) return { ...none, problem: `${file} does not exist` }
    const source = readFileSync(join(root, file), 'utf8')
    const parts: { start: number; at: number; length: number }[] = []
    let start = block.indexOf('\n') + 1
    let end = 0
    for (const piece of block.slice(start).split(/(^ *(?:\/\/|#) \.\.\.\n)/m)) {
      const isGap = /^ *(?:\/\/|#) \.\.\.\n$/.test(piece)
      const part = piece.trimEnd()
      const at = isGap ? end : source.indexOf(part, end)
      if (at < 0) return { ...none, problem: `${file} no longer contains: ${part.trim().split('\n')[0]}` }
      if (!isGap) parts.push({ start, at, length: part.length })
      if (!isGap) end = at + part.length
      start += piece.length
    }
    return { line, file, source, parts }
  })
}

/** Checks that the excerpts of the pages are parts of their files. */
export function checkExcerpts(root: string, pages: readonly Page[]): string[] {
  return pages.flatMap(({ path, text, offset }) =>
    excerptsOf(root, text).flatMap(({ line, problem }) =>
      problem === undefined ? [] : [`docs/${path}:${offset + line}: ${problem}`],
    ),
  )
}
