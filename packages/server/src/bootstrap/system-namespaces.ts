import type { MutableObject } from '../resource/object.ts'

/** The namespaces of every cluster. */
export const systemNamespaces: readonly string[] = ['default', 'kube-system', 'kube-public', 'kube-node-lease']

/** A system namespace in its complete form. */
export function namespaceObject(name: string): MutableObject {
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name, labels: { 'kubernetes.io/metadata.name': name } },
  }
}
