import { colorCodes, colorEnd } from './colors.ts'
import { widthOf } from './text-width.ts'

/**
 * Breaks a line between words where it is wider than a terminal, which would break it within a word. What is continued is indented,
 * by two columns more than the line is unless told otherwise. A word that is wider than the terminal is left whole, to be copied.
 */
export function wrapLine(line: string, columns: number, hanging?: number): string {
  if (widthOf(line) <= columns) return line
  const [start = ''] = /^ */.exec(line) ?? []
  // What is narrower than this is read in another way.
  const indent = ' '.repeat(Math.min(hanging ?? start.length + 2, Math.floor(columns / 2)))
  const lines: string[] = []
  let current = start
  let width = start.length
  let isEmpty = true
  for (const [, blanks = '', word = ''] of line.slice(start.length).matchAll(/( *)([^ ]+)/g)) {
    const wanted = blanks.length + widthOf(word)
    if (!isEmpty && width + wanted > columns) {
      lines.push(current)
      current = indent + word
      width = indent.length + widthOf(word)
    } else {
      current += blanks + word
      width += wanted
    }
    // The terminal breaks what is wider, and goes on in the next line.
    if (width > columns) width %= columns
    isEmpty = false
  }
  return closed([...lines, current]).join('\n')
}

/** Ends colours at the end of each line, and begins them again in the next one after its indent. */
function closed(lines: readonly string[]): string[] {
  let open = ''
  return lines.map((line) => {
    const begun = line.replace(/^ */, (indent) => indent + open)
    open = begun.match(colorCodes)?.at(-1) ?? ''
    if (open === colorEnd) open = ''
    return open === '' ? begun : begun + colorEnd
  })
}
