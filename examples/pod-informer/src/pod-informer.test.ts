import { isNotFound } from 'kubewright'
import { Namespace, Pod, ServiceAccount } from 'kubewright/k8s'
import { VirtualClock } from 'kubewright/runtime'
import { expect, test } from 'vitest'
import { openCluster } from '../../open-cluster.ts'
import { startPodInformer } from './pod-informer.ts'

const pod = (name: string, app: string, namespace = 'default') =>
  Pod({ metadata: { name, namespace, labels: { app } }, spec: { containers: [{ name: 'c', image: 'nginx:1.27' }] } })

test('startPodInformer() prints the events of selected pods, and its lister reads the store', async () => {
  await using cluster = await openCluster({ args: [], controllers: [] })
  const { client } = cluster
  await client.create(Namespace({ metadata: { name: 'other' } }))
  await client.create(ServiceAccount({ metadata: { name: 'default', namespace: 'other' } }))
  await client.create(pod('old', 'web'))
  await client.create(pod('filtered', 'db'))
  await client.create(pod('elsewhere', 'web', 'other'))
  const lines: string[] = []
  let onLine = (_: string): void => undefined
  const print = (line: string): void => {
    lines.push(line)
    onLine(line)
  }
  const seen = (wanted: string): Promise<void> =>
    new Promise((resolve) => {
      onLine = (line) => void (line === wanted && resolve())
    })
  const clock = new VirtualClock()
  await using informer = await startPodInformer({ client, labelSelector: 'app=web', print, clock })

  const pods = informer.pods.namespace('default')
  expect(pods.list().map(({ metadata }) => metadata.name)).toEqual(['old'])
  expect(pods.get('old').spec?.containers[0]?.image).toBe('nginx:1.27')
  expect(() => pods.get('filtered')).toThrow(expect.toSatisfy(isNotFound))
  expect(informer.pods.namespace('other').find('elsewhere')).toBeUndefined()

  const added = seen('Added: default/new')
  await client.create(pod('new', 'web'))
  await added
  const updated = seen('Updated: default/new')
  await client.patch(Pod, 'new', { metadata: { annotations: { changed: 'yes' } } })
  await updated
  const again = seen('Unchanged: default/old')
  await clock.advance('30s')
  await again
  const gone = seen('Deleted: default/new')
  await client.delete(Pod, 'new', { gracePeriodSeconds: 0 })
  await gone
  expect(lines).toEqual([
    'Added: default/old (was there)',
    'Added: default/new',
    'Updated: default/new',
    'Unchanged: default/new',
    'Unchanged: default/old',
    // Servers set a deletion timestamp before they remove a pod, even with grace period 0.
    'Updated: default/new',
    'Deleted: default/new',
  ])
})
