import type { ApiResponse } from '@kubewright/api'
import { WireReader } from '@kubewright/base/protobuf'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { negotiate, requireStream } from '../../request/negotiate.ts'
import { customResource } from '../../testdata/custom-resource.ts'
import { PlainServer } from '../../testdata/plain-server.ts'
import { DecodeState } from '../json/go-codec.ts'
import { defaultServedRelease } from '../served-release.ts'
import { decodeMessage, encodeProtobuf, openEnvelope } from './envelope.ts'

const protobuf = 'application/vnd.kubernetes.protobuf'
const maps = '/api/v1/namespaces/a/configmaps'
const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' }, data: { k: 'v' } }

let server: PlainServer
const stopping: AbortController[] = []
beforeEach(async () => {
  server = await PlainServer.start([], async ({ resources }) => {
    resources.set(customResource('v1', { type: 'object' }))
  })
})
afterEach(async () => {
  for (const controller of stopping.splice(0)) controller.abort()
  await server[Symbol.asyncDispose]()
})

async function send(
  line: string,
  headers: Readonly<Record<string, string>> = {},
  body: Uint8Array = new Uint8Array(),
): Promise<ApiResponse> {
  const controller = new AbortController()
  stopping.push(controller)
  const [method = '', target = ''] = line.split(' ')
  const [path = '', query] = target.split('?')
  return server.server.handler({
    method,
    path,
    query: new URLSearchParams(query),
    headers,
    body: async () => body,
    signal: controller.signal,
    peer: { address: '127.0.0.1' },
  })
}

const bytesOf = ({ body }: ApiResponse): Uint8Array => body as Uint8Array
const typeOf = ({ headers }: ApiResponse): unknown => headers['content-type']

/** The object of a protobuf response. */
function decoded(bytes: Uint8Array): Record<string, unknown> {
  const { apiVersion, kind, message } = openEnvelope(bytes)
  const { type } = defaultServedRelease.messages.find(apiVersion, kind)!
  const object = defaultServedRelease.json
    .codec(type)
    .decode(decodeMessage(defaultServedRelease, type, message), new DecodeState()) as Record<string, unknown>
  return { ...object, apiVersion, kind }
}

describe('a JSON body of a delete', () => {
  test('is rejected when its apiVersion is a number beyond 2^53', async () => {
    const body = Buffer.from('{"apiVersion":9007199254740993,"kind":"ConfigMap"}')
    const { status } = await send(`DELETE ${maps}/x`, { 'content-type': 'application/json' }, body)
    expect(status).toBe(400)
  })
})

describe('a protobuf body', () => {
  test('creates the same object as JSON', async () => {
    const headers = { 'content-type': protobuf }
    const answer = await send(`POST ${maps}`, headers, encodeProtobuf(defaultServedRelease, configMap))
    expect([answer.status, typeOf(answer)]).toEqual([201, 'application/json'])
    const created = JSON.parse(Buffer.from(bytesOf(answer)).toString())
    expect(created).toMatchObject({
      data: { k: 'v' },
      metadata: { name: 'x', namespace: 'a', uid: expect.any(String) },
    })
    const other = await server.send(`POST ${maps}`, { body: { ...configMap, metadata: { name: 'y' } } })
    expect(Object.keys(created.metadata).sort()).toEqual(Object.keys(other.body.metadata).sort())
  })

  test('may omit its type', async () => {
    // An envelope with only the object: metadata {name: x}, data {k: v1!}.
    const untyped = Buffer.from('6b387300 120f 0a03 0a0178 1208 0a016b 12037631 21'.replaceAll(' ', ''), 'hex')
    const answer = await send(`POST ${maps}`, { 'content-type': protobuf }, untyped)
    expect(JSON.parse(Buffer.from(bytesOf(answer)).toString())).toMatchObject({ kind: 'ConfigMap', data: { k: 'v1!' } })
  })

  test('may have a malformed apiVersion, which counts as absent', async () => {
    const body = encodeProtobuf(defaultServedRelease, configMap)
    // The envelope begins with the prefix and a TypeMeta; apiVersion is its first field.
    const version = Buffer.from('a/b/c')
    const typeMeta = Buffer.concat([
      Buffer.from([0x0a, version.length]),
      version,
      Buffer.from([0x12, 9]),
      Buffer.from('ConfigMap'),
    ])
    const rest = body.subarray(4 + 2 + body[5]!)
    const renamed = Buffer.concat([body.subarray(0, 4), Buffer.from([0x0a, typeMeta.length]), typeMeta, rest])
    const created = await send(`POST ${maps}`, { 'content-type': protobuf }, renamed)
    expect(created.status).toBe(201)
  })

  test('contains the options of a delete', async () => {
    const { body } = await server.send(`POST ${maps}`, { body: configMap })
    const options = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid: 'other' } }
    const refused = await send(
      `DELETE ${maps}/x`,
      { 'content-type': protobuf },
      encodeProtobuf(defaultServedRelease, options),
    )
    expect(refused.status).toBe(409)
    const right = { ...options, preconditions: { uid: body.metadata.uid } }
    const deleted = await send(
      `DELETE ${maps}/x`,
      { 'content-type': protobuf, accept: protobuf },
      encodeProtobuf(defaultServedRelease, right),
    )
    expect(decoded(bytesOf(deleted))).toMatchObject({ kind: 'Status', status: 'Success', details: { name: 'x' } })
  })

  test.each([
    ['', 'the object provided is unrecognized (must be of type ConfigMap): empty data (<empty>)'],
    [
      '00',
      'the object provided is unrecognized (must be of type ConfigMap): provided data does not appear to be a protobuf message, expected prefix [107 56 115 0] (00)',
    ],
    [
      '6b3873000a0f0a0276311209436f6e6669674d617012020a05',
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: unexpected EOF',
    ],
    [
      '6b3873000a0b0a07617070732f763112001202 0a00',
      'no kind "ConfigMap" is registered for version "apps/v1" in scheme "pkg/api/legacyscheme/scheme.go:30"',
    ],
  ])('is rejected when it is %j', async (hex, message) => {
    const answer = await send(`POST ${maps}`, { 'content-type': protobuf }, Buffer.from(hex.replaceAll(' ', ''), 'hex'))
    expect(answer.status).toBe(400)
    expect(JSON.parse(Buffer.from(bytesOf(answer)).toString()).message).toContain(message)
  })

  test('is rejected for a custom resource', async () => {
    const body = Buffer.concat([Buffer.from('6b387300', 'hex'), Buffer.from('0a00', 'hex')])
    const path = 'POST /apis/shop.example.com/v1/namespaces/a/widgets'
    const answer = await send(path, { 'content-type': protobuf }, body)
    expect(answer.status).toBe(400)
    expect(JSON.parse(Buffer.from(bytesOf(answer)).toString()).message).toBe(
      'Widget in version "v1" cannot be handled as a Widget: object *unstructured.Unstructured does not implement the protobuf marshalling interface and cannot be encoded to a protobuf message',
    )
  })
})

describe('a protobuf response', () => {
  beforeEach(async () => {
    await server.send(`POST ${maps}`, { body: configMap })
  })

  test('has the same object as JSON', async () => {
    const answer = await send(`GET ${maps}/x`, { accept: `${protobuf},application/json` })
    expect([answer.status, typeOf(answer)]).toEqual([200, protobuf])
    expect(decoded(bytesOf(answer))).toEqual((await server.send(`GET ${maps}/x`)).body)
  })

  test('contains the items of a list', async () => {
    const answer = await send(`GET ${maps}`, { accept: protobuf })
    const { kind, message } = openEnvelope(bytesOf(answer))
    expect(kind).toBe('ConfigMapList')
    expect(Buffer.from(message).toString('latin1')).toContain('\n\u0001k\u0012\u0001v')
  })

  test('contains the metadata of a list', async () => {
    const accept = `${protobuf};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1`
    const { kind, apiVersion, message } = openEnvelope(bytesOf(await send(`GET ${maps}`, { accept })))
    expect([kind, apiVersion]).toEqual(['PartialObjectMetadataList', 'meta.k8s.io/v1'])
    expect(Buffer.from(message).toString('latin1')).not.toContain('\n\u0001k\u0012\u0001v')
  })

  test('contains errors', async () => {
    const answer = await send(`GET ${maps}/none`, { accept: protobuf })
    expect([answer.status, typeOf(answer)]).toEqual([404, protobuf])
    expect(decoded(bytesOf(answer))).toEqual((await server.send(`GET ${maps}/none`)).body)
  })

  test('falls back to JSON for custom resources but not for their metadata', async () => {
    const widgets = '/apis/shop.example.com/v1/namespaces/a/widgets'
    await server.send(`POST ${widgets}`, {
      body: { apiVersion: 'shop.example.com/v1', kind: 'Widget', metadata: { name: 'w' } },
    })
    expect(typeOf(await send(`GET ${widgets}/w`, { accept: `${protobuf},application/json` }))).toBe('application/json')
    expect((await send(`GET ${widgets}/w`, { accept: protobuf })).status).toBe(406)
    const accept = `${protobuf};as=PartialObjectMetadata;g=meta.k8s.io;v=v1`
    expect(decoded(bytesOf(await send(`GET ${widgets}/w`, { accept })))).toMatchObject({ metadata: { name: 'w' } })
  })
})

describe('a protobuf watch', () => {
  test('sends events as frames', async () => {
    await server.send(`POST ${maps}`, { body: configMap })
    const answer = await send(`GET ${maps}?watch=1`, {
      accept: `${protobuf};stream=watch,${protobuf},application/json`,
    })
    expect(typeOf(answer)).toBe(`${protobuf};stream=watch`)
    const frames: Buffer[] = []
    let arrived = (): void => undefined
    const three = new Promise<void>((resolve) => {
      arrived = () => void (frames.length === 3 && resolve())
    })
    const sink = {
      write: (chunk: Uint8Array) => {
        frames.push(Buffer.from(chunk))
        arrived()
        return true
      },
      drained: async () => undefined,
    }
    void (answer.body as (to: typeof sink) => Promise<void>)(sink)
    await server.send(`PUT ${maps}/x`, { body: { ...configMap, data: { k: 'w' } } })
    await server.send(`DELETE ${maps}/x`)
    await three
    const events = frames.map((frame) => {
      expect(frame.readUInt32BE()).toBe(frame.length - 4)
      const reader = new WireReader(frame.subarray(4))
      reader.uint32()
      const type = reader.string()
      reader.uint32()
      const object = reader.message((inner) => {
        inner.uint32()
        return inner.bytes()
      })
      return [type, decoded(object)['data']]
    })
    expect(events).toEqual([
      ['ADDED', { k: 'v' }],
      ['MODIFIED', { k: 'w' }],
      ['DELETED', { k: 'w' }],
    ])
  })
})

describe('negotiate()', () => {
  const accepting = (accept: string) => ({ headers: { accept }, query: new URLSearchParams() })
  const offers = { conversions: 'all' as const, streams: false }

  test.each([
    [`${protobuf},application/json`, protobuf],
    [`application/json,${protobuf}`, 'application/json'],
    [`application/json;q=0.5,${protobuf}`, protobuf],
    [`${protobuf};as=Table;g=meta.k8s.io;v=v1,application/json`, 'application/json'],
    [`${protobuf};as=PartialObjectMetadata;g=meta.k8s.io;v=v1`, protobuf],
    [`*/*`, 'application/json'],
  ])('selects the media type for %s', (accept, mediaType) => {
    expect(negotiate(accepting(accept), offers).mediaType).toBe(mediaType)
  })

  test('omits protobuf where it is not offered', () => {
    const without = { ...offers, protobuf: false, routed: false }
    expect(negotiate(accepting(`${protobuf},application/yaml`), without).mediaType).toBe('application/yaml')
    expect(() => negotiate(accepting(protobuf), without)).toThrow('only the following media types are accepted')
    expect(requireStream(negotiate(accepting(`${protobuf},application/json`), without)).mediaType).toBe(
      'application/json',
    )
  })
})
