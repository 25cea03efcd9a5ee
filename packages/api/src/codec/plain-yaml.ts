import { resolvePlain } from './yaml-scalar.ts'

interface Line {
  readonly indent: number
  readonly text: string
}

/** Thrown and caught internally when the text is outside of the supported subset. */
const notPlain = new Error('not plain')

const entry = /^([A-Za-z][A-Za-z0-9_./-]*):(?: +(.*))?$/
// Text without spaces, a trailing colon or any other YAML syntax.
const bare = /^[A-Za-z0-9_/.+-](?:[A-Za-z0-9_/.+=:@%,~-]*[A-Za-z0-9_/.+=@%~-])?$/
const quoted = /^(?:"([^"\\]*)"|'([^']*)')$/
const count = /^(?:0|[1-9][0-9]{0,14})$/
const maxDepth = 64

/**
 * Reads the YAML subset that programs usually write: block maps, block lists and single-line scalars. Kubeconfigs and
 * most manifests are in this subset and are read without loading the full parser. Returns undefined for any other text,
 * valid or not. Guarantee: a value that this function returns equals the result of the full parser.
 */
export function readPlainYaml(text: string): { readonly value: unknown } | undefined {
  const lines = plainLines(text)
  if (lines === undefined || lines.length === 0) return undefined
  const reader = new PlainReader(lines)
  try {
    return { value: reader.read() }
  } catch (error) {
    if (error === notPlain) return undefined
    throw error
  }
}

function plainLines(text: string): Line[] | undefined {
  // Only printable ASCII and line feeds: any other character may be YAML syntax.
  if (!/^[\n\x20-\x7e]*$/.test(text)) return undefined
  const lines: Line[] = []
  for (const raw of text.split('\n')) {
    const line = raw.trimEnd()
    const content = line.trimStart()
    if (content === '' || content.startsWith('#')) continue
    lines.push({ indent: line.length - content.length, text: content })
  }
  return lines
}

class PlainReader {
  readonly #lines: Line[]
  #next = 0
  #depth = 0

  constructor(lines: Line[]) {
    this.#lines = lines
  }

  read(): unknown {
    const value = this.#block(0)
    if (this.#next < this.#lines.length) throw notPlain
    return value
  }

  /** Reads the block at this indent, starting with the next line. */
  #block(indent: number): unknown {
    if (++this.#depth > maxDepth) throw notPlain
    const line = this.#lines[this.#next]
    if (line?.indent !== indent) throw notPlain
    const value = isItem(line) ? this.#list(indent) : this.#map(indent)
    this.#depth--
    return value
  }

  #map(indent: number): Record<string, unknown> {
    const map: Record<string, unknown> = {}
    for (let line = this.#at(indent); line !== undefined && !isItem(line); line = this.#at(indent)) {
      const match = entry.exec(line.text)
      const key = match?.[1]
      if (key === undefined || typeof resolvePlain(key) !== 'string' || key in map) throw notPlain
      this.#next++
      const value = match?.[2]
      map[key] = value === undefined || value === '' ? this.#below(indent) : this.#scalar(value, indent)
    }
    return map
  }

  #list(indent: number): unknown[] {
    const list: unknown[] = []
    for (let line = this.#at(indent); line !== undefined && isItem(line); line = this.#at(indent)) {
      const content = line.text.slice(1).trimStart()
      if (content === '') throw notPlain
      if (entry.test(content) || isItem({ indent, text: content })) {
        // The rest of the line is the first line of a nested block, which starts at its column.
        const inner = indent + line.text.length - content.length
        this.#lines[this.#next] = { indent: inner, text: content }
        list.push(this.#block(inner))
      } else {
        this.#next++
        list.push(this.#scalar(content, indent))
      }
    }
    return list
  }

  /** The value of a key without a value on its line: a deeper block, a list at the same indent, or null. */
  #below(indent: number): unknown {
    const line = this.#lines[this.#next]
    if (line === undefined || line.indent < indent) return null
    if (line.indent > indent) return this.#block(line.indent)
    return isItem(line) ? this.#list(indent) : null
  }

  #scalar(text: string, indent: number): unknown {
    // A deeper line would continue the text of this one.
    if ((this.#lines[this.#next]?.indent ?? 0) > indent) throw notPlain
    if (text === '{}') return {}
    if (text === '[]') return []
    const inQuotes = quoted.exec(text)
    if (inQuotes !== null) return inQuotes[1] ?? inQuotes[2] ?? ''
    if (count.test(text)) return Number(text)
    if (!bare.test(text) || /^-+$/.test(text)) throw notPlain
    const value = resolvePlain(text)
    if (typeof value === 'number' || typeof value === 'bigint') throw notPlain
    return value
  }

  /** The next line if it is at this indent, undefined if it is further out. A deeper line is outside of the subset. */
  #at(indent: number): Line | undefined {
    const line = this.#lines[this.#next]
    if (line === undefined || line.indent < indent) return undefined
    if (line.indent > indent) throw notPlain
    return line
  }
}

function isItem({ text }: Line): boolean {
  return text === '-' || text.startsWith('- ')
}
