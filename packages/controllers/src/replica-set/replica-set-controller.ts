import { selectorFrom } from '@kubewright/api'
import { ReplicaSet, ReplicationController } from '@kubewright/k8s'
import type { KeyController } from '@kubewright/runtime'
import { replicaController } from './replica-controller.ts'

/** Keeps the pods of replica sets at the number wanted. */
export const replicaSetController: KeyController = /* @__PURE__ */ replicaController<ReplicaSet>({
  name: 'replicaset-controller',
  kind: ReplicaSet,
  selectorOf: (set) => selectorFrom(set.spec.selector),
  countsTerminating: true,
})

/** Keeps the pods of replication controllers at the number wanted. */
export const replicationController: KeyController = /* @__PURE__ */ replicaController<ReplicationController>({
  name: 'replicationcontroller-controller',
  kind: ReplicationController,
  // None at all selects nothing, as for a selector that is absent.
  selectorOf: ({ spec: { selector } }) => selectorFrom(selector ? { matchLabels: selector } : undefined),
  countsTerminating: false,
})
