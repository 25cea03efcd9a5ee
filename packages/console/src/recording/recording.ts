import type { Column, Row } from '../wire/messages.ts'
import type { KindInfo, ResourceName } from '../wire/names.ts'

/** One state of an object. */
export interface Version {
  /** The number of the change that led to it; 0 for states from before the recording. */
  readonly number: number
  /** Milliseconds since the epoch. */
  readonly time: number
  /** The object as JSON, and its row in tables; absent once the object is deleted. */
  readonly state?: { readonly text: string; readonly row: Row } | undefined
}

/** An object with its states, oldest first. */
export interface RecordedObject {
  readonly resource: ResourceName
  readonly uid: string
  readonly namespace?: string | undefined
  readonly name: string
  readonly versions: Version[]
}

/** A step of the story in a recording. */
export interface Mark {
  /** Milliseconds since the epoch. */
  readonly time: number
  readonly actor: string
  readonly text: string
  readonly source?: string | undefined
}

/** A change: one more state of an object. */
export interface Change {
  readonly number: number
  readonly time: number
  readonly object: RecordedObject
}

/** Options of {@link Recording}. */
export interface RecordingOptions {
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  /** The maximum size of all states in characters of JSON. Beyond it, the oldest changes are dropped. @default 64 MiB */
  readonly maxSize?: number | undefined
}

const defaultMaxSize = 64 * 1024 * 1024

/**
 * All states of all objects since the start, within a limit. The number of a change names the moment right after it; the
 * oldest moment is {@link first}.
 */
export class Recording {
  readonly startedAt: number
  /** The steps of a story, in order. */
  marks: readonly Mark[] = []
  readonly #maxSize: number
  readonly #objects = new Map<string, Map<string, RecordedObject>>()
  readonly #columns = new Map<string, readonly Column[]>()
  readonly #listeners = new Set<() => void>()
  #kinds: readonly KindInfo[] = []
  /** The changes after the oldest moment, in order. */
  #changes: Change[] = []
  #first = 0
  #firstTime: number
  #size = 0

  constructor({ startedAt, maxSize = defaultMaxSize }: RecordingOptions) {
    this.startedAt = startedAt
    this.#firstTime = startedAt
    this.#maxSize = maxSize
  }

  /** All kinds that the cluster has served since the start. */
  get kinds(): readonly KindInfo[] {
    return this.#kinds
  }

  /** The number of the oldest moment: 0 until changes were dropped. */
  get first(): number {
    return this.#first
  }

  /** The number of the newest moment. Grows by one with each change. */
  get last(): number {
    return this.#changes.at(-1)?.number ?? this.#first
  }

  /** The changes after the oldest moment, oldest first. */
  get changes(): readonly Change[] {
    return this.#changes
  }

  /** All objects that exist at one of the moments. */
  *objects(): Generator<RecordedObject, void, undefined> {
    for (const objects of this.#objects.values()) yield* objects.values()
  }

  /** The objects of one kind that exist at one of the moments. */
  objectsOf(resource: ResourceName): Iterable<RecordedObject> {
    return this.#objects.get(keyOf(resource))?.values() ?? []
  }

  /** The columns of a kind's tables; empty if none were recorded. */
  columnsOf(resource: ResourceName): readonly Column[] {
    return this.#columns.get(keyOf(resource)) ?? []
  }

  /** The time of a moment. */
  timeOf(moment: number): number {
    return this.#changes[moment - this.#first - 1]?.time ?? this.#firstTime
  }

  /** Calls the listener after each change. */
  listen(listener: () => void): Disposable {
    const own = (): void => listener()
    this.#listeners.add(own)
    return { [Symbol.dispose]: () => void this.#listeners.delete(own) }
  }

  /** Kinds are kept when the cluster no longer serves them, because earlier moments still show them. */
  setKinds(kinds: readonly KindInfo[]): void {
    const known = new Map(this.#kinds.map((kind) => [keyOf(kind), kind]))
    for (const kind of kinds) known.set(keyOf(kind), kind)
    this.#kinds = [...known.values()]
    this.#notify()
  }

  setColumns(resource: ResourceName, columns: readonly Column[]): void {
    this.#columns.set(keyOf(resource), columns)
  }

  /**
   * Adds a state. Without `state` the object was deleted. With `isBase` the state is from before the recording;
   * with `replaces` it takes the place of the newest state instead of following it.
   */
  add(
    { resource, uid, namespace, name }: Omit<RecordedObject, 'versions'>,
    state: Version['state'],
    time: number,
    {
      isBase = false,
      replaces = false,
    }: { readonly isBase?: boolean | undefined; readonly replaces?: boolean | undefined } = {},
  ): void {
    const objects = this.#objects.get(keyOf(resource)) ?? new Map<string, RecordedObject>()
    this.#objects.set(keyOf(resource), objects)
    const object = objects.get(uid) ?? { resource, uid, namespace, name, versions: [] }
    const newest = object.versions.at(-1)
    if (state === undefined && newest?.state === undefined) return
    objects.set(uid, object)
    this.#size += sizeOf(state)
    if (replaces && newest !== undefined) {
      this.#size -= sizeOf(newest.state)
      object.versions[object.versions.length - 1] = { ...newest, state }
      return
    }
    const number = isBase ? this.#first : this.last + 1
    object.versions.push({ number, time, state })
    if (!isBase) this.#changes.push({ number, time, object })
    this.#drop()
    this.#notify()
  }

  /** Drops the oldest changes until the size is below the limit. */
  #drop(): void {
    let count = 0
    while (this.#size > this.#maxSize && count < this.#changes.length) {
      const { number, time, object } = this.#changes[count++] as Change
      this.#first = number
      this.#firstTime = time
      // The state at the oldest moment stays; the states before it are not visible any more.
      while (object.versions.length > 1 && (object.versions[1]?.number ?? Infinity) <= number)
        this.#size -= sizeOf(object.versions.shift()?.state)
      if (object.versions.length === 1 && object.versions[0]?.state === undefined)
        this.#objects.get(keyOf(object.resource))?.delete(object.uid)
    }
    if (count > 0) this.#changes = this.#changes.slice(count)
  }

  #notify(): void {
    for (const listener of [...this.#listeners]) listener()
  }
}

/** The state of an object at a moment; undefined if it did not exist. */
export function stateAt({ versions }: RecordedObject, moment: number): Version['state'] {
  for (let index = versions.length - 1; index >= 0; index--) {
    const version = versions[index]
    if (version !== undefined && version.number <= moment) return version.state
  }
  return undefined
}

const keyOf = ({ group, plural }: ResourceName): string => `${group}/${plural}`

/** The text counts, plus an estimate for the row and the bookkeeping. */
function sizeOf(state: Version['state']): number {
  return state === undefined ? 100 : state.text.length + 300
}
