import { once } from 'node:events'
import { get } from 'node:http'
import { connect as connectHttp2, constants } from 'node:http2'
import { Agent, request as httpsRequest } from 'node:https'
import type { ApiHandler } from '@kubewright/api'
import { Deferred } from '@kubewright/base'
import { describe, expect, test } from 'vitest'
import { createServerIdentity } from '../../server-identity.ts'
import { type Listener, listen } from './listener.ts'

const identity = createServerIdentity(Date.now())
const watchPath = '/api/v1/pods?watch=1'

interface Scene {
  readonly listener: Listener
  /** Resolves when the slow request has arrived. */
  readonly arrived: Promise<void>
  /** Lets the slow request respond. */
  readonly respond: () => void
}

async function start(drainTimeout?: number): Promise<Scene> {
  const arrived = new Deferred()
  const go = new Deferred()
  const handler: ApiHandler = async ({ path, signal }) => {
    if (path === '/api/v1/pods') {
      const ended = new Promise<void>((resolve) => {
        if (signal.aborted) resolve()
        else signal.addEventListener('abort', () => resolve())
      })
      return {
        status: 200,
        headers: {},
        body: async (sink) => {
          sink.write(Buffer.from('first\n'))
          await ended
        },
      }
    }
    arrived.resolve()
    const aborted = new Promise<void>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    await Promise.race([go.promise, aborted])
    return { status: 200, headers: { 'content-length': '4' }, body: Buffer.from('done') }
  }
  const { cert, key } = identity.serving
  const listener = await listen({
    handler,
    cert,
    key,
    clientCas: [],
    ...(drainTimeout === undefined ? {} : { drainTimeout }),
  })
  return { listener, arrived: arrived.promise, respond: () => go.resolve() }
}

/** A request of HTTP/1.1. Resolves to the text and how the response ended. */
function fetchText(
  port: number,
  path: string,
  onFirst: () => void = () => undefined,
  agent = new Agent({ keepAlive: true }),
): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = httpsRequest({ port, path, agent, rejectUnauthorized: false }, (response) => {
      let text = `${response.headers.connection} `
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString()
        onFirst()
      })
      response.on('end', () => resolve(`${text}end`))
      response.on('error', (error) => resolve(`${text}${error.message}`))
    })
    request.on('error', reject)
    request.end()
  })
}

describe('disposal of a listener with a drain timeout', () => {
  test('lets requests in progress finish, ends watches cleanly and refuses connections', async () => {
    const { listener, arrived, respond } = await start(60_000)
    const slow = fetchText(listener.port, '/slow')
    const first = new Deferred()
    const watch = fetchText(listener.port, watchPath, () => first.resolve())
    await Promise.all([arrived, first.promise])
    const closed = listener[Symbol.asyncDispose]()
    expect(await watch).toBe('keep-alive first\nend')
    await expect(once(get({ port: listener.port }), 'response')).rejects.toThrow()
    respond()
    expect(await slow).toBe('close doneend')
    await closed
  })

  test('ends watches that arrive on open connections', async () => {
    const { listener, arrived, respond } = await start(60_000)
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const first = new Deferred()
    const watch = fetchText(listener.port, watchPath, () => first.resolve(), agent)
    // Waits for the connection, and is sent when the first watch ends.
    const next = fetchText(listener.port, watchPath, undefined, agent).catch((error: Error) => error.message)
    const slow = fetchText(listener.port, '/slow')
    await Promise.all([arrived, first.promise])
    const closed = listener[Symbol.asyncDispose]()
    expect(await watch).toBe('keep-alive first\nend')
    expect(await next).toMatch(/^close (first\n)?end$|socket hang up|ECONN/)
    respond()
    await Promise.all([slow, closed])
  })

  test('announces the end of an HTTP/2 connection and finishes its streams', async () => {
    const { listener, arrived, respond } = await start(60_000)
    const session = connectHttp2(`https://127.0.0.1:${listener.port}`, { rejectUnauthorized: false })
    const slow = session.request({ ':path': '/slow' })
    const watch = session.request({ ':path': watchPath })
    await Promise.all([arrived, once(watch, 'data')])
    const goaway = once(session, 'goaway')
    const closed = listener[Symbol.asyncDispose]()
    watch.resume()
    await Promise.all([goaway, once(watch, 'end')])
    expect(watch.rstCode).toBe(constants.NGHTTP2_NO_ERROR)
    respond()
    const [data] = await once(slow, 'data')
    expect(String(data)).toBe('done')
    await closed
    session.destroy()
  })

  test('cancels requests that do not finish in time', async () => {
    const { listener, arrived } = await start(20)
    const slow = fetchText(listener.port, '/slow').catch((error: Error) => error.message)
    await arrived
    await listener[Symbol.asyncDispose]()
    expect(await slow).not.toContain('done')
  })

  test('cancels all requests at once without a drain timeout', async () => {
    const { listener, arrived } = await start()
    const slow = fetchText(listener.port, '/slow').catch((error: Error) => error.message)
    await arrived
    await listener[Symbol.asyncDispose]()
    expect(await slow).not.toContain('done')
  })
})
