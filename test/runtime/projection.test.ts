import { nullLogger, systemClock, systemRandom } from '@kubewright/base'
import { startControlPlane } from '@kubewright/controlplane'
import { ConfigMap, Deployment } from '@kubewright/k8s'
import { createCluster, project, SharedInformerFactory } from '@kubewright/runtime'
import { expect, test } from 'vitest'

const Ready = project(Deployment, ['spec.replicas', 'spec.template.spec'])

const web = Deployment({
  metadata: { name: 'web', labels: { app: 'web' } },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'i:1' }] } },
  },
})

test('project() makes an informer store the named fields and the metadata only', async () => {
  await using plane = await startControlPlane({ controllers: 'none', nodes: 0 })
  const client = plane.client()
  await client.create(web)
  await using factory = new SharedInformerFactory({ client }).start()
  const { informer, lister } = factory.use(Ready)
  await informer.synced()
  const kept = lister.namespace('default').get('web')
  expect(Object.keys(kept).sort()).toEqual(['apiVersion', 'kind', 'metadata', 'spec'])
  expect(kept.spec?.replicas).toBe(2)
  expect(kept.spec?.template.spec?.containers[0]?.image).toBe('i:1')
  expect(Object.keys(kept.spec ?? {}).sort()).toEqual(['replicas', 'template'])
  expect(kept.metadata.labels).toEqual({ app: 'web' })
  expect(factory.use(Ready).informer).toBe(informer)
  expect(factory.use(Deployment).informer).not.toBe(informer)
})

test('project() is never used for reads of the full kind', async () => {
  await using plane = await startControlPlane({ controllers: 'none', nodes: 0 })
  const api = plane.client()
  await api.create(web)
  await api.create(ConfigMap({ metadata: { name: 'other' } }))
  await using cluster = createCluster({ api, clock: systemClock, random: systemRandom, log: nullLogger })
  const lease = cluster.cache.use(Ready)
  cluster.cache.start()
  await lease.synced()
  expect(lease.store.list()).toHaveLength(1)
  const whole = await cluster.client.get(Deployment, 'web')
  expect(whole.spec?.selector.matchLabels).toEqual({ app: 'web' })
})
