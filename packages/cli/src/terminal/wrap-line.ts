import { colorCodes, colorEnd } from './colors.ts'
import { widthOf } from './text-width.ts'

/**
 * Wraps a line between words to the width of a terminal. Continuation lines are indented by `hanging` columns; by default by two more
 * than the line. A word that is wider than the terminal stays whole, so that it can be copied.
 */
export function wrapLine(line: string, columns: number, hanging?: number): string {
  if (widthOf(line) <= columns) return line
  const [start = ''] = /^ */.exec(line) ?? []
  // On a very narrow terminal, the indent must leave room for text.
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
    // The terminal breaks a wider word itself and continues in the next line.
    if (width > columns) width %= columns
    isEmpty = false
  }
  return closed([...lines, current]).join('\n')
}

/** Closes colours at the end of each line, and reopens them in the next one after its indent. */
function closed(lines: readonly string[]): string[] {
  let open = ''
  return lines.map((line) => {
    const begun = line.replace(/^ */, (indent) => indent + open)
    open = begun.match(colorCodes)?.at(-1) ?? ''
    if (open === colorEnd) open = ''
    return open === '' ? begun : begun + colorEnd
  })
}
