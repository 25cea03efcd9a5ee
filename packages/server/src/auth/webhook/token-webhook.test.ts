import { VirtualClock } from '@kubewright/base'
import { expect, test } from 'vitest'
import { OutgoingError } from '../../outgoing/outgoing.ts'
import { TokenWebhook } from './token-webhook.ts'

const setUp = (version?: 'v1' | 'v1beta1') => {
  const reviews: string[] = []
  const hook: { status: object; isDown: boolean; failure?: Error } = { status: {}, isDown: false }
  const clock = new VirtualClock()
  const webhook = new TokenWebhook({
    version,
    clock,
    connection: async () => ({ url: 'https://hook.example.com/authenticate', tls: {}, headers: {} }),
    outgoing: async ({ body }) => {
      reviews.push(Buffer.from(body!).toString())
      if (hook.isDown) throw new OutgoingError('dial tcp: connect: connection refused')
      if (hook.failure) throw new OutgoingError('EOF', { cause: hook.failure })
      return {
        status: 200,
        headers: { 'content-type': ['application/json'] },
        body: (async function* () {
          yield Buffer.from(JSON.stringify({ kind: 'TokenReview', status: hook.status }))
        })(),
      }
    },
  })
  const authenticate = webhook.authenticatorFor(['api'])
  return { reviews, hook, clock, ownerOf: (token: string, ...audiences: string[]) => authenticate(token, audiences) }
}

const user = { username: 'jane', uid: '7', groups: ['dev'], extra: { k: ['v'] } }

test('TokenWebhook sends the review of kube-apiserver and returns the user of the response', async () => {
  const { reviews, hook, ownerOf } = setUp('v1')
  hook.status = { authenticated: true, user }
  expect(await ownerOf('s3cret', 'api', 'other')).toEqual({
    user: { name: 'jane', uid: '7', groups: ['dev'], extra: { k: ['v'] } },
    audiences: ['api'],
  })
  expect(reviews[0]).toBe(
    '{"kind":"TokenReview","apiVersion":"authentication.k8s.io/v1","metadata":{},"spec":{"token":"s3cret","audiences":["api","other"]},"status":{"user":{}}}\n',
  )
})

test('TokenWebhook leaves unknown tokens to other authenticators and passes errors on', async () => {
  const { hook, ownerOf } = setUp()
  expect(await ownerOf('a', 'api')).toBeUndefined()
  hook.status = { authenticated: true, user, audiences: ['elsewhere'] }
  expect(await ownerOf('b', 'api')).toBeUndefined()
  hook.status = { error: 'revoked' }
  await expect(ownerOf('c', 'api')).rejects.toThrow('revoked')
  hook.isDown = true
  await expect(ownerOf('d', 'api')).rejects.toThrow(
    'Post "https://hook.example.com/authenticate?timeout=30s": dial tcp: connect: connection refused',
  )
})

test('TokenWebhook repeats a request whose connection was reset, but not one that was refused', async () => {
  const { reviews, hook, clock, ownerOf } = setUp()
  hook.failure = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', syscall: 'read' })
  const reset = expect(ownerOf('a', 'api')).rejects.toThrow('EOF')
  await clock.runUntilIdle()
  await reset
  expect(reviews).toHaveLength(5)
  hook.failure = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
  await expect(ownerOf('b', 'api')).rejects.toThrow('EOF')
  expect(reviews).toHaveLength(6)
})

test('TokenWebhook reuses results for two minutes, but no failure of the webhook', async () => {
  const { reviews, hook, clock, ownerOf } = setUp()
  hook.isDown = true
  await expect(ownerOf('a', 'api')).rejects.toThrow('connection refused')
  hook.isDown = false
  hook.status = { authenticated: true, user }
  await ownerOf('a', 'api')
  hook.status = {}
  expect(await ownerOf('a', 'api')).toMatchObject({ user: { name: 'jane' } })
  expect(reviews).toHaveLength(2)
  await clock.advance('2m')
  expect(await ownerOf('a', 'api')).toBeUndefined()
})
