import { join } from 'node:path'

/** The addresses of a member and the settings of its pod. */
export interface Site {
  readonly peerUrl: string
  readonly clientUrl: string
  readonly listenPeerUrl: string
  readonly listenClientUrl: string
  readonly dataDir: string
  readonly clientPort: number
  readonly peerPort: number
  readonly podAnnotations: Readonly<Record<string, string>>
}

/** The cluster that a member belongs to. */
export interface ClusterName {
  readonly name: string
  readonly namespace: string
}

/** Assigns addresses to the members of a cluster. Deterministic. */
export type Sites = (cluster: ClusterName, ordinal: number) => Site

/** The name of a member, of its pod and of its Service. */
export const memberName = ({ name }: { readonly name: string }, ordinal: number): string => `${name}-${ordinal}`

/** Members in pods, addressed by the DNS names of their Services. */
export const podSites: Sites = (cluster, ordinal) => {
  const host = `${memberName(cluster, ordinal)}.${cluster.namespace}.svc`
  return {
    peerUrl: `http://${host}:2380`,
    clientUrl: `http://${host}:2379`,
    listenPeerUrl: 'http://0.0.0.0:2380',
    listenClientUrl: 'http://0.0.0.0:2379',
    dataDir: '/var/lib/etcd',
    clientPort: 2379,
    peerPort: 2380,
    podAnnotations: {},
  }
}

/** Members that are processes on this machine: pods of simulated nodes that run their command as a real process. */
export function localSites({ folder, firstPort }: { readonly folder: string; readonly firstPort: number }): Sites {
  return (cluster, ordinal) => {
    const clientPort = firstPort + 2 * ordinal
    const peerPort = clientPort + 1
    const clientUrl = `http://127.0.0.1:${clientPort}`
    const peerUrl = `http://127.0.0.1:${peerPort}`
    return {
      peerUrl,
      clientUrl,
      listenPeerUrl: peerUrl,
      listenClientUrl: clientUrl,
      dataDir: join(folder, cluster.namespace, memberName(cluster, ordinal)),
      clientPort,
      peerPort,
      podAnnotations: { 'kubewright.dev/process': 'true' },
    }
  }
}
