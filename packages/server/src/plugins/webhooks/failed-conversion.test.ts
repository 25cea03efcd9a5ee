import { MemoryStore } from '@kubewright/storage'
import { expect, test } from 'vitest'
import { type AssembledServer, assembleServer } from '../../assemble-server.ts'

const access = { tokens: [{ token: 'root', user: { name: 'root', groups: ['system:masters'] } }] }
const registration = '/apis/admissionregistration.k8s.io/v1'

// biome-ignore lint/suspicious/noExplicitAny: tests look into responses of every shape
async function send(server: AssembledServer, line: string, body?: unknown): Promise<{ status: number; body: any }> {
  const [method = '', path = ''] = line.split(' ')
  const { status, body: bytes } = await server.handler({
    method,
    path,
    query: new URLSearchParams(),
    headers: { authorization: 'Bearer root', 'content-type': 'application/json' },
    body: async () => Buffer.from(body === undefined ? '' : JSON.stringify(body)),
    signal: new AbortController().signal,
    peer: { address: '127.0.0.1' },
  })
  if (typeof bytes === 'function') throw new Error('The response is a stream')
  // Later requests see this write.
  const { feed, store } = server.parts.registry
  await feed.reached(await store.revision())
  return { status, body: JSON.parse(Buffer.from(bytes ?? []).toString() || 'null') }
}

const schema = { openAPIV3Schema: { type: 'object' } }
const service = { namespace: 'default', name: 'nosuch', path: '/convert' }
const widgets = {
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    names: { plural: 'widgets', kind: 'Widget' },
    scope: 'Namespaced',
    versions: [
      { name: 'v1', served: true, storage: true, schema },
      { name: 'v2', served: true, storage: false, schema },
    ],
    conversion: { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'], clientConfig: { service } } },
  },
}
const rule = { apiGroups: ['example.com'], apiVersions: ['v2'], resources: ['widgets'], operations: ['*'] }
const problem =
  'conversion webhook for example.com/v1, Kind=Widget failed: Post "https://nosuch.default.svc:443/convert?timeout=30s": service "nosuch" not found'

test('admission webhooks and policies report a failed conversion as kube-apiserver does', async () => {
  await using store = new MemoryStore()
  await using server = await assembleServer({ store, access })
  expect((await send(server, 'POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions', widgets)).status).toBe(201)
  const path = '/apis/example.com/v1/namespaces/default/widgets'
  const create = async () =>
    (await send(server, `POST ${path}`, { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w' } })).body
  const { resources } = server.parts
  await expect.poll(() => resources.find('example.com', 'v2', 'widgets')).toBeDefined()
  const webhook = {
    name: 'a.example.com',
    clientConfig: { url: 'https://127.0.0.1:1/' },
    rules: [rule],
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
  }

  for (const [kind, message] of [
    ['validating', problem],
    ['mutating', `Internal error occurred: ${problem}`],
  ] as const) {
    const configurations = `${registration}/${kind}webhookconfigurations`
    await send(server, `POST ${configurations}`, { metadata: { name: 'a' }, webhooks: [webhook] })
    expect(await create()).toMatchObject({
      code: 500,
      reason: 'InternalError',
      message: `Internal error occurred: ${message}`,
      details: { causes: [{ message }] },
    })
    await send(server, `DELETE ${configurations}/a`)
  }

  await send(server, `POST ${registration}/validatingadmissionpolicies`, {
    metadata: { name: 'p' },
    spec: { matchConstraints: { resourceRules: [rule] }, validations: [{ expression: 'true' }] },
  })
  await send(server, `POST ${registration}/validatingadmissionpolicybindings`, {
    metadata: { name: 'b' },
    spec: { policyName: 'p', validationActions: ['Deny'] },
  })
  expect((await create()).message).toContain(`denied request: failed to configure policy: ${problem}`)
})
