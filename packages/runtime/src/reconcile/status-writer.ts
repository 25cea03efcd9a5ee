import {
  type AnyKind,
  type Condition,
  type ConditionDraft,
  findCause,
  findCondition,
  isApiError,
  isNotFound,
  type KubeObject,
  keyOf,
  mergeConditions,
  objectTypeOf,
  setCondition,
  toTime,
  valueAt,
} from '@kubewright/api'
import { type Clock, KubewrightError } from '@kubewright/base'
import type { Client } from '@kubewright/client'
import { TerminalError } from '../controller/reconcile-errors.ts'
import { AppliedFields } from './applied-fields.ts'
import { asUidConflict } from './uid-conflict.ts'

type Json = Readonly<Record<string, unknown>>
type Conditions = readonly Readonly<Condition>[]

/** The properties of a kind's status schema. */
interface StatusShape {
  readonly hasObservedGeneration: boolean
  /** Whether conditions can only be replaced as a whole: then conditions of others must be sent too. */
  readonly conditionsAreAtomic: boolean
  readonly conditionsHaveGeneration: boolean
}

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
   * Applies the status that was computed from `object`. Resolves to whether a request was sent. Does nothing when the
   * object is gone. If another object takes the name during the request, built-in kinds respond with a conflict; API
   * servers do not check that for custom resources, but the reconcile of the new object corrects the status.
   */
  async write(client: Client, object: KubeObject, status: object, signal: () => AbortSignal): Promise<boolean> {
    const kind = this.#kind
    if (!kind.subresources.includes('status')) throw noStatus(kind)
    const key = keyOf(object)
    // The reconcile may have taken long, and may have written the status itself.
    const live = (await client.find(kind, key)) as (KubeObject & { readonly status?: Json }) | undefined
    if (live === undefined || live.metadata.uid !== object.metadata.uid) return false
    const config = { status: this.#complete(status as Json, object, live.status ?? {}) }
    if (this.#applied.unchanged(config, live)) return false
    const { name, namespace, uid } = object.metadata
    const body = { metadata: { name, uid, ...(namespace === undefined ? {} : { namespace }) }, ...config }
    const fieldManager = this.#fieldManager
    const subresource = client.subresource(kind, 'status')
    const apply = (): Promise<KubeObject> =>
      subresource.apply(key, body, { fieldManager, force: true, signal: signal() }) as Promise<KubeObject>
    try {
      const answer = await apply().catch(async (error: unknown) => {
        // An apply that removes all items of a list drops the list itself, even if it is required.
        const patches = emptyingPatches(error, config, live)
        if (patches.length === 0) throw error
        for (const patch of patches) await subresource.patch(key, patch, { fieldManager, signal: signal() })
        return apply()
      })
      this.#applied.learn(config, answer, live)
    } catch (error) {
      if (!isNotFound(error) || findCause(error, 'UnexpectedServerResponse')) throw asUidConflict(error, kind, key)
    }
    return true
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
    const known = (Array.isArray(current['conditions']) ? current['conditions'] : []) as Conditions
    const observedGeneration = shape.conditionsHaveGeneration ? generation : undefined
    const options = { now: toTime(this.#clock.now()), observedGeneration }
    const conditions = shape.conditionsAreAtomic
      ? mergeConditions(known, drafts, options)
      : drafts.map((draft) => conditionAfter(known, draft, options))
    return { ...observed, ...status, conditions }
  }
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
