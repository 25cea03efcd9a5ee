import type { KubeObject } from '@kubewright/api'
import type { Transport } from '@kubewright/client'
import type { ServerAnswer } from '../define/fault-levers.ts'
import { objectId } from '../define/object-id.ts'
import type { UserAttempt } from '../define/observer.ts'
import type { Operation } from '../define/schedule.ts'
import { inputForm, inputForms, inputKey } from '../plan/input-objects.ts'
import { type FormMetadata, isBuiltin, metadataOf } from '../plan/metadata-variants.ts'
import type { Samples, Subject } from '../plan/samples.ts'
import type { World } from './world.ts'

const headers = { 'content-type': 'application/json', 'user-agent': 'user' }
const patience = 300_000
const touched = 'kubewright.test/touched'
const isTemporary = (status: number): boolean => status >= 500 || status === 429 || status === 409

/** The key of a neighbor in `desired`. The function is its own inverse. */
export const neighborKey = (pick: number): number => -1 - pick

/** The user of the cluster, who performs the operations of a schedule. */
export class ClusterUser {
  readonly #world: World
  readonly #samples: Samples
  #transport: Transport | undefined
  /** The variant of each subject that exists according to the user. Other keys are neighbors and inputs. */
  readonly desired: Map<number, number> = new Map()

  /** The objects before the operator was replaced; undefined if it was not. */
  beforeRestart: readonly KubeObject[] | undefined
  /** The subjects that the user has deleted. */
  readonly #deleted = new Set<Subject>()
  /** Whether the user has deleted an object of which something stays on purpose. */
  hasRetained = false
  /** The revision of the store before the last operation. */
  revision = 0
  /** The number of actions of the operator before each operation. */
  readonly starts: number[] = []

  constructor(world: World) {
    this.#world = world
    this.#samples = world.setup.samples
  }

  async request(method: string, path: string, body?: object): Promise<ServerAnswer> {
    const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body))
    this.#transport ??= this.#world.plane.transport()
    const response = await this.#transport.send({ method, path, headers, body: bytes })
    const text = Buffer.from(await response.body.bytes()).toString()
    this.#world.history.record(`user ${method} ${path} ${response.status}`, bytes)
    return { status: response.status, object: JSON.parse(text) as KubeObject }
  }

  /** Changes an object and changes it back: it is the same, but has a newer version. Resolves to whether that was possible. */
  async touch(path: string): Promise<boolean> {
    const { status, object } = await this.request('GET', path)
    if (status !== 200) return false
    const annotations = { ...object.metadata.annotations, [touched]: 'true' }
    const changed = await this.request('PUT', path, { ...object, metadata: { ...object.metadata, annotations } })
    if (changed.status !== 200) return false
    const giveUp = this.#world.now + patience
    // Controllers may write the object meanwhile.
    for (let current = changed.object; ; ) {
      const { annotations: now = {}, ...metadata } = current.metadata
      const { [touched]: _, ...rest } = now
      const body = {
        ...current,
        metadata: { ...metadata, ...(Object.keys(rest).length > 0 ? { annotations: rest } : {}) },
      }
      const { status } = await this.request('PUT', path, body)
      if (!isTemporary(status) || this.#world.now > giveUp) break
      // The webhooks of the operator may be down.
      if (status !== 409) await this.#world.clock.sleep(1000)
      const latest = await this.request('GET', path)
      if (latest.status !== 200) break
      current = latest.object
    }
    this.#world.history.note('user', `Another writer changes ${objectId(object)}, and changes it back`)
    return true
  }

  /** Performs an operation of the schedule. The user retries what the cluster cannot do at the moment. */
  async perform({ do: verb, subject: index, variant }: Operation): Promise<void> {
    const world = this.#world
    this.revision = await world.store.revision()
    this.starts.push(world.faults.actions)
    if (verb === 'neighbor') {
      const id = await world.drive(world.neighbors.create(index))
      if (id === undefined) return
      this.desired.set(neighborKey(index), 0)
      world.history.note('user', `A user creates ${id}, which has another owner`)
      return
    }
    if (verb === 'restart') {
      this.beforeRestart = await world.changeableObjects()
      world.history.note('user', 'The user starts the operator again')
      world.processes.restart()
      return
    }
    if (verb === 'input') return this.#putInput(index, variant)
    const subject = this.#samples.subjects[index]
    if (subject === undefined) return
    if (verb === 'invalid') return this.#tryInvalid(index, subject, variant)
    const current = this.desired.get(index)
    // A volume cannot shrink, so that a user does not try.
    if (verb === 'change' && current !== undefined && this.#samples.formOf(subject, current).isGrowth) return
    const { body, text: form } = this.#samples.formOf(subject, variant)
    const text = `${subject.id}${verb === 'delete' || form === '' ? '' : ` with ${form}`}`
    let giveUp = world.now + patience
    while (!world.isOver) {
      // Before each attempt: a process may fall asleep while the user waits for a name.
      if (verb !== 'change' && (await this.#hasWaitedForSleepers())) giveUp = world.now + patience
      if (verb === 'create' && this.#deleted.has(subject)) world.log.data.renew(world.clock.now())
      const { status, message } = await world.drive(this.#attempt(verb, subject, body))
      const isDone = status < 300 || (verb !== 'create' && status === 404)
      if (isDone) {
        world.history.note('user', `The user ${verb}s ${text}`)
        if (verb === 'delete') {
          this.hasRetained ||= current !== undefined && this.#samples.isRetained(subject, current)
          this.desired.delete(index)
          this.#deleted.add(subject)
        } else if (status < 300) this.desired.set(index, variant)
        world.network.created(`${subject.collection}/${subject.name}`)
        return
      }
      // A name is free when the deleted object is gone.
      if (!isTemporary(status) || (status === 409 && verb === 'delete') || world.now > giveUp) {
        world.history.note('user', `The user cannot ${verb} ${text}: ${message}`)
        this.#attempted({ verb, object: text, status, message, refusal: undefined })
        return
      }
      await world.advance(1000)
    }
  }

  /** Changes, deletes or restores an input. */
  async #putInput(index: number, form: number): Promise<void> {
    const world = this.#world
    const input = this.#samples.inputObjects[index]
    if (input === undefined) return
    const { id, collection, name, canGo } = input
    const path = `${collection}/${name}`
    const isDeletion = form === inputForms.deleted
    const { body: wanted, text = '' } = inputForm(input, form) ?? {}
    if (isDeletion ? !canGo : wanted === undefined) return
    const attempt = async (): Promise<number> => {
      if (isDeletion) return (await this.request('DELETE', path)).status
      const { status, object } = await this.request('GET', path)
      if (status === 404) return (await this.request('POST', collection, wanted)).status
      const { deletionTimestamp } = object.metadata
      // The name is free when the deleted object is gone.
      if (status !== 200 || deletionTimestamp !== undefined) return 409
      const metadata = metadataOf(object.metadata, input.body.metadata, wanted?.metadata)
      return (await this.request('PUT', path, { ...wanted, metadata })).status
    }
    const what = isDeletion ? `deletes ${id}` : form === inputForms.original ? `restores ${id}` : `changes ${id}`
    const giveUp = world.now + patience
    while (!world.isOver) {
      const status = await world.drive(attempt())
      if (status < 300 || (isDeletion && status === 404)) {
        world.history.note('user', `The user ${what}${text === '' ? '' : `: ${text}`}`)
        if (form === inputForms.original) this.desired.delete(inputKey(index))
        else this.desired.set(inputKey(index), form)
        return
      }
      if (world.now > giveUp || !isTemporary(status)) {
        world.history.note('user', `The user cannot do it: ${what}, the server answers ${status}`)
        return
      }
      await world.advance(1000)
    }
  }

  /** Tries to change an object to a form that the server refuses to create. */
  async #tryInvalid(index: number, subject: Subject, form: number): Promise<void> {
    const world = this.#world
    const refused = this.#samples.list[subject.sample]!.refused[form]
    const current = this.desired.get(index)
    if (refused === undefined || current === undefined) return
    const object = `${subject.id} with ${refused.text}`
    const giveUp = world.now + patience
    while (!world.isOver && world.now < giveUp) {
      const { status, message } = await world.drive(this.#attempt('change', subject, refused.body))
      if (status < 300) {
        world.history.note('user', `The user changes ${object}, and the server accepts it`)
        this.#attempted({ verb: 'change', object, status, message, refusal: refused.message })
        await world.drive(this.#attempt('change', subject, this.#samples.formOf(subject, current).body))
        return
      }
      if (!isTemporary(status)) {
        world.history.note('user', `The user cannot change ${object}: ${message}`)
        return
      }
      await world.advance(1000)
    }
  }

  #attempted(attempt: Omit<UserAttempt, 'webhooksAreDown'>): void {
    const { observers, cluster } = this.#world
    for (const observer of observers) observer.attempted?.({ ...attempt, webhooksAreDown: cluster.webhooksAreDown })
  }

  /**
   * Waits while a process gets no CPU, and resolves to whether one did. A former leader that wakes up may call the outside world once more.
   * Of a change, the generation tells that the call is old; but nothing there remembers an object that was deleted, or created again.
   */
  async #hasWaitedForSleepers(): Promise<boolean> {
    const world = this.#world
    const start = world.now
    while (!world.isOver && world.processes.all.some(({ isPaused }) => isPaused)) await world.advance(1000)
    return world.now > start
  }

  async #attempt(
    verb: 'create' | 'change' | 'delete',
    subject: Subject,
    body: object,
  ): Promise<{ readonly status: number; readonly message: string }> {
    const path = `${subject.collection}/${subject.name}`
    const answer = async (): Promise<ServerAnswer> => {
      if (verb === 'create') return this.request('POST', subject.collection, this.#samples.objectOf(subject, body))
      // As kubectl does. The default of some kinds is to orphan their dependents.
      if (verb === 'delete') return this.request('DELETE', `${path}?propagationPolicy=Background`)
      const current = await this.request('GET', path)
      if (current.status !== 200) return current
      const { apiVersion, kind, metadata: live, status } = current.object as KubeObject & { status?: unknown }
      const { metadata: form, ...fields } = body as { metadata?: FormMetadata | undefined }
      const given = this.#samples.list[subject.sample]!.metadata
      const metadata = this.#writesMetadata(subject, form) ? metadataOf(live, given, form) : live
      return this.request('PUT', path, { apiVersion, kind, metadata, ...fields, ...(status ? { status } : {}) })
    }
    const { status, object } = await answer()
    return { status, message: String((object as { message?: unknown }).message ?? '') }
  }

  /** Whether a change writes labels and annotations. Otherwise those of a custom resource stay: an operator may have changed them. */
  #writesMetadata(subject: Subject, form: FormMetadata | undefined): boolean {
    const current = this.desired.get(this.#samples.subjects.indexOf(subject)) ?? 0
    return isBuiltin(subject.kind) || form !== undefined || 'metadata' in this.#samples.formOf(subject, current).body
  }
}
