import { allNamespaces, type Client } from 'kubewright'
import { Pod } from 'kubewright/k8s'

/**
 * Prints what happens to pods until the server ends the watch or the signal aborts. The server first tells the pods that there are,
 * as added. An ERROR event ends the loop by throwing its ApiError: `isResourceExpired` says that it is time to list again, which an
 * informer does by itself.
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
          // No object: the server says how far it has got, so that a later watch can start from there.
          break
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}
