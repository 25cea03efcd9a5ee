import type { Duplex, Writable } from 'node:stream'
import { linkSignals } from '@kubewright/base'
import { expect, test } from 'vitest'
import * as ws from 'ws'
import { transportContract } from '../contract.ts'
import { ConnectionError } from './connection-error.ts'
import { inProcessTransport } from './in-process-transport.ts'

transportContract('inProcessTransport()', test, async (handler) => inProcessTransport({ handler }))

test('inProcessTransport() reports an incomplete body as a ConnectionError', async () => {
  const transport = inProcessTransport({
    handler: async () => ({
      status: 200,
      headers: {},
      body: async (sink) => {
        sink.write(Buffer.from('half'))
        throw new Error('the power went out')
      },
    }),
  })
  const response = await transport.send({ method: 'GET', path: '/' })
  await expect(response.body.bytes()).rejects.toThrow(new ConnectionError('the power went out', { host: 'in-process' }))
})

test('inProcessTransport() passes its peer to the handler', async () => {
  const peer = { address: '10.0.0.1', certificate: { commonName: 'ada', organizations: ['dev'] } }
  const transport = inProcessTransport({
    peer,
    handler: async (request) => ({ status: 200, headers: {}, body: Buffer.from(JSON.stringify(request.peer)) }),
  })
  const response = await transport.send({ method: 'GET', path: '/' })
  expect(JSON.parse(Buffer.from(await response.body.bytes()).toString())).toEqual(peer)
})

test('inProcessTransport() waits for its pause before sending', async () => {
  const seen: string[] = []
  const transport = inProcessTransport({
    pause: async () => void seen.push('pause'),
    handler: async () => {
      seen.push('request')
      return { status: 200, headers: {} }
    },
  })
  await transport.send({ method: 'GET', path: '/' })
  expect(seen).toEqual(['pause', 'request'])
})

/** Parts of ws that its types omit. */
const { Receiver, Sender } = ws as unknown as {
  Receiver: new (options: { isServer: boolean }) => Writable
  Sender: new (
    connection: Duplex,
  ) => {
    send(data: Uint8Array, options: object): void
    close(code: number, data: undefined, mask: boolean, sent: () => void): void
  }
}

test('inProcessTransport() upgrades to a message connection, unless the handler declines', async () => {
  const transport = inProcessTransport({
    handler: async ({ path, headers }) => {
      if (path !== '/exec') return { status: 403, headers: {}, body: Buffer.from('no') }
      expect(headers).toMatchObject({ upgrade: 'websocket', connection: 'Upgrade' })
      return {
        status: 101,
        headers: { 'Sec-WebSocket-Protocol': 'v5.channel.k8s.io' },
        upgraded: (connection) => {
          const sender = new Sender(connection)
          const reader = new Receiver({ isServer: true })
          reader.on('message', (payload: Buffer) => sender.send(payload, { fin: true, binary: true, mask: false }))
          reader.on('conclude', () => sender.close(1000, undefined, false, () => connection.end()))
          connection.on('data', (chunk: Buffer) => reader.write(chunk))
        },
      }
    },
  })
  const protocols = ['v5.channel.k8s.io', 'v4.channel.k8s.io']
  const declined = await transport.upgrade?.({ path: '/other', protocols })
  expect(declined).toMatchObject({ status: 403 })
  const connection = await transport.upgrade?.({ path: '/exec', protocols })
  if (connection === undefined || 'status' in connection) throw new Error('The connection was not upgraded')
  expect(connection.protocol).toBe('v5.channel.k8s.io')
  await connection.send(Buffer.from('hello'))
  for await (const message of connection) {
    expect(Buffer.from(message).toString()).toBe('hello')
    connection.close()
  }
})

test('inProcessTransport() follows the source of the signal, and creates a signal only for a handler that reads it', async () => {
  const limited = linkSignals()
  const reasons: unknown[] = []
  const transport = inProcessTransport({
    handler: async (request) => {
      request.signal.addEventListener('abort', () => reasons.push(request.signal.reason))
      return new Promise(() => undefined)
    },
  })
  const request = {
    method: 'GET',
    path: '/',
    get signal(): AbortSignal {
      throw new Error('The transport needs no signal')
    },
  }
  const sent = transport.send(request, limited)
  limited.abort('late')
  await expect(sent).rejects.toBe('late')
  expect(reasons).toEqual(['late'])
})

test('inProcessTransport() fails the requests in flight when it is disposed', async () => {
  const transport = inProcessTransport({ handler: () => new Promise(() => undefined) })
  const sent = transport.send({ method: 'GET', path: '/' })
  await transport[Symbol.asyncDispose]()
  const closed = new ConnectionError('the transport is closed', { host: 'in-process' })
  await expect(sent).rejects.toThrow(closed)
  await expect(transport.send({ method: 'GET', path: '/' })).rejects.toThrow(closed)
})
