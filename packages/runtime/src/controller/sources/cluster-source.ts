import type { Cluster } from '../../cluster/cluster.ts'
import type { ControllerParts } from '../controller-parts.ts'
import type { KeySink, Source } from './source.ts'

// Neither namespaces nor names contain a slash, so a double slash occurs nowhere else in a key.
const separator = '//'

/**
 * The key of an object in one of several clusters, such as `east//default/web`. Keys of the unnamed cluster have no
 * prefix.
 */
export function clusterKey(cluster: string, key: string): string {
  return cluster === '' ? key : `${cluster}${separator}${key}`
}

/** Parses a key of {@link clusterKey}. */
export function parseClusterKey(key: string): { readonly cluster: string; readonly key: string } {
  const at = key.indexOf(separator)
  return at < 0 ? { cluster: '', key } : { cluster: key.slice(0, at), key: key.slice(at + separator.length) }
}

/** Options of {@link clusterSource}. */
export interface ClusterSourceOptions {
  /** Whether keys contain the name of the cluster; see {@link clusterKey}. @default true */
  readonly prefix?: boolean | undefined
}

/**
 * Runs a source on another cluster than the controller's, and starts the cache of that cluster. The owner of the cluster
 * disposes it.
 */
export function clusterSource(cluster: Cluster, inner: Source, options: ClusterSourceOptions = {}): Source {
  const { prefix = true } = options
  const start = (sink: KeySink, parts: ControllerParts) => {
    const prefixed: KeySink = {
      controller: sink.controller,
      add: (key, add) => sink.add(clusterKey(cluster.name, key), add),
      addAfter: (key, delay, add) => sink.addAfter(clusterKey(cluster.name, key), delay, add),
    }
    cluster.cache.start()
    return inner.start(prefix ? prefixed : sink, { ...parts, cluster })
  }
  return Object.freeze({ name: `${inner.name} in cluster ${JSON.stringify(cluster.name)}`, start })
}
