import type { ApiRequest } from '@kubewright/api'
import { VirtualClock } from '@kubewright/base'
import { afterEach, describe, expect, test } from 'vitest'
import { type AuthenticationConfig, parseAuthenticationConfig } from '../../config/authentication-config.ts'
import { FakeIssuer } from '../../testdata/fake-issuer.ts'
import { createAccessControl } from '../access-control.ts'
import type { JsonObject, SigningAlgorithm } from './json-web-token.ts'
import { JwtAuthentication } from './jwt-authentication.ts'

const start = Date.UTC(2026, 0, 1)
const exp = start / 1000 + 3600
const base = { aud: 'app', sub: 'alice', exp }

const configOf = (jwt: object, issuer: object = {}): AuthenticationConfig['jwt'] =>
  parseAuthenticationConfig({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AuthenticationConfiguration',
    jwt: [
      {
        issuer: { url: 'https://issuer.example.com', audiences: ['app'], ...issuer },
        claimMappings: { username: { claim: 'sub', prefix: 'o:' }, groups: { claim: 'groups', prefix: 'g:' } },
        ...jwt,
      },
    ],
  }).jwt

const open: JwtAuthentication[] = []
afterEach(() => {
  for (const authentication of open.splice(0)) authentication[Symbol.dispose]()
})

const setUp = async (jwt: object = {}, algorithms?: readonly SigningAlgorithm[], issuer: object = {}) => {
  const idp = new FakeIssuer()
  const clock = new VirtualClock({ start })
  const authentication = new JwtAuthentication(configOf(jwt, issuer), { clock, algorithms, outgoing: idp.outgoing })
  open.push(authentication)
  await clock.advance(0)
  const authenticate = authentication.authenticatorFor(['api'])
  /** The user, or the message of the refusal. */
  const userOf = async (token: string): Promise<unknown> =>
    authenticate(token, ['api']).then(
      (owner) => owner?.user,
      (error: Error) => error.message,
    )
  return { idp, clock, authentication, userOf, user: (claims: JsonObject) => userOf(idp.token(claims)) }
}

describe('JwtAuthentication', () => {
  test('maps claims to a user, with prefixes and the token id', async () => {
    const { user } = await setUp()
    expect(await user(base)).toEqual({ name: 'o:alice', groups: [] })
    expect(await user({ ...base, groups: ['a', 'b'], jti: 'x' })).toEqual({
      name: 'o:alice',
      groups: ['g:a', 'g:b'],
      extra: { 'authentication.kubernetes.io/credential-id': ['JTI=x'] },
    })
    expect(await user({ ...base, groups: 'one' })).toEqual({ name: 'o:alice', groups: ['g:one'] })
  })

  test('ignores tokens of other issuers and texts that are no tokens', async () => {
    const { userOf, idp } = await setUp()
    const other = new FakeIssuer('https://other.example.com')
    expect(await userOf(other.token(base))).toBeUndefined()
    expect(await userOf('opaque')).toBeUndefined()
    expect(await userOf(`${idp.token(base)}=`)).toBeUndefined()
  })

  test.each([
    ['another audience', { aud: ['x', 'y'] }, 'oidc: expected audience "app" got ["x" "y"]'],
    [
      'an expired token',
      { exp: start / 1000 - 1 },
      'oidc: token is expired (Token Expiry: 2025-12-31 23:59:59 +0000 UTC)',
    ],
    ['no expiry', { exp: undefined }, 'oidc: token is expired (Token Expiry: 0001-01-01 00:00:00 +0000 UTC)'],
    [
      'a subject that is no text',
      { sub: 5 },
      'oidc: failed to unmarshal claims: json: cannot unmarshal number into Go struct field idToken.sub of type string',
    ],
  ])('refuses %s', async (_, claims, message) => {
    const { user } = await setUp()
    expect(await user({ ...base, ...claims })).toBe(`oidc: verify token: ${message}`)
  })

  test('tolerates a minute of clock skew of nbf', async () => {
    const { user } = await setUp()
    expect(await user({ ...base, nbf: start / 1000 + 59 })).toMatchObject({ name: 'o:alice' })
    expect(await user({ ...base, nbf: start / 1000 + 61 })).toContain('before the nbf (not before) time')
  })

  test('verifies all algorithms of RSA and EC keys', async () => {
    const { idp, userOf } = await setUp()
    idp.addKey('p384', 'P-384')
    idp.addKey('p521', 'P-521')
    idp.addRsaKey('rsa')
    const tokens: readonly (readonly [string, SigningAlgorithm])[] = [
      ['p384', 'ES384'],
      ['p521', 'ES512'],
      ['rsa', 'RS256'],
      ['rsa', 'RS384'],
      ['rsa', 'RS512'],
      ['rsa', 'PS256'],
      ['rsa', 'PS384'],
      ['rsa', 'PS512'],
    ]
    for (const [id, algorithm] of tokens) {
      expect(await userOf(idp.token(base, id, algorithm)), algorithm).toMatchObject({ name: 'o:alice' })
    }
  })

  test('refuses algorithms that are not accepted, before it looks for keys', async () => {
    const { idp, user } = await setUp({}, ['RS256'])
    expect(await user(base)).toBe(
      'oidc: verify token: oidc: id token signed with unsupported algorithm, expected ["RS256"] got "ES256"',
    )
    expect(idp.requests).toEqual(['/.well-known/openid-configuration'])
  })

  test('refuses an unsigned token by its algorithm', async () => {
    const { idp, userOf } = await setUp({}, ['RS256'])
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
    const [, claims] = idp.token(base).split('.')
    for (const header of [{ alg: 'none' }, { alg: 'RS256' }]) {
      expect(await userOf(`${part(header)}.${claims}.`)).toBe(
        header.alg === 'none'
          ? 'oidc: verify token: oidc: id token signed with unsupported algorithm, expected ["RS256"] got "none"'
          : 'oidc: verify token: failed to verify signature: failed to verify id token signature',
      )
    }
  })

  test('refuses a remembered token when the issuer has removed its key', async () => {
    const { idp, userOf } = await setUp()
    const token = idp.token(base)
    expect(await userOf(token)).toMatchObject({ name: 'o:alice' })
    expect(await userOf(token)).toMatchObject({ name: 'o:alice' })
    idp.addKey('second')
    idp.removeKey('first')
    // Makes the server fetch the keys.
    expect(await userOf(idp.token(base, 'second'))).toMatchObject({ name: 'o:alice' })
    expect(await userOf(token)).toContain('failed to verify id token signature')
  })

  test('refuses a token with a critical header that it does not know', async () => {
    const { idp, userOf } = await setUp()
    expect(await userOf(idp.token(base, 'first', 'ES256', { crit: ['x'], x: 1 }))).toContain('failed to verify')
  })

  test('refuses a token that another key has signed', async () => {
    const { userOf } = await setUp()
    expect(await userOf(new FakeIssuer().token(base))).toBe(
      'oidc: verify token: failed to verify signature: failed to verify id token signature',
    )
  })

  test('fetches keys once while known keys fit, and again for a token of a new key', async () => {
    const { idp, user, userOf } = await setUp()
    await Promise.all([user(base), user({ ...base, sub: 'bob' })])
    await user(base)
    expect(idp.requests.filter((path) => path === '/keys')).toHaveLength(1)
    idp.addKey('second')
    expect(await userOf(idp.token(base, 'second'))).toMatchObject({ name: 'o:alice' })
    expect(idp.requests.filter((path) => path === '/keys')).toHaveLength(2)
  })

  test('does not fetch keys again while the key set is fresh', async () => {
    const { idp, clock, user, userOf } = await setUp()
    idp.cacheControl = 'public, max-age=300'
    await user(base)
    idp.addKey('second')
    const token = idp.token(base, 'second')
    expect(await userOf(token)).toContain('failed to verify id token signature')
    expect(idp.requests.filter((path) => path === '/keys')).toHaveLength(1)
    await clock.advance('5m')
    expect(await userOf(token)).toMatchObject({ name: 'o:alice' })
  })

  test('accepts tokens of known keys while the issuer is not reachable', async () => {
    const { idp, user, userOf } = await setUp()
    await user(base)
    idp.isReachable = false
    expect(await user(base)).toMatchObject({ name: 'o:alice' })
    idp.addKey('second')
    expect(await userOf(idp.token(base, 'second'))).toBe(
      'oidc: verify token: failed to verify signature: fetching keys oidc: get keys failed ' +
        'Get "https://issuer.example.com/keys": dial tcp issuer.example.com: connect: connection refused',
    )
  })

  test('refuses tokens until the issuer answers, and retries every 10 seconds', async () => {
    const idp = new FakeIssuer()
    idp.isReachable = false
    const clock = new VirtualClock({ start })
    const authentication = new JwtAuthentication(configOf({}), { clock, outgoing: idp.outgoing })
    open.push(authentication)
    const authenticate = authentication.authenticatorFor(['api'])
    await clock.advance(0)
    await expect(authenticate(idp.token(base), ['api'])).rejects.toThrow('oidc: authenticator not initialized')
    expect(authentication.problems[0]).toContain('is not healthy')
    idp.isReachable = true
    await clock.advance('10s')
    expect(await authenticate(idp.token(base), ['api'])).toMatchObject({ user: { name: 'o:alice' } })
  })

  test('gives up on an issuer that does not answer within 30 seconds', async () => {
    const clock = new VirtualClock({ start })
    const hanging = new JwtAuthentication(configOf({}), {
      clock,
      outgoing: ({ signal }) =>
        new Promise((_, reject) => signal!.addEventListener('abort', () => reject(signal!.reason as Error))),
    })
    open.push(hanging)
    await clock.advance('30s')
    expect(hanging.problems[0]).toContain('context deadline exceeded')
  })

  test('reads the discovery document at its own address', async () => {
    const { idp, user } = await setUp({}, undefined, {
      discoveryURL: 'https://in.cluster/x/.well-known/openid-configuration',
    })
    expect(await user(base)).toMatchObject({ name: 'o:alice' })
    expect(idp.requests[0]).toBe('/x/.well-known/openid-configuration')
  })

  test('requires claims and evaluates rules, in the order of kube-apiserver', async () => {
    const { user } = await setUp({
      claimValidationRules: [
        { claim: 'hd', requiredValue: 'example.com' },
        { expression: 'claims.n > 1.5', message: 'n is too small' },
      ],
      userValidationRules: [{ expression: `!user.username.startsWith('o:system:')`, message: 'reserved' }],
    })
    expect(await user({ ...base, n: 2 })).toBe('oidc: required claim hd not present in ID token')
    expect(await user({ ...base, hd: 'x' })).toBe(
      'oidc: required claim hd value does not match. Got = x, want = example.com',
    )
    expect(await user({ ...base, hd: 'example.com', n: 1 })).toBe(
      `oidc: error evaluating claim validation expression: validation expression 'claims.n > 1.5' failed: n is too small`,
    )
    expect(await user({ ...base, hd: 'example.com' })).toBe(
      `oidc: error evaluating claim validation expression: expression 'claims.n > 1.5' resulted in error: no such key: n`,
    )
    expect(await user({ ...base, hd: 'example.com', n: 2, sub: 'system:x' })).toContain('failed: reserved')
    expect(await user({ ...base, hd: 'example.com', n: 2 })).toMatchObject({ name: 'o:alice' })
  })

  test('evaluates expressions for user name, groups, uid and extra values', async () => {
    const { user } = await setUp({
      claimMappings: {
        username: { expression: `claims.sub + '@' + claims.org.example__dot__com` },
        groups: { expression: 'claims.?roles.orValue([])' },
        uid: { expression: 'claims.sub' },
        extra: [
          { key: 'example.com/tenant', valueExpression: `claims.?tenant.orValue('')` },
          { key: 'example.com/roles', valueExpression: 'claims.roles' },
        ],
      },
    })
    expect(await user({ ...base, org: { 'example.com': 'acme' }, roles: ['a', ''] })).toEqual({
      name: 'alice@acme',
      uid: 'alice',
      groups: ['a'],
      extra: { 'example.com/roles': ['a'] },
    })
    expect(await user({ ...base, org: { 'example.com': 'acme' }, roles: [5] })).toBe(
      'oidc: error evaluating group claim expression: expression must return a string or a list of strings',
    )
    expect(await user(base)).toContain('oidc: error evaluating username claim expression: ')
  })

  test('refuses an email address that is not verified', async () => {
    const { user } = await setUp({ claimMappings: { username: { claim: 'email', prefix: '' } } })
    expect(await user({ ...base, email: 'a@b.c', email_verified: false })).toBe('oidc: email not verified')
    expect(await user({ ...base, email: 'a@b.c' })).toEqual({ name: 'a@b.c', groups: [] })
    expect(await user(base)).toBe('oidc: parse username claims "email": claim not present')
  })

  test('resolves groups that are at another address', async () => {
    const { idp, user } = await setUp()
    idp.documents.set('/groups', idp.token({ ...base, groups: ['far'] }))
    const claims = { ...base, _claim_names: { groups: 's' } }
    const endpoint = `${idp.url}/groups`
    expect(await user({ ...claims, _claim_sources: { s: { endpoint } } })).toEqual({
      name: 'o:alice',
      groups: ['g:far'],
    })
    expect(await user({ ...claims, _claim_sources: {} })).toBe('oidc: verify token: oidc: source does not exist')
    idp.documents.set('/groups', new FakeIssuer().token({ ...base, groups: ['system:masters'] }))
    expect(await user({ ...claims, _claim_sources: { s: { endpoint } } })).toContain(
      'oidc: could not expand distributed claims: verify distributed claim token: failed to verify signature',
    )
  })

  test('authenticates the requests of a server', async () => {
    const { idp, authentication } = await setUp()
    const { authenticators } = createAccessControl({ jwt: authentication })
    const headers = { authorization: `Bearer ${idp.token(base)}` }
    const request = { headers, peer: { address: '127.0.0.1' } } as unknown as ApiRequest
    const users = await Promise.all(authenticators.map(async (authenticate) => authenticate(request)))
    expect(users).toContainEqual({ name: 'o:alice', groups: ['system:authenticated'] })
  })

  test('update() replaces the configuration once the new issuers answer', async () => {
    const { authentication, user } = await setUp()
    await authentication.update(configOf({ claimMappings: { username: { claim: 'sub', prefix: 'new:' } } }))
    expect(await user(base)).toMatchObject({ name: 'new:alice' })
    await authentication.update([])
    expect(await user(base)).toBeUndefined()
  })

  test('update() keeps the old configuration when a new issuer does not answer within a minute', async () => {
    const { idp, authentication, clock, user } = await setUp()
    await user(base)
    idp.isReachable = false
    const update = expect(authentication.update(configOf({}))).rejects.toThrow('is not healthy')
    await clock.advance('1m')
    await update
    expect(await user(base)).toMatchObject({ name: 'o:alice' })
  })
})
