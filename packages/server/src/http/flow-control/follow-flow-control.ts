import type * as flowcontrol from '@kubewright/k8s/flowcontrol/v1'
import { anyChanged } from '../../cache/any-changed.ts'
import type { ResourceCache } from '../../cache/resource-cache.ts'
import type { ObjectAccess } from '../../registry/object-access.ts'
import type { FlowControl } from './flow-control.ts'

/** The parts of the server that {@link followFlowControl} reads. */
export interface FollowParts extends ObjectAccess {
  /** Ends the loop. */
  readonly signal: AbortSignal
}

/** Configures flow control from the stored objects, and again after every change of them. Resolves after the first configuration. */
export async function followFlowControl(parts: FollowParts, flowControl: FlowControl): Promise<void> {
  const { resources, registry, signal } = parts
  const cacheOf = async (plural: string): Promise<ResourceCache | undefined> => {
    const resource = resources.find('flowcontrol.apiserver.k8s.io', 'v1', plural)
    return resource && registry.feed.cache(resource.storage.prefix)
  }
  const schemas = await cacheOf('flowschemas')
  const levels = await cacheOf('prioritylevelconfigurations')
  if (!schemas || !levels) return
  await registry.feed.reached(await registry.store.revision(), signal)
  const configure = (): void => flowControl.configure(objectsOf(schemas), objectsOf(levels))
  configure()
  void (async () => {
    while (!signal.aborted) {
      await anyChanged([schemas, levels], signal)
      if (!signal.aborted) configure()
    }
  })()
}

function objectsOf<T extends flowcontrol.FlowSchema | flowcontrol.PriorityLevelConfiguration>(
  cache: ResourceCache,
): T[] {
  return cache.list(cache.prefix).map(({ object }) => object as unknown as T)
}
