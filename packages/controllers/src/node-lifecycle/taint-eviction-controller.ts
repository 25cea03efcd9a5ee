import { keyOf, parseKey } from '@kubewright/api'
import { Node, Pod } from '@kubewright/k8s'
import { changed, type KeyContext, type KeyController, kindSource } from '@kubewright/runtime'
import { defineBuiltinController } from '../workload/define-builtin-controller.ts'
import { disruptionTarget, disruptPod } from '../workload/disrupt-pod.ts'
import { joinedSource } from '../workload/joined-source.ts'
import { staysFor } from './plan-eviction.ts'

/** A pending eviction: when it began, and whether the deletion was reported in an Event. */
interface Eviction {
  readonly uid: string
  readonly since: number
  done?: boolean | undefined
}

/** The pods of nodes with NoExecute taints. When a node gets the first one, the source of nodes enqueues its pods. */
const podsOfTaintedNodes = joinedSource(Pod, [Node], (cached) => ({
  predicates: [changed('metadata.uid', 'spec.nodeName', 'spec.tolerations')],
  map: (pod) => {
    const { nodeName } = pod.spec
    const node = nodeName ? cached(Node)?.get(nodeName) : undefined
    const stays = !nodeName || (node !== undefined && staysFor(node.spec?.taints, undefined) === undefined)
    return stays ? [] : [keyOf(pod)]
  },
}))

/** Evicts pods from nodes with NoExecute taints that they do not tolerate, or no longer tolerate. */
export const taintEvictionController: KeyController = /* @__PURE__ */ defineBuiltinController({
  name: 'taint-eviction-controller',
  kind: Pod,
  concurrency: 8,
  sources: [
    podsOfTaintedNodes,
    kindSource(Node, {
      predicates: [changed('spec.taints')],
      map: async ({ metadata: { name } }, { client }) =>
        (await client.list(Pod, { namespace: '', fields: { 'spec.nodeName': name } })).map(keyOf),
    }),
  ],
  start: ({ clock }) => {
    const evictions = new Map<string, Eviction>()
    return async (key, context) => {
      const pod = await context.client.find(Pod, parseKey(key))
      const known = evictions.get(key)
      if (pod === undefined || known?.uid !== pod.metadata.uid) evictions.delete(key)
      if (pod === undefined || !pod.spec.nodeName || pod.metadata.deletionTimestamp !== undefined) return undefined
      const node = await context.client.find(Node, pod.spec.nodeName)
      const stays = staysFor(node?.spec?.taints, pod.spec.tolerations)
      if (stays === undefined) {
        if (evictions.delete(key)) tell(context, pod, 'Cancelling deletion of')
        return undefined
      }
      let eviction = evictions.get(key)
      if (eviction === undefined) evictions.set(key, (eviction = { uid: pod.metadata.uid, since: clock.now() }))
      const left = eviction.since + stays - clock.now()
      if (left > 0) return { requeueAfter: left }
      if (!eviction.done) tell(context, pod, 'Marking for deletion')
      eviction.done = true
      const text = 'Taint manager: deleting due to NoExecute taint'
      const condition = disruptionTarget(pod, 'DeletionByTaintManager', text, clock.now())
      await disruptPod(context.client, pod, { status: { conditions: [condition] } })
      return undefined
    }
  },
})

function tell({ events }: KeyContext, pod: Pod, what: string): void {
  const message = `${what} Pod ${keyOf(pod)}`
  // The Event refers to the pod by name only, like the one of kube-controller-manager.
  const named = { ...pod, metadata: { ...pod.metadata, uid: '', resourceVersion: '' } }
  events.record(named, { type: 'Normal', reason: 'TaintManagerEviction', message })
}
