import { describe, expect, test } from 'vitest'
import { parseAuthenticationConfig } from './authentication-config.ts'

const mappings = { username: { claim: 'sub', prefix: '' } }
const configOf = (jwt: readonly object[], more: object = {}): object => ({
  apiVersion: 'apiserver.config.k8s.io/v1',
  kind: 'AuthenticationConfiguration',
  jwt,
  ...more,
})
const issuerWith = (more: object): object =>
  configOf([{ issuer: { url: 'https://a', audiences: ['x'], ...more }, claimMappings: mappings }])
const jwtWith = (more: object): object =>
  configOf([{ issuer: { url: 'https://a', audiences: ['x'] }, claimMappings: mappings, ...more }])

// Recorded from kube-apiserver v1.35.8.
describe('parseAuthenticationConfig()', () => {
  test.each([
    [
      'scheme, query and fragment',
      issuerWith({ url: 'http://x?a=b#c' }),
      '[jwt[0].issuer.url: Invalid value: "http://x?a=b#c": URL scheme must be https, ' +
        'jwt[0].issuer.url: Invalid value: "http://x?a=b#c": URL must not contain a query, ' +
        'jwt[0].issuer.url: Invalid value: "http://x?a=b#c": URL must not contain a fragment]',
    ],
    [
      'an empty authenticator',
      configOf([{}]),
      '[jwt[0].issuer.url: Required value, jwt[0].issuer.audiences: Required value: at least one jwt[0].issuer.audiences is required, ' +
        'jwt[0].claimMappings.username: Required value: claim or expression is required]',
    ],
    [
      'audiences',
      issuerWith({ audiences: ['a', 'a', ''] }),
      '[jwt[0].issuer.audiences[1]: Duplicate value: "a", jwt[0].issuer.audiences[2]: Required value, ' +
        'jwt[0].issuer.audienceMatchPolicy: Invalid value: "": audienceMatchPolicy must be MatchAny for multiple audiences]',
    ],
    [
      'an email address that nothing verifies',
      jwtWith({ claimMappings: { username: { expression: 'claims.email' } } }),
      'jwt[0].claimMappings.username.expression: Invalid value: "claims.email": claims.email_verified must be used in ' +
        'claimMappings.username.expression or claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when ' +
        'claims.email is used in claimMappings.username.expression',
    ],
    [
      'a claim without a prefix, and an expression with one',
      jwtWith({ claimMappings: { username: { claim: 'sub' }, groups: { expression: `'a'`, prefix: 'p' } } }),
      '[jwt[0].claimMappings.username.prefix: Required value: prefix is required when claim is set. It can be set to an empty string ' +
        'to disable prefixing, jwt[0].claimMappings.groups.prefix: Invalid value: "p": may not be specified when expression is set]',
    ],
    [
      'rules',
      jwtWith({
        claimValidationRules: [
          { expression: 'claims.foo' },
          { claim: 'a', expression: 'b' },
          {},
          { claim: 'c', message: 'm' },
        ],
        userValidationRules: [{ expression: '' }, { expression: 'user.username' }],
      }),
      '[jwt[0].claimValidationRules[0].expression: Invalid value: "claims.foo": must evaluate to bool, ' +
        `jwt[0].claimValidationRules[1]: Invalid value: "a": claim and expression can't both be set, ` +
        'jwt[0].claimValidationRules[2]: Required value: claim or expression is required, ' +
        'jwt[0].claimValidationRules[3].message: Invalid value: "m": may not be specified when claim is set, ' +
        'jwt[0].userValidationRules[0].expression: Required value, ' +
        'jwt[0].userValidationRules[1].expression: Invalid value: "user.username": must evaluate to bool]',
    ],
    [
      'an issuer that the server has already',
      issuerWith({ url: 'https://own' }),
      'jwt[0].issuer.url: Invalid value: "https://own": URL must not overlap with disallowed issuers: [https://own]',
    ],
    [
      'unknown fields',
      { ...jwtWith({ foo: 1 }), bar: 2 },
      'strict decoding error: unknown field "jwt[0].foo", unknown field "bar"',
    ],
    [
      'anonymous conditions without anonymous access',
      configOf([], { anonymous: { enabled: false, conditions: [{ path: '/x' }] } }),
      'anonymous.conditions: Invalid value: [{"Path":"/x"}]: enabled should be set to true when conditions are defined',
    ],
    [
      'another kind',
      { apiVersion: 'apiserver.config.k8s.io/v2', kind: 'Foo' },
      'no kind "Foo" is registered for version "apiserver.config.k8s.io/v2"',
    ],
  ])('refuses %s with the text of kube-apiserver', (_, config, message) => {
    let thrown = ''
    try {
      parseAuthenticationConfig(config, { disallowedIssuers: ['https://own'] })
    } catch (error) {
      thrown = (error as Error).message
    }
    expect(thrown).toBe(message)
  })

  test('accepts email_verified in any expression of claims', () => {
    const username = { expression: 'claims.email' }
    const accepted = [
      { claimMappings: { username: { expression: `claims.?email_verified.orValue(false) ? claims.email : 'x'` } } },
      { claimMappings: { username }, claimValidationRules: [{ expression: 'claims.email_verified == true' }] },
      { claimMappings: { username, extra: [{ key: 'a.b/c', valueExpression: 'string(claims.email_verified)' }] } },
    ]
    for (const jwt of accepted) expect(parseAuthenticationConfig(jwtWith(jwt)).jwt).toHaveLength(1)
  })
})
