import { deepCopy, deepEqual, isJsonObject } from '@kubewright/base'

/** The JSON of `fieldsV1`: the fields of an object that one manager owns. */
type Fields = { readonly [element: string]: Fields }
type Json = Readonly<Record<string, unknown>>

interface Entry {
  readonly manager?: string | undefined
  readonly operation?: string | undefined
  readonly apiVersion?: string | undefined
  readonly subresource?: string | undefined
  readonly fieldsV1?: unknown
}

/** The fields of a live object that are read here. */
interface Live {
  readonly apiVersion: string
  readonly metadata: {
    readonly uid: string
    readonly resourceVersion: string
    readonly managedFields?: readonly Entry[] | undefined
  }
}

/** Whether a manager has applied the object, according to its managedFields. */
export function wasAppliedBy(live: Live, manager: string): boolean {
  return entryOf(live, manager, '') !== undefined
}

function entryOf(live: Live, manager: string, subresource: string): Entry | undefined {
  return live.metadata.managedFields?.find(
    (entry) => entry.manager === manager && entry.operation === 'Apply' && (entry.subresource ?? '') === subresource,
  )
}

// Fields that identify an object, or are preconditions, have no owner.
const identity: ReadonlySet<string> = new Set([
  'name',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'selfLink',
  'managedFields',
])

function owned(config: Json): Json {
  const { apiVersion, kind, metadata, ...rest } = config
  const kept = Object.entries((metadata ?? {}) as Json).filter(
    ([key, value]) => !identity.has(key) && value !== undefined,
  )
  return kept.length === 0 ? rest : { ...rest, metadata: Object.fromEntries(kept) }
}

/**
 * The result of an apply whose values read differently than applied, for example a quantity that the server normalized.
 */
interface Lesson {
  readonly config: Json
  readonly fields: unknown
  readonly values: unknown
  /** The places where the applied value has an empty value and the live object nothing: empty values have no owner. */
  readonly gaps: string
  /**
   * The whole object, without status and server's metadata, if it lacks a field that the manager owns: the server moved its
   * value, and nothing tells where to. Then any difference may be one of the applied value.
   */
  readonly whole: unknown
  readonly resourceVersion: string
}

// The memory only saves requests, so it may evict entries.
const maxLessons = 4096

/**
 * Determines whether a server-side apply would change nothing, neither values nor ownership. It returns true only with
 * a proof: the fields that the manager owns are exactly those of the configuration, and the live values equal the
 * applied ones, or those that the server made of them when the same configuration was last applied. No schema is
 * needed: `managedFields` tell which lists have keys and which parts are owned as a whole.
 */
export class AppliedFields {
  readonly #manager: string
  readonly #subresource: string
  readonly #lessons = new Map<string, Lesson>()

  constructor(manager: string, subresource = '') {
    this.#manager = manager
    this.#subresource = subresource
  }

  /** Whether applying the configuration to the live object is proven to change nothing. */
  unchanged(config: object, live: Live): boolean {
    if (live.metadata.managedFields === undefined) return this.#isLastResult(config, live)
    const entry = entryOf(live, this.#manager, this.#subresource)
    if (entry === undefined || entry.apiVersion !== live.apiVersion || !isJsonObject(entry.fieldsV1)) return false
    const fields = entry.fieldsV1 as Fields
    const applied = owned(config as Json)
    if (same(applied, live, fields, othersOf(live, entry))) return true
    const lesson = this.#lessons.get(live.metadata.uid)
    return (
      lesson !== undefined &&
      deepEqual(lesson.config, applied) &&
      deepEqual(lesson.fields, fields) &&
      deepEqual(lesson.values, project(live, fields)) &&
      lesson.gaps === gapsOf(applied, live) &&
      (lesson.whole === undefined || deepEqual(lesson.whole, wholeOf(live)))
    )
  }

  /**
   * Whether the live object has the version that the same apply resulted in: the only proof when caches drop
   * `managedFields`.
   */
  #isLastResult(config: object, { metadata }: Live): boolean {
    const lesson = this.#lessons.get(metadata.uid)
    return lesson?.resourceVersion === metadata.resourceVersion && deepEqual(lesson.config, owned(config as Json))
  }

  /**
   * Records the result of an apply if `unchanged` could not prove it by comparison. `before` is the object that it was
   * applied to, if known.
   */
  learn(config: object, answer: Live, before?: Live): void {
    const { uid, resourceVersion } = answer.metadata
    this.#lessons.delete(uid)
    const entry = entryOf(answer, this.#manager, this.#subresource)
    const fields = entry?.fieldsV1
    if (entry === undefined || !isJsonObject(fields)) return
    const applied = owned(config as Json)
    const isBlind = before !== undefined && before.metadata.managedFields === undefined
    if (!isBlind && same(applied, answer, fields as Fields, othersOf(answer, entry))) return
    // An apply may drop empty values, and the next apply restore them: then only an apply without effect is a proof.
    const gaps = gapsOf(applied, answer)
    if (gaps !== '' && before?.metadata.resourceVersion !== resourceVersion) return
    if (this.#lessons.size >= maxLessons) {
      for (const oldest of this.#lessons.keys()) {
        this.#lessons.delete(oldest)
        break
      }
    }
    const values = project(answer, fields as Fields)
    const whole = hasMoved(answer, fields as Fields) ? wholeOf(answer) : undefined
    this.#lessons.set(uid, { config: deepCopy(applied), fields, values, gaps, whole, resourceVersion })
  }
}

/**
 * Whether two versions of an object differ in nothing but the status fields that a manager applied: everything else,
 * including status fields of other managers, is equal. `after` must have `managedFields`. If `before` has none, because
 * the cache drops them, only fields that the manager owns in `after` count as its own.
 */
export function differsOnlyInStatusOf(manager: string, before: Live, after: Live): boolean {
  if (after.metadata.managedFields === undefined) return false
  const owners = before.metadata.managedFields === undefined ? after : before
  return deepEqual(withoutStatusOf(manager, before, owners), withoutStatusOf(manager, after, after))
}

function withoutStatusOf(manager: string, live: Live, owners: Live): Json {
  const { metadata, status, ...rest } = live as Live & Json
  const { resourceVersion, managedFields, ...kept } = metadata
  const entry = entryOf(owners, manager, 'status')
  const fields = isJsonObject(entry?.fieldsV1) ? (entry.fieldsV1 as Fields)['f:status'] : undefined
  if (entry === undefined || fields === undefined) return { ...rest, metadata: kept, status }
  return { ...rest, metadata: kept, status: without(status, fields, below(othersOf(owners, entry), 'f:status')) }
}

/** The value without the fields of a manager; undefined when nothing is left. */
function without(value: unknown, fields: Fields, others: readonly Fields[]): unknown {
  const elements = elementsOf(fields)
  // If others own parts of it, the manager owns the value itself only, which it applied empty.
  if (elements.length === 0) return others.some((other) => elementsOf(other).length > 0) ? value : undefined
  if (Array.isArray(value)) {
    const matchers = elements.map((element) => ({ element, matches: matcherOf(element) }))
    const left = value.flatMap((item: unknown) => {
      const element = matchers.find(({ matches }) => matches(item, true))?.element
      const kept = element === undefined ? item : without(item, fields[element] ?? {}, below(others, element))
      return kept === undefined ? [] : [kept]
    })
    return left.length === 0 ? undefined : left
  }
  if (!isJsonObject(value)) return undefined
  const left = Object.keys(value).flatMap((key) => {
    const element = `f:${key}`
    const owned = fields[element]
    const kept = owned === undefined ? value[key] : without(value[key], owned, below(others, element))
    return kept === undefined ? [] : [[key, kept] as const]
  })
  return left.length === 0 ? undefined : Object.fromEntries(left)
}

function othersOf(live: Live, own: Entry): readonly Fields[] {
  const entries = live.metadata.managedFields?.filter((entry) => entry !== own && isJsonObject(entry.fieldsV1)) ?? []
  return entries.map((entry) => entry.fieldsV1 as Fields)
}

const below = (others: readonly Fields[], element: string): readonly Fields[] =>
  others.length === 0 ? others : others.flatMap((fields) => fields[element] ?? [])

/** Whether the applied value has exactly these fields, and the live value has the same values in them. */
function same(applied: unknown, live: unknown, fields: Fields, others: readonly Fields[]): boolean {
  const elements = elementsOf(fields)
  if (elements.length === 0) return isWhole(applied, others) && deepEqual(applied, live)
  if (Array.isArray(applied)) return Array.isArray(live) && sameItems(applied, live, elements, fields, others)
  if (!isJsonObject(applied) || !isJsonObject(live)) return false
  let count = 0
  for (const key in applied) {
    const value = applied[key]
    if (value === undefined) continue
    const element = `f:${key}`
    const owned = fields[element]
    if (owned === undefined || !Object.hasOwn(live, key)) return false
    if (!same(value, live[key], owned, below(others, element))) return false
    count++
  }
  return count === elements.length
}

/**
 * Whether a value of which the manager owns no parts must be owned as a whole. If others own parts of it, the manager
 * applied it empty before, and would own parts now.
 */
function isWhole(applied: unknown, others: readonly Fields[]): boolean {
  if (mayOwnNothing(applied)) return false
  if (!isJsonObject(applied)) return true
  for (const _ in applied) return others.every((fields) => elementsOf(fields).length === 0)
  return true
}

/**
 * Empty lists with keys have no owner, and neither have values that contain nothing else: then the fields prove
 * nothing.
 */
function mayOwnNothing(applied: unknown): boolean {
  if (Array.isArray(applied)) return applied.length === 0
  return isJsonObject(applied) && Object.values(applied).some(mayOwnNothing)
}

function sameItems(
  applied: readonly unknown[],
  live: readonly unknown[],
  elements: string[],
  fields: Fields,
  others: readonly Fields[],
): boolean {
  if (applied.length !== elements.length) return false
  const open = new Map(elements.map((element) => [element, matcherOf(element)]))
  let before = -1
  for (const item of applied) {
    const element = elements.find((candidate) => open.get(candidate)?.(item, false))
    if (element === undefined) return false
    const at = live.findIndex((other) => open.get(element)?.(other, true))
    open.delete(element)
    // An apply also reorders the items.
    if (at <= before || !same(item, live[at], fields[element] ?? {}, below(others, element))) return false
    before = at
  }
  return true
}

/** The live values of the fields. */
function project(live: unknown, fields: Fields): unknown {
  const elements = elementsOf(fields)
  if (elements.length === 0) return live
  if (Array.isArray(live)) {
    const matchers = elements.map((element) => ({ below: fields[element] ?? {}, matches: matcherOf(element) }))
    return live.flatMap((item) => {
      const found = matchers.find(({ matches }) => matches(item, true))
      return found ? [project(item, found.below)] : []
    })
  }
  if (!isJsonObject(live)) return live
  return Object.fromEntries(
    elements.map((element) => [element, project(live[element.slice(2)], fields[element] ?? {})]),
  )
}

/** Whether the live value lacks a field that a manager owns. */
function hasMoved(live: unknown, fields: Fields): boolean {
  if (!isJsonObject(live)) return false
  return elementsOf(fields).some((element) => {
    if (!element.startsWith('f:')) return false
    const name = element.slice(2)
    return !Object.hasOwn(live, name) || hasMoved(live[name], fields[element] ?? {})
  })
}

/** The object without what changes when its content does not. */
function wholeOf(live: Live): unknown {
  const { status: _, metadata, ...rest } = live as Live & Json
  const { labels, annotations, ownerReferences, finalizers } = metadata as Json
  return { ...rest, metadata: { labels, annotations, ownerReferences, finalizers } }
}

/**
 * The paths at which the applied value has something and the live value nothing; the empty text when there are none.
 */
function gapsOf(applied: unknown, live: unknown, path = '.'): string {
  if (applied === undefined) return ''
  if (live === undefined || live === null) return path
  if (Array.isArray(applied)) {
    if (!Array.isArray(live) || live.length < applied.length) return path
    return applied.every((item) => live.some((other) => gapsOf(item, other) === '')) ? '' : path
  }
  if (!isJsonObject(applied)) return ''
  if (!isJsonObject(live)) return path
  return Object.keys(applied)
    .map((key) => gapsOf(applied[key], live[key], `${path}${key}.`))
    .join('')
}

/** The elements below a node, without the dot, which stands for the node itself. */
function elementsOf(fields: Fields): string[] {
  return Object.keys(fields).filter((element) => element !== '.')
}

/**
 * Returns a function that recognizes the list item of an element such as `k:{"name":"web"}` or `v:"a"`. A key that an
 * applied item omits has its default in the live item, so only live items must have all keys.
 */
function matcherOf(element: string): (item: unknown, needsAll: boolean) => boolean {
  if (element.startsWith('v:')) {
    const value: unknown = JSON.parse(element.slice(2))
    return (item) => deepEqual(item, value)
  }
  if (!element.startsWith('k:')) return () => false
  // The server writes a JSON object after `k:`.
  const keys = Object.entries(JSON.parse(element.slice(2)) as Json)
  return (item, needsAll) =>
    isJsonObject(item) && keys.every(([key, wanted]) => item[key] === wanted || (!needsAll && item[key] === undefined))
}
