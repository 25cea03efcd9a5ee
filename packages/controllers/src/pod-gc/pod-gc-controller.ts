import { index } from '@kubewright/client'
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
import { eventSource } from '../workload/event-source.ts'
import { isPodTerminal } from '../workload/pod-state.ts'
import { inParallel } from '../workload/slow-start.ts'
import { type Leftover, planPodGc } from './plan-pod-gc.ts'

/** Options of {@link podGarbageCollector}. */
export interface PodGcOptions {
  /** The number of finished pods to keep; 0 means unlimited. @default 12500 */
  readonly terminatedThreshold?: number | undefined
}

// The same interval as kube-controller-manager, but only after pods or nodes have changed or while pods are left over.
const checkEvery = '20s'

// How long a node must be missing from the cache before it counts as deleted: it may be new.
const quarantine = 40_000

// Most pods neither have finished nor are being deleted. Without the index, each check would decode all pods.
const ending = /* @__PURE__ */ index(Pod, 'ending', (pod) =>
  isPodTerminal(pod) || pod.metadata.deletionTimestamp !== undefined ? 'yes' : undefined,
)

/** Deletes pods of deleted nodes, pods deleted before they were scheduled, and finished pods beyond the threshold. */
export function podGarbageCollector({ terminatedThreshold = 12_500 }: PodGcOptions = {}): KeyController {
  // The names of all nodes that have or had pods.
  const hosts = new Set<string>()
  const pods = eventSource(Pod, {
    started: () => hosts.clear(),
    seen: ({ spec }, sink) => {
      if (spec.nodeName) hosts.add(spec.nodeName)
      sink.add('all')
    },
    gone: (_, sink) => sink.add('all'),
  })
  return defineBuiltinController({
    name: 'pod-garbage-collector-controller',
    kind: Pod,
    sources: [delayed(pods), delayed(kindSource(Node, { map: () => ['all'] }))],
    start: (parts) => {
      const missingSince = new Map<string, number>()
      return async (_, context) => {
        const { client } = context
        const nodes = await client.list(Node)
        const pods = new Map((await client.list(Pod, { namespace: '', index: ending('yes') })).map(byUid))
        for (const name of missingHosts(hosts, nodes)) {
          const stranded = await client.list(Pod, { namespace: '', fields: { 'spec.nodeName': name } })
          if (stranded.length === 0) hosts.delete(name)
          for (const pod of stranded) pods.set(...byUid(pod))
        }
        const leftovers = planPodGc({ pods: [...pods.values()], nodes, terminatedThreshold })
        const gone = await confirmGone(leftovers, missingSince, parts)
        const sure = leftovers.filter(({ pod, why }) => why !== 'node-gone' || gone.has(pod.spec.nodeName ?? ''))
        await inParallel(sure, (leftover) => remove(context, leftover, parts.clock.now()))
        return leftovers.length > 0 ? { requeueAfter: checkEvery } : undefined
      }
    },
  })
}

const byUid = (pod: Pod): readonly [string, Pod] => [pod.metadata.uid, pod]

function missingHosts(hosts: ReadonlySet<string>, nodes: readonly Node[]): string[] {
  const names = new Set(nodes.map(({ metadata }) => metadata.name))
  return [...hosts].filter((name) => !names.has(name))
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
