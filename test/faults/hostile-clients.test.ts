// Clients that violate the protocol: the server responds where possible, disconnects the rest, and keeps serving other
// clients.
import { readFileSync } from 'node:fs'
import https from 'node:https'
import { connect, type TLSSocket } from 'node:tls'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { targetOfKubeconfig } from '../conformance/target.ts'
import { configMap, Requests } from '../up/requests.ts'
import { TemporaryFolder, UpProcess } from '../up/up-process.ts'

const maps = '/api/v1/namespaces/default/configmaps'
const mebibyte = 1024 * 1024
let folder: TemporaryFolder
let up: UpProcess
let requests: Requests

beforeAll(async () => {
  folder = new TemporaryFolder()
  up = await UpProcess.start(['--memory', '--controllers', 'none'], folder.path)
  requests = new Requests(up.kubeconfig)
})

afterEach(async () => {
  expect((await requests.send('GET', '/readyz')).text).toBe('ok')
  // The server handled everything without an internal error.
  expect(up.notes.filter((line) => /Request failed| {4}at /.test(line))).toEqual([])
})

afterAll(async () => {
  requests[Symbol.dispose]()
  await up[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

/** A TLS connection with the administrator's certificate. */
async function open(protocols: readonly string[] = ['http/1.1']): Promise<TLSSocket> {
  const { server, ca, client } = targetOfKubeconfig(up.kubeconfig)
  const socket = connect({
    host: server.hostname,
    port: Number(server.port),
    ALPNProtocols: [...protocols],
    ...(ca === undefined ? {} : { ca }),
    ...client,
  })
  await new Promise((resolve, reject) => {
    socket.once('secureConnect', resolve)
    socket.once('error', reject)
  })
  socket.on('error', () => undefined)
  return socket
}

/** Sends bytes and resolves with the response until the connection is closed or the given text arrives. */
async function exchange(bytes: string | Buffer, protocols?: readonly string[], last?: string): Promise<string> {
  const socket = await open(protocols)
  let answer = ''
  await new Promise<void>((resolve) => {
    socket.once('close', () => resolve())
    socket.on('data', (chunk: Buffer) => {
      answer += chunk.toString('latin1')
      if (last !== undefined && answer.includes(last)) resolve()
    })
    socket.write(bytes)
  })
  socket.destroy()
  return answer
}

function residentBytes(): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${up.child.pid}/status`, 'utf8'))![1]) * 1024
}

describe('kubewright up', () => {
  test.each([
    ['garbage', 'this is not http\r\n\r\n'],
    ['binary', Buffer.from([0, 1, 2, 255, 254, 13, 10, 13, 10])],
    ['a bad version', 'GET / HTTP/9.9\r\n\r\n'],
    ['a bad header', 'GET /api HTTP/1.1\r\nhost: x\r\nbad header\r\n\r\n'],
    ['two lengths', 'POST /api HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'],
    [
      'a length and chunks',
      'POST /api HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['a chunk of nonsense', 'POST /api HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n\r\n'],
    ['a huge header', `GET /api HTTP/1.1\r\nhost: x\r\nx-large: ${'a'.repeat(2 * mebibyte)}\r\n\r\n`],
    ['too many headers', `GET /api HTTP/1.1\r\nhost: x\r\n${'a: b\r\n'.repeat(20_000)}\r\n`],
    ['a huge path', `GET /${'a'.repeat(2 * mebibyte)} HTTP/1.1\r\nhost: x\r\n\r\n`],
  ])('rejects %s and closes the connection', async (_, bytes) => {
    expect(await exchange(bytes)).toMatch(/^$|^HTTP\/1\.1 4\d\d /)
  })

  test('survives invalid HTTP/2 frames', async () => {
    const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
    const settings = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])
    // Headers of stream 1 that are not valid HPACK.
    const headers = Buffer.from([0, 0, 4, 1, 5, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff])
    // Type, flags and stream of a GOAWAY frame. The length differs, because newer versions of Node add a reason.
    const goAway = '\x07\0\0\0\0\0'
    expect(await exchange(Buffer.concat([preface, Buffer.alloc(200, 0xff)]), ['h2'], goAway)).toContain(goAway)
    expect(await exchange(Buffer.concat([preface, settings, headers]), ['h2'], goAway)).toContain(goAway)
  })

  test.each([
    ['arrays', '['.repeat(100_000), 400],
    ['closed arrays', `${'['.repeat(100_000)}${']'.repeat(100_000)}`, 400],
    ['objects', `{"metadata":{"name":"x"},"data":${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}}`, 400],
    ['a repeated key', `{"metadata":{"name":"dup-keys"},"data":{${'"a":"b",'.repeat(50_000)}"a":"b"}}`, 201],
    ['a large number', `{"metadata":{"name":"x","generation":${'9'.repeat(100_000)}}}`, 400],
  ])('responds to excessively nested or repeated %s', async (_, body, status) => {
    expect((await requests.send('POST', maps, body)).status).toBe(status)
  })

  test('responds to YAML with exponential aliases', async () => {
    const lines = ['a: &a [x,x,x,x,x,x,x,x,x]']
    for (let i = 1; i < 12; i++) {
      const [name, last] = [i, i - 1].map((n) => String.fromCharCode(97 + n))
      lines.push(`${name}: &${name} [${Array.from({ length: 9 }, () => `*${last}`).join(',')}]`)
    }
    const yaml = { 'content-type': 'application/yaml' }
    const bomb = await requests.send('POST', maps, `${lines.join('\n')}\nmetadata: { name: bomb }\n`, yaml)
    expect(bomb.status).toBe(400)
    expect((await requests.send('POST', maps, `x: ${'['.repeat(50_000)}`, yaml)).status).toBe(400)
    expect((await requests.send('POST', maps, `${'- '.repeat(20_000)}x`, yaml)).status).toBe(400)
  })

  test('responds to excessively nested or repeated patches', async () => {
    await requests.send('POST', maps, configMap('patched', 'x'))
    const send = (type: string, body: string): Promise<{ status: number }> =>
      requests.send('PATCH', `${maps}/patched?fieldManager=m`, body, { 'content-type': `application/${type}` })
    const deep = `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`
    for (const type of ['merge-patch+json', 'strategic-merge-patch+json', 'apply-patch+yaml', 'json-patch+json'])
      expect((await send(type, deep)).status).toBeLessThan(500)
    // Each copy doubles the object.
    const copies = Array.from({ length: 60 }, () => '{"op":"copy","from":"/data","path":"/data/x"}').join(',')
    expect((await send('json-patch+json', `[${copies}]`)).status).toBeLessThan(500)
    const many = `[${Array.from({ length: 20_000 }, () => '{"op":"test","path":"/kind","value":"ConfigMap"}').join(',')}]`
    expect((await send('json-patch+json', many)).status).toBe(413)
  })

  test('responds to a body that is too large and to selectors that are too long', async () => {
    const large = await requests.send('POST', maps, configMap('large', 'x'.repeat(4 * mebibyte)))
    expect(large.status).toBe(413)
    const selector = encodeURIComponent(Array.from({ length: 500 }, (_, i) => `k${i} in (a,b,c)`).join(','))
    expect((await requests.send('GET', `${maps}?labelSelector=${selector}`)).status).toBe(200)
    expect((await requests.send('GET', `${maps}?labelSelector=${'('.repeat(5000)}`)).status).toBe(400)
  })

  test('keeps serving while clients hold half-open connections', async () => {
    const idle = await Promise.all(Array.from({ length: 100 }, () => open()))
    idle.forEach((socket, i) => {
      // No data, half a header, half a body.
      if (i % 3 === 1) socket.write('GET /api HTTP/1.1\r\nhost: x\r\nx-slow:')
      if (i % 3 === 2) socket.write(`POST ${maps} HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n{"meta`)
    })
    expect((await requests.send('GET', maps)).status).toBe(200)
    for (const socket of idle) socket.destroy()
  })

  test('keeps serving in bounded memory while watchers do not read', async () => {
    const { hostname, port } = requests.server
    const watchers = await Promise.all(
      Array.from(
        { length: 20 },
        () =>
          new Promise<import('node:http').IncomingMessage>((resolve, reject) => {
            const path = `${maps}?watch=1&resourceVersion=0`
            const watch = https.get({ hostname, port, path, agent: requests.agent }, resolve)
            watch.on('error', reject)
          }),
      ),
    )
    for (const watcher of watchers) watcher.pause().on('error', () => undefined)
    await requests.send('POST', maps, configMap('noisy', '0'))
    const before = residentBytes()
    // 100 MiB of events for each watcher.
    const value = 'x'.repeat(100 * 1024)
    for (let i = 0; i < 1000; i++) {
      const { status } = await requests.send('PUT', `${maps}/noisy`, configMap('noisy', `${i}${value}`))
      expect(status).toBe(200)
    }
    // The server keeps one copy of the history, not one for each watcher.
    expect(residentBytes() - before).toBeLessThan(600 * mebibyte)
    for (const watcher of watchers) watcher.destroy()
  })
})
