import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:tls'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createServerIdentity } from '../server-identity.ts'
import { type Listener, listen } from './listener.ts'

const identity = createServerIdentity(Date.UTC(2026, 0, 2))
let listener: Listener
let endWatch: () => void
beforeAll(async () => {
  listener = await listen({
    handler: async ({ path }) =>
      path === '/watch'
        ? {
            status: 200,
            headers: {},
            body: async () => new Promise<void>((resolve) => (endWatch = resolve)),
          }
        : { status: 200, headers: { 'content-length': '2' }, body: Buffer.from('ok') },
    cert: identity.serving.cert,
    key: identity.serving.key,
    clientCas: [identity.ca.cert],
    idleTimeout: 60,
  })
})
afterAll(() => listener[Symbol.asyncDispose]())

describe('listen() closes connections that carry nothing', () => {
  test('of HTTP/1.1, after the answer', async () => {
    const socket = connect({ port: listener.port, host: listener.host, rejectUnauthorized: false })
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    let text = ''
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
    await once(socket, 'close')
    expect(text.split('\r\n')).toEqual(expect.arrayContaining(['HTTP/1.1 200 OK', 'ok']))
  })

  test('of HTTP/2, but none with an open stream', async () => {
    const session = connectHttp2(`https://${listener.host}:${listener.port}`, { rejectUnauthorized: false })
    const watch = session.request({ ':path': '/watch' })
    await once(watch, 'response')
    // Another connection comes and is closed for idling meanwhile.
    const other = connectHttp2(`https://${listener.host}:${listener.port}`, { rejectUnauthorized: false })
    await once(other, 'close')
    expect(session.closed).toBe(false)
    watch.resume()
    endWatch()
    await once(session, 'close')
  })
})
