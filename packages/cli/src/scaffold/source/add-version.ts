import {
  findCalls,
  indentLines,
  indentOf,
  type Literal,
  type LiteralPart,
  propertyText,
  readLiteral,
  readSource,
  type Source,
} from './object-literal.ts'

// What may differ from version to version, in defineResource's words.
const versioned = ['description', 'spec', 'status', 'fields', 'rules', 'columns', 'selectableFields', 'scale']

/**
 * Adds a version to the `defineResource({ ... })` of a kind, as a copy of the stored one to start from. A definition with one version
 * becomes one with `versions`. The same text when the version is there already; undefined when the definition is not written out.
 */
export function addVersion(text: string, kind: string, version: string): string | undefined {
  const source = readSource(text)
  const definition = source && definitionOf(source, kind)
  if (!source || !definition) return undefined
  if (definition.parts.some(({ key }) => key === 'versions')) {
    const versions = versionsOf(source, definition)
    if (!versions) return undefined
    if (versions.parts.some(({ key }) => key === version)) return text
    return appendCopy(source, versions, version)
  }
  const first = /^(['"])([a-z0-9]+)\1$/.exec(propertyText(source, definition, 'version') ?? '')?.[2]
  if (first === undefined) return undefined
  if (first === version) return text
  return split(source, definition, first, version)
}

/** Makes a version the stored one. The same text when it is; undefined when the definition is not written out. */
export function storeVersion(text: string, kind: string, version: string): string | undefined {
  const source = readSource(text)
  const definition = source && definitionOf(source, kind)
  const versions = source && definition && versionsOf(source, definition)
  if (!source || !versions) return undefined
  let out = text
  // From the end, so that positions before it stay right.
  for (const { key, valueStart } of versions.parts.toReversed()) {
    const body = readLiteral(source, valueStart)
    if (!body) return undefined
    const stored = body.parts.find((part) => part.key === 'storage')
    if (key !== version && stored) out = removePart(out, stored)
    else if (key === version && stored) out = `${out.slice(0, stored.valueStart)}true${out.slice(stored.valueEnd)}`
    else if (key === version)
      out = `${out.slice(0, body.open + 1)}${lead(source, body)}storage: true,${out.slice(body.open + 1)}`
  }
  return versions.parts.some(({ key }) => key === version) ? out : undefined
}

/** The definition of a kind, if there is one alone and all of its fields are named. */
function definitionOf(source: Source, kind: string): Literal | undefined {
  const found = findCalls(source, 'defineResource').filter((literal) => {
    const value = propertyText(source, literal, 'kind')
    return value === `'${kind}'` || value === `"${kind}"`
  })
  // A spread may bring anything.
  const [definition] = found
  return found.length === 1 && definition!.parts.every(({ key }) => key !== undefined) ? definition : undefined
}

function versionsOf(source: Source, definition: Literal): Literal | undefined {
  const part = definition.parts.find(({ key }) => key === 'versions')
  const literal = part && readLiteral(source, part.valueStart)
  return literal?.parts.every(({ key }) => key !== undefined) ? literal : undefined
}

function split(source: Source, definition: Literal, first: string, version: string): string {
  const { text } = source
  const indent = indentOf(text, definition.parts[0]!.valueStart)
  const pad = (more: number): string => ' '.repeat(indent + more)
  const chunk = (part: LiteralPart, by: number): string => {
    const head = indentLines(source, part.start, part.valueEnd, by)
    return `${head},${indentLines(source, part.valueEnd, part.end, by).replace(',', '').trimEnd()}`
  }
  const shared = definition.parts.filter(({ key }) => key !== 'version' && !versioned.includes(key!))
  const own = definition.parts.filter(({ key }) => versioned.includes(key!))
  const body = own.map((part) => `${pad(4)}${chunk(part, 4)}\n`).join('')
  const copy = own.map((part) => `${pad(4)}${chunk(withoutComments(source, part), 4)}\n`).join('')
  const versions = [
    `${pad(0)}versions: {\n`,
    `${pad(2)}${first}: {\n${pad(4)}storage: true,\n${body}${pad(2)}},\n`,
    `${pad(2)}${version}: {\n${copy}${pad(2)}},\n`,
    `${pad(0)}},\n`,
  ].join('')
  const lines = shared.map((part) => `${pad(0)}${chunk(part, 0)}\n`).join('')
  const close = ' '.repeat(indentOf(text, definition.close))
  return `${text.slice(0, definition.open + 1)}\n${lines}${versions}${close}${text.slice(definition.close)}`
}

function appendCopy(source: Source, versions: Literal, version: string): string | undefined {
  const { text } = source
  const bodies = versions.parts.map(({ valueStart }) => readLiteral(source, valueStart))
  const model = bodies.find((body) => body && propertyText(source, body, 'storage') === 'true')
  const last = versions.parts.at(-1)
  if (!model || !last) return undefined
  const pad = ' '.repeat(indentOf(text, last.start))
  const copied = model.parts.filter(({ key }) => key === undefined || versioned.includes(key))
  const body = copied.map((part) => {
    const { start, end } = withoutComments(source, part)
    return `${pad}  ${text.slice(start, end)},\n`
  })
  const rest = text.slice(last.valueEnd, last.end)
  const comma = rest.includes(',') ? rest : `,${rest}`
  return `${text.slice(0, last.valueEnd)}${comma}\n${pad}${version}: {\n${body.join('')}${pad}},${text.slice(last.end)}`
}

/** Copies do not repeat what was said about the original. */
function withoutComments({ text }: Source, part: LiteralPart): LiteralPart {
  const name = new RegExp(`(?:${part.key}|'${part.key}'|"${part.key}")\\s*:?\\s*$`)
  const head = name.exec(text.slice(part.start, part.valueStart))
  const start = part.valueStart - (head ? head[0].length : 0)
  return { ...part, start, end: part.valueEnd }
}

function lead({ text }: Source, { open, close, parts }: Literal): string {
  const isOneLine = !text.slice(open, close).includes('\n')
  if (isOneLine || parts.length === 0) return ' '
  return `\n${' '.repeat(indentOf(text, parts[0]!.start))}`
}

function removePart(text: string, { start, end }: LiteralPart): string {
  const lineStart = text.lastIndexOf('\n', start) + 1
  const lineEnd = text.indexOf('\n', end)
  const alone = text.slice(lineStart, start).trim() === '' && text.slice(end, lineEnd).trim() === ''
  return alone ? text.slice(0, lineStart) + text.slice(lineEnd + 1) : text.slice(0, start) + text.slice(end).trimStart()
}
