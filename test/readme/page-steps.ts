/** A fenced code block of a page, as a step to perform or an expectation. */
export type Step =
  /** A block that starts with a path in a comment: save it there. */
  | { readonly do: 'save'; readonly line: number; readonly path: string; readonly text: string }
  /** `sh`: run it; `sh fails`: run it and expect a failure. */
  | { readonly do: 'run'; readonly line: number; readonly text: string; readonly fails: boolean }
  /** `sh background`: start it and leave it running. */
  | { readonly do: 'start'; readonly line: number; readonly text: string }
  /** `text`: the expected output, where `…` stands for any text. */
  | { readonly do: 'expect'; readonly line: number; readonly lines: readonly string[] }

/** The steps in the section under a heading of a Markdown page, in order. Throws for unknown blocks. */
export function stepsOf(page: string, heading: string): Step[] {
  const start = page.indexOf(`\n## ${heading}\n`)
  if (start < 0) throw new Error(`missing section "${heading}"`)
  const end = page.indexOf('\n## ', start + 1)
  const section = page.slice(start, end < 0 ? undefined : end)
  return blocksOf(section, page.slice(0, start).split('\n').length).map(stepOf)
}

/** The steps of a whole page. Blocks that are no steps, such as excerpts and commands for a real cluster, are left out. */
export function stepsOfPage(page: string): Step[] {
  const isStep = ({ info, text }: CodeBlock): boolean =>
    ['sh', 'sh background', 'sh fails', 'text'].includes(info) ||
    (/^(?:ts|yaml)$/.test(info) && pathOf(text) !== undefined)
  return blocksOf(page, 1).filter(isStep).map(stepOf)
}

interface CodeBlock {
  readonly info: string
  readonly text: string
  readonly line: number
}

function blocksOf(section: string, first: number): CodeBlock[] {
  return [...section.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].map((match) => {
    const [, info = '', text = ''] = match
    return { info, text, line: first + section.slice(0, match.index).split('\n').length - 1 }
  })
}

const pathOf = (text: string): string | undefined => /^(?:\/\/|#) (\S+\.(?:ts|yaml))\n/.exec(text)?.[1]

function stepOf({ info, text, line }: CodeBlock): Step {
  if (info === 'sh background') return { do: 'start', line, text }
  if (info === 'sh' || info === 'sh fails') return { do: 'run', line, text, fails: info === 'sh fails' }
  if (info === 'text') return { do: 'expect', line, lines: text.trimEnd().split('\n') }
  const path = pathOf(text)
  if (path === undefined) throw new Error(`line ${line}: the "${info}" block names no file`)
  return { do: 'save', line, path, text }
}

/** Whether a line matches the expected text, where `…` stands for any text. */
export function isLike(said: string, line: string): boolean {
  const parts = said.split('…').map((part) => part.trim().replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`).test(line.trim())
}
