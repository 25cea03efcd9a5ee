import { createLogger } from '@kubewright/base'
import { MemoryStore } from '@kubewright/storage'
import { expect, test } from 'vitest'
import { assembleServer } from '../assemble-server.ts'
import { AuthorizationChain } from '../auth/authorization-chain.ts'

test('RequestHandler logs an unexpected failure, and no request whose client disconnected', async () => {
  const logged: string[] = []
  const log = createLogger({ enabled: () => false, write: ({ message }) => void logged.push(message) })
  const tokens = [{ token: 'root', user: { name: 'root', groups: ['system:masters'] } }]
  await using server = await assembleServer({ store: new MemoryStore(), access: { tokens }, log })
  const gone = new AbortController()
  gone.abort(new Error('The client disconnected'))
  const send = (failure: unknown) =>
    server.handler({
      method: 'POST',
      path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
      query: new URLSearchParams(),
      headers: { authorization: 'Bearer root', 'content-type': 'application/json' },
      body: () => Promise.reject(failure),
      signal: gone.signal,
      peer: { address: '127.0.0.1' },
    })
  const failures = () => logged.filter((message) => message === 'Request failed').length
  await send(gone.signal.reason)
  expect(failures()).toBe(0)
  expect((await send(new Error('broken'))).status).toBe(500)
  expect(failures()).toBe(1)
})

test('RequestHandler responds with a text of status 500 when an authorizer fails and none allows the request', async () => {
  const webhook = {
    type: 'Webhook' as const,
    name: 'hook',
    webhook: {
      timeout: 1000,
      authorizedTtl: 0,
      unauthorizedTtl: 0,
      version: 'v1' as const,
      failurePolicy: 'NoOpinion' as const,
      kubeConfigFile: '/kubeconfig',
      matchConditions: [],
    },
  }
  const authorization = new AuthorizationChain([webhook, { type: 'RBAC', name: 'rbac' }], {
    connect: () => async () => {
      throw new Error('no credentials')
    },
  })
  const tokens = [{ token: 'jane', user: { name: 'jane', groups: [] } }]
  await using server = await assembleServer({ store: new MemoryStore(), access: { tokens, authorization } })
  const send = async (path: string) =>
    server.handler({
      method: 'GET',
      path,
      query: new URLSearchParams('limit=1'),
      headers: { authorization: 'Bearer jane' },
      body: async () => new Uint8Array(),
      signal: new AbortController().signal,
      peer: { address: '127.0.0.1' },
    })
  const refused = await send('/api/v1/pods')
  expect(refused.status).toBe(500)
  expect(Buffer.from(refused.body as Uint8Array).toString()).toBe(
    'Internal Server Error: "/api/v1/pods?limit=1": no credentials\n',
  )
  expect((await send('/version')).status).toBe(200)
})
