import { isAlreadyExists, isConflict, isNotFound } from '@kubewright/api'
import { deepCopy } from '@kubewright/base'
import type { ServerParts } from '../api-server.ts'
import { systemContext } from '../request/system-context.ts'
import type { MutableObject } from '../resource/object.ts'
import type { Resource } from '../resource/resource.ts'

const manager = 'kube-apiserver'
const accept = async (): Promise<void> => undefined

/** The parts of a server that its own objects are written with. */
export type BootstrapParts = Pick<ServerParts, 'resources' | 'registry' | 'dispatcher' | 'clock'>

/** Creates an object of the server's own unless it exists; a status that creation drops is written after it. */
export async function ensureObject(parts: BootstrapParts, plural: string, wanted: MutableObject): Promise<void> {
  const { registry, dispatcher, clock } = parts
  const resource = resourceOf(parts, plural, wanted)
  const { name = '', namespace = '' } = wanted.metadata
  if (await registry.find(resource, namespace, name)) return
  const endpoint = dispatcher.endpoint(resource, '')
  const context = systemContext(resource, { manager, namespace, name, verb: 'create', now: clock.now() })
  const complete = resource.recheck?.(deepCopy(wanted), { strict: false, source: 'map' }).object
  const tracked = await endpoint.trackUpdate(undefined, complete ?? deepCopy(wanted), context, {
    fieldManager: manager,
  })
  try {
    const created = await registry.create(endpoint.scope(context, { dryRun: false }), tracked, accept)
    if (wanted['status'] !== undefined && resource.subresources['status'] && isEmpty(created.object['status'])) {
      await writeStatus(parts, resource, wanted)
    }
  } catch (error) {
    // Another server on the same store was faster.
    if (!isAlreadyExists(error) && !isConflict(error) && !isNotFound(error)) throw error
  }
}

/** Creates an object, or replaces the named fields of the one that exists. */
export async function putObject(
  parts: BootstrapParts,
  plural: string,
  wanted: MutableObject,
  fields: readonly string[],
): Promise<void> {
  await ensureObject(parts, plural, wanted)
  await updateFields(parts, resourceOf(parts, plural, wanted), '', wanted, fields)
}

/** Replaces the status of an object of the version that `wanted` has; fails with a conflict when it was changed since. */
export function putStatus(parts: BootstrapParts, plural: string, wanted: MutableObject): Promise<void> {
  return updateFields(parts, resourceOf(parts, plural, wanted), 'status', wanted, ['status'])
}

function writeStatus(parts: BootstrapParts, resource: Resource, wanted: MutableObject): Promise<void> {
  return updateFields(parts, resource, 'status', wanted, ['status'])
}

async function updateFields(
  { registry, dispatcher, clock }: BootstrapParts,
  resource: Resource,
  subresource: string,
  wanted: MutableObject,
  fields: readonly string[],
): Promise<void> {
  const { name = '', namespace = '' } = wanted.metadata
  const endpoint = dispatcher.endpoint(resource, subresource)
  const context = systemContext(resource, { manager, namespace, name, verb: 'update', now: clock.now() })
  await registry.update(
    endpoint.scope(context, { dryRun: false }),
    name,
    async (old) => {
      const next = deepCopy(old!)
      for (const field of fields) next[field] = deepCopy(wanted[field])
      if (wanted.metadata.resourceVersion !== undefined) next.metadata.resourceVersion = wanted.metadata.resourceVersion
      return endpoint.trackUpdate(old, next, context, { fieldManager: manager })
    },
    accept,
  )
}

function resourceOf({ resources }: BootstrapParts, plural: string, { apiVersion }: MutableObject): Resource {
  const slash = apiVersion.indexOf('/')
  const group = slash < 0 ? '' : apiVersion.slice(0, slash)
  const resource = resources.find(group, apiVersion.slice(slash + 1), plural)
  if (!resource) throw new Error(`Cannot set up the server's own objects: ${plural} of ${apiVersion} are not served`)
  return resource
}

function isEmpty(status: unknown): boolean {
  return status === undefined || Object.keys(status as object).length === 0
}
