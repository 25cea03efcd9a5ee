import { memoryLogger, VirtualClock } from '@kubewright/base'
import { Pod, StatefulSet } from '@kubewright/k8s'
import { MemoryStore } from '@kubewright/storage'
import { expect, test } from 'vitest'
import { startControlPlane } from '../host/start-control-plane.ts'
import { startPersistently } from './start-persistently.ts'

const huge = 2 ** 31 - 1

function statefulSet(name: string, spec: object) {
  const app = { app: name }
  return StatefulSet({
    metadata: { name, namespace: 'default' },
    spec: {
      selector: { matchLabels: app },
      serviceName: name,
      template: {
        metadata: { labels: app },
        spec: { containers: [{ name: 'c', image: 'c' }], nodeSelector: { on: 'no-node' } },
      },
      ...spec,
    },
  })
}

test('a control plane starts, serves and runs other sets with a StatefulSet of 2147483647 replicas in its store', async () => {
  await using store = new MemoryStore()
  {
    await using before = await startControlPlane({ store, controllers: 'none', nodes: 0 })
    const api = before.client()
    await api.create(statefulSet('ordered', { replicas: huge }))
    await api.create(statefulSet('parallel', { replicas: huge, podManagementPolicy: 'Parallel' }))
  }
  await using plane = await startControlPlane({ store })
  const api = plane.client()
  const app = { app: 'good' }
  await api.create(
    statefulSet('good', {
      replicas: 2,
      template: { metadata: { labels: app }, spec: { containers: [{ name: 'c', image: 'c' }] } },
    }),
  )
  const watch = await api.watch(StatefulSet, {
    namespace: 'default',
    sendInitialEvents: true,
    resourceVersionMatch: 'NotOlderThan',
  })
  for await (const event of watch) {
    if (event.type === 'BOOKMARK') continue
    const { object } = event
    if (object.metadata.name === 'good' && object.status?.readyReplicas === 2) break
  }
  const pods = await api.list(Pod, { namespace: 'default' })
  const of = (name: string) => pods.filter(({ metadata }) => metadata.labels?.['app'] === name).length
  expect([of('ordered'), of('good')]).toEqual([1, 2])
  expect(of('parallel')).toBeGreaterThan(0)
})

test('startPersistently() resolves although the part fails, and starts it later', async () => {
  const clock = new VirtualClock()
  const log = memoryLogger()
  let attempts = 0
  let stopped = 0
  const start = async () => {
    if (++attempts < 3) throw new RangeError('Maximum call stack size exceeded')
    return { [Symbol.asyncDispose]: async () => void stopped++ }
  }
  {
    await using _ = await startPersistently('quota', start, { clock, log })
    expect(attempts).toBe(1)
    await clock.advance('5s')
    await clock.advance('5s')
    await clock.advance('1m')
    expect(attempts).toBe(3)
  }
  expect(stopped).toBe(1)
  expect(log.records.map(({ message, values }) => [message, values?.['controller']])).toEqual([
    ['Controller cannot start yet; retrying while the others run', 'quota'],
    ['Controller cannot start yet; retrying while the others run', 'quota'],
  ])
})
