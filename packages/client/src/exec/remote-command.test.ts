import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Writable } from 'node:stream'
import { isNotFound } from '@kubewright/api'
import { afterEach, describe, expect, test } from 'vitest'
import * as ws from 'ws'
import type { ApiClient } from '../api-client.ts'
import { createClient } from '../create-client.ts'
import { httpTransport } from '../transport/http-transport.ts'
import { inProcessTransport } from '../transport/in-process-transport.ts'

/** Parts of ws that its types omit. */
const { Receiver, Sender } = ws as unknown as {
  Receiver: new (options: { isServer: boolean }) => Writable
  Sender: { frame(payload: Uint8Array, options: object): Buffer[] }
}
const opcodes = { binary: 2, close: 8, ping: 9 } as const

/** One frame of a server, which has no mask. */
function encodeFrame(opcode: number, payload: Uint8Array): Buffer {
  return Buffer.concat(Sender.frame(payload, { fin: true, mask: false, readOnly: true, rsv1: false, opcode }))
}

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

/** The server side of a WebSocket. */
interface Peer {
  readonly request: IncomingMessage
  send(channel: number, text: string): void
  raw(bytes: Uint8Array): void
  end(): void
}

/** A server that calls `play` with the channel and text of every message. */
async function serve(
  play: (peer: Peer, message?: { channel: number; text: string }) => void,
  protocol = 'v5.channel.k8s.io',
): Promise<ApiClient> {
  const server = createServer()
  server.on('upgrade', (request: IncomingMessage, socket: Socket) => {
    cleanups.push(() => socket.destroy())
    socket.on('error', () => undefined)
    const key = `${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`
    const accept = createHash('sha1').update(key).digest('base64')
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\nSec-WebSocket-Protocol: ${protocol}\r\n\r\n`,
    )
    const peer: Peer = {
      request,
      send: (channel, text) =>
        peer.raw(encodeFrame(opcodes.binary, Buffer.from(`${String.fromCharCode(channel)}${text}`))),
      raw: (bytes) => void socket.write(bytes),
      end: () => peer.raw(encodeFrame(opcodes.close, Buffer.alloc(0))),
    }
    const reader = new Receiver({ isServer: true })
    reader.on('message', (payload: Buffer) =>
      play(peer, { channel: payload[0] ?? 0, text: payload.subarray(1).toString('latin1') }),
    )
    reader.on('pong', (payload: Buffer) => play(peer, { channel: -1, text: payload.toString() }))
    socket.on('data', (chunk) => reader.write(chunk))
    play(peer)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const transport = httpTransport({ server: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
  cleanups.push(
    () => server.close(),
    () => transport[Symbol.asyncDispose](),
  )
  return createClient({ transport })
}

const text = async (stream: { bytes(): Promise<Uint8Array> }): Promise<string> =>
  Buffer.from(await stream.bytes()).toString()

const success = '{"kind":"Status","apiVersion":"v1","status":"Success"}'
const exited = (code: number): string =>
  JSON.stringify({
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: String(code) }] },
  })

describe('exec()', () => {
  test('runs a command and returns both outputs and the exit code', async () => {
    let url = ''
    const client = await serve((peer) => {
      url = peer.request.url ?? ''
      peer.send(1, 'out')
      peer.send(2, 'err')
      peer.send(3, exited(7))
      peer.end()
    })
    const command = await client.exec('web', { command: ['ls', '-l'], container: 'c' })
    expect(await Promise.all([text(command.stdout), text(command.stderr), command.exitCode])).toEqual(['out', 'err', 7])
    expect(url).toBe(
      '/api/v1/namespaces/default/pods/web/exec?stdout=true&stderr=true&container=c&command=ls&command=-l',
    )
  })

  test('reads a Status without a type, as kubelets send it', async () => {
    const causes = [{ reason: 'ExitCode', message: '3' }]
    const failure = { metadata: {}, status: 'Failure', reason: 'NonZeroExitCode', details: { causes } }
    for (const [status, code] of [
      [{ metadata: {}, status: 'Success' }, 0],
      [failure, 3],
    ] as const) {
      const client = await serve((peer) => {
        peer.send(3, JSON.stringify(status))
        peer.end()
      })
      const command = await client.exec('web', { command: ['true'] })
      expect(await command.exitCode).toBe(code)
    }
  })

  test('writes and ends the input, resizes the terminal and answers pings', async () => {
    const seen: unknown[] = []
    const client = await serve((peer, message) => {
      if (message === undefined) return peer.raw(encodeFrame(opcodes.ping, Buffer.from('alive?')))
      seen.push([message.channel, message.text])
      if (message.channel !== 255) return
      peer.send(3, success)
      peer.end()
    })
    const command = await client.exec('web', { command: ['cat'], stdin: true, tty: true })
    await command.write('hello')
    await command.resize(80, 24)
    await command.endInput()
    expect(await command.exitCode).toBe(0)
    expect(seen).toEqual(
      expect.arrayContaining([
        [-1, 'alive?'],
        [0, 'hello'],
        [4, '{"Width":80,"Height":24}'],
        [255, '\0'],
      ]),
    )
  })

  test('rejects with the Status of the server for a missing pod', async () => {
    const server = createServer((_, response) => {
      response.writeHead(404, { 'content-type': 'application/json' })
      response.end(
        '{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,"message":"no pod"}',
      )
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const transport = httpTransport({ server: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
    cleanups.push(
      () => server.close(),
      () => transport[Symbol.asyncDispose](),
    )
    await expect(createClient({ transport }).exec('none', { command: ['ls'] })).rejects.toSatisfy(isNotFound)
  })

  test('rejects when the connection ends before the command', async () => {
    const client = await serve((peer) => peer.request.socket.end())
    const command = await client.exec('web', { command: ['ls'] })
    await expect(command.exitCode).rejects.toMatchObject({ code: 'KW_CONNECTION' })
    await expect(command.stdout.bytes()).rejects.toMatchObject({ code: 'KW_CONNECTION' })
  })

  test.each([
    ['announces too many bytes', Buffer.from([0x82, 127, 0, 0, 0, 1, 0, 0, 0, 0])],
    ['has a mask', Buffer.from([0x82, 0x81, 1, 2, 3, 4, 0])],
    ['is a control frame of more than 125 bytes', Buffer.from([0x89, 126, 0, 126])],
  ])('rejects when a frame of the server %s', async (_, bytes) => {
    const client = await serve((peer, message) => message ?? peer.raw(bytes))
    const command = await client.exec('web', { command: ['ls'] })
    await expect(command.exitCode).rejects.toMatchObject({ code: 'KW_CONNECTION' })
  })

  test('rejects with the reason of its signal', async () => {
    const client = await serve(() => undefined)
    const controller = new AbortController()
    const command = await client.exec('web', { command: ['sleep'], signal: controller.signal })
    controller.abort(new Error('enough'))
    await expect(command.exitCode).rejects.toThrow('enough')
  })

  test('reports an unsupported protocol and an unsupported transport', async () => {
    const client = await serve(() => undefined, 'v1.channel.k8s.io')
    await expect(client.exec('web', { command: ['ls'] })).rejects.toThrow(
      'the server does not speak v5.channel.k8s.io or v4.channel.k8s.io',
    )
    const { send, host } = inProcessTransport({ handler: async () => ({ status: 200, headers: {} }) })
    const local = createClient({ transport: { send, host, [Symbol.asyncDispose]: async () => undefined } })
    await expect(local.exec('web', { command: ['ls'] })).rejects.toThrow(
      'in-process: this transport does not support message connections',
    )
  })
})

describe('attach()', () => {
  test('attaches to a container; an older protocol cannot end the input', async () => {
    const client = await serve((peer) => {
      peer.send(1, peer.request.url ?? '')
      peer.send(3, success)
      peer.end()
    }, 'v4.channel.k8s.io')
    const command = await client.attach('kube-system/web', { tty: true })
    expect(await text(command.stdout)).toBe('/api/v1/namespaces/kube-system/pods/web/attach?stdout=true&tty=true')
    await expect(command.endInput()).rejects.toThrow(
      "Cannot end the input: the server's protocol v4.channel.k8s.io does not support it",
    )
    expect(await command.exitCode).toBe(0)
  })
})

describe('portForward()', () => {
  test('transfers bytes both ways and strips the port header of each channel', async () => {
    let url = ''
    const client = await serve((peer, message) => {
      url = peer.request.url ?? ''
      if (message === undefined) {
        peer.send(0, 'P\u0000')
        peer.send(1, 'P\u0000')
        return
      }
      peer.send(0, `you said ${message.text}`)
      peer.end()
    }, 'v4.channel.k8s.io')
    const port = await client.portForward('db', 80)
    await port.write('hello')
    expect(await text(port.received)).toBe('you said hello')
    await port.closed
    expect(url).toBe('/api/v1/namespaces/default/pods/db/portforward?ports=80')
  })

  test('rejects with the error of the node when nothing listens', async () => {
    const client = await serve((peer) => {
      peer.send(0, 'P\u0000')
      peer.send(1, 'P\u0000connection refused')
      peer.end()
    }, 'v4.channel.k8s.io')
    const port = await client.portForward('db', 80)
    await expect(port.closed).rejects.toThrow('connection refused')
    await expect(port.received.bytes()).rejects.toThrow('connection refused')
  })

  test('rejects an invalid port', async () => {
    const client = await serve(() => undefined)
    await expect(client.portForward('db', 0)).rejects.toThrow('it must be an integer from 1 to 65535')
  })
})
