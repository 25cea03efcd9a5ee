import { controllerOf, type KubeObject } from '@kubewright/api'
import type { Clock } from '@kubewright/base'
import { changedFields } from './change-field.ts'
import { objectId } from './cluster-state.ts'
import { DataLog } from './data-log.ts'
import type { History } from './history.ts'
import type { ServedWrite } from './network.ts'
import type { SimulatedProcess } from './process.ts'
import { isWrite, type RequestFacts, requestText } from './request-text.ts'
import { ConfigLog } from './stale-environment.ts'

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

/** A write of the operator. */
export interface RecordedWrite {
  readonly time: number
  readonly id: string
  readonly verb: string
  /** Whether the object has changed. */
  readonly isEffective: boolean
}

/** The writes of the operator in one run. Checks the oracles that concern a single request. */
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
  readonly #checksLeader: boolean
  /** The changes of each existing object within a minute. */
  readonly #recent = new Map<string, { readonly since: number; count: number }>()
  #most = 0
  #holder = ''

  /** `checksLeader`: only the replica that holds the Lease may write. */
  constructor(clock: Clock, history: History, checksLeader: boolean) {
    this.#clock = clock
    this.#history = history
    this.#checksLeader = checksLeader
  }

  /** The highest number of times that the operator has changed an existing object within a minute. */
  get mostWithinMinute(): number {
    return this.#most
  }

  /** Checks a write that a process sends. */
  sent(process: SimulatedProcess, facts: RequestFacts): void {
    const { manager } = process
    if (!this.#checksLeader || manager === undefined) return
    if (this.#holder !== '' && this.#holder !== manager.identity) {
      const who = `Replica ${process.replica} sent "${requestText(facts)}" although ${this.#holder} leads`
      this.#history.violate('leader', who)
    }
  }

  /** Records a write that the server has processed, and whether a fault lasts. */
  served(
    { process, facts, path, status, body, source, isEffective, isDisturbed }: ServedWrite,
    isDuringFault: boolean,
  ): void {
    const object = JSON.parse(Buffer.from(body).toString()) as KubeObject & { spec?: { holderIdentity?: string } }
    if (facts.plural === 'leases') {
      if (status < 300) this.#holder = object.spec?.holderIdentity ?? ''
      return
    }
    if (facts.plural === 'events') return
    const effect = isEffective ? '' : ' and nothing changes'
    this.#history.note(
      'operator',
      `The operator sends ${requestText(facts)}, the server answers ${status}${effect}`,
      source,
    )
    if (status === 400 || status === 422 || isHomeless(status, object)) this.refusals.push(this.#clock.monotonic())
    if (status === 422 && isContention(object)) this.contentions.push(this.#clock.monotonic())
    // A webhook that cannot read what it needs must refuse the write.
    const isRefused = status === 403 || status === 400 || status === 422 || status === 500
    if (isRefused && !isDisturbed) this.#checkRefusal(object, facts)
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

  /** Checks a read that the server refused for lack of a permission. */
  forbidden(facts: RequestFacts, body: Uint8Array): void {
    this.#checkRefusal(JSON.parse(Buffer.from(body).toString()) as object, facts)
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
    this.#most = Math.max(this.#most, ++current.count)
  }

  #checkRefusal(answer: object, facts: RequestFacts): void {
    const { message = '' } = answer as { message?: string }
    if (/cannot \w+ resource "/.test(message)) {
      this.#history.violate('rights', `The operator lacks a permission: ${message}`)
    }
    const webhook = /admission webhook "([^"]+)" denied the request/.exec(message)?.[1]
    if (webhook !== undefined && isWrite(facts)) {
      this.#history.violate('own webhooks', `The operator's own webhook refused "${requestText(facts)}": ${message}`)
    }
  }
}

/** Whether the server refuses an object because its namespace does not exist. */
const isHomeless = (status: number, answer: object): boolean =>
  status === 404 && /^namespaces "[^"]*" not found/.test((answer as { message?: string }).message ?? '')

// Cluster IPs and node ports belong to the whole cluster. Whoever is first gets them.
const isContention = (answer: object): boolean =>
  /provided (port|IP) is already allocated/.test((answer as { message?: string }).message ?? '')

const isOwned = ({ metadata }: KubeObject): boolean => (metadata.ownerReferences ?? []).length > 0

const conditionText = ({ type, status }: { type?: string; status?: string }): string => `${type}=${status}`

/** An abstraction of the state that a write reaches, to measure coverage. */
function stateText(facts: RequestFacts, status: number, object: KubeObject, process: SimulatedProcess): string {
  const { verb, plural, subresource } = facts
  const found = (object as { status?: { conditions?: { type?: string; status?: string }[] } }).status
  const conditions = Array.isArray(found?.conditions) ? found.conditions.map(conditionText).join() : ''
  const isDeleting = object.metadata?.deletionTimestamp !== undefined
  const isRestarted = !process.name.endsWith('1')
  return [verb, plural, subresource, status, conditions, isDeleting, isRestarted].join(' ')
}
