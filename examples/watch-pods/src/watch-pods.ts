import { allNamespaces, type Client } from 'kubewright'
import { Pod } from 'kubewright/k8s'

/**
 * Prints the events of pods until the server ends the watch or the signal aborts. The server first sends the existing
 * pods as added. An ERROR event ends the loop by throwing its ApiError. When `isResourceExpired` holds for it, list
 * again; an informer does that automatically.
 */
export async function watchPods(client: Client, print: (line: string) => void, signal: AbortSignal): Promise<void> {
  const watch = await client.watch(Pod, { namespace: allNamespaces, signal })
  print('Watching for pod changes...')
  try {
    for await (const event of watch) {
      switch (event.type) {
        case 'ADDED':
          print(`Pod added: ${event.object.metadata.name}`)
          break
        case 'MODIFIED':
          print(`Pod modified: ${event.object.metadata.name}`)
          break
        case 'DELETED':
          print(`Pod deleted: ${event.object.metadata.name}`)
          break
        case 'BOOKMARK':
          // A bookmark has no object. It reports the current version, from which a later watch can resume.
          break
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}
