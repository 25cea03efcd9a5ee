import { isJsonObject } from '@kubewright/base'

/** One difference between a response and the recorded one. */
export interface Difference {
  readonly path: string
  readonly expected: unknown
  readonly actual: unknown
  readonly note?: string
}

/** A case whose responses differ from the recorded ones. */
export class CaseFailure extends Error {
  readonly differences: readonly Difference[]

  constructor(differences: readonly Difference[]) {
    const [first] = differences
    super(first ? describeDifference(first) : 'The case failed')
    this.name = 'CaseFailure'
    this.differences = differences
  }
}

/** The differences between two JSON values, sorted by path; at most `limit`. */
export function differencesOf(expected: unknown, actual: unknown, limit = 50): Difference[] {
  const found: Difference[] = []
  walk(expected, actual, '', found, limit)
  return found
}

function walk(expected: unknown, actual: unknown, path: string, found: Difference[], limit: number): void {
  if (expected === actual || found.length >= limit) return
  if (Array.isArray(expected) && Array.isArray(actual)) {
    const common = Math.min(expected.length, actual.length)
    for (let i = 0; i < common; i++) walk(expected[i], actual[i], `${path}[${i}]`, found, limit)
    if (expected.length !== actual.length)
      found.push({ path: `${path}[${common}]`, expected: expected[common], actual: actual[common] })
  } else if (isJsonObject(expected) && isJsonObject(actual)) {
    for (const key of [...new Set([...Object.keys(expected), ...Object.keys(actual)])].sort()) {
      const below = /^[A-Za-z_$][\w$-]*$/.test(key) ? (path ? `${path}.${key}` : key) : `${path}['${key}']`
      if (Object.hasOwn(expected, key) && Object.hasOwn(actual, key))
        walk(expected[key], actual[key], below, found, limit)
      else found.push({ path: below, expected: expected[key], actual: actual[key] })
    }
  } else found.push({ path, expected, actual })
}

/** Formats a difference as one line. */
export function describeDifference({ path, expected, actual, note }: Difference): string {
  return `${path}: expected ${brief(expected)}, got ${brief(actual)}${note ? ` (${note})` : ''}`
}

/** JSON, truncated to 300 characters. */
export function brief(value: unknown): string {
  const text = value === undefined ? '(absent)' : JSON.stringify(value)
  return text.length > 300 ? `${text.slice(0, 300)}…` : text
}

/** Removes the descriptions of table columns, which every server words differently. */
export function withoutColumnTexts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutColumnTexts)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      /^columnDefinitions(\[\*\])?$/.test(key) && Array.isArray(member)
        ? member.map(withoutDescription)
        : withoutColumnTexts(member),
    ]),
  )
}

/** Removes the descriptions in schemas of the built-in API, which are worded differently here. Those of custom resources stay. */
export function withoutSchemaTexts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSchemaTexts)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      /^(components\.schemas\[')?io\.k8s\.[\w.-]+('\])?$/.test(key) ? withoutTexts(member) : withoutSchemaTexts(member),
    ]),
  )
}

/** Removes the descriptions of a schema and of its fields, but not a field that is named `description`. */
function withoutTexts(schema: unknown): unknown {
  if (!isJsonObject(schema)) return schema
  const { properties, ...rest } = withoutDescription(schema) as Record<string, unknown>
  if (!isJsonObject(properties)) return rest
  const fields = Object.entries(properties).map(([name, field]) => [name, withoutTexts(field)])
  return { ...rest, properties: Object.fromEntries(fields) }
}

function withoutDescription(column: unknown): unknown {
  if (!isJsonObject(column)) return column
  const { description: _, ...rest } = column
  return rest
}

/** The value with the keys of every object sorted. */
export function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key])]),
  )
}

/** Whether two values are the same JSON, regardless of key order. */
export function sameJson(a: unknown, b: unknown): boolean {
  return JSON.stringify(sorted(a)) === JSON.stringify(sorted(b))
}
