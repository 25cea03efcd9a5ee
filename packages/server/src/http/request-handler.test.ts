import { createLogger } from '@kubewright/base'
import { MemoryStore } from '@kubewright/storage'
import { expect, test } from 'vitest'
import { assembleServer } from '../assemble-server.ts'

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
