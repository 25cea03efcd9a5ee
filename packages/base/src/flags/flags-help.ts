import type { Flag, FlagTable } from './flag.ts'

const widestLabel = 24
const gap = 2

/** The layout of {@link flagsHelp}. */
export interface FlagsHelpOptions {
  /** @default 80 */
  readonly columns?: number | undefined
  /** The heading of flags that name no section. @default 'Options' */
  readonly heading?: string | undefined
}

/** Lists flags for the help of a program: label, text and default in two columns, one section after the other. Hidden flags are left out. */
export function flagsHelp(table: FlagTable, { columns = 80, heading = 'Options' }: FlagsHelpOptions = {}): string {
  const sections = new Map<string, [name: string, flag: Flag][]>()
  for (const [name, flag] of Object.entries(table)) {
    if (flag.hidden) continue
    const { section = heading } = flag
    sections.set(section, [...(sections.get(section) ?? []), [name, flag]])
  }
  const all = [...sections].map(([title, flags]) => ({
    title,
    rows: flags.map(([name, flag]) => [flagLabel(name, flag), flagText(flag)] as const),
  }))
  const indent = textColumn(
    all.flatMap(({ rows }) => rows),
    columns,
  )
  return all.map(({ title, rows }) => `${wrapText(title, columns)}\n${twoColumns(rows, columns, indent)}`).join('\n\n')
}

/** A flag as it is typed: `-n, --namespace NAME`, `--no-wait`, `--namespaced[=false]`. */
export function flagLabel(name: string, flag: Flag): string {
  const { value, bare, short, aliases = [], negated } = flag
  const isOn = value === undefined && !negated && defaultOf(flag)?.startsWith('true')
  const names = [name, ...aliases].map((each) => `--${negated ? 'no-' : ''}${each}`)
  const letter = short === undefined ? [] : [`-${short}`]
  const named = bare === undefined ? ` ${value}` : `[=${value}]`
  const tail = value !== undefined ? named : isOn ? '[=false]' : ''
  return `${[...letter, ...names].join(', ')}${tail}`
}

/** The help of a flag with its default, as in `Port to listen on (default 6443)`. */
export function flagText(flag: Flag): string {
  const shown = defaultOf(flag)
  if (shown === undefined) return flag.help
  return `${flag.help} (default${shown.includes(' ') ? ':' : ''} ${shown})`
}

/** The default in words; undefined for a switch that is off by default, as most are, and for one that is shown negated. */
export function defaultOf({ value, default: byDefault, defaultText, negated }: Flag): string | undefined {
  if (defaultText !== undefined) return defaultText
  if (value !== undefined) return byDefault === undefined || byDefault === '' ? 'none' : String(byDefault)
  return byDefault === true && !negated ? 'true' : undefined
}

type Rows = readonly (readonly [label: string, text: string])[]

/** The column in which texts begin: after the widest label that is not too wide. */
function textColumn(rows: Rows, columns: number): number {
  const fitting = rows.map(([label]) => label.length).filter((length) => length <= widestLabel)
  return Math.min(fitting.reduce((a, b) => Math.max(a, b), 0) + 2 + gap, Math.floor(columns / 2))
}

/** Rows of a label and a text that is wrapped in the second column. A label that is too wide gets a line of its own. */
export function twoColumns(rows: Rows, columns = 80, width: number = textColumn(rows, columns)): string {
  const indent = ' '.repeat(width)
  return rows
    .map(([label, text]) => {
      const [first = '', ...more] = wrapText(text, columns - width).split('\n')
      const start = `  ${label}`
      const head = start.length + gap <= width ? [start.padEnd(width) + first] : [start, indent + first]
      return [...head, ...more.map((line) => indent + line)].map((line) => line.trimEnd()).join('\n')
    })
    .join('\n')
}

/** Breaks a text between words into lines of at most so many columns. A longer word gets a line of its own. */
export function wrapText(text: string, columns: number): string {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > columns) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line].join('\n')
}
