import { Pod } from 'kubewright/k8s'
import { openCluster, runUntilStopped } from '../../open-cluster.ts'
import { knownPods } from './known-pods.ts'
import { PodController } from './pod-controller.ts'

await runUntilStopped(async (signal) => {
  await using cluster = await openCluster()
  const { client } = cluster
  const spec = { containers: [{ name: 'nginx', image: 'nginx:1.27' }] }
  // An embedded cluster starts without pods.
  if (cluster.isEmbedded) await client.create(Pod({ metadata: { name: 'web-0' }, spec }))
  const controller = new PodController({ client, known: knownPods, print: console.log, log: console.error })
  await controller.run(1, signal)
})
