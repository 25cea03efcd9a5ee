// Renders terminal output as SVG: `FORCE_COLOR=1 npm run -s demo -- --once | node --import tsx
// tools/terminal-picture.ts FROM TO` prints an image of those lines. It supports only the colours that the demo uses.
import { text } from 'node:stream/consumers'

const [from = 1, to = 60] = process.argv.slice(2).map(Number)
const lineHeight = 18
const charWidth = 7.83
const columns = 100
const styles: Readonly<Record<string, string>> = {
  1: 'b',
  2: 'd',
  31: 'r',
  32: 'g',
  33: 'y',
  36: 'c',
}

const escaped = (plain: string): string => plain.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;')

/** Converts a line to spans. Each piece starts with its style code. */
function spans(line: string): string {
  return line
    .split('\u001b[')
    .map((piece, i) => {
      const code = i === 0 ? undefined : /^(\d+)m/.exec(piece)?.[1]
      const plain = escaped(code === undefined ? piece : piece.slice(code.length + 1))
      const style = code === undefined ? undefined : styles[code]
      return style === undefined || plain === '' ? plain : `<tspan class="${style}">${plain}</tspan>`
    })
    .join('')
}

const lines = (await text(process.stdin)).split('\n').slice(from - 1, to)
const height = lines.length * lineHeight + 24
const width = Math.ceil(columns * charWidth + 32)
const rows = lines.map(
  (line, i) => `<text x="16" y="${(i + 1) * lineHeight + 8}" xml:space="preserve">${spans(line)}</text>`,
)
process.stdout.write(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" role="img" aria-label="npm run demo in a terminal">
<style>text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#d5d9e0}.b{font-weight:bold;fill:#fff}.d{fill:#8b93a1}.r{fill:#ff7b72}.g{fill:#7ee787}.y{fill:#e3b341}.c{fill:#79c0ff}</style>
<rect width="${width}" height="${height}" rx="8" fill="#12161c"/>
${rows.join('\n')}
</svg>
`)
