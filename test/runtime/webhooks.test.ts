import { type ApiError, crdOf, defineResource, isConditionTrue } from '@kubewright/api'
import { nullLogger } from '@kubewright/base'
import { type ApiClient, bearerToken, createClient, inProcessTransport } from '@kubewright/client'
import { ConfigMap } from '@kubewright/k8s'
import { MutatingWebhookConfiguration, ValidatingWebhookConfiguration } from '@kubewright/k8s/admissionregistration/v1'
import { CustomResourceDefinition } from '@kubewright/k8s/apiextensions/v1'
import { Secret } from '@kubewright/k8s/core/v1'
import {
  conversionCrd,
  createWebhookHandler,
  defineConversion,
  defineWebhook,
  duplicate,
  forbidden,
  registerLocally,
  spoke,
  startWebhooks,
  type Webhook,
  type WebhookOwner,
  warning,
  webhookConfigurations,
} from '@kubewright/runtime'
import { s } from '@kubewright/schema'
import { assembleServer, LocalServers, systemOutgoing } from '@kubewright/server'
import { MemoryStore } from '@kubewright/storage'
import { describe, expect, test } from 'vitest'

const Home = defineResource({
  group: 'ajd.example.com',
  kind: 'Home',
  versions: {
    v1: {
      storage: true,
      spec: s.object({
        image: s.string({ minLength: 1 }),
        replicas: s.int({ minimum: 1, maximum: 9 }).default(1),
        domain: s.string().optional(),
      }),
      selectableFields: ['.spec.domain'],
    },
    v1beta1: { spec: s.object({ container: s.string({ minLength: 1 }), domain: s.string().optional() }) },
  },
})
const OldHome = Home.versions.v1beta1

const replicas = 'ajd.example.com/replicas'
const homeConversion = defineConversion(Home, [
  spoke(OldHome, {
    toHub: ({ spec: { container, ...spec }, metadata }) => {
      if (container === 'unconvertible') throw new Error('no such container')
      const { [replicas]: kept = '1', ...annotations } = metadata.annotations ?? {}
      return { spec: { ...spec, image: container, replicas: Number(kept) }, metadata: { annotations } }
    },
    fromHub: ({ spec: { image, replicas: count, ...spec }, metadata }) => ({
      spec: { ...spec, container: image },
      metadata: {
        annotations: { ...metadata.annotations, ...(count === 1 ? {} : { [replicas]: String(count) }) },
      },
    }),
  }),
])

const homeWebhook = defineWebhook(Home, {
  default(home, { user }) {
    home.spec.domain ??= `${home.metadata.name}.homes.example.com`
    ;(home.metadata.annotations ??= {})['ajd.example.com/by'] ??= user.name
  },
  async validate(home, { client, operation, old, signal }) {
    const { domain, replicas } = home.spec
    const claimants = await client.list(Home, { where: { 'spec.domain': domain }, signal })
    return [
      claimants.some((other) => other.metadata.name !== home.metadata.name) && duplicate('spec.domain', domain),
      operation === 'UPDATE' && old?.spec.domain !== domain && forbidden('spec.domain', 'is immutable'),
      replicas === 1 && warning('spec.replicas', 'one replica means downtime on every rollout'),
    ]
  },
  validateDelete: (home) => {
    if (home.metadata.labels?.['keep'] === 'yes') throw new Error(`${home.metadata.name} is kept`)
    return []
  },
})

interface Cluster extends AsyncDisposable {
  readonly client: ApiClient
  readonly local: LocalServers
  readonly warnings: string[]
  /** Resolves Services to this machine, since there are no nodes. */
  servicePort: number
  /** Resolves when the server has applied the last writes, such as new webhook configurations. */
  settled(): Promise<void>
}

async function startCluster(): Promise<Cluster> {
  const store = new MemoryStore()
  const local = new LocalServers()
  const server = await assembleServer({
    store,
    access: { tokens: [{ token: 'admin', user: { name: 'admin', groups: ['system:masters'] } }] },
    webhooks: {
      outgoing: local.before(systemOutgoing),
      resolveService: async () => ({ host: '127.0.0.1', port: cluster.servicePort }),
    },
  })
  const transport = inProcessTransport({ handler: server.handler })
  const warnings: string[] = []
  const client = createClient({
    transport,
    credentials: bearerToken('admin'),
    onWarning: (text: string) => void warnings.push(text),
  })
  const cluster: Cluster = {
    client,
    local,
    warnings,
    servicePort: 0,
    settled: async () => server.parts.registry.feed.reached(await store.revision()),
    [Symbol.asyncDispose]: async () => {
      await client[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
      await store[Symbol.asyncDispose]()
    },
  }
  return cluster
}

/** Resolves when the kind is served. */
async function install(client: ApiClient, crd: object): Promise<void> {
  await client.apply(crd as never)
  const { name } = crdOf(Home).metadata
  const stream = await client.watch(CustomResourceDefinition, {
    fields: { 'metadata.name': name },
    sendInitialEvents: true,
    resourceVersionMatch: 'NotOlderThan',
  })
  for await (const event of stream) {
    if ('object' in event && isConditionTrue(event.object as never, 'Established')) break
  }
}

/** Serves an operator's webhooks to a cluster, over HTTPS or in-process. */
async function serve(
  cluster: Cluster,
  operator: WebhookOwner,
  way: 'in process' | 'over HTTPS',
): Promise<AsyncDisposable> {
  const { client, local } = cluster
  await install(client, crdOf(Home))
  if (way === 'over HTTPS') {
    const running = await startWebhooks(operator, { client, url: 'https://127.0.0.1:0', port: 0, host: '127.0.0.1' })
    await cluster.settled()
    return running
  }
  const handler = createWebhookHandler({ ...operator, conversions: operator.conversions ?? [], client })
  const served = local.serve('hooks.example.com:443', handler)
  const registered = await registerLocally(operator, {
    client,
    url: 'https://hooks.example.com',
    caBundle: '',
    log: nullLogger,
  })
  await cluster.settled()
  return {
    [Symbol.asyncDispose]: async () => {
      await registered[Symbol.asyncDispose]()
      served[Symbol.dispose]()
    },
  }
}

const failure = (promise: Promise<unknown>): Promise<ApiError> =>
  promise.then(
    () => expect.fail('the request was admitted'),
    (error: unknown) => error as ApiError,
  )

describe.each(['in process', 'over HTTPS'] as const)('webhooks %s', (way) => {
  const operator = { name: 'home-operator', webhooks: [homeWebhook], conversions: [homeConversion] }

  test('default, validate, warn and convert', async () => {
    await using cluster = await startCluster()
    const { client, warnings } = cluster
    await using _ = await serve(cluster, operator, way)

    const first = await client.create(Home({ metadata: { name: 'first' }, spec: { image: 'nginx' } }))
    expect(first).toMatchObject({
      metadata: { annotations: { 'ajd.example.com/by': 'admin' } },
      spec: { image: 'nginx', replicas: 1, domain: 'first.homes.example.com' },
    })
    expect(warnings).toContain('spec.replicas: one replica means downtime on every rollout')

    const taken = { image: 'nginx', domain: 'first.homes.example.com' }
    const error = await failure(client.create(Home({ metadata: { name: 'second' }, spec: taken })))
    expect(error).toMatchObject({
      reason: 'Invalid',
      statusCode: 422,
      message:
        'admission webhook "vhome-v1.kb.io" denied the request: Home.ajd.example.com "second" is invalid: ' +
        'spec.domain: Duplicate value: "first.homes.example.com"',
      causes: [{ field: 'spec.domain', reason: 'FieldValueDuplicate' }],
    })

    const changed = { ...first, spec: { ...first.spec, domain: 'other.example.com' } }
    expect(await failure(client.update(changed))).toMatchObject({
      causes: [{ field: 'spec.domain', reason: 'FieldValueForbidden', message: 'Forbidden: is immutable' }],
    })

    // An object written in one version is read in the other, and the webhook of the hub receives both.
    await client.patch(Home, 'first', { spec: { replicas: 3 } })
    const old = await client.get(OldHome, 'first')
    expect(old.spec).toEqual({ container: 'nginx', domain: 'first.homes.example.com' })
    expect(old.metadata.annotations).toMatchObject({ [replicas]: '3' })
    const made = await client.create(OldHome({ metadata: { name: 'third' }, spec: { container: 'nginx' } }))
    expect(made.spec).toEqual({ container: 'nginx', domain: 'third.homes.example.com' })
    expect(
      await failure(client.create(OldHome({ metadata: { name: 'x' }, spec: { container: 'unconvertible' } }))),
    ).toMatchObject({
      message: expect.stringContaining('failed to convert Home "default/x": no such container'),
    })
  })

  test('reject deletions as Forbidden', async () => {
    await using cluster = await startCluster()
    const { client } = cluster
    await using _ = await serve(cluster, operator, way)
    await client.create(Home({ metadata: { name: 'kept', labels: { keep: 'yes' } }, spec: { image: 'x' } }))
    expect(await failure(client.delete(Home, 'kept'))).toMatchObject({
      statusCode: 403,
      reason: 'Forbidden',
      message: 'admission webhook "vhome-v1.kb.io" denied the request: kept is kept',
    })
    await client.patch(Home, 'kept', { metadata: { labels: { keep: null } } } as never)
    await client.delete(Home, 'kept')
    expect(await client.find(Home, 'kept')).toBeUndefined()
  })

  test('work for built-in kinds', async () => {
    await using cluster = await startCluster()
    const hook = defineWebhook(ConfigMap, {
      default(map) {
        ;(map.data ??= {})['filled'] = 'in'
      },
      validate: (map, { dryRun, namespace }) => [
        map.data?.['bad'] !== undefined && forbidden('data[bad]', `in ${namespace}, dry run ${dryRun}`),
      ],
    })
    await using _ = await serve(cluster, { name: 'maps', webhooks: [hook] }, way)
    const { client } = cluster
    const made = await client.create(ConfigMap({ metadata: { name: 'a' } }))
    expect(made.data).toEqual({ filled: 'in' })
    const bad = ConfigMap({ metadata: { name: 'b' }, data: { bad: 'x' } })
    expect(await failure(client.create(bad, { dryRun: true }))).toMatchObject({
      causes: [{ field: 'data[bad]', message: 'Forbidden: in default, dry run true' }],
    })
  })
})

describe('startWebhooks()', () => {
  test('unregisters local webhooks at the end, and restores conversions', async () => {
    await using cluster = await startCluster()
    const { client } = cluster
    const running = await serve(
      cluster,
      { name: 'o', webhooks: [homeWebhook], conversions: [homeConversion] },
      'over HTTPS',
    )
    expect(await client.list(MutatingWebhookConfiguration)).toHaveLength(1)
    expect(await client.list(ValidatingWebhookConfiguration)).toHaveLength(1)
    await running[Symbol.asyncDispose]()
    expect(await client.list(MutatingWebhookConfiguration)).toEqual([])
    expect(await client.list(ValidatingWebhookConfiguration)).toEqual([])
    const { spec } = await client.get(CustomResourceDefinition, 'homes.ajd.example.com')
    expect(spec.conversion).toEqual({ strategy: 'None' })
  })

  test('manages its certificates with several replicas, and replaces them without a restart', async () => {
    await using cluster = await startCluster()
    const { client } = cluster
    const service = { namespace: 'default', name: 'hooks' }
    const operator = { name: 'o', webhooks: [homeWebhook] as readonly Webhook[], conversions: [homeConversion] }
    await install(client, conversionCrd(homeConversion, { service }))
    const { mutating, validating } = webhookConfigurations(operator, { service })
    await client.create(mutating!)
    await client.create(validating!)

    const selfManaged = { namespace: service.namespace, serviceName: service.name }
    const options = { client, selfManaged, host: '127.0.0.1' }
    await using other = await startWebhooks(operator, { ...options, port: 0 })
    const first = await startWebhooks(operator, { ...options, port: 0 })
    cluster.servicePort = first.port
    await cluster.settled()
    expect(other.health.map(({ name }) => name)).toEqual(['webhook', 'webhook-certificate'])
    for (const { check } of other.health) expect(check(new AbortController().signal)).toBeUndefined()
    await client.create(Home({ metadata: { name: 'a' }, spec: { image: 'x' } }))
    expect((await client.get(OldHome, 'a')).spec.container).toBe('x')
    const kept = await client.get(Secret, 'o-webhook-cert')

    // Applying the manifests again removes the CA bundle: it is restored at once.
    await client.patch(MutatingWebhookConfiguration, 'o-mutating-webhook-configuration', [
      { op: 'remove', path: '/webhooks/0/clientConfig/caBundle' },
    ])
    const trusts = (configuration: MutatingWebhookConfiguration): boolean =>
      configuration.webhooks?.every(({ clientConfig }) => clientConfig.caBundle !== undefined) ?? false
    for await (const event of await client.watch(MutatingWebhookConfiguration)) {
      if (event.type === 'MODIFIED' || event.type === 'ADDED') if (trusts(event.object)) break
    }
    await first[Symbol.asyncDispose]()

    // No webhook server is running: requests fail, as the failure policy requires.
    expect(await failure(client.create(Home({ metadata: { name: 'b' }, spec: { image: 'x' } })))).toMatchObject({
      statusCode: 500,
      message: expect.stringContaining('failed calling webhook "mhome-v1.kb.io"'),
    })

    // A new authority, as after a year: the bundle is updated, and the API server accepts the new certificate.
    await client.delete(Secret, 'o-webhook-cert')
    await using second = await startWebhooks(operator, { ...options, port: 0 })
    cluster.servicePort = second.port
    await cluster.settled()
    await client.create(Home({ metadata: { name: 'b' }, spec: { image: 'x' } }))
    expect((await client.get(Secret, 'o-webhook-cert')).data?.['tls.crt']).not.toBe(kept.data?.['tls.crt'])
  })

  test('requires exactly one source of a certificate', async () => {
    await expect(startWebhooks({ name: 'o', webhooks: [] }, { client: undefined as never })).rejects.toThrow(
      `'folder', 'selfManaged', 'url' and 'certificate' exclude each other, and none of them is set: set exactly one`,
    )
  })
})
