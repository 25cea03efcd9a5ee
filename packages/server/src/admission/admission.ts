import { validateManagedFieldsEntries } from '@kubewright/api'
import { type Awaitable, type Defined, deepEqual } from '@kubewright/base'
import { andThen } from '../request/awaitable.ts'
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
  /** The resources whose requests the plugin handles, each as GROUP/PLURAL. It is not called for others. @default all */
  readonly resources?: readonly string[] | undefined
  /** May change `attributes.object`. */
  readonly mutate?: ((attributes: AdmissionAttributes, round: MutationRound) => Awaitable<void>) | undefined
  /** Checks the complete object. Must not change it. */
  readonly validate?: ((attributes: AdmissionAttributes) => Awaitable<void>) | undefined
}

/** The plugins that handle one resource. */
interface ResourcePlugins {
  readonly mutating: readonly Defined<Pick<AdmissionPlugin, 'mutate'>>[]
  readonly validating: readonly Defined<Pick<AdmissionPlugin, 'validate'>>[]
  /** The number of all plugins when they were selected. */
  readonly of: number
}

/** Runs admission plugins in order. The caller runs the mutating ones first, completes and validates the object, then the validating ones. */
export class AdmissionChain {
  readonly #plugins: readonly AdmissionPlugin[]
  readonly #byResource = new WeakMap<Resource, ResourcePlugins>()

  constructor(plugins: readonly AdmissionPlugin[]) {
    this.#plugins = plugins
  }

  /** Runs the mutating plugins, twice if one of them requests it. `attributes.object` is the result. */
  mutate(attributes: AdmissionAttributes): Awaitable<void> {
    const { mutating } = this.#pluginsOf(attributes.resource)
    if (mutating.length === 0) return undefined
    const managedFields = attributes.object?.metadata?.managedFields
    const memory = new Map<string, unknown>()
    let again = false
    const repeat = (): void => {
      again = true
    }
    const run = (isRepeat: boolean): Awaitable<void> => {
      const round: MutationRound = { isRepeat, repeat, memory }
      return runInOrder(mutating, (plugin) => plugin.mutate(attributes, round))
    }
    const end = (): void => restoreManagedFields(attributes, managedFields)
    return andThen(run(false), () => (again ? andThen(run(true), end) : end()))
  }

  /** Runs the validating plugins; the first rejection ends the run. */
  validate(attributes: AdmissionAttributes): Awaitable<void> {
    const { validating } = this.#pluginsOf(attributes.resource)
    return runInOrder(validating, (plugin) => plugin.validate(attributes))
  }

  /** Selected once per resource: a resource that is no pod needs a quarter of the plugins. */
  #pluginsOf(resource: Resource): ResourcePlugins {
    const known = this.#byResource.get(resource)
    // The list is filled when the server is set up.
    if (known?.of === this.#plugins.length) return known
    const name = `${resource.kind.group}/${resource.kind.plural}`
    const plugins = this.#plugins.filter(({ resources }) => resources?.includes(name) ?? true)
    const selected: ResourcePlugins = {
      mutating: plugins.filter((plugin) => plugin.mutate !== undefined) as ResourcePlugins['mutating'],
      validating: plugins.filter((plugin) => plugin.validate !== undefined) as ResourcePlugins['validating'],
      of: this.#plugins.length,
    }
    this.#byResource.set(resource, selected)
    return selected
  }
}

/** Calls plugins one after the other. Waits only for those that return a promise. */
function runInOrder<P>(plugins: readonly P[], call: (plugin: P) => Awaitable<void>): Awaitable<void> {
  for (let i = 0; i < plugins.length; i++) {
    const pending = call(plugins[i]!)
    if (pending) return pending.then(() => runInOrder(plugins.slice(i + 1), call))
  }
  return undefined
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
