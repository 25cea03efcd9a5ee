import { VirtualClock } from '@kubewright/base'
import { expect, test } from 'vitest'
import { AccessFixture } from '../testdata/access-fixture.ts'
import { bootstrapTokens } from './bootstrap-tokens.ts'

const token = 'abcdef.0123456789abcdef'
const clock = new VirtualClock({ start: Date.UTC(2026, 0, 1) })
const valid = {
  'token-id': 'abcdef',
  'token-secret': '0123456789abcdef',
  'usage-bootstrap-authentication': 'true',
}

const secretOf = (data: Readonly<Record<string, string>>, more: object = {}) => ({
  metadata: { name: 'bootstrap-token-abcdef' },
  type: 'bootstrap.kubernetes.io/token',
  data: Object.fromEntries(Object.entries(data).map(([name, value]) => [name, Buffer.from(value).toString('base64')])),
  ...more,
})

const ownerWith = (data: Readonly<Record<string, string>>, more: object = {}, shown = token) =>
  bootstrapTokens({
    secret: async (name) => (name === 'bootstrap-token-abcdef' ? (secretOf(data, more) as never) : undefined),
    clock,
    audiences: ['a', 'b'],
  })(shown, ['b', 'c'])

const groups = (...names: string[]) => ({ user: { name: 'system:bootstrap:abcdef', groups: names }, audiences: ['b'] })

test('bootstrapTokens() returns user, groups and audiences of a valid token', async () => {
  expect(await ownerWith(valid)).toEqual(groups('system:bootstrappers'))
  const more = {
    'auth-extra-groups': 'system:bootstrappers:worker,system:bootstrappers:a',
    expiration: '2026-01-01T00:00:01Z',
  }
  expect(await ownerWith({ ...valid, ...more })).toEqual(
    groups('system:bootstrappers', 'system:bootstrappers:a', 'system:bootstrappers:worker'),
  )
})

test.each<[string, Readonly<Record<string, string>>, object?, string?]>([
  ['another secret', { ...valid, 'token-secret': '0123456789abcdee' }],
  ['another id in the Secret', { ...valid, 'token-id': 'abcdee' }],
  ['an expired token', { ...valid, expiration: '2026-01-01T00:00:00Z' }],
  ['an expiry that is no time', { ...valid, expiration: 'tomorrow' }],
  ['a token for another usage', { ...valid, 'usage-bootstrap-authentication': 'True' }],
  ['an invalid group', { ...valid, 'auth-extra-groups': 'system:masters' }],
  ['a Secret of another type', valid, { type: 'Opaque' }],
  ['a Secret without data', valid, { data: null }],
  ['a Secret that is being deleted', valid, { metadata: { name: 'x', deletionTimestamp: '2026-01-01T00:00:00Z' } }],
  ['a token of another form', valid, {}, 'ABCDEF.0123456789abcdef'],
  ['a missing Secret', valid, {}, 'abcdee.0123456789abcdef'],
])('bootstrapTokens() ignores %s', async (_, data, more = {}, shown = token) => {
  expect(await ownerWith(data, more, shown)).toBeUndefined()
})

test('createAccessControl() accepts bootstrap tokens until their Secret is deleted', async () => {
  await using server = await AccessFixture.start()
  const secrets = '/api/v1/namespaces/kube-system/secrets'
  const review = async () => {
    const body = {}
    const answer = await server.send('POST /apis/authentication.k8s.io/v1/selfsubjectreviews', { token, body })
    return answer.status === 201 ? answer.body.status.userInfo : answer.status
  }
  expect(await review()).toBe(401)
  await server.send(`POST ${secrets}`, { body: secretOf(valid) })
  expect(await review()).toEqual({
    username: 'system:bootstrap:abcdef',
    groups: ['system:bootstrappers', 'system:authenticated'],
  })
  await server.send(`DELETE ${secrets}/bootstrap-token-abcdef`)
  expect(await review()).toBe(401)
})
