import { widthOf } from './text-width.ts'

/**
 * Wraps text between words to `width` columns, as kubectl does: line breaks of the text stay, blanks at a break are dropped, and a word
 * that is too long gets a line of its own.
 */
export function wrapWords(text: string, width: number): string {
  return text
    .split('\n')
    .map((line) => wrapLine(line, width))
    .join('\n')
}

function wrapLine(line: string, width: number): string {
  let wrapped = ''
  let column = 0
  let end = 0
  for (const match of line.matchAll(/(\s*)(\S+)/g)) {
    const [all, blanks = '', word = ''] = match
    end = match.index + all.length
    const needed = blanks.length + Math.min(widthOf(word), width - 1)
    if (column + needed > width) {
      wrapped += `\n${word}`
      column = widthOf(word)
    } else {
      wrapped += blanks + word
      column += blanks.length + widthOf(word)
    }
  }
  const rest = line.slice(end)
  return column + widthOf(rest) <= width ? wrapped + rest : wrapped
}

/** Indents every line of a text. */
export function indentLines(text: string, amount: number): string {
  const pad = ' '.repeat(amount)
  return pad + text.replaceAll('\n', `\n${pad}`)
}
