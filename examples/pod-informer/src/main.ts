import { once } from 'node:events'
import { Pod } from 'kubewright/k8s'
import { openCluster, runUntilStopped } from '../../open-cluster.ts'
import { startPodInformer } from './pod-informer.ts'

await runUntilStopped(async (signal) => {
  await using cluster = await openCluster()
  const { client } = cluster
  const spec = { containers: [{ name: 'nginx', image: 'nginx:1.27' }] }
  // An embedded cluster starts without pods.
  if (cluster.isEmbedded) await client.create(Pod({ metadata: { name: 'web-0', labels: { app: 'web' } }, spec }))

  await using informer = await startPodInformer({ client, labelSelector: 'app=web', print: console.log, signal })
  for (const pod of informer.pods.namespace('default').list()) console.log(`The store has ${pod.metadata.name}`)
  await once(signal, 'abort')
})
