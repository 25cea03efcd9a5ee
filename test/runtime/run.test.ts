// `runWith` with the embedded server and RBAC, without sockets, signals or a process.
import { crdOf, defineResource } from '@kubewright/api'
import { Deferred, seededRandom, systemClock, VirtualClock, withDeadline } from '@kubewright/base'
import { type ApiClient, bearerToken, createClient, inProcessTransport } from '@kubewright/client'
import {
  ClusterRole,
  ClusterRoleBinding,
  ConfigMap,
  Lease,
  MutatingWebhookConfiguration,
  Namespace,
  Role,
  RoleBinding,
} from '@kubewright/k8s'
import {
  accessOf,
  defineController,
  defineOperator,
  defineWebhook,
  type MemoryHttpListener,
  memoryHttpListener,
  type Operator,
  type PolicyRule,
  type RunHost,
  type RunOptions,
  runWith,
  type StopSignal,
  webhookConfigurations,
} from '@kubewright/runtime'
import { s } from '@kubewright/schema'
import { assembleServer } from '@kubewright/server'
import { MemoryStore } from '@kubewright/storage'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const Home = defineResource({
  group: 'ajd.example.com',
  version: 'v1',
  kind: 'Home',
  spec: s.object({ image: s.string() }),
  status: s.object({ done: s.int() }),
})

let admin: ApiClient
let connectAs: (token: string) => ApiClient
let stopServer: () => Promise<void>

beforeAll(async () => {
  const store = new MemoryStore()
  const user = (name: string) => ({ token: name, user: { name, groups: ['system:authenticated'] } })
  const tokens = [
    { token: 'admin', user: { name: 'admin', groups: ['system:masters'] } },
    ...['whole', 'lacking', 'hooked', 'plain', 'scraper', 'configured'].map(user),
  ]
  const server = await assembleServer({ store, access: { tokens } })
  const transport = inProcessTransport({ handler: server.handler })
  connectAs = (token) => createClient({ transport, credentials: bearerToken(token), listNamespace: '' })
  admin = connectAs('admin')
  await admin.create(crdOf(Home))
  await admin.create(Namespace({ metadata: { name: 'system' } }))
  stopServer = async () => {
    await transport[Symbol.asyncDispose]()
    await server[Symbol.asyncDispose]()
    await store[Symbol.asyncDispose]()
  }
})
afterAll(() => stopServer())

/** A running program, with its input and output. */
interface Program {
  readonly done: Promise<number>
  readonly clock: VirtualClock
  readonly listener: MemoryHttpListener
  readonly out: string[]
  readonly notes: string[]
  readonly exits: number[]
  /** Resolves when the webhook server is open. */
  readonly webhooks: Promise<void>
  signal(name: StopSignal): void
  page(server: string, url: string, headers?: Record<string, string>): Promise<[status: number, body: string]>
}

function start(
  operator: Operator,
  user: string,
  args: readonly string[],
  env: Record<string, string> = {},
  options: RunOptions = {},
): Program {
  const clock = new VirtualClock()
  const listener = memoryHttpListener()
  const [out, notes, exits]: [string[], string[], number[]] = [[], [], []]
  const webhooks = new Deferred<void>()
  let tell: (signal: StopSignal) => void = () => undefined
  const host: RunHost = {
    args,
    env: { POD_NAMESPACE: 'system', POD_NAME: 'pod-1', ...env },
    clock,
    random: seededRandom(1),
    hostname: 'host',
    isTerminal: false,
    out: (line) => void out.push(line),
    note: (line) => void notes.push(line),
    onStopSignal: (listening) => {
      tell = listening
      return { [Symbol.dispose]: () => void (tell = () => undefined) }
    },
    exit: (code) => void exits.push(code),
    connect: async (options) => {
      if (user === '') throw new Error('No cluster is configured')
      const { transport } = connectAs(user).rest
      const shared = {
        host: transport.host,
        send: transport.send.bind(transport),
        [Symbol.asyncDispose]: async () => undefined,
      }
      const api = createClient({ ...options, transport: shared, credentials: bearerToken(user), namespace: 'default' })
      return { api, namespace: 'default', source: 'test' }
    },
    listener,
    listenForWebhooks: async () => {
      // After the handlers that wait for this have run.
      setImmediate(() => webhooks.resolve())
      const health = { name: 'webhook', check: () => undefined }
      return { port: 9443, health, close: () => undefined, [Symbol.asyncDispose]: async () => undefined }
    },
  }
  return {
    done: runWith(operator, host, options),
    clock,
    listener,
    out,
    notes,
    exits,
    webhooks: webhooks.promise,
    signal: (name) => tell(name),
    page: async (server, url, headers = {}) => {
      const { status, body } = await listener.request(server, url, { headers })
      return [status, body]
    },
  }
}

const soon = <T>(what: string, promise: Promise<T>): Promise<T> => withDeadline(systemClock, '20s', what, () => promise)

/** An operator that creates a ConfigMap for each Home. */
function homeOperator(name: string): { operator: Operator; reconciled: Promise<string>; cleaned: Promise<string> } {
  const reconciled = new Deferred<string>()
  const cleaned = new Deferred<string>()
  const controller = defineController(Home, {
    owns: [ConfigMap],
    async reconcile(home, { apply, event }) {
      await apply(ConfigMap({ metadata: { name: home.metadata.name }, data: { image: home.spec.image } }))
      event('Normal', 'Made', 'made a ConfigMap')
      if (home.status?.done === 1) reconciled.resolve(home.metadata.name)
      return { status: { done: 1 } }
    },
    cleanup: (home) => cleaned.resolve(home.metadata.name),
  })
  const operator = defineOperator({ name, controllers: [controller], leaderElection: true })
  return { operator, reconciled: reconciled.promise, cleaned: cleaned.promise }
}

async function grant(user: string, operator: Operator, leaveOut: (rule: PolicyRule) => boolean = () => false) {
  const { cluster, own } = accessOf(operator)
  const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: user }]
  const copy = (rules: readonly PolicyRule[]) =>
    rules.filter((rule) => !leaveOut(rule)).map((rule) => JSON.parse(JSON.stringify(rule)) as { verbs: string[] })
  const refer = (kind: string) => ({ apiGroup: 'rbac.authorization.k8s.io', kind, name: user })
  await admin.apply(ClusterRole({ metadata: { name: user }, rules: copy(cluster) }), { force: true })
  await admin.apply(ClusterRoleBinding({ metadata: { name: user }, roleRef: refer('ClusterRole'), subjects }))
  const metadata = { name: user, namespace: 'system' }
  await admin.apply(Role({ metadata, rules: copy(own) }), { force: true })
  await admin.apply(RoleBinding({ metadata, roleRef: refer('Role'), subjects }))
}

describe('runWith()', () => {
  test('works with exactly the derived permissions, serves its pages and stops cleanly', async () => {
    const { operator, reconciled, cleaned } = homeOperator('home-operator')
    await grant('whole', operator)
    const scraping = [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }]
    await admin.create(ClusterRole({ metadata: { name: 'scraper' }, rules: scraping }))
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'scraper' }
    const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'scraper' }]
    await admin.create(ClusterRoleBinding({ metadata: { name: 'scraper' }, roleRef, subjects }))
    await admin.create(Home({ metadata: { name: 'cosy', namespace: 'default' }, spec: { image: 'nginx' } }))

    const program = start(operator, 'whole', ['--metrics-bind-address=:8443', '--debug-bind-address=127.0.0.1:6060'])
    expect(await soon('the reconcile', reconciled)).toBe('cosy')
    expect((await admin.get(ConfigMap, { name: 'cosy', namespace: 'default' })).data).toEqual({ image: 'nginx' })
    expect(program.listener.open).toEqual(['debug', 'metrics', 'probes'])
    expect(await program.page('probes', '/readyz?verbose')).toEqual([200, expect.stringContaining('[+]rbac ok')])
    expect(await program.page('probes', '/healthz')).toEqual([200, 'ok'])

    expect((await program.page('metrics', '/metrics'))[0]).toBe(401)
    expect((await program.page('metrics', '/metrics', { authorization: 'Bearer plain' }))[0]).toBe(403)
    const [status, metrics] = await program.page('metrics', '/metrics', { authorization: 'Bearer scraper' })
    expect(status).toBe(200)
    expect(metrics).toMatch(/^controller_runtime_reconcile_total\{controller="home",result="success"\} [1-9]/m)
    expect(metrics).toMatch(/^rest_client_requests_total\{code="200",method="GET",host="in-process"\} [1-9]/m)
    expect(metrics).toMatch(/^leader_election_master_status\{name="home-operator"\} 1$/m)
    expect(metrics).not.toMatch(/code="403"/)

    const [, debug] = await program.page('debug', '/debug/kubewright', { host: 'localhost:6060' })
    expect(JSON.parse(debug)).toMatchObject({
      operator: { name: 'home-operator' },
      manager: { phase: 'running', leaderElection: { leading: true } },
      reconciles: expect.arrayContaining([expect.objectContaining({ key: 'default/cosy', result: 'success' })]),
      access: { missing: [] },
    })

    await admin.delete(Home, { name: 'cosy', namespace: 'default' })
    expect(await soon('the clean-up', cleaned)).toBe('cosy')
    program.signal('SIGTERM')
    expect(await soon('the stop', program.done)).toBe(0)
    expect(program.listener.open).toEqual([])
    expect(program.exits).toEqual([])
    expect(program.notes.map((line) => (JSON.parse(line) as { msg: string }).msg)).toContain('Stopping')
  })

  test("runs the operator that 'configure' returns for its own flags, with the timing of its Lease", async () => {
    const { operator, reconciled, cleaned } = homeOperator('configured-operator')
    await grant('configured', operator)
    const regions: unknown[] = []
    const options: RunOptions = {
      flags: { region: { value: 'NAME', default: 'eu', help: 'Use this region' } },
      configure: ({ region }) => {
        regions.push(region)
        return operator
      },
    }
    await admin.create(Home({ metadata: { name: 'configured', namespace: 'default' }, spec: { image: 'nginx' } }))
    // The definition that tools see has no controllers.
    const plain = defineOperator({ name: 'configured-operator' })
    const args = ['--region=us', '--leader-elect-lease-duration=40s', '--kube-api-qps=1000']
    const program = start(plain, 'configured', args, {}, options)
    await soon('the reconcile', reconciled)
    const lease = await admin.get(Lease, { name: 'configured-operator', namespace: 'system' })
    await admin.delete(Home, { name: 'configured', namespace: 'default' })
    await soon('the clean-up', cleaned)
    program.signal('SIGTERM')
    expect([await soon('the stop', program.done), regions, lease.spec?.leaseDurationSeconds]).toEqual([0, ['us'], 40])

    const wrong = start(plain, 'configured', ['--leader-elect-renew-deadline=20s'], {}, options)
    expect(await soon('the refusal', wrong.done)).toBe(2)
    expect(wrong.notes[0]).toContain("'leaseDuration' (15s) must be greater than 'renewDeadline' (20s)")
    const renamed = start(defineOperator({ name: 'other' }), 'configured', [], {}, options)
    expect(await soon('the refusal', renamed.done)).toBe(2)
    expect(renamed.notes[0]).toContain(`'configure' returned one named "configured-operator"`)
  })

  test('reports missing permissions, and continues when they are granted', async () => {
    const { operator, reconciled } = homeOperator('lacking-operator')
    const isAboutConfigMaps = ({ resources }: PolicyRule): boolean => resources?.includes('configmaps') ?? false
    await grant('lacking', operator, isAboutConfigMaps)
    await admin.create(Home({ metadata: { name: 'lacking', namespace: 'default' }, spec: { image: 'nginx' } }))
    const program = start(operator, 'lacking', [])
    const text = 'is not allowed to create, get, list, patch, watch configmaps (in the whole cluster, by a ClusterRole)'
    await soon('the complaint', said(program, 'Permissions are missing'))
    const [status, page] = await program.page('probes', '/readyz/rbac')
    expect([status, page]).toEqual([500, expect.stringContaining(text)])
    await grant('lacking', operator)
    // Permissions are checked every ten seconds; the rejected watch is retried within a minute.
    expect(await soon('the reconcile', whileTimePasses(program.clock, reconciled))).toBe('lacking')
    const granted = said(program, 'All missing permissions were granted')
    await soon('the relief', whileTimePasses(program.clock, granted))
    expect((await program.page('probes', '/readyz/rbac'))[0]).toBe(200)
    program.signal('SIGINT')
    expect(await soon('the stop', program.done)).toBe(0)
  })

  test('serves webhooks with self-managed certificates and the permissions for them, unless disabled', async () => {
    const webhooks = [defineWebhook(Home, { default: () => undefined })]
    const operator = defineOperator({ name: 'hooked', controllers: [], webhooks })
    await grant('hooked', operator)
    const { mutating } = webhookConfigurations(operator, {
      service: { namespace: 'system', name: 'hooked-webhook-service' },
    })
    await admin.create(mutating!)
    const program = start(operator, 'hooked', ['--metrics-bind-address=:8080', '--metrics-secure=false'])
    await soon('the webhooks', program.webhooks)
    expect((await program.page('probes', '/readyz?verbose'))[1]).toContain('[+]webhook')
    const { webhooks: [injected] = [] } = await admin.get(MutatingWebhookConfiguration, mutating!.metadata.name!)
    expect(Buffer.from(injected?.clientConfig.caBundle ?? '', 'base64').toString()).toContain('BEGIN CERTIFICATE')
    const [, metrics] = await program.page('metrics', '/metrics')
    expect(metrics).toContain('controller_runtime_webhook_requests_total')
    expect(metrics).not.toMatch(/code="403"/)
    program.signal('SIGTERM')
    expect(await soon('the stop', program.done)).toBe(0)

    const without = start(operator, 'hooked', [], { ENABLE_WEBHOOKS: 'false' })
    await soon('the start', said(without, 'Serving'))
    expect((await without.page('probes', '/readyz?verbose'))[1]).not.toContain('webhook')
    without.signal('SIGTERM')
    expect(await soon('the stop', without.done)).toBe(0)
  })

  test('returns 1 and reports one line when it cannot run', async () => {
    const program = start(homeOperator('lost').operator, '', [])
    expect(await program.done).toBe(1)
    expect(program.notes.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { level: 'error', msg: 'Problem running the operator', error: 'No cluster is configured' },
    ])
    const pretty = start(homeOperator('lost').operator, '', ['--log-format=pretty'])
    expect(await pretty.done).toBe(1)
    expect(pretty.notes).toEqual(['lost: No cluster is configured'])
    const hooked = defineOperator({ name: 'lost', webhooks: [defineWebhook(Home, { validate: () => [] })] })
    const stranger = start(hooked, 'stranger', ['--log-format=pretty'])
    expect(await soon('the end', stranger.done)).toBe(1)
    expect(stranger.notes.at(-1)).toBe(
      'lost: webhooks failed: Unauthorized: the cluster rejected the credentials. Log in again, or use other credentials',
    )
  })

  test('returns 2 for invalid flags, and prints help', async () => {
    const { operator } = homeOperator('asked')
    const wrong = start(operator, 'plain', ['--leader-elec'])
    expect(await wrong.done).toBe(2)
    expect(wrong.notes).toEqual(['asked: unknown flag --leader-elec: did you mean --leader-elect?', 'See asked --help'])
    const help = start(operator, 'plain', ['--help'])
    expect(await help.done).toBe(0)
    expect(help.out.join('\n')).toMatch(/^Usage: asked \[FLAGS\]/)
  })

  test('exits at once on the second signal', async () => {
    const { operator } = homeOperator('hasty')
    await grant('whole', operator)
    const program = start(operator, 'whole', ['--leader-elect=false'])
    await soon('the start', said(program, 'Using cluster'))
    program.signal('SIGTERM')
    program.signal('SIGTERM')
    expect(program.exits).toEqual([1])
    expect(await soon('the stop', program.done)).toBe(0)
  })
})

/** Advances the clock until something has happened, slowly enough for a server in real time. */
async function whileTimePasses<T>(clock: VirtualClock, promise: Promise<T>): Promise<T> {
  let isOver = false
  const note = (): void => void (isOver = true)
  promise.then(note, note)
  for (let steps = 0; !isOver && steps < 5000; steps++) {
    await clock.advance(1000)
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
  return promise
}

/** Resolves when a line with the message has been logged. */
async function said({ notes }: Program, message: string): Promise<void> {
  const found = new Deferred<void>()
  const push = notes.push.bind(notes)
  notes.push = (...lines: string[]): number => {
    if (lines.some((line) => line.includes(`"msg":"${message}"`))) found.resolve()
    return push(...lines)
  }
  if (notes.some((line) => line.includes(`"msg":"${message}"`))) found.resolve()
  return found.promise
}
