import { Pod, Service } from 'kubewright/k8s'
import type { EtcdMember } from './etcd.ts'
import type { EtcdCluster } from './etcd-cluster.ts'
import { memberName, type Site } from './site.ts'

const clusterLabel = 'etcd.example.com/cluster'
const ordinalLabel = 'etcd.example.com/ordinal'

export const clusterLabels = ({ metadata }: EtcdCluster): Record<string, string> => ({ [clusterLabel]: metadata.name })

const memberLabels = (cluster: EtcdCluster, ordinal: number): Record<string, string> => ({
  ...clusterLabels(cluster),
  [ordinalLabel]: String(ordinal),
})

/** The ordinal of the member that a pod or Service belongs to; undefined for the Service of the whole cluster. */
export function ordinalOf({ metadata }: { readonly metadata: Pod['metadata'] }): number | undefined {
  const label = metadata.labels?.[ordinalLabel]
  return label === undefined ? undefined : Number(label)
}

/** The Service for clients. It selects all ready members. */
export const clientServiceFor = (cluster: EtcdCluster) =>
  Service({
    metadata: { name: `${cluster.metadata.name}-client`, labels: clusterLabels(cluster) },
    spec: { selector: clusterLabels(cluster), ports: [{ name: 'client', port: 2379, targetPort: 'client' }] },
  })

/**
 * The Service that gives one member its DNS name. It publishes members that are not ready, because peers must find a
 * member to make it ready.
 */
export const memberServiceFor = (cluster: EtcdCluster, ordinal: number) =>
  Service({
    metadata: { name: memberName(cluster.metadata, ordinal), labels: memberLabels(cluster, ordinal) },
    spec: {
      clusterIP: 'None',
      publishNotReadyAddresses: true,
      selector: memberLabels(cluster, ordinal),
      ports: [
        { name: 'client', port: 2379, targetPort: 'client' },
        { name: 'peer', port: 2380, targetPort: 'peer' },
      ],
    },
  })

/** The pod of a member. The member starts a new cluster when there are no others, and joins them otherwise. */
export function podFor(cluster: EtcdCluster, ordinal: number, site: Site, others: readonly EtcdMember[]) {
  const name = memberName(cluster.metadata, ordinal)
  const peers = [...others.map((member) => `${member.name}=${member.peerUrl}`), `${name}=${site.peerUrl}`]
  return Pod({
    metadata: { name, labels: memberLabels(cluster, ordinal), annotations: site.podAnnotations },
    spec: {
      // The data survives a restart of the container, but not of the pod.
      restartPolicy: 'Always',
      containers: [
        {
          name: 'etcd',
          image: cluster.spec.image,
          command: [
            'etcd',
            `--name=${name}`,
            `--data-dir=${site.dataDir}`,
            `--listen-peer-urls=${site.listenPeerUrl}`,
            `--listen-client-urls=${site.listenClientUrl}`,
            `--initial-advertise-peer-urls=${site.peerUrl}`,
            `--advertise-client-urls=${site.clientUrl}`,
            `--initial-cluster=${peers.join(',')}`,
            `--initial-cluster-state=${others.length > 0 ? 'existing' : 'new'}`,
            `--initial-cluster-token=${cluster.metadata.uid}`,
          ],
          ports: [
            { name: 'client', containerPort: site.clientPort },
            { name: 'peer', containerPort: site.peerPort },
          ],
          readinessProbe: { httpGet: { path: '/health', port: 'client' } },
          volumeMounts: [{ name: 'data', mountPath: '/var/lib/etcd' }],
        },
      ],
      volumes: [{ name: 'data', emptyDir: {} }],
    },
  })
}
