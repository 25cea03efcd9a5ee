import { controllerOf, gvkOf } from '@kubewright/api'
import { CaughtError } from '@kubewright/base'
import type { ApiClient, Client } from '@kubewright/client'
import { Deployment, type Pod, ReplicaSet, ReplicationController, StatefulSet } from '@kubewright/k8s'
import { findScale } from '../autoscaling/find-scale.ts'

/** The clients of {@link expectedScale}. */
export interface ScaleFinders {
  readonly client: Client
  readonly api: ApiClient
  readonly signal: AbortSignal
}

/** The desired number of pods of the owners of some pods. */
export interface ExpectedScale {
  readonly count: number
  /** The names of pods without a controller, which cannot be counted. */
  readonly unmanaged: readonly string[]
}

type Reference = NonNullable<ReturnType<typeof controllerOf>>

/** Adds up the desired sizes of the pods' owners, counting each owner once. */
export async function expectedScale(pods: readonly Pod[], finders: ScaleFinders): Promise<ExpectedScale> {
  const scales = new Map<string, number>()
  const owners = new Set<string>()
  const unmanaged: string[] = []
  for (const pod of pods) {
    const owner = controllerOf(pod)
    if (owner === undefined) {
      unmanaged.push(pod.metadata.name)
      continue
    }
    if (owners.has(owner.uid)) continue
    owners.add(owner.uid)
    const found = await scaleOf(owner, pod.metadata.namespace ?? '', finders)
    if (found === undefined) throw new CaughtError(`found no controllers for pod ${JSON.stringify(pod.metadata.name)}`)
    scales.set(found.uid, found.replicas)
  }
  return { count: [...scales.values()].reduce((sum, one) => sum + one, 0), unmanaged }
}

async function scaleOf(
  owner: Reference,
  namespace: string,
  { client, api, signal }: ScaleFinders,
): Promise<{ readonly uid: string; readonly replicas: number } | undefined> {
  const key = { namespace, name: owner.name }
  const { group } = gvkOf(owner)
  const is = (kind: { readonly group: string; readonly kind: string }): boolean =>
    kind.group === group && kind.kind === owner.kind
  if (is(ReplicaSet)) {
    const set = await client.find(ReplicaSet, key)
    if (set === undefined || set.metadata.uid !== owner.uid) return undefined
    const deployment = controllerOf(set)
    // All replica sets of a deployment count as one owner.
    if (deployment?.kind === Deployment.kind) return scaleOf(deployment, namespace, { client, api, signal })
    return { uid: set.metadata.uid, replicas: set.spec?.replicas ?? 1 }
  }
  for (const kind of [Deployment, StatefulSet, ReplicationController]) {
    if (!is(kind)) continue
    const found = await client.find(kind as typeof Deployment, key)
    if (found === undefined || found.metadata.uid !== owner.uid) return undefined
    return { uid: owner.uid, replicas: found.spec?.replicas ?? 1 }
  }
  const scale = await findScale(api, owner, namespace, signal)
  if (scale === undefined || scale.metadata.uid !== owner.uid) return undefined
  return { uid: owner.uid, replicas: scale.spec?.replicas ?? 0 }
}
