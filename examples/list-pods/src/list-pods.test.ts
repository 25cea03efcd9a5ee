import { Namespace, Pod, ServiceAccount } from 'kubewright/k8s'
import { expect, test } from 'vitest'
import { openCluster } from '../../open-cluster.ts'
import { listPods } from './list-pods.ts'

test('listPods() prints the pods of all namespaces, sorted', async () => {
  await using cluster = await openCluster({ args: [], controllers: [] })
  const { client } = cluster
  await client.create(Namespace({ metadata: { name: 'apps' } }))
  await client.create(ServiceAccount({ metadata: { name: 'default', namespace: 'apps' } }))
  const spec = { containers: [{ name: 'nginx', image: 'nginx:1.27' }] }
  for (const [name, namespace] of [
    ['web', 'default'],
    ['db', 'apps'],
  ] as const) {
    await client.create(Pod({ metadata: { name, namespace }, spec }))
  }
  const lines: string[] = []
  await listPods(client, (line) => lines.push(line))
  expect(lines).toEqual(['There are 2 pods in the cluster', 'apps/db: Pending', 'default/web: Pending'])
})
