/** A fenced block of a page, as something to do or to expect. */
export type Step =
  /** A block that starts with a comment that is a path: to be saved there. */
  | { readonly do: 'save'; readonly line: number; readonly path: string; readonly text: string }
  /** `sh`: to be run; `sh fails`: must not succeed. */
  | { readonly do: 'run'; readonly line: number; readonly text: string; readonly fails: boolean }
  /** `sh background`: to be started and left running. */
  | { readonly do: 'start'; readonly line: number; readonly text: string }
  /** `text`: what was printed, where `…` stands for anything. */
  | { readonly do: 'expect'; readonly line: number; readonly lines: readonly string[] }

/** What the section under a heading of a Markdown page tells its reader to do, in order. Throws for blocks that it cannot place. */
export function stepsOf(page: string, heading: string): Step[] {
  const start = page.indexOf(`\n## ${heading}\n`)
  if (start < 0) throw new Error(`there is no section "${heading}"`)
  const end = page.indexOf('\n## ', start + 1)
  const section = page.slice(start, end < 0 ? undefined : end)
  const before = page.slice(0, start).split('\n').length
  return [...section.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].map((match) => {
    const [, info = '', text = ''] = match
    return stepOf(info, text, before + section.slice(0, match.index).split('\n').length - 1)
  })
}

function stepOf(info: string, text: string, line: number): Step {
  if (info === 'sh background') return { do: 'start', line, text }
  if (info === 'sh' || info === 'sh fails') return { do: 'run', line, text, fails: info === 'sh fails' }
  if (info === 'text') return { do: 'expect', line, lines: text.trimEnd().split('\n') }
  const path = /^(?:\/\/|#) (\S+\.(?:ts|yaml))\n/.exec(text)?.[1]
  if (path === undefined) throw new Error(`line ${line}: a block of "${info}" that names no file`)
  return { do: 'save', line, path, text }
}

/** Whether a line is as it was said to be; `…` stands for anything. */
export function isLike(said: string, line: string): boolean {
  const parts = said.split('…').map((part) => part.trim().replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`).test(line.trim())
}
