import { Pod } from 'kubewright/k8s'
import { openCluster, runUntilStopped } from '../../open-cluster.ts'
import { watchPods } from './watch-pods.ts'

await runUntilStopped(async (signal) => {
  await using cluster = await openCluster()
  const { client } = cluster
  const watching = watchPods(client, console.log, signal)
  if (cluster.isEmbedded) {
    // An embedded cluster starts without pods, so cause some events.
    const spec = { containers: [{ name: 'nginx', image: 'nginx:1.27' }] }
    await client.create(Pod({ metadata: { name: 'web-0' }, spec }))
    await client.patch(Pod, 'web-0', { metadata: { labels: { app: 'web' } } })
    await client.delete(Pod, 'web-0')
  }
  await watching
})
