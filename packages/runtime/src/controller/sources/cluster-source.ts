import type { Cluster } from '../../cluster/cluster.ts'
import type { ControllerParts } from '../controller-parts.ts'
import type { KeySink, Source } from './source.ts'

// Neither namespaces nor names contain a slash, so two of them in a row occur nowhere else in a key.
const separator = '//'

/** The key of an object in one of several clusters, such as `east//default/web`; the cluster without a name has plain keys. */
export function clusterKey(cluster: string, key: string): string {
  return cluster === '' ? key : `${cluster}${separator}${key}`
}

/** Takes a key of {@link clusterKey} apart. */
export function parseClusterKey(key: string): { readonly cluster: string; readonly key: string } {
  const at = key.indexOf(separator)
  return at < 0 ? { cluster: '', key } : { cluster: key.slice(0, at), key: key.slice(at + separator.length) }
}

/** What {@link clusterSource} takes. */
export interface ClusterSourceOptions {
  /** Whether the keys say which cluster they are from, see {@link clusterKey}. @default true */
  readonly prefix?: boolean
}

/** Runs a source on another cluster than the controller's. That cluster must be started and stopped by its owner. */
export function clusterSource(cluster: Cluster, inner: Source, options: ClusterSourceOptions = {}): Source {
  const { prefix = true } = options
  const start = (sink: KeySink, parts: ControllerParts) => {
    const prefixed: KeySink = {
      controller: sink.controller,
      add: (key, add) => sink.add(clusterKey(cluster.name, key), add),
      addAfter: (key, delay, add) => sink.addAfter(clusterKey(cluster.name, key), delay, add),
    }
    return inner.start(prefix ? prefixed : sink, { ...parts, cluster })
  }
  return Object.freeze({ name: `${inner.name} in cluster ${JSON.stringify(cluster.name)}`, start })
}
