import type { IncomingMessage } from 'node:http'
import { request as send } from 'node:https'
import type { Duplex, Writable } from 'node:stream'
import { CertificateAuthority } from '@kubewright/base/pki'
import { MemoryStore } from '@kubewright/storage'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import * as ws from 'ws'
import { type AssembledServer, assembleServer } from '../assemble-server.ts'
import { type Listener, listen } from '../http/listener/listener.ts'
import { systemOutgoing } from '../outgoing/outgoing.ts'
import { createServerIdentity } from '../server-identity.ts'
import { FakeKubelet } from '../testdata/fake-kubelet.ts'

/** Parts of ws that its types omit. */
const { Receiver, Sender } = ws as unknown as {
  Receiver: new (options: { isServer: boolean }) => Writable
  Sender: { frame(payload: Uint8Array, options: object): Buffer[] }
}
const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9 } as const

const now = Date.now()
const identity = createServerIdentity(now)
const authority = new CertificateAuthority(identity.ca)
const client = authority.issueClient({
  commonName: 'kube-apiserver-kubelet-client',
  organizations: ['system:masters'],
  now,
})
/** The fake kubelet listens on a loopback address, to which the server refuses to proxy: this one stands for it. */
const nodeAddress = '10.1.2.3'
const simulated = 'the node is simulated'

let kubelet: FakeKubelet
let server: AssembledServer
let listener: Listener

beforeAll(async () => {
  kubelet = await FakeKubelet.start(authority.issueServing({ now, hosts: [nodeAddress] }), identity.ca.cert)
  server = await assembleServer({
    store: new MemoryStore(),
    access: { tokens: [{ token: 'root', user: { name: 'root', groups: ['system:masters'] } }] },
    kubelets: {
      ca: identity.ca.cert,
      client: () => client,
      preferredAddressTypes: ['InternalIP'],
      outgoing: (request) => {
        // Pods serve plain HTTP in these tests, and the fake kubelet serves HTTPS for them too.
        const url = new URL(request.url)
        url.protocol = 'https:'
        return systemOutgoing({ ...request, url, connectTo: async () => ({ host: '127.0.0.1', port: kubelet.port }) })
      },
    },
    nodes: {
      logs: ({ node }) => (node === 'simulated' ? lines('simulated log\n') : undefined),
      refusesStreams: (node) => (node === 'simulated' ? simulated : undefined),
    },
  })
  listener = await listen({ handler: server.handler, ...identity.serving, clientCas: [identity.ca.cert] })
  await create('/api/v1/nodes', {
    metadata: { name: 'real' },
    status: {
      addresses: [
        { type: 'Hostname', address: 'unused' },
        { type: 'InternalIP', address: nodeAddress },
      ],
      daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
    },
  })
  await create('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } })
  for (const [name, nodeName] of [
    ['p', 'real'],
    ['waiting', 'real'],
    ['refused', 'real'],
    ['s', 'simulated'],
  ]) {
    const containers = [{ name: 'c', image: 'i', ports: [{ containerPort: 8080 }] }]
    await create(pods, { metadata: { name }, spec: { nodeName, containers } })
    const status = { podIP: nodeAddress, podIPs: [{ ip: nodeAddress }] }
    const { body } = await call('PATCH', `${pods}/${name}/status`, { status }, 'application/merge-patch+json')
    expect(JSON.parse(body).kind).toBe('Pod')
  }
})
afterAll(async () => {
  await listener[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
  await kubelet[Symbol.asyncDispose]()
})
beforeEach(() => {
  kubelet.requests.length = 0
})

const pods = '/api/v1/namespaces/default/pods'

async function* lines(text: string): AsyncIterable<string> {
  yield text
}

const base = (method: string, path: string, headers: object = {}) => ({
  method,
  path,
  host: '127.0.0.1',
  port: listener.port,
  ca: identity.ca.cert,
  agent: false as const,
  headers: { authorization: 'Bearer root', ...headers },
})

interface Received {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

function call(method: string, path: string, body?: object, type = 'application/json'): Promise<Received> {
  return new Promise((resolve, reject) => {
    const request = send(base(method, path, body ? { 'content-type': type } : {}), (response) => {
      let text = ''
      response.on('data', (chunk: Buffer) => (text += chunk.toString()))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }))
    })
    request.once('error', reject)
    request.end(body ? JSON.stringify(body) : undefined)
  })
}

async function create(path: string, body: object): Promise<void> {
  const answer = await call('POST', path, body)
  expect(answer.status, answer.body).toBe(201)
}

/** Upgrades a connection; returns the response instead when the server declines. */
function upgrade(
  method: string,
  path: string,
  headers: object,
): Promise<{ response: IncomingMessage; socket?: Duplex }> {
  return new Promise((resolve, reject) => {
    const request = send(base(method, path, { connection: 'Upgrade', ...headers }))
    request.once('error', reject)
    request.once('response', (response) => {
      response.resume()
      resolve({ response })
    })
    request.once('upgrade', (response, socket, head) => {
      if (head.length > 0) socket.unshift(head)
      resolve({ response, socket })
    })
    request.end()
  })
}

/** Sends bytes on an upgraded connection and reads as many. */
function exchange(socket: Duplex, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      if (text.length < bytes.length) return
      socket.destroy()
      resolve(text)
    })
    socket.write(bytes)
  })
}

/** A WebSocket client. */
class TestWebSocket {
  readonly protocol: string | undefined
  readonly #socket: Duplex
  readonly #messages: Buffer[] = []
  #closed = false
  #wake: (() => void) | undefined

  constructor(response: IncomingMessage, socket: Duplex) {
    this.protocol = response.headers['sec-websocket-protocol']
    this.#socket = socket
    const reader = new Receiver({ isServer: false })
    reader.on('message', (payload: Buffer) => this.#messages.push(payload))
    reader.on('pong', (payload: Buffer) => this.#messages.push(payload))
    reader.on('conclude', () => (this.#closed = true))
    socket.on('data', (chunk: Buffer) => {
      reader.write(chunk)
      this.#wake?.()
    })
    socket.on('error', () => undefined)
    socket.once('close', () => {
      this.#closed = true
      this.#wake?.()
    })
  }

  static async open(path: string, ...protocols: string[]): Promise<TestWebSocket> {
    const { response, socket } = await upgrade('GET', path, {
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
      'sec-websocket-protocol': protocols.join(', '),
    })
    if (!socket) throw new Error(`the server responded with ${response.statusCode}`)
    expect(response.headers['sec-websocket-accept']).toBe('s3pPLMBiTxaQ9kYGzzhZRbK+xOo=')
    return new TestWebSocket(response, socket)
  }

  send(...bytes: (number | string)[]): void {
    const parts = bytes.map((part) => (typeof part === 'number' ? Buffer.from([part]) : Buffer.from(part)))
    this.frame(opcodes.binary, Buffer.concat(parts))
  }

  /** Sends one frame, which need not be valid. */
  frame(opcode: number, payload: Uint8Array, options: object = {}): void {
    const frame = { fin: true, mask: true, readOnly: true, rsv1: false, opcode, ...options }
    this.#socket.write(Buffer.concat(Sender.frame(payload, frame)))
  }

  raw(bytes: Uint8Array): void {
    this.#socket.write(bytes)
  }

  /** Resolves when the server has ended the connection. */
  ended(): Promise<void> {
    return new Promise((resolve) => this.#socket.once('close', () => resolve()))
  }

  /** The next message; undefined after the last one. */
  async next(): Promise<Buffer | undefined> {
    while (this.#messages.length === 0) {
      if (this.#closed) return undefined
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    return this.#messages.shift()
  }

  async rest(): Promise<Buffer[]> {
    const all: Buffer[] = []
    for (let message = await this.next(); message; message = await this.next()) all.push(message)
    return all
  }

  close(): void {
    this.#socket.destroy()
  }
}

describe('logs', () => {
  test('come from the kubelet, with a client certificate and the options in the order of Go', async () => {
    const { status, headers, body } = await call(
      'GET',
      `${pods}/p/log?timestamps=true&tailLines=5&follow=1&previous=false&limitBytes=7`,
    )
    expect({ status, type: headers['content-type'], body }).toEqual({
      status: 200,
      type: 'text/plain',
      body: 'GET /containerLogs/default/p/c?follow=true&limitBytes=7&tailLines=5&timestamps=true\n',
    })
    expect(kubelet.requests).toMatchObject([{ client: 'kube-apiserver-kubelet-client' }])
    expect(kubelet.requests[0]?.headers.authorization).toBeUndefined()
  })

  test('report the refusal of the kubelet', async () => {
    const { status, body } = await call('GET', `${pods}/waiting/log`)
    expect({ status, message: JSON.parse(body).message }).toEqual({
      status: 400,
      message: 'container "waiting" is waiting to start',
    })
  })

  test('of a simulated node come from the simulation', async () => {
    expect((await call('GET', `${pods}/s/log`)).body).toBe('simulated log\n')
    expect(kubelet.requests).toEqual([])
  })

  test.each([
    ['binary.k8s.io', 'GET /containerLogs/default/p/c\n'],
    ['base64.binary.k8s.io', Buffer.from('GET /containerLogs/default/p/c\n').toString('base64')],
    ['', 'GET /containerLogs/default/p/c\n'],
  ])('are sent over a WebSocket of the protocol "%s", after an empty message', async (protocol, text) => {
    const socket = await TestWebSocket.open(`${pods}/p/log?container=c`, ...(protocol ? ['other', protocol] : []))
    expect(socket.protocol).toBe(protocol || undefined)
    const [empty, ...rest] = await socket.rest()
    expect([empty?.length, Buffer.concat(rest).toString()]).toEqual([0, text])
  })

  test('of a simulated node are sent over a WebSocket too', async () => {
    const socket = await TestWebSocket.open(`${pods}/s/log`, 'binary.k8s.io')
    expect(Buffer.concat(await socket.rest()).toString()).toBe('simulated log\n')
  })

  test('are refused over a WebSocket of another protocol', async () => {
    await expect(TestWebSocket.open(`${pods}/p/log`, 'v5.channel.k8s.io')).rejects.toThrow('responded with 403')
  })
})

describe('streams to a pod', () => {
  test('pass a SPDY connection on', async () => {
    const { response, socket } = await upgrade('POST', `${pods}/p/portforward?ports=80&ports=81`, {
      upgrade: 'SPDY/3.1',
      'x-stream-protocol-version': 'portforward.k8s.io',
    })
    expect(response.statusCode).toBe(101)
    expect(await exchange(socket!, 'bytes of SPDY')).toBe('bytes of SPDY')
    expect(kubelet.requests).toMatchObject([
      {
        method: 'POST',
        url: '/portForward/default/p?port=80%2C81',
        headers: { upgrade: 'SPDY/3.1', 'x-stream-protocol-version': 'portforward.k8s.io' },
      },
    ])
  })

  test('pass a WebSocket of version 4 on', async () => {
    const { response, socket } = await upgrade('GET', `${pods}/p/exec?command=ls&command=-l&stdout=1&tty=0`, {
      upgrade: 'websocket',
      'sec-websocket-protocol': 'v4.channel.k8s.io',
    })
    expect(response.statusCode).toBe(101)
    expect(await exchange(socket!, 'frames')).toBe('frames')
    expect(kubelet.requests[0]?.url).toBe('/exec/default/p/c?command=ls&command=-l&output=1')
  })

  test('translate a WebSocket of version 5 to SPDY streams, and the end of stdin', async () => {
    const socket = await TestWebSocket.open(
      `${pods}/p/exec?command=cat&stdin=1&stdout=1&stderr=1`,
      'v5.channel.k8s.io',
      'v4.channel.k8s.io',
    )
    expect(socket.protocol).toBe('v5.channel.k8s.io')
    expect(await socket.next()).toEqual(Buffer.from([1]))
    socket.send(0, 'some input')
    expect((await socket.next())?.toString()).toBe('\u0001some input')
    const large = 'x'.repeat(300_000)
    socket.send(0, large)
    socket.send(255, 0)
    const rest = await socket.rest()
    const output = rest.filter(([channel]) => channel === 1).map((message) => message.subarray(1).toString())
    expect(output.join('')).toBe(large)
    const result = rest.at(-1)!
    expect(result[0]).toBe(3)
    expect(JSON.parse(result.subarray(1).toString())).toEqual({
      metadata: {},
      status: 'Failure',
      message: 'command terminated with non-zero exit code: command terminated with exit code 3',
      reason: 'NonZeroExitCode',
      details: { causes: [{ reason: 'ExitCode', message: '3' }] },
    })
    expect(kubelet.requests).toMatchObject([
      { method: 'POST', url: '/exec/default/p/c?command=cat&error=1&input=1&output=1' },
    ])
  })

  test('translate terminal sizes', async () => {
    const socket = await TestWebSocket.open(`${pods}/p/attach?stdin=1&stdout=1&tty=1`, 'v5.channel.k8s.io')
    expect(await socket.next()).toEqual(Buffer.from([1]))
    socket.send(4, '{"Width":80,"Height":24}')
    expect((await socket.next())?.toString()).toBe('\u0001{"Width":80,"Height":24}')
    socket.close()
  })

  test('report the refusal of the kubelet on the error channel', async () => {
    const socket = await TestWebSocket.open(`${pods}/refused/exec?command=ls&stdout=1`, 'v5.channel.k8s.io')
    const [, result] = await socket.rest()
    expect(JSON.parse(result!.subarray(1).toString())).toMatchObject({
      status: 'Failure',
      message: 'Internal error occurred: unable to upgrade connection: no exec',
      code: 500,
    })
  })

  test('pass on the response of a kubelet that does not upgrade', async () => {
    const { response } = await upgrade('POST', `${pods}/refused/exec?command=ls`, { upgrade: 'SPDY/3.1' })
    expect(response.statusCode).toBe(403)
  })

  test('are refused on a simulated node', async () => {
    const { status, body } = await call('POST', `${pods}/s/exec?command=ls`)
    expect([status, JSON.parse(body).message]).toEqual([400, simulated])
  })
})

describe('a WebSocket of a client', () => {
  const open = async (): Promise<TestWebSocket> => {
    const socket = await TestWebSocket.open(`${pods}/p/attach?stdin=1&stdout=1&tty=1`, 'v5.channel.k8s.io')
    expect(await socket.next()).toEqual(Buffer.from([1]))
    return socket
  }

  test('joins the fragments of a message, with a ping between them', async () => {
    const socket = await open()
    socket.frame(opcodes.binary, Buffer.from('\u0004{"Width"'), { fin: false })
    socket.frame(opcodes.ping, Buffer.from('alive?'))
    socket.frame(opcodes.continuation, Buffer.from(':80}'))
    expect((await socket.next())?.toString()).toBe('alive?')
    expect((await socket.next())?.toString()).toBe('\u0001{"Width":80}')
    socket.close()
  })

  const empty = Buffer.alloc(0)
  test.each<[string, (socket: TestWebSocket) => void]>([
    ['has no mask', (socket) => socket.frame(opcodes.binary, Buffer.from('x'), { mask: false })],
    ['announces too many bytes', (socket) => socket.raw(Buffer.from([0x82, 0xff, 0, 0, 0, 1, 0, 0, 0, 0]))],
    ['is a control frame of more than 125 bytes', (socket) => socket.frame(opcodes.ping, Buffer.alloc(126))],
    ['is a control frame in fragments', (socket) => socket.frame(opcodes.ping, empty, { fin: false })],
    ['has a reserved bit', (socket) => socket.frame(opcodes.binary, empty, { rsv1: true })],
    ['has an unknown opcode', (socket) => socket.frame(5, empty)],
    ['continues nothing', (socket) => socket.frame(opcodes.continuation, empty)],
    [
      'is one of too many fragments',
      (socket) => {
        for (let i = 0; i <= 1024; i++)
          socket.frame(i === 0 ? opcodes.binary : opcodes.continuation, empty, { fin: false })
      },
    ],
    [
      'belongs to a message that is too large',
      (socket) => {
        const part = Buffer.alloc(8 * 1024 * 1024)
        for (let i = 0; i < 5; i++) socket.frame(i === 0 ? opcodes.binary : opcodes.continuation, part, { fin: false })
      },
    ],
  ])('ends when a frame %s, and the server goes on', async (_, send) => {
    const socket = await open()
    const ended = socket.ended()
    send(socket)
    await ended
    ;(await open()).close()
  })
})

test('portforward tunnels SPDY through a WebSocket', async () => {
  const socket = await TestWebSocket.open(`${pods}/p/portforward`, 'SPDY/3.1+portforward.k8s.io')
  expect(socket.protocol).toBe('SPDY/3.1+portforward.k8s.io')
  socket.send('bytes of SPDY')
  expect((await socket.next())?.toString()).toBe('bytes of SPDY')
  socket.close()
  expect(kubelet.requests).toMatchObject([
    { headers: { upgrade: 'SPDY/3.1', 'x-stream-protocol-version': 'portforward.k8s.io' } },
  ])
  expect(kubelet.requests[0]?.headers['sec-websocket-key']).toBeUndefined()
})

describe('proxy', () => {
  test.each([
    ['GET', '/api/v1/nodes/real/proxy/healthz?verbose=1', 'GET /healthz?verbose=1\n'],
    ['GET', '/api/v1/nodes/https:real:10250/proxy/', 'GET /\n'],
    ['POST', `${pods}/p/proxy/a/b/?x=y`, 'POST /a/b/?x=y\n'],
    ['PUT', `${pods}/https:p:9090/proxy/a%20b`, 'PUT /a%20b\n'],
  ])('%s %s', async (method, path, expected) => {
    expect((await call(method, path)).body).toBe(expected)
  })

  test('redirects the root to a path with a slash', async () => {
    const { status, headers } = await call('GET', `${pods}/p/proxy?a=b`)
    expect([status, headers.location]).toEqual([301, `${pods}/p/proxy/?a=b`])
  })

  test('rewrites redirects of the backend', async () => {
    const { status, headers } = await call('GET', `${pods}/p/proxy/redirect`)
    expect([status, headers.location]).toEqual([302, `${pods}/p/proxy/login?a=b`])
  })

  test('upgrades connections', async () => {
    const { response, socket } = await upgrade('GET', `${pods}/p/proxy/ws`, { upgrade: 'websocket' })
    expect(response.statusCode).toBe(101)
    expect(await exchange(socket!, 'frames')).toBe('frames')
  })

  test('reaches a service through a ready pod, by port number, name and scheme', async () => {
    const ports = [{ name: 'http', port: 80, targetPort: 8080 }]
    await create('/api/v1/namespaces/default/services', { metadata: { name: 'web' }, spec: { ports } })
    const addresses = [
      { ip: '10.9.9.9' },
      { ip: nodeAddress, targetRef: { kind: 'Pod', namespace: 'default', name: 'p' } },
    ]
    await create('/api/v1/namespaces/default/endpoints', {
      metadata: { name: 'web' },
      subsets: [{ addresses, ports: [{ name: 'http', port: 8080 }] }],
    })
    for (const name of ['web:80', 'web:http', 'https:web:http', 'http:web:80']) {
      expect((await call('GET', `/api/v1/namespaces/default/services/${name}/proxy/x`)).body).toBe('GET /x\n')
    }
  })

  test('is not available on simulated nodes', async () => {
    const { status, body } = await call('GET', `${pods}/s/proxy/`)
    expect([status, JSON.parse(body).message]).toEqual([503, `error trying to reach service: ${simulated}`])
  })
})
