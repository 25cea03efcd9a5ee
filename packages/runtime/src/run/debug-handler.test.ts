import { defineResource } from '@kubewright/api'
import { VirtualClock } from '@kubewright/base'
import { s } from '@kubewright/schema'
import { describe, expect, test } from 'vitest'
import type { Cluster } from '../cluster/cluster.ts'
import type { ControllerRunner } from '../controller/controller-runner.ts'
import { defineController } from '../define/define-controller.ts'
import { defineOperator } from '../define/define-operator.ts'
import type { HttpRequest } from '../serving/http/http-handler.ts'
import { type DebugOptions, debugHandler } from './debug-handler.ts'

const Home = defineResource({ group: 'ajd.example.com', version: 'v1', kind: 'Home', spec: s.object({}) })
const operator = defineOperator({
  name: 'home-operator',
  controllers: [defineController(Home, { reconcile: () => undefined, cleanup: () => undefined })],
})

const commands: string[] = []
const runner: Omit<
  ControllerRunner,
  'warmUp' | 'work' | 'onReconciled' | 'reportRunning' | typeof Symbol.asyncDispose
> = {
  isPaused: false,
  pause: () => void commands.push('pause'),
  step: () => void commands.push('step'),
  resume: () => void commands.push('resume'),
  name: 'home',
  needsLeader: true,
  problems: () => ['homes cannot be listed'],
  queue: () => ({
    name: 'home',
    ready: Array.from({ length: 501 }, (_, index) => ({
      key: `default/${index}`,
      priority: 0,
      causes: [],
      time: index,
    })),
    waiting: [],
    processing: [],
    shuttingDown: false,
  }),
  recent: () => [
    {
      controller: 'home',
      key: 'default/cosy',
      reconcileID: 'id',
      causes: [{ event: 'add', kind: 'ajd.example.com/v1 Home', object: 'default/cosy', count: 1 }],
      startedAt: 0,
      durationMillis: 12,
      result: 'error',
      error: new Error('no room'),
    },
  ],
}
const cluster = {
  name: '',
  cache: {
    peek: () => ({ size: 3 }),
    health: new Map([['homes.ajd.example.com', { state: 'watching', since: 0, failures: 0 }]]),
  },
}
const options: DebugOptions = {
  clock: new VirtualClock(),
  manager: {
    operator,
    // Contains only the shown members.
    runners: [runner as ControllerRunner],
    cluster: cluster as unknown as Cluster,
    clusters: [] as unknown as DebugOptions['manager']['clusters'],
    describe: () => ({
      name: 'home-operator',
      identity: 'a_1',
      phase: 'running',
      clusters: [],
      runnables: [],
      leaderElection: { lease: 'default/home-operator', holder: 'a_1', leading: true },
    }),
  },
  missingAccess: () => [],
}

async function ask(path: string, request: Partial<HttpRequest> = {}) {
  const response = await debugHandler(options)({
    method: 'GET',
    path,
    query: new URLSearchParams(),
    headers: { host: 'localhost:6060' },
    remoteAddress: '127.0.0.1',
    signal: new AbortController().signal,
    ...request,
  })
  return {
    status: response.status,
    value: response.status === 200 ? (JSON.parse(response.body) as unknown) : undefined,
  }
}

describe('debugHandler()', () => {
  test('serves operator, election, controllers, queues, caches and recent reconciles', async () => {
    const { status, value } = await ask('/debug/kubewright')
    expect(status).toBe(200)
    expect(value).toMatchObject({
      time: '2025-01-01T00:00:00.000Z',
      operator: {
        name: 'home-operator',
        controllers: [{ name: 'home', kind: 'ajd.example.com/v1 Home', finalizer: expect.stringContaining('homes.') }],
      },
      manager: { phase: 'running', leaderElection: { leading: true } },
      controllers: [{ name: 'home', problems: ['homes cannot be listed'] }],
      caches: [
        { kind: 'ajd.example.com/v1 Home', objects: 3 },
        { watch: 'homes.ajd.example.com', state: 'watching' },
      ],
      reconciles: [
        { key: 'default/cosy', result: 'error', error: 'no room', causes: [{ event: 'add' }], durationMillis: 12 },
      ],
      access: { missing: [] },
    })
  })

  test('serves a single part, and truncates long queues', async () => {
    const { value } = await ask('/debug/kubewright/queues')
    expect(Object.keys(value as object)).toEqual(['queues'])
    const [queue] = (value as { queues: { ready: { count: number; keys: unknown[] } }[] }).queues
    expect(queue?.ready.count).toBe(501)
    expect(queue?.ready.keys).toHaveLength(500)
  })

  test('passes commands to a controller, but none that a web page could send', async () => {
    const path = '/debug/kubewright/controllers/home'
    const host = 'localhost:6060'
    const json = { host, 'content-type': 'application/json' }
    const post = (target: string, headers: HttpRequest['headers'] = json) => ask(target, { method: 'POST', headers })
    for (const command of ['pause', 'step', 'resume'])
      expect(await post(`${path}/${command}`)).toEqual({ status: 200, value: { paused: false } })
    expect((await post(`${path}/pause`, { ...json, origin: 'http://localhost:6060' })).status).toBe(403)
    expect((await post(`${path}/pause`, { host, 'content-type': 'text/plain' })).status).toBe(403)
    expect((await post(`${path}/pause`, { host })).status).toBe(403)
    expect((await post('/debug/kubewright/controllers/absent/pause')).status).toBe(404)
    expect((await post(`${path}/constructor`)).status).toBe(405)
    expect((await ask(`${path}/pause`)).status).toBe(404)
    expect(commands).toEqual(['pause', 'step', 'resume'])
  })

  test('allows only local requests with a local host name, and only reads of existing paths', async () => {
    expect((await ask('/debug/kubewright', { remoteAddress: '10.0.0.7' })).status).toBe(403)
    expect((await ask('/debug/kubewright', { headers: { host: 'evil.example.com' } })).status).toBe(403)
    expect((await ask('/debug/kubewright', { headers: { host: '[::1]:6060' } })).status).toBe(200)
    expect((await ask('/debug/kubewright', { method: 'POST' })).status).toBe(405)
    expect((await ask('/debug/kubewright/constructor')).status).toBe(404)
    expect((await ask('/')).status).toBe(404)
  })
})
