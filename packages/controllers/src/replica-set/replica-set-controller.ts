import { selectorFrom } from '@kubewright/api'
import { ReplicaSet, ReplicationController } from '@kubewright/k8s'
import type { KeyController } from '@kubewright/runtime'
import { replicaController } from './replica-controller.ts'

/** Maintains the number of pods of replica sets. */
export const replicaSetController: KeyController = /* @__PURE__ */ replicaController<ReplicaSet>({
  name: 'replicaset-controller',
  kind: ReplicaSet,
  selectorOf: (set) => selectorFrom(set.spec.selector),
  countsTerminating: true,
})

/** Maintains the number of pods of replication controllers. */
export const replicationController: KeyController = /* @__PURE__ */ replicaController<ReplicationController>({
  name: 'replicationcontroller-controller',
  reporter: 'replication-controller',
  kind: ReplicationController,
  // An absent selector selects nothing.
  selectorOf: ({ spec: { selector } }) => selectorFrom(selector ? { matchLabels: selector } : undefined),
  countsTerminating: false,
})
