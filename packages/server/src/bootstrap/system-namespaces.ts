import type { MutableObject } from '../resource/object.ts'

/** The namespaces that every cluster has. */
export const systemNamespaces: readonly string[] = ['default', 'kube-system', 'kube-public', 'kube-node-lease']

/** A namespace as the server itself makes it. */
export function namespaceObject(name: string): MutableObject {
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name, labels: { 'kubernetes.io/metadata.name': name } },
  }
}
