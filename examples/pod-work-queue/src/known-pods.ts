import type { Pod } from 'kubewright/k8s'

const metadata = {
  name: 'etcd-sample-0',
  namespace: 'default',
  uid: '',
  resourceVersion: '',
  generation: 1,
  creationTimestamp: '',
}

/** The pods that the program knows from an earlier run. This one no longer exists in the cluster. */
export const knownPods: readonly Pod[] = [{ apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [] } }]
