import { crdOf } from '@kubewright/api'
import { assembleServer, LocalServers, systemOutgoing } from '@kubewright/server'
import { MemoryStore } from '@kubewright/storage'
import { WebSite, webSiteDraft } from './fixtures/web-site.ts'
import type { Suite } from './harness.ts'

const utf8 = new TextEncoder()
const rules = [
  { rule: 'self.replicas <= self.maxReplicas', message: 'too many replicas' },
  { rule: "self.paths.all(p, p.path.startsWith('/') && p.port > 1000)", message: 'odd paths' },
]

/** Starts a server in this process with the custom resource in three groups: plain, with rules, and with a webhook. */
async function servers() {
  const local = new LocalServers()
  local.serve('hooks.example.com:443', ({ body }) => {
    const { request } = JSON.parse(new TextDecoder().decode(body)) as { request: { uid: string } }
    const review = {
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      response: { uid: request.uid, allowed: true },
    }
    return { status: 200, body: utf8.encode(JSON.stringify(review)) }
  })
  const server = await assembleServer({
    store: new MemoryStore(),
    access: { tokens: [{ token: 'bench', user: { name: 'bench', groups: ['system:masters'] } }] },
    webhooks: { outgoing: local.before(systemOutgoing) },
  })
  const send = async (method: string, path: string, body?: unknown): Promise<number> => {
    const bytes = body === undefined ? new Uint8Array() : utf8.encode(JSON.stringify(body))
    const { status } = await server.handler({
      method,
      path,
      query: new URLSearchParams(),
      headers: { authorization: 'Bearer bench', 'content-type': 'application/json', 'user-agent': 'bench' },
      rawHeaders: [],
      body: async () => bytes,
      signal: new AbortController().signal,
      peer: { address: '' },
    })
    return status
  }
  const expect = async (wanted: number, method: string, path: string, body?: unknown): Promise<void> => {
    const status = await send(method, path, body)
    if (status !== wanted) throw new Error(`${method} ${path} returned ${status}`)
  }

  await expect(201, 'POST', '/api/v1/namespaces', { metadata: { name: 'production' } })
  for (const [group, withRules] of [
    ['example.com', false],
    ['rules.example.com', true],
    ['hooks.example.com', false],
  ] as const) {
    const crd = structuredClone(crdOf(WebSite)) as unknown as {
      metadata: { name: string }
      spec: {
        group: string
        versions: { schema: { openAPIV3Schema: { properties: { spec: Record<string, unknown> } } } }[]
      }
    }
    crd.metadata.name = `websites.${group}`
    crd.spec.group = group
    if (withRules) crd.spec.versions[0]!.schema.openAPIV3Schema.properties.spec['x-kubernetes-validations'] = rules
    await expect(201, 'POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd)
    while ((await send('GET', `/apis/${group}/v1/namespaces/production/websites`)) !== 200)
      await new Promise(setImmediate)
  }
  await expect(201, 'POST', '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {
    metadata: { name: 'bench' },
    webhooks: [
      {
        name: 'sites.hooks.example.com',
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        clientConfig: { url: 'https://hooks.example.com/validate' },
        rules: [
          { operations: ['CREATE'], apiGroups: ['hooks.example.com'], apiVersions: ['v1'], resources: ['websites'] },
        ],
      },
    ],
  })

  let count = 0
  const draft = webSiteDraft()
  const spec = { ...(draft['spec'] as Record<string, unknown>) }
  delete spec['unknown']
  spec['paths'] = (spec['paths'] as object[]).map((path) => ({ ...path, port: 8080 }))
  const creator = (group: string) => () =>
    expect(201, 'POST', `/apis/${group}/v1/namespaces/production/websites`, {
      ...draft,
      apiVersion: `${group}/v1`,
      metadata: { name: `site-${count++}` },
      spec,
    })
  const text = JSON.stringify(spec)
  const configMap = (): Promise<void> =>
    expect(201, 'POST', '/api/v1/namespaces/production/configmaps', {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: `config-${count++}` },
      data: { spec: text },
    })
  return { creator, configMap }
}

/** The cost that schemas, rules and webhooks add to a create. */
export const suite: Suite = {
  title: 'Custom resources',
  about:
    'Creates through the complete server in one process, in memory: decoding, admission, pruning, defaulting, validation, managed fields, storage. The peer of each row is the creation of a ConfigMap of the same size on the same server, so a factor of 0.8 means 80 % of its rate. The webhook runs in the same process.',
  rows: async () => {
    const { creator, configMap } = await servers()
    const peers = { 'ConfigMap create': configMap }
    return [
      { title: 'create a custom resource', async: true, ours: creator('example.com'), peers },
      { title: 'create a custom resource with two CEL rules', async: true, ours: creator('rules.example.com'), peers },
      {
        title: 'create a custom resource with a validating webhook',
        async: true,
        ours: creator('hooks.example.com'),
        peers,
      },
    ]
  },
}
