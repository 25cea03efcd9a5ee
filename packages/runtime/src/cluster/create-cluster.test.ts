import { nullLogger, seededRandom, VirtualClock } from '@kubewright/base'
import { ConfigMap, Namespace } from '@kubewright/k8s'
import { expect, test } from 'vitest'
import { createCluster } from './create-cluster.ts'
import { startEmbeddedServer } from './testdata/embedded-server.ts'

test('createCluster() connects client and cache for its namespaces, and stops everything when disposed', async () => {
  await using server = await startEmbeddedServer()
  const api = server.api({ kinds: [ConfigMap] })
  for (const name of ['blue', 'green', 'red']) await api.create(Namespace({ metadata: { name } }))
  for (const namespace of ['blue', 'red']) await api.create(ConfigMap({ metadata: { name: 'a', namespace } }))
  const clock = new VirtualClock()
  const cluster = createCluster({
    api,
    clock,
    random: seededRandom(1),
    log: nullLogger,
    name: 'west',
    namespaces: ['blue', 'green'],
    cache: { resyncPeriod: '10m' },
  })
  const { store } = cluster.cache.use(ConfigMap)
  cluster.cache.start()
  await cluster.cache.waitForSync({ timeout: '1m' })
  await cluster.client.create(ConfigMap({ metadata: { name: 'b', namespace: 'green' } }))
  const listed = await cluster.client.list(ConfigMap)
  expect(listed.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)).toEqual(['blue/a', 'green/b'])
  expect([cluster.name, cluster.namespaces, cluster.cache.peek(ConfigMap)]).toEqual(['west', ['blue', 'green'], store])
  await cluster[Symbol.asyncDispose]()
  expect([clock.pending, cluster.cache.health.size]).toEqual([[], 0])
})
