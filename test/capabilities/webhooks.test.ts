// Webhooks besides those of one kind. Test names begin with the capability.
import { defineOperator, defineResource, defineWebhook, invalid, s } from 'kubewright'
import { ConfigMap, Deployment, Pod } from 'kubewright/k8s'
import { createWebhookHandler, webhookConfigurations } from 'kubewright/runtime'
import { startTestEnv } from 'kubewright/testing'
import {
  type AdmissionOptions,
  allowed,
  defineAccessReview,
  defineAdmission,
  defineTokenReview,
  denied,
  patched,
} from 'kubewright/webhooks'
import { describe, expect, test } from 'vitest'

const Team = defineResource({
  group: 'capabilities.example.com',
  version: 'v1',
  kind: 'Team',
  spec: s.object({ size: s.int() }),
  status: s.object({ members: s.int() }),
})

const container = { name: 'main', image: 'busybox' }
const podSpec = { containers: [container] }

describe('defineWebhook()', () => {
  test('webhooks for subresources: a webhook reviews writes of the status too', async () => {
    const teams = defineWebhook(Team, {
      subresources: ['status'],
      validate: ({ spec, status }, { subresource }) =>
        subresource === 'status' && (status?.members ?? 0) > spec.size
          ? [invalid('status.members', 'must not exceed the size')]
          : [],
    })
    await using env = await startTestEnv(defineOperator({ name: 'teams', webhooks: [teams] }))
    await env.client.create(Team({ metadata: { name: 'a' }, spec: { size: 2 } }))
    const status = env.client.subresource(Team, 'status')
    await status.patch('a', { status: { members: 2 } })
    await expect(status.patch('a', { status: { members: 3 } })).rejects.toThrow(
      'status.members: Invalid value: 3: must not exceed the size',
    )
  })

  test('webhooks for subresources: rejects subresources that the kind does not have or that contain other kinds', () => {
    const validate = () => []
    expect(() => defineWebhook(ConfigMap, { subresources: ['status'], validate })).toThrow(
      "'subresources' contains 'status', which ConfigMap does not have: omit 'subresources'",
    )
    expect(() => defineWebhook(Team, { subresources: ['stauts'], validate })).toThrow("use 'status'")
    expect(() => defineWebhook(Deployment, { subresources: ['scale'], validate })).toThrow(
      'whose requests contain another kind: use defineAdmission for it',
    )
  })
})

describe('defineAdmission()', () => {
  test('raw admission webhooks for subresources: pods/exec and deployments/scale are reviewed as they are', async () => {
    const seen: string[] = []
    const shells = defineAdmission('no-shells.example.com', {
      rules: [
        { resources: ['pods/exec', 'pods/attach'], operations: ['CONNECT'] },
        { groups: ['apps'], resources: ['*/scale'], operations: ['UPDATE'] },
      ],
      handle: ({ kind, resource, subresource, name, operation, object }) => {
        seen.push(`${operation} ${kind.kind} ${resource.resource}/${subresource} ${name}`)
        const { replicas = 0 } = (object?.['spec'] ?? {}) as { replicas?: number }
        if (kind.kind === 'Scale') return replicas > 3 ? denied('Too many replicas', { code: 422 }) : allowed()
        return denied('Only admins may open shells')
      },
    })
    await using env = await startTestEnv(defineOperator({ name: 'o', webhooks: [shells] }))
    await env.client.create(Pod({ metadata: { name: 'a' }, spec: podSpec }))
    const path = '/api/v1/namespaces/default/pods/a/exec?command=sh&stdout=true'
    await expect(env.client.rest.json({ method: 'POST', path })).rejects.toThrow(
      'admission webhook "no-shells.example.com" denied the request: Only admins may open shells',
    )
    const labels = { app: 'a' }
    const spec = { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: podSpec } }
    await env.client.create(Deployment({ metadata: { name: 'd' }, spec }))
    const scale = (replicas: number) => env.client.subresource(Deployment, 'scale').patch('d', { spec: { replicas } })
    await scale(2)
    await expect(scale(4)).rejects.toThrow('Too many replicas')
    expect(seen).toEqual([
      'CONNECT PodExecOptions pods/exec a',
      'UPDATE Scale deployments/scale d',
      'UPDATE Scale deployments/scale d',
    ])
  })

  test('raw admission webhooks with wildcards: a mutating webhook stamps objects of all kinds', async () => {
    const stamp = defineAdmission('stamp.example.com', {
      type: 'mutating',
      rules: [{ groups: ['*'], versions: ['*'], resources: ['*'], operations: ['CREATE'], scope: 'Namespaced' }],
      handle: ({ object, user }) =>
        patched(
          object,
          ({ metadata }) => {
            metadata['annotations'] = { ...(metadata['annotations'] as object), 'example.com/by': user.name }
          },
          { warnings: ['stamped'] },
        ),
    })
    await using env = await startTestEnv(defineOperator({ name: 'o', kinds: [Team], webhooks: [stamp] }))
    const team = await env.client.create(Team({ metadata: { name: 'a' }, spec: { size: 2 } }))
    const map = await env.client.create(ConfigMap({ metadata: { name: 'a', annotations: { own: 'x' } } }))
    expect(Object.keys(team.metadata.annotations ?? {})).toEqual(['example.com/by'])
    expect(Object.keys(map.metadata.annotations ?? {}).sort()).toEqual(['example.com/by', 'own'])
  })

  test('raw admission webhooks: the configuration has the rules as they are written', () => {
    const webhook = defineAdmission('all.example.com', {
      rules: [{ groups: ['*'], versions: ['*'], resources: ['*/*'], operations: ['*'] }],
      failurePolicy: 'Ignore',
      handle: () => allowed(),
    })
    const service = { namespace: 'system', name: 'webhooks' }
    const { validating, mutating } = webhookConfigurations({ name: 'o', webhooks: [webhook] }, { service })
    expect(mutating).toBeUndefined()
    expect(validating?.webhooks).toEqual([
      {
        admissionReviewVersions: ['v1'],
        clientConfig: { service: { ...service, path: '/admit-all-example-com' } },
        failurePolicy: 'Ignore',
        name: 'all.example.com',
        rules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*'], scope: '*' }],
        sideEffects: 'None',
      },
    ])
  })

  test('rejects names, rules and operations that the API server would refuse, with the fix', () => {
    const rule = { resources: ['pods'], operations: ['CREATE'] } as const
    const define = (name: string, options: Partial<AdmissionOptions>) => () =>
      defineAdmission(name, { rules: [rule], handle: () => allowed(), ...options })
    expect(define('short', {})).toThrow('at least three parts: use a name such as "no-shells.example.com"')
    expect(define('a.b.c', { rules: [] })).toThrow("'rules' is empty: add at least one rule")
    expect(define('a.b.c', { rules: [{ ...rule, resources: ['Pod'] }] })).toThrow("such as 'pods' or 'pods/exec'")
    expect(define('a.b.c', { rules: [{ ...rule, groups: ['*', 'apps'] }] })).toThrow("further values besides '*'")
    expect(define('a.b.c', { rules: [{ ...rule, operations: ['create' as 'CREATE'] }] })).toThrow("use 'CREATE'")
    expect(define('a.b.c', { path: 'x' })).toThrow("'path' must look like")
  })

  test('a validating webhook that returns a patch is reported as a mistake of its author', async () => {
    const webhook = defineAdmission('a.example.com', {
      rules: [{ resources: ['pods'], operations: ['CREATE'] }],
      handle: ({ object }) => patched(object, ({ metadata }) => (metadata['labels'] = { a: 'b' })),
    })
    await using env = await startTestEnv(defineOperator({ name: 'o', webhooks: [webhook] }))
    await expect(env.client.create(Pod({ metadata: { name: 'a' }, spec: podSpec }))).rejects.toThrow(
      "define it with type: 'mutating'",
    )
  })
})

const post = async (
  path: string,
  body: object,
  ...webhooks: Parameters<typeof createWebhookHandler>[0]['webhooks']
) => {
  const handler = createWebhookHandler({ webhooks, client: undefined as never })
  const headers = { 'content-type': 'application/json' }
  const response = await handler({ method: 'POST', path, headers, body: Buffer.from(JSON.stringify(body)) })
  const text = Buffer.from(response.body).toString()
  return response.status === 200
    ? (JSON.parse(text) as { status: unknown })
    : { status: undefined, code: response.status, text }
}

describe('defineTokenReview()', () => {
  const tokens = defineTokenReview('/tokens', {
    authenticate: ({ token, audiences }) => {
      if (token === 'broken') throw new Error('the directory does not respond')
      return token === 'secret' ? { name: 'alice', groups: ['admins'], audiences } : undefined
    },
  })
  const ask = (spec: object, apiVersion = 'authentication.k8s.io/v1') =>
    post('/tokens', { kind: 'TokenReview', apiVersion, spec }, tokens)

  test('TokenReview webhooks: authenticate tokens, without repeating them in the response', async () => {
    expect(await ask({ token: 'secret', audiences: ['a'] })).toEqual({
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      metadata: {},
      spec: {},
      status: { authenticated: true, user: { username: 'alice', groups: ['admins'] }, audiences: ['a'] },
    })
    expect(await ask({ token: 'other' }, 'authentication.k8s.io/v1beta1')).toMatchObject({
      apiVersion: 'authentication.k8s.io/v1beta1',
      status: { authenticated: false },
    })
    expect(await ask({})).toMatchObject({ status: { authenticated: false, error: 'token is empty' } })
    expect(await ask({ token: 'broken' })).toMatchObject({
      status: { authenticated: false, error: 'the directory does not respond' },
    })
    expect(await ask({ token: 'secret' }, 'v1')).toMatchObject({ code: 400 })
  })
})

describe('defineAccessReview()', () => {
  test('SubjectAccessReview webhooks: allow, deny, or leave the decision to others', async () => {
    const access = defineAccessReview('/access', {
      authorize: ({ user, resource, nonResource }) => {
        if (nonResource?.path === '/healthz') return 'allow'
        if (resource?.resource === 'secrets') return { decision: 'deny', reason: `${user.name} reads no secrets` }
        if (resource?.resource === 'pods') throw new Error('no idea')
        return 'no-opinion'
      },
    })
    const ask = async (spec: object) => {
      const body = {
        kind: 'SubjectAccessReview',
        apiVersion: 'authorization.k8s.io/v1',
        spec: { user: 'bob', ...spec },
      }
      return (await post('/access', body, access)).status
    }
    expect(await ask({ nonResourceAttributes: { verb: 'get', path: '/healthz' } })).toEqual({ allowed: true })
    expect(await ask({ resourceAttributes: { verb: 'get', resource: 'secrets' } })).toEqual({
      allowed: false,
      denied: true,
      reason: 'bob reads no secrets',
    })
    expect(await ask({ resourceAttributes: { verb: 'get', resource: 'maps' } })).toEqual({ allowed: false })
    expect(await ask({ resourceAttributes: { verb: 'get', resource: 'pods' } })).toEqual({
      allowed: false,
      evaluationError: 'no idea',
    })
  })
})
