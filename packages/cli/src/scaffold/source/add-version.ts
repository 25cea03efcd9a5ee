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

// The options of defineResource that may differ between versions.
const versioned = ['description', 'spec', 'status', 'fields', 'rules', 'columns', 'selectableFields', 'scale']

/**
 * Adds a version to the `defineResource({ ... })` of a kind, as a copy of the storage version. A definition with one version becomes one
 * with `versions`. Returns the same text if the version exists; undefined if the definition is not an object literal.
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

/** Makes a version the storage version. Undefined if the definition is not an object literal. */
export function storeVersion(text: string, kind: string, version: string): string | undefined {
  const source = readSource(text)
  const definition = source && definitionOf(source, kind)
  const versions = source && definition && versionsOf(source, definition)
  if (!source || !versions) return undefined
  let out = text
  // From the end, so that earlier positions stay valid.
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

/** The definition of a kind. Undefined unless there is exactly one, without spreads. */
function definitionOf(source: Source, kind: string): Literal | undefined {
  const found = findCalls(source, 'defineResource').filter((literal) => {
    const value = propertyText(source, literal, 'kind')
    return value === `'${kind}'` || value === `"${kind}"`
  })
  // A spread may contain any property.
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
  const copy = own
    .map((part) => `${pad(4)}${chunk({ ...part, start: part.nameStart, end: part.valueEnd }, 4)}\n`)
    .join('')
  const versions = [
    `${pad(0)}versions: {\n`,
    `${pad(2)}${first}: {\n${pad(4)}storage: true,\n${body}${pad(2)}},\n`,
    `${pad(2)}${version}: {\n${copy}${pad(2)}},\n`,
    `${pad(0)}},\n`,
  ].join('')
  const lines = shared.map((part) => `${pad(0)}${chunk(part, 0)}\n`).join('')
  const close = ' '.repeat(indentOf(text, definition.close))
  const comments = remarks(source, definition)
    .map((remark) => `${pad(0)}${remark}\n`)
    .join('')
  return `${text.slice(0, definition.open + 1)}\n${lines}${comments}${versions}${close}${text.slice(definition.close)}`
}

/** The comments of the `version` property, which is removed, and those after the last property. */
function remarks({ text }: Source, { parts, close }: Literal): string[] {
  const version = parts.find(({ key }) => key === 'version')!
  const before = text.slice(version.start, version.nameStart)
  const behind = text.slice(version.valueEnd, version.end).replace(',', '')
  const last = text.slice(parts.at(-1)!.end, close)
  return [before, behind, last].flatMap((remark) => (remark.trim() === '' ? [] : [remark.trim()]))
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
    // Without the comments of the original.
    return `${pad}  ${text.slice(part.nameStart, part.valueEnd)},\n`
  })
  const rest = text.slice(last.valueEnd, last.end)
  const comma = rest.includes(',') ? rest : `,${rest}`
  return `${text.slice(0, last.valueEnd)}${comma}\n${pad}${version}: {\n${body.join('')}${pad}},${text.slice(last.end)}`
}

function lead({ text }: Source, { open, close, parts }: Literal): string {
  const isOneLine = !text.slice(open, close).includes('\n')
  if (isOneLine || parts.length === 0) return ' '
  return `\n${' '.repeat(indentOf(text, parts[0]!.start))}`
}

/** Removes a property and keeps the comments around it. */
function removePart(text: string, { nameStart, valueEnd, end }: LiteralPart): string {
  const rest = text.slice(valueEnd, end).replace(',', '').trimStart()
  const before = text.slice(0, nameStart)
  const after = rest + text.slice(end)
  const isAlone = /(?:^|\n)[ \t]*$/.test(before) && /^[ \t]*\n/.test(after)
  if (isAlone) return before.replace(/[ \t]*$/, '') + after.replace(/^[ \t]*\n/, '')
  return before + after.trimStart()
}
