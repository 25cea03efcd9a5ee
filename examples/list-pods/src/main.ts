import { Pod } from 'kubewright/k8s'
import { openCluster } from '../../open-cluster.ts'
import { listPods } from './list-pods.ts'

await using cluster = await openCluster()
if (cluster.isEmbedded) {
  // A new cluster has no pods.
  const spec = { containers: [{ name: 'nginx', image: 'nginx:1.27' }] }
  await cluster.client.create(Pod({ metadata: { name: 'web-0' }, spec }))
}
await listPods(cluster.client, console.log)
