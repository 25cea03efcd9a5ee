import { validateManagedFieldsEntries } from '@kubewright/api'
import { deepEqual } from '@kubewright/base'
import type { RequestContext } from '../request/request-context.ts'
import type { MutableObject } from '../resource/object.ts'
import type { Resource } from '../resource/resource.ts'

/** The operations that admission distinguishes. */
export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

/** What admission is asked about. */
export interface AdmissionAttributes {
  readonly context: RequestContext
  readonly resource: Resource
  readonly subresource: string
  readonly operation: AdmissionOperation
  readonly namespace: string
  readonly name: string
  readonly dryRun: boolean
  /** Mutating plugins change it; undefined for a delete. */
  object: MutableObject | undefined
  readonly old: MutableObject | undefined
  /** The options of the request (CreateOptions, UpdateOptions, DeleteOptions), as webhooks see them. */
  readonly options: Readonly<Record<string, unknown>>
}

/** One run of an object through the mutating plugins. */
export interface MutationRound {
  /** Whether this is the second run, which comes when one of the plugins asked for it in the first. */
  readonly isRepeat: boolean
  /** Has all plugins run again, because they have not seen what was changed after them. There is no third run. */
  repeat(): void
  /** What a plugin keeps from the first run for the second, by the plugin's name. */
  readonly memory: Map<string, unknown>
}

/** One admission plugin. Throwing an ApiError refuses the request. */
export interface AdmissionPlugin {
  readonly name: string
  /** May change `attributes.object`. */
  readonly mutate?: (attributes: AdmissionAttributes, round: MutationRound) => Promise<void>
  /** Only looks. */
  readonly validate?: (attributes: AdmissionAttributes) => Promise<void>
}

/** Runs plugins in order: all that mutate, and, when the object is complete, all that validate. */
export class AdmissionChain {
  readonly #plugins: readonly AdmissionPlugin[]

  constructor(plugins: readonly AdmissionPlugin[]) {
    this.#plugins = plugins
  }

  async mutate(attributes: AdmissionAttributes): Promise<void> {
    const managedFields = attributes.object?.metadata?.managedFields
    const memory = new Map<string, unknown>()
    let again = false
    const repeat = (): void => {
      again = true
    }
    for (const plugin of this.#plugins) await plugin.mutate?.(attributes, { isRepeat: false, repeat, memory })
    if (again) {
      for (const plugin of this.#plugins) await plugin.mutate?.(attributes, { isRepeat: true, repeat, memory })
    }
    restoreManagedFields(attributes, managedFields)
  }

  async validate(attributes: AdmissionAttributes): Promise<void> {
    for (const plugin of this.#plugins) await plugin.validate?.(attributes)
  }
}

/** The admission chain for the server's own writes. It has no plugins. */
export const noAdmission: AdmissionChain = new AdmissionChain([])

/** Restores managed fields that a plugin made invalid (endpoints/handlers/fieldmanager/admission.go). */
function restoreManagedFields(
  { object, context }: AdmissionAttributes,
  before: MutableObject['metadata']['managedFields'],
): void {
  const after = object?.metadata?.managedFields
  if (!object || after === before || deepEqual(after, before)) return
  try {
    validateManagedFieldsEntries(after as Parameters<typeof validateManagedFieldsEntries>[0])
  } catch (error) {
    if (before) object.metadata.managedFields = before
    else delete object.metadata.managedFields
    context.warn(
      '.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating ' +
        `admission controller; please fix your requests: ${(error as Error).message}`,
    )
  }
}
