import { Pod } from 'kubewright/k8s'
import { expect, test } from 'vitest'
import { openCluster } from '../../open-cluster.ts'
import { watchPods } from './watch-pods.ts'

test('watchPods() prints existing pods and events until it is stopped', async () => {
  await using cluster = await openCluster({ args: [], controllers: [] })
  const { client } = cluster
  const spec = { containers: [{ name: 'nginx', image: 'nginx:1.27' }] }
  await client.create(Pod({ metadata: { name: 'old' }, spec }))
  const stop = new AbortController()
  const lines: string[] = []
  const print = (line: string): void => {
    lines.push(line)
    // Each step waits for the event of the previous one.
    if (line === 'Pod added: old') void client.create(Pod({ metadata: { name: 'new' }, spec }))
    if (line === 'Pod added: new') void client.patch(Pod, 'new', { metadata: { labels: { app: 'web' } } })
    if (line === 'Pod modified: new' && !lines.slice(0, -1).includes(line))
      void client.delete(Pod, 'new', { gracePeriodSeconds: 0 })
    if (line === 'Pod deleted: new') stop.abort()
  }
  await watchPods(client, print, stop.signal)
  expect(lines).toEqual([
    'Watching for pod changes...',
    'Pod added: old',
    'Pod added: new',
    'Pod modified: new',
    // Servers set a deletion timestamp before they remove a pod, even with grace period 0.
    'Pod modified: new',
    'Pod deleted: new',
  ])
})
