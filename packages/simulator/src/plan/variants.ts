import { isJsonObject } from '@kubewright/base'
import type { JSONSchemaProps } from '@kubewright/schema'

/** A changed form of a sample. */
export interface Variant {
  /** What differs from the sample: `spec.replicas = 3`. Empty for the sample itself. */
  readonly text: string
  readonly body: Readonly<Record<string, unknown>>
  /** Whether the form makes the operator stop its work, so that the state of the children depends on the history. */
  readonly isHeld?: boolean | undefined
  /** Whether the form differs in a larger volume, which cannot shrink again. */
  readonly isGrowth?: boolean | undefined
  /** The change of a form that differs from the sample in one field. */
  readonly change?: { readonly path: Path; readonly value: unknown } | undefined
  /** The indexes of the forms whose changes this one combines. */
  readonly parts?: readonly number[] | undefined
}

// A smaller volume cannot replace a larger one, and other parts of a volume can never change.
const volumes = /storage|capacity|volume|disk/i
const sizes = /(storage|capacity|volume|disk)s?(Size|Request)?(In)?([KMGT]i?B?|Bytes)?$|[a-z]([KMGT]i|[KMGT]i?B)$/
// Objects that must exist: another name would need another object.
const references = /(secret|configMap|class|account|ref|node|claim|issuer)s?(Name)?$/i
// Operators leave the children of such an object as they are: it has none if it was created in this form.
const holds = /^(paused?|suspend(ed)?|frozen|unmanaged)$/i
const maxDepth = 6
const maxNumber = 10

/**
 * Derives changed forms of an object from its schema: boundary values of each field, optional parts added and removed, lists
 * grown and shrunk, other values of enumerations. The server decides which of them are valid. A text that is one of `names` refers to an
 * object, so that it stays.
 */
export function variantsOf(
  schema: JSONSchemaProps,
  body: Readonly<Record<string, unknown>>,
  names: ReadonlySet<unknown> = new Set(),
): Variant[] {
  return variedOf(schema, body, (part, value, path, emit) => vary(part, value, path, emit, names))
}

/** The copies of an object with the changes that `walk` emits for each part of its schema. */
export function variedOf(
  schema: JSONSchemaProps,
  body: Readonly<Record<string, unknown>>,
  walk: (schema: JSONSchemaProps, value: unknown, path: Path, emit: Emit) => void,
): Variant[] {
  const found: Variant[] = []
  for (const [name, part] of Object.entries(schema.properties ?? {})) {
    if (name === 'apiVersion' || name === 'kind' || name === 'metadata' || name === 'status') continue
    walk(part, body[name], [name], (path, value, isGrowth = false) => {
      const copy = structuredClone(body) as Record<string, unknown>
      put(copy, path, value)
      const shown = value === undefined ? 'removed' : `= ${JSON.stringify(value)}`
      const isHeld = value === true && holds.test(String(path.at(-1)))
      const text = `${pathText(path)} ${shown}`
      const facts = { ...(isHeld ? { isHeld } : {}), ...(isGrowth ? { isGrowth } : {}) }
      found.push({ text, body: copy, change: { path, value }, ...facts })
    })
  }
  return found
}

/**
 * The form that combines one change of each part of the spec: a write from an old state differs from it in every field.
 * Returns undefined if the sample has fewer than two such parts. `variants` begins with the sample.
 */
export function combinedVariant(variants: readonly Variant[]): Variant | undefined {
  const parts = new Map<string, number>()
  for (const [index, { change, isHeld = false, isGrowth = false }] of variants.entries()) {
    if (change === undefined || isHeld || isGrowth) continue
    const field = pathText(change.path.slice(0, 2))
    if (!parts.has(field)) parts.set(field, index)
  }
  const [sample] = variants
  if (sample === undefined || parts.size < 2) return undefined
  const body = structuredClone(sample.body) as Record<string, unknown>
  const combined = [...parts.values()].map((index) => variants[index]!)
  for (const { change } of combined) if (change !== undefined) put(body, change.path, change.value)
  return { text: combined.map(({ text }) => text).join(', '), body, parts: [...parts.values()] }
}

/**
 * The forms that remove one field and add one beside it, of changes that the server refuses one by one: a rule may demand exactly one of
 * several fields.
 */
export function switchedVariants({ body: sample }: Variant, refused: readonly Variant[]): Variant[] {
  const changes = refused.flatMap(({ change, text }) => (change === undefined ? [] : [{ ...change, text }]))
  const removals = changes.filter(({ value }) => value === undefined)
  return removals.flatMap((removal) => {
    const parent = pathText(removal.path.slice(0, -1))
    const additions = changes.filter(({ path, value }) => {
      return value !== undefined && valueAt(sample, path) === undefined && pathText(path.slice(0, -1)) === parent
    })
    return additions.map((addition): Variant => {
      const body = structuredClone(sample) as Record<string, unknown>
      put(body, removal.path, undefined)
      put(body, addition.path, addition.value)
      return { text: `${removal.text}, ${addition.text}`, body }
    })
  })
}

export type Path = readonly (string | number)[]
/** The value of a field; undefined if it, or a part of its path, is absent. */
export const valueAt = (object: object, path: Path): unknown =>
  path.reduce<unknown>((value, name) => (value as Record<string | number, unknown> | undefined)?.[name], object)
/** Adds a copy of the object with another value of one field; without it if the value is undefined. */
export type Emit = (path: Path, value: unknown, isGrowth?: boolean) => void

function vary(schema: JSONSchemaProps, given: unknown, path: Path, emit: Emit, names: ReadonlySet<unknown>): void {
  const name = String(path.at(-1))
  if (path.length > maxDepth) return
  // A field that the sample leaves out has its default value.
  const value = given ?? schema.default
  const larger = largerSize(schema, value, name)
  if (larger !== undefined) {
    emit(path, larger, true)
    return
  }
  const isVolume = path.some((one) => volumes.test(String(one)))
  if (isVolume && (typeof value !== 'object' || value === null)) return
  if (value === undefined) {
    const made = minimalValue(schema, name)
    if (made !== undefined) emit(path, made)
    return
  }
  if (names.has(value)) return
  for (const other of otherValues(schema, value, path)) emit(path, other)
  if (Array.isArray(value)) {
    const items = schema.items ?? {}
    const last = value.at(-1) as unknown
    if (!isVolume && value.length > (schema.minItems ?? 0)) emit(path, value.slice(0, -1))
    if (!isVolume && value.length > 1 && (schema.minItems ?? 0) === 0) emit(path, [])
    const hasRoom = !isVolume && value.length < (schema.maxItems ?? Number.POSITIVE_INFINITY)
    if (hasRoom && last !== undefined && !names.has(last)) {
      emit(path, [...(value as unknown[]), distinct(items, last, names)])
    }
    for (const [index, item] of value.slice(0, 2).entries()) vary(items, item, [...path, index], emit, names)
    return
  }
  if (typeof value !== 'object' || value === null) return
  const record = value as Record<string, unknown>
  for (const [property, part] of Object.entries(schema.properties ?? {})) {
    const at = [...path, property]
    const isRequired = (schema.required ?? []).includes(property)
    const canGo = !isRequired && record[property] !== undefined && part.default === undefined
    if (canGo && !isVolume && !volumes.test(property)) emit(at, undefined)
    vary(part, record[property], at, emit, names)
  }
  const more = schema.additionalProperties
  if (typeof more === 'object' && isVolume) {
    for (const [key, one] of Object.entries(record)) vary(more, one, [...path, key], emit, names)
  } else if (typeof more === 'object' && Object.keys(record).length > 0) {
    const [first, sample] = Object.entries(record)[0]!
    emit([...path, `${first}-2`], distinct(more, sample, names))
    if (Object.keys(record).length > (schema.minProperties ?? 0)) emit([...path, first], undefined)
  }
}

/** Other values of a scalar. */
function otherValues(schema: JSONSchemaProps, value: unknown, path: Path): unknown[] {
  const name = String(path.at(-1))
  if (schema.enum && schema.enum.length > 0) return schema.enum.filter((one) => one !== value)
  if (typeof value === 'boolean') return [!value]
  if (typeof value === 'number') {
    const { minimum = 0, maximum = Number.POSITIVE_INFINITY } = schema
    const step = schema.multipleOf ?? 1
    // A number may be that of pods, so that a high maximum is not tried.
    const high = maximum <= maxNumber ? maximum : value + 2 * step
    return [...new Set([value + step, minimum, high])].filter(
      (one) => one !== value && one >= minimum && one <= maximum,
    )
  }
  if (typeof value === 'string') {
    if (isReference(path)) return []
    return otherTexts(schema, value, name).slice(0, 1)
  }
  return []
}

/** Whether a field names an object that must exist, which is not among the samples: the name itself, or that in a reference. */
function isReference(path: Path): boolean {
  const names = path.filter((one) => typeof one === 'string')
  const name = names.at(-1) ?? ''
  if (references.test(name)) return /name|ref|secret|configMap|account/i.test(name)
  return /^(name|key)$/.test(name) && references.test(names.at(-2) ?? '')
}

/** A larger size of a volume; undefined for other values. */
function largerSize({ maximum }: JSONSchemaProps, value: unknown, name: string): unknown {
  if (typeof value === 'number') {
    if (!sizes.test(name) || (maximum !== undefined && value >= maximum)) return undefined
    return value + 1
  }
  // Many amounts of bytes are sizes of volumes.
  const [, amount = '', unit = ''] = (typeof value === 'string' && /^(\d+)([kMGTP]i?)$/.exec(value)) || []
  return amount === '' || /memory|heap|cache/i.test(name) ? undefined : `${Number(amount) + 1}${unit}`
}

/** Other texts that fit the schema. Those with a format are left to the server. */
function otherTexts(schema: JSONSchemaProps, value: string, name: string): string[] {
  const [, amount = '', unit = ''] = /^(\d+)([a-zA-Z]{0,2})$/.exec(value) ?? []
  const [, before = '', number = ''] = versions.test(name) ? (/^(.*?)(\d+)$/.exec(value) ?? []) : []
  if (number !== '') return fitting(schema, [`${before}${Number(number) + 1}`])
  if (/^\d+(\.\d+)?([kMGTP]i?|m)?$/.test(value) || /^\d+(ms|s|m|h)$/.test(value)) {
    const isSafe = /^(cpu|memory)$/i.test(name) || /interval|period|timeout|every|delay|ttl|duration/i.test(name)
    return isSafe && amount !== '' && Number(amount) > 0 ? fitting(schema, [`${Number(amount) * 2}${unit}`]) : []
  }
  if (schema.format === undefined) return fitting(schema, [`${value}2`, `${value}x`, `x${value}`])
  return textFormats.has(schema.format) ? fitting(schema, [`x${value}`]) : []
}

// A number in such a field is no amount.
const versions = /version|release|tag/i

// Formats in which a letter in front keeps a text valid.
const textFormats = new Set(['hostname', 'email', 'uri', 'idn-hostname', 'idn-email'])

/** The texts that the pattern and the lengths of a schema allow. */
function fitting({ pattern, minLength = 0, maxLength }: JSONSchemaProps, texts: readonly string[]): string[] {
  let expression: RegExp | undefined
  try {
    expression = pattern === undefined ? undefined : new RegExp(pattern)
  } catch {
    // Expressions of Go that JavaScript does not have.
    return []
  }
  return texts.filter(
    (text) => text.length >= minLength && text.length <= (maxLength ?? text.length) && (expression?.test(text) ?? true),
  )
}

/** A value with the required fields of a schema; undefined when the schema does not describe it well enough. */
export function minimalValue(schema: JSONSchemaProps, name: string): unknown {
  if (schema.default !== undefined) return undefined
  if (schema.enum && schema.enum.length > 0) return schema.enum[0]
  switch (schema.type) {
    case 'boolean':
      return true
    case 'integer':
    case 'number':
      return schema.minimum ?? 1
    case 'string':
      if (schema.format !== undefined || /name|ref|secret/i.test(name)) return undefined
      return fitting(schema, ['text'.padEnd(schema.minLength ?? 0, 'x'), 'a', 'a1', 'A', '1'])[0]
    case 'object': {
      const made: Record<string, unknown> = {}
      for (const property of schema.required ?? []) {
        const part = schema.properties?.[property]
        const value = part && (part.default ?? minimalValue(part, property))
        if (value === undefined) return undefined
        made[property] = value
      }
      if (typeof schema.additionalProperties === 'object') {
        const value = minimalValue(schema.additionalProperties, 'value')
        if (value !== undefined) made['key'] = value
      }
      return made
    }
    case 'array': {
      if ((schema.minItems ?? 0) === 0 && schema.items === undefined) return undefined
      const item = minimalValue(schema.items ?? {}, name)
      return item === undefined ? undefined : [item]
    }
  }
  return undefined
}

/** A similar value that differs in its texts, so that keys of lists stay unique. */
function distinct(schema: JSONSchemaProps, value: unknown, names: ReadonlySet<unknown>): unknown {
  if (names.has(value)) return value
  if (typeof value === 'string') return schema.enum ? value : `${value}2`
  if (typeof value === 'number') return value + 1
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [
      name,
      typeof part === 'object' ? part : distinct(schema.properties?.[name] ?? {}, part, names),
    ]),
  )
}

function put(target: Record<string | number, unknown>, path: Path, value: unknown): void {
  let parent = target
  for (const name of path.slice(0, -1)) {
    if (typeof parent[name] !== 'object' || parent[name] === null) parent[name] = {}
    parent = parent[name] as Record<string | number, unknown>
  }
  const name = path.at(-1)!
  if (value === undefined) delete parent[name]
  else parent[name] = value
}

const pathText = (path: Path): string =>
  path.map((name, index) => (typeof name === 'number' ? `[${name}]` : `${index === 0 ? '' : '.'}${name}`)).join('')
