import {
  type AnyKind,
  type Condition,
  type ConditionDraft,
  condition,
  conditionTypesOf,
  extractApplied,
  findCause,
  findCondition,
  isApiError,
  isConflict,
  isNotFound,
  type KubeObject,
  keyOf,
  mergeConditions,
  objectTypeOf,
  setCondition,
  toTime,
  valueAt,
} from '@kubewright/api'
import { type Clock, isJsonObject, KubewrightError } from '@kubewright/base'
import type { Client } from '@kubewright/client'
import { TerminalError } from '../controller/reconcile-errors.ts'
import { AppliedFields, differsOnlyInStatusOf } from './applied-fields.ts'

type Json = Readonly<Record<string, unknown>>
type Conditions = readonly Readonly<Condition>[]

/** The properties of a kind's status schema. */
interface StatusShape {
  readonly hasObservedGeneration: boolean
  /** Whether conditions can only be replaced as a whole: then conditions of others must be sent too. */
  readonly conditionsAreAtomic: boolean
  readonly conditionsHaveGeneration: boolean
}

/** The whole status, which replaces what the controller wrote before. */
interface StatusReplacement {
  readonly status: object
}

/** Some fields of the status. */
interface StatusMerge {
  readonly mergeStatus: object
  /** Whether the reconcile succeeded: then the condition of an earlier TerminalError is removed. */
  readonly isFinal?: boolean | undefined
}

/** A change of a status. */
export type StatusChange = StatusReplacement | StatusMerge

/** The result of {@link StatusWriter.write}. */
export interface StatusWrite {
  /** Whether a request was sent. */
  readonly sent: boolean
  /**
   * The version of the stored object, if the object is known to differ from the one that was reconciled in nothing but
   * the status fields of this controller, with the values that were sent.
   */
  readonly known: string | undefined
  /** The stored object. */
  readonly answer: KubeObject | undefined
}

const notSent: StatusWrite = Object.freeze({ sent: false, known: undefined, answer: undefined })

type LiveObject = KubeObject & { readonly status?: Json | undefined }

/** The reason of the condition and of the Event of a TerminalError without a status. */
export const terminalReason = 'TerminalError'

// The maximum number of attempts when other writers keep changing the object.
const attempts = 5

// The limit of metav1.Condition.
const maxMessage = 32768

/**
 * Writes the status that reconciles return: as one server-side apply, and only if something would change. A condition
 * keeps its transition time while its status is the same. Conditions of other controllers are preserved.
 */
export class StatusWriter {
  readonly #kind: AnyKind
  readonly #clock: Clock
  readonly #fieldManager: string
  readonly #applied: AppliedFields
  #shape: StatusShape | undefined

  constructor(kind: AnyKind, clock: Clock, fieldManager: string) {
    this.#kind = kind
    this.#clock = clock
    this.#fieldManager = fieldManager
    this.#applied = new AppliedFields(fieldManager, 'status')
  }

  /**
   * Writes a status that was computed from `object`. Does nothing when the object is gone or another one has taken its name, even
   * if that happens during the request: the write is conditional on the version of the object, because API servers do not compare
   * the uid in the status of a custom resource. A write that other writers were faster than is repeated on the newest version.
   */
  async write(
    client: Client,
    object: KubeObject,
    change: StatusChange,
    signal: () => AbortSignal | undefined,
  ): Promise<StatusWrite> {
    const kind = this.#kind
    if (!kind.subresources.includes('status')) throw noStatus(kind)
    const key = keyOf(object)
    let live = await this.#read(client, key, change)
    for (let attempt = 1; ; attempt++) {
      if (live === undefined || live.metadata.uid !== object.metadata.uid) {
        return attempt === 1 ? notSent : { ...notSent, sent: true }
      }
      const wanted = 'status' in change ? change.status : this.#merged(live, change)
      const config = { status: this.#complete(wanted as Json, object, live.status ?? {}) }
      if (this.#applied.unchanged(config, live)) return attempt === 1 ? notSent : { ...notSent, sent: true }
      try {
        return await this.#apply(client, object, live, config, signal)
      } catch (error) {
        if (isNotFound(error) && !findCause(error, 'UnexpectedServerResponse')) return { ...notSent, sent: true }
        if (!isConflict(error) || attempt === attempts) throw error
        const found = (await client.find(kind, key, { consistency: 'live', signal: signal() })) as
          | LiveObject
          | undefined
        // The conflict has another reason, such as a webhook.
        if (found !== undefined && found.metadata.resourceVersion === live.metadata.resourceVersion) throw error
        live = found
      }
    }
  }

  /** Applies a status to the version that was read. */
  async #apply(
    client: Client,
    object: KubeObject,
    live: LiveObject,
    config: { readonly status: Json },
    signal: () => AbortSignal | undefined,
  ): Promise<StatusWrite> {
    const { name, namespace } = object.metadata
    const key = keyOf(object)
    const fieldManager = this.#fieldManager
    const subresource = client.subresource(this.#kind, 'status')
    const apply = (resourceVersion: string | undefined): Promise<KubeObject> => {
      const body = { metadata: { name, resourceVersion, ...(namespace === undefined ? {} : { namespace }) }, ...config }
      return subresource.apply(key, body, { fieldManager, force: true, signal: signal() }) as Promise<KubeObject>
    }
    let { resourceVersion } = live.metadata
    // The reconcile has seen the object to which the status was applied.
    let isKnown = resourceVersion === object.metadata.resourceVersion
    const answer = await apply(resourceVersion).catch(async (error: unknown) => {
      // An apply that removes all items of a list drops the list itself, even if it is required.
      const patches = emptyingPatches(error, config, live)
      if (patches.length === 0) throw error
      isKnown = false
      for (const patch of patches) {
        const conditional = { ...patch, metadata: { resourceVersion } }
        const patched = (await subresource.patch(key, conditional, { fieldManager, signal: signal() })) as KubeObject
        resourceVersion = patched.metadata.resourceVersion
      }
      return apply(resourceVersion)
    })
    isKnown &&= this.#applied.unchanged(config, answer) && differsOnlyInStatusOf(fieldManager, live, answer)
    this.#applied.learn(config, answer, live)
    return { sent: true, known: isKnown ? answer.metadata.resourceVersion : undefined, answer }
  }

  async #read(client: Client, key: string, change: StatusChange): Promise<LiveObject | undefined> {
    const live = (await client.find(this.#kind, key)) as LiveObject | undefined
    // A merge must know which fields the controller owns, and the cache may drop managedFields.
    if ('status' in change || live === undefined || live.metadata.managedFields !== undefined) return live
    return (await client.find(this.#kind, key, { consistency: 'live' })) as LiveObject | undefined
  }

  /**
   * The status to apply so that the given fields change and the controller keeps the others it wrote before: an apply
   * removes the fields that it does not contain.
   */
  #merged(live: LiveObject, { mergeStatus, isFinal = false }: StatusMerge): Json {
    const applied = extractApplied(live, this.#kind.schema, this.#fieldManager, 'status')
    // The observed generation is set again: the status now is that of the current one.
    const { observedGeneration: _, ...before } = (applied?.['status'] ?? {}) as Json
    const merged = mergeFields(before, mergeStatus as Json)
    const known = conditionsIn(before)
    const drafts = conditionsIn(mergeStatus as Json)
    if (known.length === 0 && drafts.length === 0) return merged
    const kept = known.filter(({ type, reason }) => {
      return findCondition(drafts, type) === undefined && !(isFinal && reason === terminalReason)
    })
    return { ...merged, conditions: inOrderOf(live.status ?? {}, [...kept, ...drafts]) }
  }

  /** A change that removes the condition of an earlier TerminalError; undefined when there is none. */
  recovery(object: KubeObject): StatusChange | undefined {
    if (this.#conditionTypes() === undefined) return undefined
    const { status } = object as LiveObject
    return conditionsIn(status ?? {}).some(({ reason }) => reason === terminalReason)
      ? { mergeStatus: {}, isFinal: true }
      : undefined
  }

  /**
   * A change that shows a terminal error in the conditions: `Ready` False, or `Stalled` True, or the first declared type
   * Unknown. If no types are declared: `Ready` if the object has it, otherwise `Stalled`. Undefined for a kind that was
   * not defined with `s.conditions()`.
   */
  terminal(object: KubeObject, message: string): StatusChange | undefined {
    const types = this.#conditionTypes()
    if (types === undefined || !this.#kind.subresources.includes('status')) return undefined
    const { status } = object as LiveObject
    const has = (type: string): boolean =>
      types.length === 0 ? findCondition(conditionsIn(status ?? {}), type) !== undefined : types.includes(type)
    const [type, value] = has('Ready')
      ? (['Ready', false] as const)
      : types.length === 0 || has('Stalled')
        ? (['Stalled', true] as const)
        : ([types[0] as string, 'Unknown'] as const)
    return { mergeStatus: { conditions: [condition(type, value, terminalReason, message.slice(0, maxMessage))] } }
  }

  #conditionTypes(): readonly string[] | undefined {
    const conditions = this.#kind.schema.properties?.['status']?.properties?.['conditions']
    return conditions === undefined ? undefined : conditionTypesOf(conditions)
  }

  #complete(status: Json, object: KubeObject, current: Json): Json {
    const { generation } = object.metadata
    const shape = (this.#shape ??= shapeOf(this.#kind))
    const observed =
      shape.hasObservedGeneration && status['observedGeneration'] === undefined
        ? { observedGeneration: generation }
        : {}
    if (!Array.isArray(status['conditions'])) return { ...observed, ...status }
    const drafts = status['conditions'] as readonly Readonly<ConditionDraft>[]
    const known = conditionsIn(current)
    const observedGeneration = shape.conditionsHaveGeneration ? generation : undefined
    const options = { now: toTime(this.#clock.now()), observedGeneration }
    const conditions = shape.conditionsAreAtomic
      ? mergeConditions(known, drafts, options)
      : drafts.map((draft) => conditionAfter(known, draft, options))
    return { ...observed, ...status, conditions }
  }
}

const conditionsIn = (status: Json): Conditions =>
  Array.isArray(status['conditions']) ? (status['conditions'] as Conditions) : []

/** Objects are merged field by field; any other value replaces the earlier one. Undefined fields are ignored. */
function mergeFields(before: Json, changes: Json): Json {
  const merged: Record<string, unknown> = { ...before }
  for (const [key, value] of Object.entries(changes)) {
    if (value === undefined) continue
    const old = merged[key]
    merged[key] = isJsonObject(old) && isJsonObject(value) ? mergeFields(old, value) : value
  }
  return merged
}

/** Orders conditions as the status has them, new ones last: an apply also reorders the items of a list. */
function inOrderOf(status: Json, conditions: Conditions): Conditions {
  const types = conditionsIn(status).map(({ type }) => type)
  const position = ({ type }: Readonly<Condition>): number => {
    const at = types.indexOf(type)
    return at < 0 ? types.length : at
  }
  return conditions.toSorted((a, b) => position(a) - position(b))
}

/**
 * Merge patches that empty the lists and maps which a rejected apply would have dropped: the server reports required
 * fields that have entries and were applied empty. Returns none when the apply was rejected for another reason.
 */
function emptyingPatches(error: unknown, wanted: object, live: object): object[] {
  if (!isApiError(error)) return []
  return error.causes.flatMap(({ field = '' }) => {
    const names = field.split('.')
    const value = valueAt(wanted, names)
    const entries = Object.keys(valueAt(live, names) ?? {})
    if (!isEmpty(value) || entries.length === 0) return []
    const empty = Array.isArray(value) ? [] : Object.fromEntries(entries.map((name) => [name, null]))
    return [names.reduceRight<object>((inner, name) => ({ [name]: inner }), empty)]
  })
}

const isEmpty = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0

function conditionAfter(
  known: Conditions,
  draft: Readonly<ConditionDraft>,
  options: { readonly now: string; readonly observedGeneration: number | undefined },
): Readonly<Condition> {
  const before = findCondition(known, draft.type)
  return setCondition(before === undefined ? [] : [before], draft, options)[0] as Condition
}

function shapeOf(kind: AnyKind): StatusShape {
  const status = objectTypeOf(kind.schema).map?.field('status')?.type.map
  const conditions = status?.field('conditions')?.type.list
  return {
    hasObservedGeneration: status?.field('observedGeneration') !== undefined,
    conditionsAreAtomic: conditions?.atomic ?? true,
    conditionsHaveGeneration: conditions?.elementType.map?.field('observedGeneration') !== undefined,
  }
}

function noStatus(kind: AnyKind): Error {
  const cause = new KubewrightError(
    'KW_NO_STATUS',
    `Cannot write the status of a ${kind.kind} as the kind has no status subresource: give its definition a 'status', or return no 'status'`,
  )
  // A retry cannot fix that: the program must change.
  return new TerminalError(cause.message, { cause })
}
