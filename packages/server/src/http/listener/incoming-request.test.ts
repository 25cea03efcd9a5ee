import { once } from 'node:events'
import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import type { Exchange } from './exchange.ts'
import { toApiRequest } from './incoming-request.ts'

const exchange = { signal: new AbortController().signal, onSent: () => undefined } as unknown as Exchange

function requestOf(body: Readable): ReturnType<typeof toApiRequest> {
  const peer = { address: '127.0.0.1' }
  return toApiRequest({ method: 'POST', url: '/', headers: {}, rawHeaders: [], peer, body }, exchange)
}

test('toApiRequest() resolves an empty body that ended before it was read', async () => {
  const body = Readable.from([])
  body.resume()
  await once(body, 'end')
  expect(await requestOf(body).body(10)).toHaveLength(0)
})

test('toApiRequest() rejects a body whose connection closed before it was read', async () => {
  const body = new Readable({ read: () => undefined })
  body.destroy()
  await once(body, 'close')
  await expect(requestOf(body).body(10)).rejects.toThrow('unexpected EOF')
})
