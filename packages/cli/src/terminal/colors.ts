const codes = { bold: 1, red: 31, green: 32, yellow: 33, cyan: 36, grey: 90 } as const

/** What begins and ends colours in a text. */
export const colorCodes: RegExp = /\u001B\[[\d;]*m/g

/** What ends all colours. */
export const colorEnd: string = '\u001B[0m'

/** What text can be painted with. */
export type Color = keyof typeof codes

/** Gives text a colour, where colours are wanted. */
export type Paint = (color: Color, text: string) => string

/** Paints nothing. */
export const plain: Paint = (_, text) => text

/** Paints as terminals understand it. */
export const painted: Paint = (color, text) => (text === '' ? '' : `\u001B[${codes[color]}m${text}${colorEnd}`)

/** A line of a unified diff in the colours of git. */
export function paintDiff(line: string, paint: Paint): string {
  if (/^(?:---|\+\+\+)/.test(line)) return paint('bold', line)
  const color = ({ '+': 'green', '-': 'red', '@': 'cyan' } as const)[line[0] ?? '']
  return color === undefined ? line : paint(color, line)
}
