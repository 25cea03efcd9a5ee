import { controllerOf, type KubeObject } from '@kubewright/api'
import type { Clock } from '@kubewright/base'
import { conditionTexts, objectId } from '../define/object-id.ts'
import { type RequestFacts, requestText } from '../define/request-facts.ts'
import { ConfigLog } from './config-log.ts'
import { DataLog } from './data-log.ts'
import type { History } from './history.ts'
import type { ServedWrite } from './network.ts'
import type { SimulatedProcess } from './process.ts'

const minute = 60_000

/** An object that the operator has written. */
export interface WrittenObject {
  readonly path: string
  readonly kind: string
  /** The fields that the operator has changed after the creation. */
  readonly changed: Set<string>
  /** The object after the last write of the operator. */
  last: KubeObject
  /** Whether the operator has removed all owners of the object, so that it stays when they are gone. */
  isReleased: boolean
}

export interface RecordedWrite {
  readonly time: number
  readonly id: string
  readonly verb: string
  /** Whether the object has changed. */
  readonly isEffective: boolean
}

/** The writes of the operator in one run. */
export class WriteLog {
  readonly written: Map<string, WrittenObject> = new Map()
  readonly writes: RecordedWrite[] = []
  /** The abstract states that writes have reached. */
  readonly states: Set<string> = new Set()
  readonly data: DataLog = new DataLog()
  readonly configs: ConfigLog = new ConfigLog()
  /** The uids of the controllers of the objects that the operator has deleted, by the ID of the object. */
  readonly deleted: Map<string, string> = new Map()
  /** The times of the writes that the server refused because the object was not valid. */
  readonly refusals: number[] = []
  /** The times of the writes that the server refused because another object has the requested address or port. */
  readonly contentions: number[] = []
  readonly #clock: Clock
  readonly #history: History
  /** The changes of each existing object within a minute. */
  readonly #recent = new Map<string, { readonly since: number; count: number }>()
  /** The highest number of times that the operator has changed an existing object within a minute. */
  mostWithinMinute = 0

  constructor(clock: Clock, history: History) {
    this.#clock = clock
    this.#history = history
  }

  /** Records a write that the server has answered with an object, and whether a fault lasts. */
  served(
    { process, facts, path, status, source, isEffective }: ServedWrite,
    object: KubeObject,
    isDuringFault: boolean,
  ): void {
    const effect = isEffective ? '' : ' and nothing changes'
    this.#history.note(
      'operator',
      `The operator sends ${requestText(facts)}, the server answers ${status}${effect}`,
      source,
    )
    if (status === 400 || status === 422 || isHomeless(status, object)) this.refusals.push(this.#clock.monotonic())
    if (status === 422 && isContention(object)) this.contentions.push(this.#clock.monotonic())
    const id =
      status < 300 && object.kind !== 'Status' ? objectId(object) : `${facts.plural} ${facts.namespace}/${facts.name}`
    this.writes.push({ time: this.#clock.monotonic(), id, verb: facts.verb, isEffective })
    // An operator that creates the children of an owner that is gone takes turns with the garbage collector, until it sees that.
    if (isEffective && status === 200 && facts.verb !== 'delete') this.#count(id)
    this.states.add(stateText(facts, status, object, process))
    if (status >= 300 || object.kind === 'Status') return
    const owner = controllerOf(object)?.uid
    if (facts.verb !== 'delete') {
      this.data.see(object, isDuringFault)
      this.configs.see(object, this.#clock.now())
    } else {
      this.data.delete(object)
      if (owner !== undefined) this.deleted.set(objectId(object), owner)
    }
    const place = facts.verb === 'create' ? `${path}/${object.metadata.name}` : path
    const known = this.written.get(id)
    if (known !== undefined) {
      for (const path of changedFields(known.last, object)) known.changed.add(path)
      known.isReleased = isOwned(known.last) ? !isOwned(object) : known.isReleased
      known.last = object
    } else if (facts.subresource === '') {
      this.written.set(id, { path: place, kind: object.kind, changed: new Set(), last: object, isReleased: false })
    }
  }

  /** The most frequent write, for messages. */
  get busiest(): string | undefined {
    const counts = new Map<string, number>()
    for (const { verb, id } of this.writes) counts.set(`${verb} ${id}`, (counts.get(`${verb} ${id}`) ?? 0) + 1)
    return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0]
  }

  #count(id: string): void {
    const now = this.#clock.monotonic()
    const known = this.#recent.get(id)
    const current = known === undefined || now >= known.since + minute ? { since: now, count: 0 } : known
    this.#recent.set(id, current)
    this.mostWithinMinute = Math.max(this.mostWithinMinute, ++current.count)
  }
}

/** Whether the server refuses an object because its namespace does not exist. */
const isHomeless = (status: number, answer: object): boolean =>
  status === 404 && /^namespaces "[^"]*" not found/.test((answer as { message?: string | undefined }).message ?? '')

// Cluster IPs and node ports belong to the whole cluster. Whoever is first gets them.
const isContention = (answer: object): boolean =>
  /provided (port|IP) is already allocated/.test((answer as { message?: string | undefined }).message ?? '')

const isOwned = ({ metadata }: KubeObject): boolean => (metadata.ownerReferences ?? []).length > 0

/** An abstraction of the state that a write reaches, to measure coverage. */
function stateText(facts: RequestFacts, status: number, object: KubeObject, process: SimulatedProcess): string {
  const { verb, plural, subresource } = facts
  const conditions = conditionTexts(object).join()
  const isDeleting = object.metadata?.deletionTimestamp !== undefined
  const isRestarted = !process.name.endsWith('1')
  return [verb, plural, subresource, status, conditions, isDeleting, isRestarted].join(' ')
}

/** The paths of the scalars in spec and data that differ between two forms of an object, with `\0` as separator. */
function changedFields(before: object, after: object): string[] {
  const found: string[] = []
  for (const part of ['spec', 'data'] as const) {
    const [a, b] = [(before as Record<string, unknown>)[part], (after as Record<string, unknown>)[part]]
    compare(a, b, part, found)
  }
  return found
}

function compare(before: unknown, after: unknown, path: string, found: string[]): void {
  if (before === after || Array.isArray(after)) return
  if (typeof after !== 'object' || after === null) {
    if (before !== undefined && after !== undefined) found.push(path)
    return
  }
  const old = (typeof before === 'object' ? before : undefined) as Record<string, unknown> | null | undefined
  for (const [name, value] of Object.entries(after)) compare(old?.[name], value, `${path}\0${name}`, found)
}
