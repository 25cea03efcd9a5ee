import { isConflict, isNotFound } from '@kubewright/api'
import { deepCopy } from '@kubewright/base'
import type { ServerParts } from '../api-server.ts'
import { systemContext } from '../request/system-context.ts'
import type { MutableObject } from '../resource/object.ts'
import type { Resource } from '../resource/resource.ts'
import type { StoredObject } from '../resource/stored-object.ts'
import { asCrd, type Crd, crdGroup } from './crd.ts'

const manager = 'kube-apiserver'

/** The parts of a server that follow its definitions. */
export type CrdParts = Pick<ServerParts, 'resources' | 'registry' | 'dispatcher' | 'clock' | 'log'>

/** The resource of definitions. */
export function crdResourceOf({ resources }: CrdParts): Resource {
  const resource = resources.find(crdGroup, 'v1', 'customresourcedefinitions')
  if (!resource) throw new Error('Cannot serve custom resources: customresourcedefinitions are not served')
  return resource
}

/** The definition with its conditions, if only as the null that is printed: who writes the first ones does not own the list as such. */
function withConditions(object: MutableObject): MutableObject {
  const { status } = asCrd(object)
  return status?.conditions ? object : { ...object, status: { ...status, conditions: null } }
}

/**
 * Changes the status of a definition, as a controller of the server does. Undefined when it has been changed or removed since it was
 * read: whoever did that is seen soon, and everything is looked at again.
 */
export async function writeCrd(
  parts: CrdParts,
  stored: StoredObject,
  change: (crd: Crd) => void,
): Promise<StoredObject | undefined> {
  const { registry, dispatcher, clock } = parts
  const resource = crdResourceOf(parts)
  const name = stored.object.metadata.name ?? ''
  const endpoint = dispatcher.endpoint(resource, 'status')
  const context = systemContext(resource, { manager, namespace: '', name, verb: 'update', now: clock.now() })
  try {
    const { object } = await registry.update(
      endpoint.scope(context, { dryRun: false }),
      name,
      async (old) => {
        const next = asCrd(deepCopy(old!))
        // Refuses the write when the definition is no longer the one that the change was made for.
        next.metadata.resourceVersion = String(stored.revision)
        next.status ??= {}
        change(next)
        return endpoint.trackUpdate(withConditions(old!), next, context, { fieldManager: manager })
      },
      async () => undefined,
    )
    return object
  } catch (error) {
    if (isConflict(error) || isNotFound(error)) return undefined
    throw error
  }
}
