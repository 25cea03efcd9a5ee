import { type ApiRequest, type AssembledServer, assembleServer, createFrontProxyIdentity } from '@kubewright/server'
import { MemoryStore } from '@kubewright/storage'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type RunningExtension, startExtension } from './extension-server.ts'

const now = Date.now()
const frontProxy = createFrontProxyIdentity(now)
const store = new MemoryStore()
const user = { name: 'jane', groups: ['system:masters'] }
const path = '/apis/hello.example.com/v1/namespaces/default/greetings'
let server: AssembledServer
let extension: RunningExtension

beforeAll(async () => {
  server = await assembleServer({ store, published: { frontProxy }, access: { tokens: [{ token: 'jane', user }] } })
  extension = await startExtension(frontProxy.ca, now)
  const [service, apiService] = extension.manifests
  await send('POST /api/v1/namespaces/default/services', service)
  await send('POST /apis/apiregistration.k8s.io/v1/apiservices', apiService)
  await available()
})
afterAll(async () => {
  await extension[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
  await store[Symbol.asyncDispose]()
})

// biome-ignore lint/suspicious/noExplicitAny: responses have any shape
async function send(line: string, body?: unknown, onChunk?: (text: string, leave: () => void) => void): Promise<any> {
  const [method = '', target = ''] = line.split(' ')
  const [pathname = '', query] = target.split('?')
  const client = new AbortController()
  const request: ApiRequest = {
    method,
    path: pathname,
    query: new URLSearchParams(query),
    headers: { authorization: 'Bearer jane', 'content-type': 'application/json', 'user-agent': 'test' },
    body: async () => Buffer.from(body === undefined ? '' : JSON.stringify(body)),
    signal: client.signal,
    peer: { address: '127.0.0.1' },
  }
  const response = await server.handler(request)
  const chunks: Uint8Array[] = []
  if (typeof response.body === 'function') {
    await response.body({
      write: (chunk) => {
        chunks.push(chunk)
        onChunk?.(Buffer.from(chunk).toString(), () => client.abort())
        return true
      },
      drained: async () => undefined,
    })
  } else if (response.body) chunks.push(response.body)
  const text = Buffer.concat(chunks).toString()
  return onChunk ? text : JSON.parse(text)
}

/** Watches the APIService until the aggregating server has found the extension server. */
async function available(): Promise<void> {
  const watch = '/apis/apiregistration.k8s.io/v1/apiservices?watch=1&fieldSelector=metadata.name%3Dv1.hello.example.com'
  await send(`GET ${watch}`, undefined, (text, leave) => {
    if (text.includes('"reason":"Passed"')) leave()
  })
}

describe('startExtension()', () => {
  test('serves greetings through the aggregating server', async () => {
    const greeting = { apiVersion: 'hello.example.com/v1', kind: 'Greeting', metadata: { name: 'world' } }
    expect(await send(`POST ${path}`, { ...greeting, spec: { to: 'world' } })).toMatchObject({
      metadata: { name: 'world', namespace: 'default', generation: 1 },
      spec: { to: 'world', text: 'Hello' },
    })
    expect((await send(`GET ${path}`)).items).toHaveLength(1)
    expect((await send(`POST ${path}`, { ...greeting, metadata: { name: 'x' }, spec: {} })).message).toBe(
      'Greeting.hello.example.com "x" is invalid: spec.to: Required value',
    )
  })

  test('appears in the discovery of the aggregating server', async () => {
    const { resources } = await send('GET /apis/hello.example.com/v1')
    expect(resources).toMatchObject([{ name: 'greetings', kind: 'Greeting', shortNames: ['hi'] }])
    const { groups } = await send('GET /apis')
    expect(groups.map(({ name }: { name: string }) => name)).toContain('hello.example.com')
    const { paths } = await send('GET /openapi/v3')
    const { serverRelativeURL } = paths['apis/hello.example.com/v1']
    const { components } = await send(`GET ${serverRelativeURL}`)
    expect(components.schemas['com.example.hello.v1.Greeting'].properties.spec.required).toEqual(['to'])
  })
})
