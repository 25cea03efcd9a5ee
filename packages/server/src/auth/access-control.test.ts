import { createHash, generateKeyPairSync } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { AccessFixture } from '../testdata/access-fixture.ts'

let server: AccessFixture
beforeEach(async () => {
  server = await AccessFixture.start()
})
afterEach(() => server[Symbol.asyncDispose]())

const rbac = '/apis/rbac.authorization.k8s.io/v1'
const role = (name: string, ...rules: object[]): object => ({ metadata: { name }, rules })
const bindingTo = (kind: string, name: string, user: string, own = 'b'): object => ({
  metadata: { name: own },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name },
  subjects: [{ kind: 'User', name: user }],
})

/** Grants a user permissions in the default namespace. */
async function grant(user: string, ...rules: object[]): Promise<void> {
  await server.send(`POST ${rbac}/namespaces/default/roles`, { body: role(`${user}-role`, ...rules) })
  const body = bindingTo('Role', `${user}-role`, user, `${user}-binding`)
  await server.send(`POST ${rbac}/namespaces/default/rolebindings`, { body })
}

async function whoAmI(options: Parameters<AccessFixture['send']>[1]): Promise<unknown> {
  const { body } = await server.send('POST /apis/authentication.k8s.io/v1/selfsubjectreviews', { ...options, body: {} })
  return body.status.userInfo ?? body
}

describe('authentication', () => {
  test('adds system:authenticated to the groups of a static token', async () => {
    expect(await whoAmI({})).toEqual({ username: 'root', groups: ['system:masters', 'system:authenticated'] })
  })

  test('reads user and groups from a client certificate and records its hash', async () => {
    const peer = { address: '', certificate: { commonName: 'jane', organizations: ['devs'], fingerprint: 'AB:CD' } }
    expect(await whoAmI({ peer })).toEqual({
      username: 'jane',
      groups: ['devs', 'system:authenticated'],
      extra: { 'authentication.kubernetes.io/credential-id': ['X509SHA256=abcd'] },
    })
  })

  test('accepts a valid certificate even with an invalid token', async () => {
    const peer = { address: '', certificate: { commonName: 'jane', organizations: [] } }
    expect(await whoAmI({ peer, token: 'wrong' })).toMatchObject({ username: 'jane' })
  })

  test('responds with 401 to an untrusted certificate', async () => {
    const answer = await server.send('GET /api', { peer: { address: '', certificateError: 'SELF_SIGNED' } })
    expect(answer).toMatchObject({ status: 401, body: { message: 'Unauthorized', reason: 'Unauthorized', code: 401 } })
  })

  test.each([
    ['Bearer wrong', 401],
    ['bearer wrong', 401],
    ['Bearer wrong more', 401],
    ['Bearer', 403],
    ['Bearer  root', 403],
    ['Basic cm9vdA==', 403],
  ])('responds to the header %j with %i', async (authorization, status) => {
    const answer = await server.send('GET /api/v1/namespaces', { headers: { authorization } })
    expect(answer.status).toBe(status)
  })

  test('allows anonymous users health and version only', async () => {
    const peer = { address: '' }
    for (const path of ['/healthz', '/livez', '/readyz', '/version']) {
      expect((await server.send(`GET ${path}`, { peer })).status, path).not.toBe(403)
    }
    const refused = await server.send('GET /apis', { peer })
    expect(refused).toMatchObject({
      status: 403,
      body: { message: 'forbidden: User "system:anonymous" cannot get path "/apis"', details: {} },
    })
  })
})

describe('createAccessControl()', () => {
  const peer = { address: '' }

  test('responds with 401 to requests without credentials if they are not anonymous', async () => {
    await using strict = await AccessFixture.start({ anonymous: false })
    expect((await strict.send('GET /version', { peer })).status).toBe(401)
    await using partly = await AccessFixture.start({ anonymous: (path) => path === '/livez' })
    expect((await partly.send('GET /readyz', { peer })).status).toBe(401)
    expect((await partly.send('GET /livez', { peer })).status).not.toBe(401)
  })

  test('authorizes by the modes in order, and always allows system:masters', async () => {
    const jane = { certificate: { commonName: 'jane', organizations: [] }, ...peer }
    await using open = await AccessFixture.start({ authorization: ['AlwaysDeny', 'AlwaysAllow'] })
    expect((await open.send('GET /api/v1/pods', { peer: jane })).status).toBe(200)
    const rules = await open.send('POST /apis/authorization.k8s.io/v1/selfsubjectrulesreviews', {
      body: { spec: { namespace: 'default' } },
    })
    expect(rules.body.status).toMatchObject({
      resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
      incomplete: false,
    })
    await using shut = await AccessFixture.start({ authorization: ['AlwaysDeny'] })
    expect(await shut.send('GET /api/v1/pods', { peer: jane })).toMatchObject({
      status: 403,
      body: {
        message:
          'pods is forbidden: User "jane" cannot list resource "pods" in API group "" at the cluster scope: Everything is forbidden.',
      },
    })
    expect((await shut.send('GET /api/v1/pods')).status).toBe(200)
  })
})

describe('impersonation', () => {
  test('does not split groups at commas', async () => {
    expect(await whoAmI({ as: 'jane', groups: ['cn=a,ou=b', 'ops'] })).toEqual({
      username: 'jane',
      groups: ['cn=a,ou=b', 'ops', 'system:authenticated'],
    })
  })

  test('decodes extra keys and collects their values', async () => {
    const headers = {
      'impersonate-extra-example.com%2fscopes': 'a',
      'impersonate-extra-bad%zz': 'b',
      'impersonate-uid': '5',
    }
    expect(await whoAmI({ as: 'jane', headers })).toMatchObject({
      uid: '5',
      extra: { 'example.com/scopes': ['a'], 'bad%zz': ['b'] },
    })
  })

  test('replaces the groups of a service account by the given ones', async () => {
    const as = 'system:serviceaccount:default:bot'
    expect(await whoAmI({ as, groups: ['x'] })).toMatchObject({ groups: ['x', 'system:authenticated'] })
  })

  test('names the extra that the client may not impersonate', async () => {
    await server.send(`POST ${rbac}/clusterroles`, {
      body: role('imp', { apiGroups: [''], resources: ['users'], verbs: ['impersonate'] }),
    })
    await server.send(`POST ${rbac}/clusterrolebindings`, { body: bindingTo('ClusterRole', 'imp', 'jane') })
    const peer = { address: '', certificate: { commonName: 'jane', organizations: [] } }
    const answer = await server.send('GET /api', { peer, as: 'bob', headers: { 'impersonate-extra-scope': 'a' } })
    expect(answer.body.message).toBe(
      'userextras.authentication.k8s.io "a" is forbidden: User "jane" cannot impersonate resource "userextras/scope" in API group "authentication.k8s.io" at the cluster scope',
    )
  })

  test('rejects groups, extras and uids without a user', async () => {
    const answer = await server.send('GET /api', { groups: ['a', 'b'] })
    expect(answer).toMatchObject({
      status: 400,
      body: { message: 'requested [{Group  a    } {Group  b    }] without impersonating a user' },
    })
  })
})

describe('escalation checks', () => {
  const configmaps = { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'] }
  const roles = { apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles', 'rolebindings'], verbs: ['*'] }
  const narrow = { ...roles, verbs: ['get', 'create', 'update', 'patch'] }

  test('list the permissions of a role that its author lacks', async () => {
    await grant('jane', configmaps, narrow)
    const body = role(
      'more',
      { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'delete', 'update'] },
      { apiGroups: ['apps'], resources: ['deployments'], resourceNames: ['a', 'b'], verbs: ['get'] },
    )
    const answer = await server.send(`POST ${rbac}/namespaces/default/roles`, { body, as: 'jane' })
    expect(answer.status).toBe(403)
    expect(answer.body.message).toBe(
      'roles.rbac.authorization.k8s.io "more" is forbidden: user "jane" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n' +
        '{APIGroups:[""], Resources:["configmaps"], Verbs:["delete" "update"]}\n' +
        '{APIGroups:["apps"], Resources:["deployments"], ResourceNames:["a"], Verbs:["get"]}\n' +
        '{APIGroups:["apps"], Resources:["deployments"], ResourceNames:["b"], Verbs:["get"]}',
    )
  })

  test('let a user grant permissions that the user has', async () => {
    await grant('jane', configmaps, narrow)
    const less = role('less', { ...configmaps, verbs: ['get'] })
    expect((await server.send(`POST ${rbac}/namespaces/default/roles`, { body: less, as: 'jane' })).status).toBe(201)
    const wider = role('less', { ...configmaps, verbs: ['get', 'create'] })
    expect((await server.send(`PUT ${rbac}/namespaces/default/roles/less`, { body: wider, as: 'jane' })).status).toBe(
      403,
    )
    const same = role('less', configmaps)
    expect((await server.send(`PUT ${rbac}/namespaces/default/roles/less`, { body: same, as: 'jane' })).status).toBe(
      200,
    )
  })

  test('name the bindings that could not be resolved', async () => {
    await grant('jane', narrow)
    await server.send(`POST ${rbac}/namespaces/default/rolebindings`, { body: bindingTo('Role', 'gone', 'jane', 'c') })
    const answer = await server.send(`POST ${rbac}/namespaces/default/roles`, {
      body: role('x', configmaps),
      as: 'jane',
    })
    expect(answer.body.message).toMatch(/; resolution errors: \[.*"gone" not found\]$/)
  })

  test('let the garbage collector change owners of roles that it could not grant', async () => {
    await grant('gc', narrow)
    await server.send(`POST ${rbac}/namespaces/default/roles`, {
      body: role('big', { apiGroups: ['*'], resources: ['*'], verbs: ['*'] }),
    })
    const { body } = await server.send(`GET ${rbac}/namespaces/default/roles/big`)
    body.metadata.finalizers = ['example.com/x']
    expect((await server.send(`PUT ${rbac}/namespaces/default/roles/big`, { body, as: 'gc' })).status).toBe(200)
    body.metadata.labels = { a: 'b' }
    delete body.metadata.resourceVersion
    expect((await server.send(`PUT ${rbac}/namespaces/default/roles/big`, { body, as: 'gc' })).status).toBe(403)
  })

  test('require full authority for an aggregation rule', async () => {
    await server.send(`POST ${rbac}/clusterroles`, {
      body: role('cr', { apiGroups: ['rbac.authorization.k8s.io'], resources: ['clusterroles'], verbs: ['create'] }),
    })
    await server.send(`POST ${rbac}/clusterrolebindings`, { body: bindingTo('ClusterRole', 'cr', 'jane') })
    const body = { metadata: { name: 'agg' }, aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] } }
    const answer = await server.send(`POST ${rbac}/clusterroles`, { body, as: 'jane' })
    expect(answer.body.message).toBe(
      'clusterroles.rbac.authorization.k8s.io "agg" is forbidden: must have cluster-admin privileges to use the aggregationRule',
    )
  })
})

describe('access reviews', () => {
  test('restrict local reviews to their namespace', async () => {
    const path = '/apis/authorization.k8s.io/v1/namespaces/default/localsubjectaccessreviews'
    const spec = { user: 'jane', resourceAttributes: { namespace: 'other', verb: 'get', resource: 'pods' } }
    const refused = await server.send(`POST ${path}`, { body: { spec } })
    expect(refused).toMatchObject({
      status: 422,
      body: { details: { causes: [{ field: 'spec.resourceAttributes.namespace' }] } },
    })
    const answered = await server.send(`POST ${path}`, {
      body: { spec: { ...spec, resourceAttributes: { namespace: 'default' } } },
    })
    expect(answered.body).toMatchObject({ metadata: { namespace: 'default' }, status: { allowed: false } })
  })

  test('report selectors that cannot be parsed', async () => {
    const resourceAttributes = {
      verb: 'list',
      resource: 'pods',
      labelSelector: { rawSelector: 'a b' },
      fieldSelector: { requirements: [{ key: 'x', operator: 'Odd' }] },
    }
    const { body } = await server.send('POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
      body: { spec: { resourceAttributes } },
    })
    expect(body.status.evaluationError).toBe(
      'spec.resourceAttributes.fieldSelector ignored due to parse error; spec.resourceAttributes.labelSelector ignored due to parse error',
    )
  })

  test('validate selectors like label selectors', async () => {
    const resourceAttributes = {
      verb: 'list',
      resource: 'pods',
      labelSelector: { requirements: [{ key: 'a b', operator: 'In' }] },
      fieldSelector: {},
    }
    const { body } = await server.send('POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
      body: { spec: { resourceAttributes } },
    })
    expect(body.details.causes.map(({ field }: { field: string }) => field)).toEqual([
      'spec.resourceAttributes.fieldSelector.requirements',
      'spec.resourceAttributes.labelSelector.requirements[0].values',
      'spec.resourceAttributes.labelSelector.requirements[0].key',
    ])
  })

  test('list the rules of the administrator', async () => {
    const { body } = await server.send('POST /apis/authorization.k8s.io/v1/selfsubjectrulesreviews', {
      body: { spec: { namespace: 'default' } },
    })
    expect(body.status.resourceRules).toContainEqual({ verbs: ['*'], apiGroups: ['*'], resources: ['*'] })
    expect(body.status.nonResourceRules).toContainEqual({ verbs: ['*'], nonResourceURLs: ['*'] })
    expect(body).toMatchObject({ metadata: {}, spec: {}, status: { incomplete: false } })
  })
})

describe('service account tokens', () => {
  const accounts = '/api/v1/namespaces/default/serviceaccounts'
  const issue = async (spec: object = {}) => server.send(`POST ${accounts}/bot/token`, { body: { spec } })
  beforeEach(async () => {
    await server.send(`POST ${accounts}`, { body: { metadata: { name: 'bot' } } })
  })

  test('expire, with a minute of leeway', async () => {
    const { token } = (await issue({ expirationSeconds: 600 })).body.status
    expect(await whoAmI({ token })).toMatchObject({ username: 'system:serviceaccount:default:bot' })
    await server.clock.advance(600_000 + 59_000)
    expect(await whoAmI({ token })).toMatchObject({ username: 'system:serviceaccount:default:bot' })
    await server.clock.advance(2_000)
    expect((await server.send('GET /api', { token })).status).toBe(401)
    const review = await server.send('POST /apis/authentication.k8s.io/v1/tokenreviews', { body: { spec: { token } } })
    expect(review.body.status.error).toBe('[invalid bearer token, service account token has expired]')
  })

  test.each([
    [599, 'may not specify a duration less than 10 minutes'],
    [2 ** 32 + 1, 'may not specify a duration larger than 2^32 seconds'],
  ])('are not issued for %i seconds', async (expirationSeconds, text) => {
    const { body } = await issue({ expirationSeconds })
    expect(body.message).toBe(
      `TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: ${expirationSeconds}: ${text}`,
    )
  })

  test('become invalid when the secret that they are bound to is deleted', async () => {
    const secrets = '/api/v1/namespaces/default/secrets'
    await server.send(`POST ${secrets}`, { body: { metadata: { name: 's' } } })
    const boundObjectRef = { kind: 'Secret', apiVersion: 'v1', name: 's' }
    const { token } = (await issue({ boundObjectRef })).body.status
    expect(await whoAmI({ token })).toMatchObject({ uid: expect.any(String) })
    await server.send(`DELETE ${secrets}/s`)
    expect((await server.send('GET /api', { token })).status).toBe(401)
  })

  test.each([
    [
      { kind: 'ConfigMap', apiVersion: 'v1', name: 'x' },
      400,
      'cannot bind token to object of type /v1, Kind=ConfigMap',
    ],
    [{ kind: 'Pod', apiVersion: 'v1', name: 'x' }, 404, 'pods "x" not found'],
    [{ kind: 'Node', apiVersion: 'v1', name: 'x' }, 404, 'nodes "x" not found'],
    [{ kind: 'Pod', apiVersion: 'v1' }, 400, 'Name parameter required.'],
  ])('are not issued for the bound object %j', async (boundObjectRef, status, message) => {
    expect(await issue({ boundObjectRef })).toMatchObject({ status, body: { message } })
  })

  test('become invalid with their account, even if it is created again', async () => {
    const { token } = (await issue()).body.status
    await server.send(`DELETE ${accounts}/bot`)
    await server.send(`POST ${accounts}`, { body: { metadata: { name: 'bot' } } })
    expect((await server.send('GET /api', { token })).status).toBe(401)
  })

  test('are not issued for another name, uid or account', async () => {
    const other = await server.send(`POST ${accounts}/bot/token`, { body: { metadata: { name: 'x' }, spec: {} } })
    expect(other.body.message).toBe(
      'TokenRequest.authentication.k8s.io "bot" is invalid: metadata.name: Invalid value: "x": must match the service account name if specified',
    )
    const uid = await server.send(`POST ${accounts}/bot/token`, { body: { metadata: { uid: 'u' }, spec: {} } })
    expect(uid).toMatchObject({ status: 409, body: { reason: 'Conflict' } })
    const missing = await server.send(`POST ${accounts}/nobody/token`, { body: { spec: {} } })
    expect(missing.body.message).toBe('serviceaccounts "nobody" not found')
  })

  test('carry the claims that workloads read', async () => {
    const { body } = await issue({ audiences: ['a', 'b'], expirationSeconds: 601 })
    const [head, claims] = body.status.token.split('.').map((part: string) => Buffer.from(part, 'base64url').toString())
    const now = Date.UTC(2026, 0, 2, 3, 4, 5) / 1000
    expect(JSON.parse(claims)).toEqual({
      aud: ['a', 'b'],
      exp: now + 601,
      iat: now,
      nbf: now,
      iss: 'https://kubernetes.default.svc',
      jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
      sub: 'system:serviceaccount:default:bot',
      'kubernetes.io': { namespace: 'default', serviceaccount: { name: 'bot', uid: body.metadata.uid } },
    })
    const { keys } = (await server.send('GET /openid/v1/jwks')).body
    expect(keys).toMatchObject([{ kty: 'EC', crv: 'P-256', alg: 'ES256', use: 'sig', kid: JSON.parse(head).kid }])
    const wrongForm = await server.send('GET /openid/v1/jwks', { headers: { accept: 'application/json' } })
    expect(wrongForm.body.message).toBe('406: Not Acceptable\n\nAvailable representations: application/jwk-set+json')
    expect((await server.send('POST /openid/v1/jwks')).status).toBe(405)
    const review = { token: body.status.token, audiences: ['b', 'c', 'a'] }
    const reviewed = await server.send('POST /apis/authentication.k8s.io/v1/tokenreviews', { body: { spec: review } })
    expect(reviewed.body.status.audiences).toEqual(['b', 'a'])
    expect((await server.send('GET /apis/authentication.k8s.io/v1/tokenreviews/x')).status).toBe(404)
    const configuration = await server.send('GET /.well-known/openid-configuration')
    expect(configuration.body).toMatchObject({
      issuer: 'https://kubernetes.default.svc',
      id_token_signing_alg_values_supported: ['ES256'],
    })
  })

  test('are signed with RSA keys', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    await using rsa = await AccessFixture.start({
      serviceAccounts: { keys: [privateKey.export({ type: 'pkcs8', format: 'pem' }) as string] },
    })
    await rsa.send(`POST ${accounts}`, { body: { metadata: { name: 'bot' } } })
    const { token } = (await rsa.send(`POST ${accounts}/bot/token`, { body: { spec: {} } })).body.status
    const kid = createHash('sha256')
      .update(publicKey.export({ type: 'spki', format: 'der' }))
      .digest('base64url')
    expect(JSON.parse(Buffer.from(token.split('.')[0], 'base64url').toString())).toEqual({ alg: 'RS256', kid })
    expect((await rsa.send('GET /api', { token })).status).not.toBe(401)
    const forged = `${token.slice(0, -8)}AAAAAAAA`
    expect((await rsa.send('GET /api', { token: forged })).status).toBe(401)
  })
})
