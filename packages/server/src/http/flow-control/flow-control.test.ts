import { createMetricRegistry, Deferred, type MetricRegistry, VirtualClock } from '@kubewright/base'
import type * as flowcontrol from '@kubewright/k8s/flowcontrol/v1'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { flowSchemaObjects, priorityLevelObjects } from '../../bootstrap/flow-control-objects.ts'
import type { RequestContext } from '../../request/request-context.ts'
import { requestInfoOf } from '../../request/request-info.ts'
import { respondText } from '../../request/respond.ts'
import type { UserInfo } from '../../request/user-info.ts'
import { FlowControl } from './flow-control.ts'

const named = (name: string, spec: object): object => ({ metadata: { name, uid: `${name}-uid` }, spec })
const limited = (name: string, shares: number, more: object = {}, limitResponse: object = { type: 'Reject' }): object =>
  named(name, { type: 'Limited', limited: { nominalConcurrencyShares: shares, limitResponse, ...more } })
const queue = (queues: number, handSize: number, queueLengthLimit: number): object => ({
  type: 'Queue',
  queuing: { queues, handSize, queueLengthLimit },
})
const everything = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
}
const schema = (name: string, level: string, group: string, precedence = 100): object =>
  named(name, {
    priorityLevelConfiguration: { name: level },
    matchingPrecedence: precedence,
    distinguisherMethod: { type: 'ByUser' },
    rules: [{ subjects: [{ kind: 'Group', group: { name: group } }], ...everything }],
  })

let clock: VirtualClock
let metrics: MetricRegistry
let flow: FlowControl
beforeEach(() => {
  clock = new VirtualClock()
  metrics = createMetricRegistry()
})
afterEach(() => clock.advance(60_000))

function start(total: number, schemas: object[], levels: object[], objects = 0): void {
  flow = new FlowControl({ clock, metrics, objectCount: () => objects }, total)
  flow.configure(schemas as flowcontrol.FlowSchema[], levels as flowcontrol.PriorityLevelConfiguration[])
}

/** A request that runs until `finish` is called. */
class Sent {
  status = 0
  started = false
  readonly headers: Record<string, string> = {}
  readonly #stop = new AbortController()
  readonly #done = new Deferred<void>()

  constructor(user: Partial<UserInfo>, line = 'GET /api/v1/namespaces/a/pods/p') {
    const [method = '', path = ''] = line.split(' ')
    const query = new URLSearchParams()
    const context = {
      request: { method, path, query, headers: {}, signal: this.#stop.signal },
      info: requestInfoOf(method, path, query),
      user: { name: 'jane', groups: ['a'], ...user },
      responseHeaders: this.headers,
    } as unknown as RequestContext
    const response = flow.filter(context, async () => {
      this.started = true
      await this.#done.promise
      return respondText(200, 'ok')
    })
    void Promise.resolve(response).then(({ status }) => {
      this.status = status
    })
  }

  async finish(): Promise<void> {
    this.#done.resolve()
    await settle()
  }

  async abort(): Promise<void> {
    this.#stop.abort()
    await settle()
  }
}
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const send = async (user: Partial<UserInfo> = {}, line?: string): Promise<Sent> => {
  const sent = new Sent(user, line)
  await settle()
  return sent
}

describe('FlowControl', () => {
  test('classifies requests by the bootstrap schemas and sends the uids of schema and level', async () => {
    const uid = (object: { metadata: { name?: string } }): object => ({
      ...object,
      metadata: { ...object.metadata, uid: object.metadata.name },
    })
    start(600, flowSchemaObjects(0).map(uid), priorityLevelObjects().map(uid))
    const classOf = async (name: string, groups: string[], line: string): Promise<string> => {
      const sent = await send({ name, groups }, line)
      await sent.finish()
      return `${sent.headers['x-kubernetes-pf-flowschema-uid']} ${sent.headers['x-kubernetes-pf-prioritylevel-uid']}`
    }
    const all = 'system:authenticated'
    const pods = 'GET /api/v1/namespaces/a/pods'
    const lease = 'PUT /apis/coordination.k8s.io/v1/namespaces/kube-system/leases/x'
    expect(await classOf('root', ['system:masters', all], pods)).toBe('exempt exempt')
    expect(await classOf('jane', [all], 'GET /healthz')).toBe('probes exempt')
    expect(await classOf('jane', [all], pods)).toBe('global-default global-default')
    expect(await classOf('jane', ['x'], pods)).toBe('catch-all catch-all')
    expect(await classOf('system:serviceaccount:a:b', ['system:serviceaccounts', all], pods)).toBe(
      'service-accounts workload-low',
    )
    expect(await classOf('system:serviceaccount:kube-system:b', ['system:serviceaccounts', all], pods)).toBe(
      'kube-system-service-accounts workload-high',
    )
    expect(await classOf('system:kube-scheduler', [all], lease)).toBe('system-leader-election leader-election')
    expect(await classOf('system:node:n', ['system:nodes', all], 'PATCH /api/v1/nodes/n/status')).toBe(
      'system-node-high node-high',
    )
    expect(await classOf('system:node:n', ['system:nodes', all], pods)).toBe('system-nodes system')
  })

  test('rejects requests over the limit of a level without queues', async () => {
    start(2, [schema('s', 'l', 'a')], [limited('l', 1)])
    const [one, two, three] = [await send(), await send(), await send()]
    expect([one.started, two.started, three.started, three.status]).toEqual([true, true, false, 429])
    await one.finish()
    expect((await send()).started).toBe(true)
    flow.collect()
    const text = metrics.text()
    expect(text).toContain(
      'apiserver_flowcontrol_rejected_requests_total{flow_schema="s",priority_level="l",reason="concurrency-limit"} 1',
    )
    expect(text).toContain('apiserver_flowcontrol_dispatched_requests_total{flow_schema="s",priority_level="l"} 3')
    expect(text).toContain('apiserver_flowcontrol_current_executing_requests{priority_level="l"} 2')
  })

  test('queues requests, rejects them when the queue is full, after 15 seconds, or when the client leaves', async () => {
    start(1, [schema('s', 'l', 'a')], [limited('l', 1, {}, queue(1, 1, 3))])
    const running = await send()
    const [late, gone, third, surplus] = [await send(), await send(), await send(), await send()]
    expect(surplus.status).toBe(429)
    await gone.abort()
    expect(gone.status).toBe(429)
    await running.finish()
    expect([late.started, third.started]).toEqual([true, false])
    await clock.advance(15_000)
    await settle()
    expect(third.status).toBe(429)
    const { body } = (await flow.paths({
      info: { path: '/debug/api_priority_and_fairness/dump_priority_levels' },
      request: { method: 'GET' },
    } as RequestContext))!
    expect(Buffer.from(body as Uint8Array).toString()).toContain('l, 0, false, false, 0, 1, 2, 1, 1, 1\n')
  })

  test('serves flows in turn, so that a busy user does not starve another one', async () => {
    start(1, [schema('s', 'l', 'a')], [limited('l', 1, {}, queue(64, 4, 50))])
    const running = await send({ name: 'first' })
    const busy = [await send({ name: 'busy' })]
    for (let i = 0; i < 9; i++) busy.push(await send({ name: 'busy' }))
    const other = await send({ name: 'other' })
    await running.finish()
    // Each of the four queues of the busy user may be served once before the queue of the other user.
    for (let i = 0; i < 6 && !other.started; i++)
      await busy.find(({ started, status }) => started && status === 0)!.finish()
    expect(other.started).toBe(true)
    expect(busy.filter(({ started }) => started).length).toBeLessThan(8)
    await other.finish()
    for (const sent of busy) await sent.finish()
  })

  test('lends seats that a level does not use, within the limits of lender and borrower', async () => {
    const levels = [
      limited('lender', 4, { lendablePercent: 50 }),
      limited('borrower', 4, { borrowingLimitPercent: 25 }),
    ]
    start(8, [schema('x', 'lender', 'a'), schema('y', 'borrower', 'b')], levels)
    const borrowers = [await send({ groups: ['b'] })]
    for (let i = 0; i < 5; i++) borrowers.push(await send({ groups: ['b'] }))
    // Four of its own and one borrowed.
    expect(borrowers.map(({ status }) => status)).toEqual([0, 0, 0, 0, 0, 429])
    const lenders = [await send(), await send(), await send(), await send()]
    expect(lenders.map(({ status }) => status)).toEqual([0, 0, 0, 429])
    await borrowers[0]!.finish()
    expect((await send()).started).toBe(true)
  })

  test('counts large lists as several seats and never limits exempt levels', async () => {
    const exempt = named('exempt', { type: 'Exempt', exempt: { nominalConcurrencyShares: 0 } })
    start(10, [schema('s', 'l', 'a'), schema('m', 'exempt', 'system:masters', 1)], [limited('l', 1), exempt], 450)
    const list = await send({}, 'GET /api/v1/pods')
    expect((await send({}, 'GET /api/v1/pods')).started).toBe(true)
    expect((await send()).status).toBe(429)
    for (let i = 0; i < 20; i++) expect((await send({ groups: ['system:masters'] })).started).toBe(true)
    await list.finish()
    expect((await send()).started).toBe(true)
  })

  test('keeps running requests when the configuration changes', async () => {
    start(2, [schema('s', 'l', 'a')], [limited('l', 1, {}, queue(1, 1, 5))])
    const [one, two, three] = [await send(), await send(), await send()]
    flow.configure(
      [schema('s', 'l', 'a')] as flowcontrol.FlowSchema[],
      [limited('l', 1, {}, queue(2, 1, 5)), limited('other', 1)] as flowcontrol.PriorityLevelConfiguration[],
    )
    await one.finish()
    expect(three.started).toBe(false)
    await two.finish()
    expect(three.started).toBe(true)
  })
})
