import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { Agent, get as getTls } from 'node:https'
import { connect as connectTls } from 'node:tls'
import { Deferred, memoryLogger, nullLogger, systemClock } from '@kubewright/base'
import { describe, expect, test } from 'vitest'
import { certificateSource } from './certificate-source.ts'
import { type HttpRequest, type HttpResponse, textResponse } from './http-handler.ts'
import { selfSignedCertificate } from './self-signed-certificate.ts'
import { systemHttpListener } from './system-http-listener.ts'

async function read(send: (callback: (response: IncomingMessage) => void) => unknown): Promise<[number, string]> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const request = send(resolve) as NodeJS.EventEmitter
    request.on('error', reject)
  })
  let body = ''
  for await (const chunk of response) body += String(chunk)
  return [response.statusCode ?? 0, body]
}

const base = { name: 'metrics', host: '127.0.0.1', port: 0, log: nullLogger }

describe('systemHttpListener', () => {
  test('serves requests, and hides the reason of a failure from the client', async () => {
    const log = memoryLogger()
    const listening = await systemHttpListener.listen({
      ...base,
      log,
      handler: ({ path, query, headers, remoteAddress }) => {
        if (path === '/broken') throw new Error('reason')
        return textResponse(200, JSON.stringify([path, query.get('a'), headers['x-test'], remoteAddress]))
      },
    })
    try {
      const url = `http://127.0.0.1:${listening.port}`
      const headers = { 'x-test': 'yes' }
      expect(await read((callback) => get(`${url}/a%20b?a=1`, { headers, agent: false }, callback))).toEqual([
        200,
        '["/a b","1","yes","127.0.0.1"]',
      ])
      expect(await read((callback) => get(`${url}/broken`, { agent: false }, callback))).toEqual([
        500,
        'Internal Server Error\n',
      ])
      expect(await read((callback) => get(`${url}/%E0%A4%A`, { agent: false }, callback))).toEqual([
        400,
        'Bad Request\n',
      ])
      expect(log.records).toMatchObject([
        { error: { message: 'reason' }, values: { server: 'metrics', path: '/broken' } },
      ])
    } finally {
      await listening[Symbol.asyncDispose]()
    }
  })

  test('serves HTTPS with and without HTTP/2', async () => {
    const certificate = selfSignedCertificate(systemClock)
    for (const http2 of [false, true]) {
      const listening = await systemHttpListener.listen({
        ...base,
        certificate,
        http2,
        handler: () => textResponse(200, 'private'),
      })
      try {
        const options = { rejectUnauthorized: false, agent: false }
        const url = `https://127.0.0.1:${listening.port}/`
        expect(await read((callback) => getTls(url, options, callback))).toEqual([200, 'private'])
      } finally {
        await listening[Symbol.asyncDispose]()
      }
    }
  })

  test('uses a new certificate for new connections, and keeps the old one when the new one is invalid', async () => {
    const log = memoryLogger()
    const [first, second] = [selfSignedCertificate(systemClock).current(), selfSignedCertificate(systemClock).current()]
    const certificate = certificateSource(first)
    const handler = (): HttpResponse => textResponse(200, '')
    const listening = await systemHttpListener.listen({ ...base, log, certificate, handler })
    const shown = async (): Promise<string> => {
      const socket = connectTls({ port: listening.port, host: '127.0.0.1', rejectUnauthorized: false })
      await once(socket, 'secureConnect')
      const { fingerprint256 } = socket.getPeerX509Certificate()!
      socket.destroy()
      return fingerprint256
    }
    const printOf = ({ cert }: { cert: string }): string => new X509Certificate(cert).fingerprint256
    try {
      expect(await shown()).toBe(printOf(first))
      certificate.replace(second)
      expect(await shown()).toBe(printOf(second))
      certificate.replace({ cert: 'broken', key: 'broken' })
      expect(await shown()).toBe(printOf(second))
      expect(log.records).toMatchObject([{ message: 'Invalid certificate ignored; the previous one stays in use' }])
    } finally {
      await listening[Symbol.asyncDispose]()
    }
  })

  test('closes after the requests in flight, even when clients keep connections open', async () => {
    const certificate = selfSignedCertificate(systemClock)
    const received = new Deferred<void>()
    const answer = new Deferred<HttpResponse>()
    const handler = (request: HttpRequest): HttpResponse | Promise<HttpResponse> => {
      if (request.path !== '/slow') return textResponse(200, '')
      received.resolve()
      return answer.promise
    }
    const listening = await systemHttpListener.listen({ ...base, certificate, http2: true, handler })
    const url = `https://127.0.0.1:${listening.port}`
    const agent = new Agent({ keepAlive: true, rejectUnauthorized: false })
    await read((callback) => getTls(`${url}/`, { agent }, callback))
    const session = connectHttp2(url, { rejectUnauthorized: false })
    const stream = session.request({ ':path': '/' })
    const [head] = (await once(stream, 'response')) as [Record<string, unknown>]
    expect(head[':status']).toBe(200)
    stream.resume()
    const slow = read((callback) => getTls(`${url}/slow`, { agent: false, rejectUnauthorized: false }, callback))
    await received.promise
    const closed = listening[Symbol.asyncDispose]()
    answer.resolve(textResponse(200, 'done'))
    expect(await slow).toEqual([200, 'done'])
    await closed
    agent.destroy()
    session.destroy()
  })

  test('names the fix when the address is in use', async () => {
    const first = await systemHttpListener.listen({ ...base, handler: () => textResponse(200, '') })
    try {
      const again = systemHttpListener.listen({
        ...base,
        name: 'probes',
        port: first.port,
        handler: () => textResponse(200, ''),
      })
      await expect(again).rejects.toMatchObject({
        code: 'KW_LISTEN',
        message: `Cannot serve probes at 127.0.0.1:${first.port} as that address is in use: stop the program that uses it, or choose another address with --health-probe-bind-address`,
      })
    } finally {
      await first[Symbol.asyncDispose]()
    }
  })
})
