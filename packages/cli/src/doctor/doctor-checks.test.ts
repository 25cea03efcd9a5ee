import { crdOf, defineResource } from '@kubewright/api'
import { systemClock, VirtualClock } from '@kubewright/base'
import { CertificateAuthority } from '@kubewright/base/pki'
import {
  type ApiClient,
  bearerToken,
  ConfigError,
  ConnectionError,
  createClient,
  inProcessTransport,
} from '@kubewright/client'
import { CustomResourceDefinition, EndpointSlice, Service, ValidatingWebhookConfiguration } from '@kubewright/k8s'
import { s } from '@kubewright/schema'
import { assembleServer } from '@kubewright/server'
import { MemoryStore } from '@kubewright/storage'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { checkCluster, checkKubeconfig } from './check-cluster.ts'
import { checkDefinitions } from './check-definitions.ts'
import { checkNode } from './check-node.ts'
import { checkPermissions } from './check-permissions.ts'
import { checkWebhooks } from './check-webhooks.ts'

const { signal } = new AbortController()
let close: () => Promise<void>
let as: (token: string) => ApiClient
let admin: ApiClient

beforeEach(async () => {
  const store = new MemoryStore()
  const tokens = [
    { token: 'admin', user: { name: 'ann', groups: ['system:masters'] } },
    { token: 'guest', user: { name: 'bob', groups: [] } },
  ]
  const server = await assembleServer({ store, access: { tokens } })
  const transport = inProcessTransport({ handler: server.handler })
  as = (token) => createClient({ transport, credentials: bearerToken(token) })
  admin = as('admin')
  close = async () => {
    await transport[Symbol.asyncDispose]()
    await server[Symbol.asyncDispose]()
    await store[Symbol.asyncDispose]()
  }
})
afterEach(() => close())

describe('checkNode()', () => {
  test('requires Node 20.19, and tsx before 22.18', () => {
    expect(checkNode('v20.18.0', true)[0]).toMatchObject({
      level: 'failed',
      fix: expect.stringContaining('nodejs.org'),
    })
    expect(checkNode('v20.19.0', false)[0]).toMatchObject({ level: 'warning', fix: expect.stringContaining('tsx') })
    expect(checkNode('v20.19.0', true)[0]?.level).toBe('ok')
    expect(checkNode('v22.18.0', false)[0]?.level).toBe('ok')
    expect(checkNode('v24.0.0', false)[0]?.level).toBe('ok')
  })
})

describe('checkKubeconfig() and checkCluster()', () => {
  test('report the version and the user', async () => {
    const { findings, client } = await checkKubeconfig(async () => admin, false)
    expect(findings[0]).toMatchObject({ check: 'Kubeconfig', level: 'ok' })
    expect(await checkCluster(client!, signal)).toEqual([
      { check: 'Cluster', level: 'ok', message: 'answers, Kubernetes v1.35.8, as ann' },
    ])
  })

  test('name the fix for a missing kubeconfig', async () => {
    const missing = () => Promise.reject(new ConfigError('No cluster is configured', undefined, 'KW_NO_CLUSTER'))
    const { findings, client } = await checkKubeconfig(missing, true)
    expect(client).toBeUndefined()
    expect(findings[0]).toMatchObject({ level: 'failed', fix: expect.stringContaining('kubewright up') })
  })

  test('skip the cluster when the user named none and none is configured', async () => {
    const failing = (code: 'KW_CONFIG' | 'KW_NO_CLUSTER') => () =>
      Promise.reject(new ConfigError('...', undefined, code))
    const absent = await checkKubeconfig(failing('KW_NO_CLUSTER'), false)
    expect(absent.findings[0]).toMatchObject({ level: 'skipped', fix: expect.stringContaining('kubewright up') })
    const broken = await checkKubeconfig(failing('KW_CONFIG'), false)
    expect(broken.findings[0]).toMatchObject({ level: 'failed' })
  })

  test('name the fix for rejected credentials', async () => {
    expect((await checkCluster(as('nobody'), signal))[0]).toMatchObject({
      level: 'failed',
      fix: expect.stringContaining('log in again'),
    })
  })

  test.each([
    ['ECONNREFUSED', 'no server listens at'],
    ['ENOTFOUND', 'cannot be resolved'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'does not trust'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'does not trust'],
    ['ETIMEDOUT', 'is reachable'],
  ])('name the fix for %s', async (code, fix) => {
    const cause = Object.assign(new Error('the failure'), { code })
    const transport = {
      host: 'https://x',
      send: () => Promise.reject(new ConnectionError('cannot connect', { host: 'https://x', cause })),
      [Symbol.asyncDispose]: async () => undefined,
    }
    const client = createClient({ transport, clock: new VirtualClock() })
    expect((await checkCluster(client, signal))[0]).toMatchObject({
      level: 'failed',
      fix: expect.stringContaining(fix),
    })
  })
})

describe('checkPermissions()', () => {
  const purpose = { check: 'Permissions', level: 'failed', purpose: 'it', fix: 'ask' } as const
  const wanted = [
    {
      namespace: 'team',
      rules: [
        { apiGroups: ['', 'apps'], resources: ['pods/log'], verbs: ['get', 'list'] },
        { apiGroups: [''], resources: ['secrets'], resourceNames: ['a'], verbs: ['get'] },
      ],
    },
    { rules: [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }] },
  ]

  test('checks every verb of every resource once', async () => {
    expect(await checkPermissions(admin, [...wanted, ...wanted], purpose, signal)).toEqual([
      { check: 'Permissions', level: 'ok', message: 'all 6 permissions of it are granted' },
    ])
  })

  test('lists missing permissions', async () => {
    expect(await checkPermissions(as('guest'), wanted, purpose, signal)).toEqual([
      {
        check: 'Permissions',
        level: 'failed',
        message:
          'it lacks: get, list pods/log in team; get, list pods.apps/log in team; get secrets a in team; get /metrics',
        fix: 'ask',
      },
    ])
  })
})

describe('checkDefinitions()', () => {
  const widget = (maximum: number): ReturnType<typeof crdOf> =>
    crdOf(
      defineResource({
        group: 'example.com',
        version: 'v1',
        kind: 'Widget',
        spec: s.object({ size: s.int({ maximum }) }),
      }),
    )
  const install = (crd: object): Promise<unknown> => admin.create(CustomResourceDefinition(crd as never))

  test('reports CRDs that are missing or different', async () => {
    expect(await checkDefinitions(admin, [widget(5)], signal)).toMatchObject([
      { level: 'failed', message: 'widgets.example.com is not installed', fix: 'run kubewright install' },
    ])
    await install(widget(5))
    const watch = await admin.watch(CustomResourceDefinition, { sendInitialEvents: true })
    for await (const event of watch) {
      if (event.type === 'BOOKMARK') continue
      const conditions = event.object.status?.conditions ?? []
      if (conditions.some(({ type, status }) => type === 'Established' && status === 'True')) break
    }
    expect(await checkDefinitions(admin, [widget(5)], signal)).toMatchObject([
      { level: 'ok', message: 'widgets.example.com installed' },
    ])
    const [name, many] = ['widgets.example.com', Array.from({ length: 9 }, () => widget(5))]
    expect(await checkDefinitions(admin, many, signal)).toMatchObject([
      { level: 'ok', message: `${name}, ${name}, ${name} and 6 more installed` },
    ])
    expect(await checkDefinitions(admin, [widget(6)], signal)).toMatchObject([
      {
        level: 'warning',
        message:
          'widgets.example.com differs from the code at versions.v1.schema.properties.spec.properties.size.maximum',
      },
    ])
  })

  test('skips the check without permission', async () => {
    expect(await checkDefinitions(as('guest'), [widget(5)], signal)).toMatchObject([{ level: 'skipped' }])
  })
})

describe('checkWebhooks()', () => {
  const caBundle = Buffer.from(CertificateAuthority.create({ commonName: 'ca', now: systemClock.now() }).cert).toString(
    'base64',
  )
  const hook = (bundle: string | undefined, failurePolicy: 'Fail' | 'Ignore' = 'Fail'): Promise<unknown> =>
    admin.create(
      ValidatingWebhookConfiguration({
        metadata: { name: 'hooks' },
        webhooks: [
          {
            name: 'a.example.com',
            admissionReviewVersions: ['v1'],
            sideEffects: 'None',
            failurePolicy,
            clientConfig: {
              service: { name: 'hook', namespace: 'default' },
              ...(bundle === undefined ? {} : { caBundle: bundle }),
            },
          },
        ],
      }),
    )
  const check = (clock = systemClock): Promise<unknown> => checkWebhooks(admin, clock, signal)

  test('requires a service with a ready endpoint and a valid certificate', async () => {
    expect(await check()).toMatchObject([{ level: 'ok', message: 'none' }])
    await hook(caBundle)
    expect(await check()).toMatchObject([
      {
        level: 'failed',
        message:
          'a.example.com of validatingwebhookconfigurations/hooks is served by default/hook, which does not exist',
      },
    ])
    await admin.create(Service({ metadata: { name: 'hook' }, spec: { ports: [{ port: 443 }] } }))
    expect(await check()).toMatchObject([{ level: 'failed', message: expect.stringContaining('no ready endpoint') }])
    const slice = (ready: boolean): ReturnType<typeof EndpointSlice> =>
      EndpointSlice({
        metadata: { name: `hook-${ready}`, labels: { 'kubernetes.io/service-name': 'hook' } },
        addressType: 'IPv4',
        endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready } }],
      })
    await admin.create(slice(false))
    expect(await check()).toMatchObject([{ level: 'failed', message: expect.stringContaining('no ready endpoint') }])
    await admin.create(slice(true))
    expect(await check()).toMatchObject([{ level: 'ok', message: '1 have ready endpoints' }])
    const later = new VirtualClock({ start: systemClock.now() + 100 * 365 * 86_400_000 })
    expect(await check(later)).toMatchObject([{ level: 'failed', message: expect.stringContaining('expired on') }])
  })

  test('requires a caBundle, and only warns for webhooks with failurePolicy Ignore', async () => {
    await hook(undefined, 'Ignore')
    expect(await check()).toMatchObject([{ level: 'warning', message: expect.stringContaining('has no caBundle') }])
  })

  test('skips the check without permission', async () => {
    expect(await checkWebhooks(as('guest'), systemClock, signal)).toMatchObject([{ level: 'skipped' }])
  })
})
