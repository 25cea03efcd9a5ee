import { widthOf } from './text-width.ts'

/**
 * Breaks text between words so that lines have at most `width` columns, as kubectl does: line breaks of the text stay, blanks at
 * a break vanish, and a word that is too long for a line gets one of its own.
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

/** Text with every line moved to the right. */
export function indentLines(text: string, amount: number): string {
  const pad = ' '.repeat(amount)
  return pad + text.replaceAll('\n', `\n${pad}`)
}
