/** A line of a terminal and the time at which it appeared, in milliseconds. */
export interface TerminalLine {
  readonly text: string
  readonly at: number
}

/** A recorded terminal. */
export interface Recording {
  /** What the picture shows, for readers who cannot see it. */
  readonly title: string
  /** The commands that were recorded, which the check compares with the list of recordings. */
  readonly commands: readonly string[]
  readonly lines: readonly TerminalLine[]
}

const lineHeight = 18
const charWidth = 7.83
const columns = 100
/** The longest pause that the picture shows, so that a slow machine does not make a slow picture. */
const longestPause = 1200
const shortestPause = 60
const rest = 6000

const styles: Readonly<Record<string, string>> = {
  1: 'b',
  2: 'd',
  31: 'r',
  32: 'g',
  33: 'y',
  34: 'c',
  35: 'm',
  36: 'c',
  90: 'd',
}

/**
 * Draws a terminal as SVG. Lines appear one after the other, in a loop; with `prefers-reduced-motion` and where
 * animations do not run, all of them are visible.
 */
export function terminalSvg({ title, commands, lines }: Recording): string {
  const wrapped = lines.flatMap(({ text, at }) => wrap(text).map((part) => ({ text: part, at })))
  const times = appearances(wrapped.map(({ at }) => at))
  const total = (times.at(-1) ?? 0) + rest
  const height = wrapped.length * lineHeight + 24
  const width = Math.ceil(columns * charWidth + 32)
  const percent = (time: number): string => ((100 * time) / total).toFixed(2)
  const steps = [...new Set(times)].filter((time) => time > 0)
  const frames = steps.map(
    (time, i) => `@keyframes a${i}{0%,${percent(time)}%{opacity:0}${percent(time + 1)}%,100%{opacity:1}}`,
  )
  const rules = steps.map((_, i) => `.a${i}{animation:a${i} ${total}ms infinite}`)
  const rows = wrapped.map(({ text }, i) => {
    const step = steps.indexOf(times[i]!)
    const animated = step < 0 ? '' : ` class="a${step}"`
    return `<text x="16" y="${(i + 1) * lineHeight + 8}" xml:space="preserve"${animated}>${spans(text)}</text>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" role="img" aria-label="${escaped(title)}">
<!-- ${commands.join(' · ').replaceAll('--', '−−')} -->
<style>text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#d5d9e0}.b{font-weight:bold;fill:#fff}.d{fill:#8b93a1}.r{fill:#ff7b72}.g{fill:#7ee787}.y{fill:#e3b341}.c{fill:#79c0ff}.m{fill:#d2a8ff}@media (prefers-reduced-motion:no-preference){${frames.join('')}${rules.join('')}}</style>
<rect width="${width}" height="${height}" rx="8" fill="#12161c"/>
${rows.join('\n')}
</svg>
`
}

/** The commands of a picture that {@link terminalSvg} drew. */
export function commandsOf(svg: string): readonly string[] {
  const comment = /<!-- (.*) -->/.exec(svg)?.[1] ?? ''
  return comment.replaceAll('−−', '--').split(' · ')
}

/** When each line appears: pauses are kept between a visible and a bearable length. */
function appearances(times: readonly number[]): number[] {
  let now = 0
  return times.map((at, i) => {
    const pause = at - (times[i - 1] ?? at)
    // Lines of one output appear together.
    if (pause > 20) now += Math.min(Math.max(pause, shortestPause), longestPause)
    return now
  })
}

const escaped = (plain: string): string =>
  plain.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;')

/** Splits a line that is wider than the terminal. Styles end at the break. */
function wrap(line: string): string[] {
  const plainLength = line.replace(/\u001b\[[\d;]*m/g, '').length
  if (plainLength <= columns) return [line]
  const parts: string[] = []
  let part = ''
  let length = 0
  for (const piece of line.split(/(\u001b\[[\d;]*m)/)) {
    if (piece.startsWith('\u001b')) {
      part += piece
      continue
    }
    // A word that is wider than the terminal is broken, too.
    for (const word of piece.split(/(?<= )|(?<=\S{90})/)) {
      if (length + word.trimEnd().length > columns) {
        parts.push(part)
        part = '  '
        length = 2
      }
      part += word
      length += word.length
    }
  }
  return [...parts, part]
}

/** Converts a line to spans. Each piece starts with its style code. */
function spans(line: string): string {
  return line
    .split('\u001b[')
    .map((piece, i) => {
      const code = i === 0 ? undefined : /^(\d+(?:;\d+)*)m/.exec(piece)?.[1]
      const plain = escaped(code === undefined ? piece : piece.slice(code.length + 1))
      const style = code === undefined ? undefined : styles[code.split(';').at(-1)!]
      return style === undefined || plain === '' ? plain : `<tspan class="${style}">${plain}</tspan>`
    })
    .join('')
}
