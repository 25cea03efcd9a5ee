import type { ApiHandler } from '@kubewright/api'
import { memoryLogger, VirtualClock } from '@kubewright/base'
import { createClient, inProcessTransport } from '@kubewright/client'
import { describe, expect, test } from 'vitest'
import { watchAccess } from './watch-access.ts'

const access = {
  cluster: [{ apiGroups: ['apps'], resources: ['deployments', 'deployments/status'], verbs: ['list', 'watch'] }],
  watched: [{ apiGroups: [''], resources: ['services'], verbs: ['get'] }],
  elsewhere: new Map([['far', [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }]]]),
  own: [{ apiGroups: ['coordination.k8s.io'], resources: ['leases'], resourceNames: ['home'], verbs: ['update'] }],
}

/** An API server that denies the entries of `denied`, written as `verb resource/subresource name namespace`. */
function setUp(denied: Set<string>) {
  const clock = new VirtualClock()
  const log = memoryLogger()
  const reviews: string[] = []
  let isDown = false
  const handler: ApiHandler = async ({ body }) => {
    if (isDown) throw new Error('down')
    type Attributes = { verb: string; resource: string; subresource?: string; name?: string; namespace?: string }
    const review = JSON.parse(Buffer.from(await body(10_000)).toString()) as {
      spec: { resourceAttributes: Attributes }
    }
    const { verb, resource, subresource, name, namespace } = review.spec.resourceAttributes
    const words = [verb, subresource ? `${resource}/${subresource}` : resource, name, namespace]
    const text = words.filter((word) => word !== undefined).join(' ')
    reviews.push(text)
    const bytes = Buffer.from(JSON.stringify({ status: { allowed: !denied.has(text) } }))
    return { status: 201, headers: { 'content-type': 'application/json' }, body: bytes }
  }
  const api = createClient({ transport: inProcessTransport({ handler }), clock })
  const stop = new AbortController()
  const start = () =>
    watchAccess({ api, access, namespaces: ['a', 'b'], ownNamespace: 'system', clock, log, signal: stop.signal })
  return { clock, log, reviews, start, stop, setDown: (value: boolean) => (isDown = value) }
}

describe('watchAccess()', () => {
  test('checks each verb of each resource in its namespace, once', async () => {
    const { reviews, start, clock } = setUp(new Set())
    const watch = start()
    await watch.done
    expect(watch.missing).toEqual([])
    expect(() => watch.check.check(new AbortController().signal)).not.toThrow()
    expect(reviews.sort()).toEqual([
      'get pods far',
      'get services a',
      'get services b',
      'list deployments',
      'list deployments/status',
      'update leases home system',
      'watch deployments',
      'watch deployments/status',
    ])
    expect(clock.pending).toEqual([])
  })

  test('names the missing permissions and the fix, and recovers when they are granted', async () => {
    const denied = new Set(['watch deployments', 'list deployments', 'get services b', 'update leases home system'])
    const { start, clock, log } = setUp(denied)
    const watch = start()
    await clock.advance(9_999)
    const problem =
      "the operator's service account is not allowed to list, watch deployments.apps (in the whole cluster, by a ClusterRole), " +
      'nor get services (in namespace b, by a Role), ' +
      'nor update leases.coordination.k8s.io named home (in namespace system, by a Role): grant the missing permissions with a role'
    expect(() => watch.check.check(new AbortController().signal)).toThrow(problem)
    expect(log.records).toMatchObject([{ message: 'Permissions are missing', error: { code: 'KW_ACCESS' } }])
    denied.clear()
    await clock.advance(1)
    await watch.done
    expect(() => watch.check.check(new AbortController().signal)).not.toThrow()
    expect(log.records.at(-1)).toMatchObject({ message: 'All missing permissions were granted' })
    expect(log.records).toHaveLength(2)
  })

  test('logs equal results once, keeps checking during an outage of the API server, and stops with the signal', async () => {
    const { start, clock, log, stop, setDown } = setUp(new Set(['get services a']))
    const watch = start()
    await clock.advance(30_000)
    expect(log.records.filter(({ message }) => message === 'Permissions are missing')).toHaveLength(1)
    setDown(true)
    await clock.advance(30_000)
    expect(watch.missing).toHaveLength(1)
    stop.abort()
    await watch.done
    expect(clock.pending).toEqual([])
  })
})
