import { validateManagedFieldsEntries } from '@kubewright/api'
import { deepEqual } from '@kubewright/base'
import type { RequestContext } from '../request/request-context.ts'
import type { MutableObject } from '../resource/object.ts'
import type { Resource } from '../resource/resource.ts'

/** The operations that admission distinguishes. */
export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

/** A request as admission plugins see it. */
export interface AdmissionAttributes {
  readonly context: RequestContext
  readonly resource: Resource
  readonly subresource: string
  readonly operation: AdmissionOperation
  readonly namespace: string
  readonly name: string
  readonly dryRun: boolean
  /** The new object, which mutating plugins may change or replace; undefined for a delete. */
  object: MutableObject | undefined
  /** The current object; undefined for a create. Must not be changed. */
  readonly old: MutableObject | undefined
  /** The options of the request (CreateOptions, UpdateOptions, DeleteOptions) as an API object. */
  readonly options: Readonly<Record<string, unknown>>
}

/** One run of an object through the mutating plugins. */
export interface MutationRound {
  /** Whether this is the second run, which a plugin requested during the first. */
  readonly isRepeat: boolean
  /** Requests a second run of all plugins, so that earlier plugins see later changes. There is no third run. */
  repeat(): void
  /** State that a plugin keeps from the first run for the second, by the name of the plugin. */
  readonly memory: Map<string, unknown>
}

/**
 * One admission plugin. It rejects a request by throwing an ApiError. A write that loses a race is repeated with the newest object, so
 * that a plugin may see one request several times.
 */
export interface AdmissionPlugin {
  readonly name: string
  /** May change `attributes.object`. */
  readonly mutate?: (attributes: AdmissionAttributes, round: MutationRound) => Promise<void>
  /** Checks the complete object. Must not change it. */
  readonly validate?: (attributes: AdmissionAttributes) => Promise<void>
}

/** Runs admission plugins in order. The caller runs the mutating ones first, completes and validates the object, then the validating ones. */
export class AdmissionChain {
  readonly #plugins: readonly AdmissionPlugin[]

  constructor(plugins: readonly AdmissionPlugin[]) {
    this.#plugins = plugins
  }

  /** Runs the mutating plugins, twice if one of them requests it. `attributes.object` is the result. */
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

  /** Runs the validating plugins; the first rejection ends the run. */
  async validate(attributes: AdmissionAttributes): Promise<void> {
    for (const plugin of this.#plugins) await plugin.validate?.(attributes)
  }
}

/** The admission chain for the server's own writes. It has no plugins. */
export const noAdmission: AdmissionChain = new AdmissionChain([])

/** Restores managed fields that a plugin has made invalid (endpoints/handlers/fieldmanager/admission.go). */
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
