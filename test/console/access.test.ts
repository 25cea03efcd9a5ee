import { once } from 'node:events'
import { type IncomingHttpHeaders, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { ConfigMap } from '@kubewright/k8s'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestConsole, type TestConsole } from './open-test-console.ts'

let env: TestConsole
let base: URL

beforeAll(async () => {
  env = await openTestConsole({ readOnly: true })
  base = new URL(env.console.createLink())
})
afterAll(() => env?.[Symbol.asyncDispose]())

interface Answer {
  readonly status: number | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** Sends a request as any program can: with every header that the test chooses. */
async function send(path: string, options: { body?: unknown; headers?: Record<string, string> } = {}): Promise<Answer> {
  const { body, headers = {} } = options
  const method = body === undefined ? 'GET' : 'POST'
  const sent = request(new URL(path, base), {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json', origin: base.origin }), ...headers },
  })
  sent.end(body === undefined ? undefined : JSON.stringify(body))
  const [response] = await once(sent, 'response')
  return { status: response.statusCode, headers: response.headers, body: await text(response) }
}

const tokenOf = (link: string): string => new URL(link).hash.slice(1)

async function cookie(): Promise<string> {
  const { headers } = await send('session', { body: { token: tokenOf(env.console.createLink()) } })
  return headers['set-cookie']?.[0]?.split(';')[0] ?? ''
}

test('a token is exchanged once, for a cookie that scripts and other sites cannot use', async () => {
  const token = tokenOf(env.console.createLink())
  const first = await send('session', { body: { token } })
  expect(first.status).toBe(200)
  expect(first.headers['set-cookie']?.[0]).toMatch(/; Path=\/[0-9a-f]{16}\/; HttpOnly; SameSite=Strict$/)
  expect((await send('session', { body: { token } })).status).toBe(401)
})

test.each([{ token: 'x' }, { token: '' }, {}, null, []])('a session with %j is refused', async (body) => {
  expect((await send('session', { body })).status).toBe(401)
})

test('requests and streams without a session are refused', async () => {
  expect((await send('request', { body: { type: 'source' } })).status).toBe(401)
  expect((await send('stream')).status).toBe(401)
  expect((await send('stream', { headers: { cookie: 'kubewright=1' } })).status).toBe(401)
})

test('requests of another origin are refused even with a session', async () => {
  const headers = { cookie: await cookie() }
  for (const origin of ['http://evil.example', 'null', `http://localhost:${base.port}`, 'http://127.0.0.1:1']) {
    expect((await send('request', { body: {}, headers: { ...headers, origin } })).status).toBe(403)
  }
  expect((await send('stream', { headers: { ...headers, 'sec-fetch-site': 'same-site' } })).status).toBe(403)
  expect((await send('request', { body: {}, headers: { ...headers, 'content-type': 'text/plain' } })).status).toBe(415)
})

test('another host name is refused, so that DNS rebinding does not help', async () => {
  expect((await send('', { headers: { host: 'evil.example' } })).status).toBe(403)
})

test('the page has a strict policy, and nothing else is served', async () => {
  const { status, headers } = await send('')
  expect(status).toBe(200)
  expect(headers['content-security-policy']).toContain("default-src 'none'")
  expect(headers['content-security-policy']).toContain("require-trusted-types-for 'script'")
  expect(headers['x-content-type-options']).toBe('nosniff')
  expect((await send('/')).status).toBe(404)
  for (const path of ['constructor', '__proto__', '..%2fpackage.json', 'page.js.map'])
    expect((await send(path)).status).toBe(404)
})

test('a read-only console refuses to change the cluster', async () => {
  const { metadata } = await env.client.create(ConfigMap({ metadata: { name: 'kept' } }))
  const object = { resource: { group: '', version: 'v1', plural: 'configmaps' }, namespace: 'default', name: 'kept' }
  const body = { type: 'delete', object, propagation: 'Background', uid: metadata.uid }
  const { body: answer } = await send('request', { body, headers: { cookie: await cookie() } })
  expect(JSON.parse(answer)).toEqual({ error: 'This console is read-only: start it without --read-only' })
  expect(await env.client.find(ConfigMap, 'kept')).toBeDefined()
})
