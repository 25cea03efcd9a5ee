import { expect, test } from 'vitest'
import { standardExtensions } from './standard-extensions.ts'
import { PlainServer } from './testdata/plain-server.ts'

test('standardExtensions() makes the server ready and lists its checks', async () => {
  await using server = await PlainServer.start([], standardExtensions)
  const { status, text } = await server.send('GET /readyz?verbose')
  expect(status).toBe(200)
  const lines = text.split('\n')
  expect(lines.slice(0, 5)).toEqual([
    '[+]ping ok',
    '[+]log ok',
    '[+]etcd ok',
    '[+]etcd-readiness ok',
    '[+]informer-sync ok',
  ])
  expect(lines.slice(-4)).toEqual(['[+]autoregister-completion ok', '[+]shutdown ok', 'readyz check passed', ''])
})

test('standardExtensions() reports a stopping server as not ready but alive', async () => {
  const server = await PlainServer.start([], standardExtensions)
  await server[Symbol.asyncDispose]()
  expect((await server.send('GET /readyz/shutdown')).text).toBe('internal server error: process is shutting down\n')
  expect((await server.send('GET /livez')).text).toBe('ok')
})
