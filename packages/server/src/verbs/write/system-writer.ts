import { isAlreadyExists, isConflict, isNotFound, parseGroupVersion, type UpdateFieldsOptions } from '@kubewright/api'
import { deepCopy, KubewrightError } from '@kubewright/base'
import { noAdmission } from '../../admission/admission.ts'
import type { ObjectRegistry } from '../../registry/object-registry.ts'
import { systemContext } from '../../request/system-context.ts'
import type { MutableObject } from '../../resource/object.ts'
import type { Resource } from '../../resource/resource.ts'
import type { ResourceTable } from '../../resource/resource-table.ts'
import type { StoredObject } from '../../resource/stored-object.ts'
import type { Endpoint } from '../endpoint.ts'
import { deleteObject, deletionOf } from './delete.ts'
import { createObject, type Write, writeObject, writeOf } from './write.ts'

/** The field manager of writes that name no other. */
const serverManager = 'kube-apiserver'

/** Names the object that {@link SystemWriter} writes. */
export interface SystemTarget {
  readonly resource: Resource
  /** @default the object itself */
  readonly subresource?: string | undefined
  /** @default cluster-scoped */
  readonly namespace?: string | undefined
  readonly name: string
}

/** The parts of the server that {@link SystemWriter} uses. */
interface SystemWriterParts {
  readonly registry: ObjectRegistry
  readonly resources: ResourceTable
  readonly endpointOf: (resource: Resource, subresource: string) => Endpoint
  /** Throws when the writer must not write. @default writes always pass */
  readonly assertOpen?: (() => void) | undefined
}

/** Options of {@link SystemWriter.update}. */
export interface SystemUpdateOptions {
  /** @default kube-apiserver */
  readonly manager?: string | undefined
  /** The object that field ownership is compared with. @default the live object */
  readonly baseline?: ((live: MutableObject) => MutableObject) | undefined
}

/**
 * Writes objects on behalf of the server itself, for bootstrap and for the controllers inside the server. Strategies, validation and
 * managed fields apply as to any request; authorization and admission do not.
 */
export class SystemWriter {
  readonly #registry: ObjectRegistry
  readonly #resources: ResourceTable
  readonly #endpointOf: (resource: Resource, subresource: string) => Endpoint
  readonly #parts: SystemWriterParts

  constructor(parts: SystemWriterParts) {
    this.#parts = parts
    this.#registry = parts.registry
    this.#resources = parts.resources
    this.#endpointOf = parts.endpointOf
  }

  /**
   * A writer of the same server that calls `assertOpen` before every attempt of a write. A call that throws rejects the
   * write, and nothing is stored. For controllers that may write only while they hold a Lease.
   */
  gated(assertOpen: () => void): SystemWriter {
    return new SystemWriter({ ...this.#parts, assertOpen })
  }

  /** Creates an object; rejects with AlreadyExists when there is one of its name. */
  async create(resource: Resource, object: MutableObject, manager: string = serverManager): Promise<StoredObject> {
    const { name = '', namespace = '' } = object.metadata
    const write = this.#write({ resource, name, namespace }, 'create', manager)
    const tracked = await write.endpoint.fields.update(undefined, object, this.#trackedBy(manager))
    return createObject(write, tracked)
  }

  /**
   * Lets `change` edit a copy of the live object and stores the result; runs `change` again when another write came first. A
   * resourceVersion that `change` sets is a precondition: the update then rejects with a conflict instead.
   */
  async update(
    target: SystemTarget,
    change: (next: MutableObject) => void,
    { manager = serverManager, baseline = (live) => live }: SystemUpdateOptions = {},
  ): Promise<StoredObject> {
    const write = this.#write(target, 'update', manager)
    const { object } = await writeObject(write, (live) => {
      this.#parts.assertOpen?.()
      const next = deepCopy(live!)
      change(next)
      return write.endpoint.fields.update(baseline(live!), next, this.#trackedBy(manager))
    })
    return object
  }

  /** Applies fields as a field manager that takes over conflicting fields (forced server-side apply). */
  async apply(target: SystemTarget, fields: () => Record<string, unknown>, manager: string): Promise<void> {
    const write = this.#write(target, 'patch', manager)
    const { apiVersion, kind } = target.resource.kind
    await writeObject(write, async (live) => {
      this.#parts.assertOpen?.()
      const config = { apiVersion, kind, metadata: { name: target.name }, ...fields() }
      const options = { ...this.#trackedBy(manager), force: true }
      return (await write.endpoint.fields.apply(live, config, options)).object
    })
  }

  /** Deletes an object, or starts its deletion when finalizers keep it. */
  async delete(target: SystemTarget): Promise<void> {
    const { endpoint, scope, name } = this.#write(target, 'delete', serverManager)
    await deleteObject(deletionOf(endpoint, scope.context, name, {}, noAdmission))
  }

  /**
   * Creates an object unless one of its name exists, in which case that stays as it is. Writes the status afterwards when creation
   * dropped it. Safe to call from several servers on one store. Resolves to whether this call created the object.
   */
  async ensure(plural: string, wanted: MutableObject): Promise<boolean> {
    const resource = this.#resourceOf(plural, wanted)
    const { name = '', namespace = '' } = wanted.metadata
    if (await this.#registry.find(resource, namespace, name)) return false
    const complete = resource.codec.recheck(deepCopy(wanted), { strict: false, source: 'map' }).object
    try {
      const created = await this.create(resource, complete)
      if (wanted['status'] !== undefined && resource.subresources['status'] && isEmpty(created.object['status'])) {
        await this.#replaceFields(resource, 'status', wanted, ['status'])
      }
      return true
    } catch (error) {
      // Another server on the same store created or removed the object first.
      if (!isAlreadyExists(error) && !isConflict(error) && !isNotFound(error)) throw error
      return false
    }
  }

  /** Creates an object, or replaces the named fields of the existing one. */
  async put(plural: string, wanted: MutableObject, fields: readonly string[]): Promise<void> {
    await this.ensure(plural, wanted)
    await this.#replaceFields(this.#resourceOf(plural, wanted), '', wanted, fields)
  }

  /** Replaces the status of an existing object; rejects with a conflict when `wanted` carries an outdated resourceVersion. */
  async putStatus(plural: string, wanted: MutableObject): Promise<void> {
    await this.#replaceFields(this.#resourceOf(plural, wanted), 'status', wanted, ['status'])
  }

  async #replaceFields(
    resource: Resource,
    subresource: string,
    wanted: MutableObject,
    fields: readonly string[],
  ): Promise<void> {
    const { name = '', namespace = '', resourceVersion } = wanted.metadata
    await this.update({ resource, subresource, namespace, name }, (next) => {
      for (const field of fields) next[field] = deepCopy(wanted[field])
      if (resourceVersion !== undefined) next.metadata.resourceVersion = resourceVersion
    })
  }

  #write({ resource, subresource = '', namespace = '', name }: SystemTarget, verb: string, manager: string): Write {
    this.#parts.assertOpen?.()
    const now = this.#registry.clock.now()
    const context = systemContext(resource, { manager, namespace, name, verb, now })
    return writeOf(this.#endpointOf(resource, subresource), context, false, name, noAdmission)
  }

  #trackedBy(manager: string): UpdateFieldsOptions {
    return { manager, now: this.#registry.timestamp() }
  }

  #resourceOf(plural: string, { apiVersion }: MutableObject): Resource {
    const { group, version } = parseGroupVersion(apiVersion)
    const resource = this.#resources.find(group, version, plural)
    if (!resource)
      throw new KubewrightError(
        'KW_SERVER_CONFIG',
        `Cannot write ${plural}: the server does not serve ${plural} of ${apiVersion}`,
      )
    return resource
  }
}

function isEmpty(status: unknown): boolean {
  return status === undefined || Object.keys(status as object).length === 0
}
