import { Node, Pod, type PodStatus } from '@kubewright/k8s'
import {
  type ControllerParts,
  type KeyContext,
  type KeyController,
  type KeySink,
  kindSource,
  type Source,
} from '@kubewright/runtime'
import { defineBuiltinController } from '../workload/define-builtin-controller.ts'
import { disruptionTarget, disruptPod } from '../workload/disrupt-pod.ts'
import { inParallel } from '../workload/slow-start.ts'
import { type Leftover, planPodGc } from './plan-pod-gc.ts'

/** Options of {@link podGarbageCollector}. */
export interface PodGcOptions {
  /** The number of finished pods to keep; 0 means unlimited. @default 12500 */
  readonly terminatedThreshold?: number
}

// The same interval as kube-controller-manager, but only after pods or nodes have changed or while pods are left over.
const checkEvery = '20s'

// How long a node must be missing from the cache before it counts as deleted: it may be new.
const quarantine = 40_000

/** Deletes pods of deleted nodes, pods deleted before they were scheduled, and finished pods beyond the threshold. */
export function podGarbageCollector({ terminatedThreshold = 12_500 }: PodGcOptions = {}): KeyController {
  return defineBuiltinController({
    name: 'pod-garbage-collector-controller',
    kind: Pod,
    sources: [delayed(kindSource(Pod, { map: () => ['all'] })), delayed(kindSource(Node, { map: () => ['all'] }))],
    start: (parts) => {
      const missingSince = new Map<string, number>()
      return async (_, context) => {
        const { client } = context
        const pods = await client.list(Pod, { namespace: '' })
        const nodes = await client.list(Node)
        const leftovers = planPodGc({ pods, nodes, terminatedThreshold })
        const gone = await confirmGone(leftovers, missingSince, parts)
        const sure = leftovers.filter(({ pod, why }) => why !== 'node-gone' || gone.has(pod.spec.nodeName ?? ''))
        await inParallel(sure, (leftover) => remove(context, leftover, parts.clock.now()))
        return leftovers.length > 0 ? { requeueAfter: checkEvery } : undefined
      }
    },
  })
}

/** A source whose keys are due after {@link checkEvery}: one check for all changes until then. */
function delayed(source: Source): Source {
  return Object.freeze({
    ...source,
    start: (sink, parts) => {
      const later: KeySink = {
        controller: sink.controller,
        add: (key, options) => sink.addAfter(key, checkEvery, options),
        addAfter: (key, delay, options) => sink.addAfter(key, delay, options),
      }
      return source.start(later, parts)
    },
  } satisfies Source)
}

/** The nodes that have been missing for a while and that the server does not have either. */
async function confirmGone(
  leftovers: readonly Leftover[],
  missingSince: Map<string, number>,
  { clock, cluster }: ControllerParts,
): Promise<ReadonlySet<string>> {
  const now = clock.now()
  const missing = new Set(leftovers.flatMap(({ pod, why }) => (why === 'node-gone' ? [pod.spec.nodeName ?? ''] : [])))
  for (const name of missingSince.keys()) if (!missing.has(name)) missingSince.delete(name)
  const gone = new Set<string>()
  for (const name of missing) {
    const since = missingSince.get(name)
    if (since === undefined) missingSince.set(name, now)
    else if (now - since >= quarantine && (await cluster.api.find(Node, name)) === undefined) gone.add(name)
  }
  return gone
}

async function remove({ client }: KeyContext, { pod, why }: Leftover, now: number): Promise<void> {
  const disrupted = disruptionTarget(pod, 'DeletionByPodGC', 'PodGC: node no longer exists', now)
  const status: PodStatus = {
    phase: 'Failed',
    observedGeneration: pod.metadata.generation ?? 0,
    ...(why === 'node-gone' ? { conditions: [disrupted] } : {}),
  }
  await disruptPod(client, pod, { status, gracePeriodSeconds: 0 })
}
