import { isJsonObject } from '@kubewright/base'

/** Names and their values. */
export type Names = ReadonlyMap<string, string>

/** Replaces ${names} by their values, and generates large values from descriptions ($repeat, $array, $map, $int). */
export function expand<T>(value: T, names: Names): T {
  return expandAny(value, names) as T
}

function expandAny(value: unknown, names: Names): unknown {
  if (typeof value === 'string') return value.replace(/\$\{(\w+)\}/g, (all, name: string) => names.get(name) ?? all)
  if (Array.isArray(value)) return value.map((item) => expandAny(item, names))
  if (!isJsonObject(value)) return value
  const entries = Object.entries(value)
  const made = entries.length === 1 ? generated(entries[0]!, names) : undefined
  if (made !== undefined) return made
  return Object.fromEntries(entries.map(([key, item]) => [expandAny(key, names), expandAny(item, names)]))
}

function generated([key, value]: [string, unknown], names: Names): unknown {
  const numbered = (count: unknown): Names[] =>
    Array.from({ length: Number(count) }, (_, i) => new Map([...names, ['i', String(i)]]))
  const list = value as unknown[]
  switch (key) {
    case '$repeat':
      return String(list[0]).repeat(Number(list[1]))
    case '$array':
      return numbered(list[0]).map((inner) => expandAny(list[1], inner))
    case '$map':
      return Object.fromEntries(
        numbered(list[0]).map((inner) => [String(expandAny(list[1], inner)), expandAny(list[2], inner)]),
      )
    case '$int':
      return Number(expandAny(value, names))
    default:
      return undefined
  }
}
