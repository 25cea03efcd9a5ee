import { allNamespaces, type Client } from 'kubewright'
import { Pod } from 'kubewright/k8s'

/** Prints all pods of the cluster, sorted by namespace and name. */
export async function listPods(client: Client, print: (line: string) => void): Promise<void> {
  const pods = await client.list(Pod, { namespace: allNamespaces })
  print(`There are ${pods.length} pods in the cluster`)
  for (const { metadata, status } of pods) {
    print(`${metadata.namespace}/${metadata.name}: ${status?.phase ?? 'Unknown'}`)
  }
}
