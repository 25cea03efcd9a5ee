import type { MutableObject, Resource } from '../registry/resource.ts'
import type { RequestContext } from '../request-context.ts'

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

/** One admission plugin. Throwing an ApiError refuses the request. */
export interface AdmissionPlugin {
  readonly name: string
  /** May change `attributes.object`. */
  readonly mutate?: (attributes: AdmissionAttributes) => Promise<void>
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
    for (const plugin of this.#plugins) await plugin.mutate?.(attributes)
  }

  async validate(attributes: AdmissionAttributes): Promise<void> {
    for (const plugin of this.#plugins) await plugin.validate?.(attributes)
  }
}
