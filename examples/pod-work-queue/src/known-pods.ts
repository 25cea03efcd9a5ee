import type { Pod } from 'kubewright/k8s'

const metadata = {
  name: 'etcd-sample-0',
  namespace: 'default',
  uid: '',
  resourceVersion: '',
  generation: 1,
  creationTimestamp: '',
}

/** What the program is supposed to know from its last run: a pod that no cluster has any more. */
export const knownPods: readonly Pod[] = [{ apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [] } }]
