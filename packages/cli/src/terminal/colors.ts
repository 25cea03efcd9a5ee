const codes = { bold: 1, red: 31, green: 32, yellow: 33, cyan: 36, grey: 90 } as const

/** Matches the escape sequences of colours. */
export const colorCodes: RegExp = /\u001B\[[\d;]*m/g

/** The escape sequence that ends all colours. */
export const colorEnd: string = '\u001B[0m'

/** A colour of text. */
export type Color = keyof typeof codes

/** Colours text, or returns it unchanged if colours are off. */
export type Paint = (color: Color, text: string) => string

/** Returns text unchanged. */
export const plain: Paint = (_, text) => text

/** Colours text with escape sequences. */
export const painted: Paint = (color, text) => (text === '' ? '' : `\u001B[${codes[color]}m${text}${colorEnd}`)

/** A line of a unified diff in the colours of git. */
export function paintDiff(line: string, paint: Paint): string {
  if (/^(?:---|\+\+\+)/.test(line)) return paint('bold', line)
  const color = ({ '+': 'green', '-': 'red', '@': 'cyan' } as const)[line[0] ?? '']
  return color === undefined ? line : paint(color, line)
}
