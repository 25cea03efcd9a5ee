import { defaultRelease } from '@kubewright/k8s/releases'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { arbitraryGoValue } from '../../testdata/arbitrary-go-value.ts'
import { goTypeOfKind } from '../go-declarations.ts'
import { DecodeState } from '../json/go-codec.ts'
import { defaultServedRelease } from '../served-release.ts'
import { decodeMessage, encodeProtobuf, encodeWatchFrame, openEnvelope } from './envelope.ts'

const hex = (...parts: readonly string[]): string => parts.join('').replaceAll(' ', '')
const canonical = (type: string, value: unknown): unknown =>
  defaultServedRelease.json.codec(type).decode(value, new DecodeState())

/** The bytes of metadata with a one-letter name: the fields that are never omitted. */
const metaNamed = (letter: string): string =>
  hex('0a11', `0a01${letter}`, '1200', '1a00', '2200', '2a00', '3200', '3800', '4200')

const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { z: 'é', b: '1' } }
const configMapMessage = hex(metaNamed('61'), '12060a016212 0131', '12070a017a1202c3a9')
const configMapType = hex('0a0f', '0a02 7631', '1209 436f6e6669674d6170')

describe('encodeProtobuf()', () => {
  test('writes the prefix, the type, the object and two empty fields', () => {
    const expected = hex('6b387300', configMapType, '12 24', configMapMessage, '1a00 2200')
    expect(encodeProtobuf(defaultServedRelease, configMap).toString('hex')).toBe(expected)
  })

  test('writes fields that Go never omits, embedded structs as messages, and no nil pointers', () => {
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {},
      spec: { containers: [], volumes: [{ name: 'v', emptyDir: { sizeLimit: '1Gi' } }], hostNetwork: true },
    }
    const { message } = openEnvelope(encodeProtobuf(defaultServedRelease, pod))
    const spec = Buffer.from(message).toString('hex').slice(2)
    // Field 2 of the volume is its embedded source, whose field 2 is emptyDir: an empty medium and a limit.
    expect(spec).toContain(hex('0a10', '0a0176', '120b', '1209', '0a00', '1205 0a03 314769'))
    // hostNetwork is field 11, hostPID 12, hostIPC 13.
    expect(spec).toContain('580160006800')
  })

  test('writes lists as metadata and items without types', () => {
    const list = { kind: 'ConfigMapList', apiVersion: 'v1', metadata: { resourceVersion: '7' }, items: [configMap] }
    const { kind, message } = openEnvelope(encodeProtobuf(defaultServedRelease, list))
    expect(kind).toBe('ConfigMapList')
    const expected = hex('0a07 0a00 120137 1a00', '1224', configMapMessage)
    expect(Buffer.from(message.subarray(1)).toString('hex')).toBe(expected)
  })

  test.each([
    ['meta.k8s.io/v1', '0a', '12'],
    ['meta.k8s.io/v1beta1', '12', '0a'],
  ])('numbers the fields of a PartialObjectMetadataList of %s', (apiVersion, metadata, items) => {
    const list = { kind: 'PartialObjectMetadataList', apiVersion, metadata: {}, items: [{ metadata: { name: 'a' } }] }
    const bytes = encodeProtobuf(defaultServedRelease, list).toString('hex')
    const item = hex(items, '13', metaNamed('61'))
    const meta = hex(metadata, '06 0a00 1200 1a00')
    expect(bytes).toContain(metadata === '0a' ? meta + item : item + meta)
  })

  test('writes discovery documents, whose lists of verbs are messages, with or without a version', () => {
    const resource = { name: 'a', singularName: '', namespaced: true, kind: 'A', verbs: ['get', 'list'] }
    const list = { kind: 'APIResourceList', groupVersion: 'v1', resources: [resource] }
    expect(encodeProtobuf(defaultServedRelease, list).toString('hex')).toContain(
      hex('220b', '0a03 676574', '0a04 6c697374'),
    )
    expect(openEnvelope(encodeProtobuf(defaultServedRelease, { ...list, apiVersion: 'v1' }))).toMatchObject({
      apiVersion: 'v1',
    })
  })

  test.each([10_000, 100_000, 3_000_000])('writes several texts of %i characters', (size) => {
    const large = { ...configMap, data: { a: 'x'.repeat(size), b: 'ü'.repeat(size / 2) } }
    const small = encodeProtobuf(defaultServedRelease, configMap)
    const { message } = openEnvelope(encodeProtobuf(defaultServedRelease, large))
    expect(decodeMessage(defaultServedRelease, 'core/v1.ConfigMap', message)).toEqual({
      metadata: { name: 'a' },
      data: large.data,
    })
    expect(encodeProtobuf(defaultServedRelease, configMap)).toEqual(small)
  })

  test.each([
    ['Table', 'meta.k8s.io/v1'],
    ['Deployment', 'apps.example.com/v1'],
  ])('rejects %s of %s, which has no protobuf form', (kind, apiVersion) => {
    expect(() => encodeProtobuf(defaultServedRelease, { kind, apiVersion })).toThrow(
      'does not implement the protobuf marshalling interface',
    )
  })
})

describe('encodeWatchFrame()', () => {
  test('writes the length in four bytes and an event with the object in its envelope', () => {
    const object = encodeProtobuf(defaultServedRelease, configMap).toString('hex')
    const size = (object.length / 2).toString(16)
    const raw = hex('0a', size, object)
    const event = hex('0a05 4144444544', '12', (raw.length / 2).toString(16), raw)
    expect(encodeWatchFrame(defaultServedRelease, 'ADDED', configMap).toString('hex')).toBe(
      (event.length / 2).toString(16).padStart(8, '0') + event,
    )
  })
})

describe('openEnvelope()', () => {
  test.each([
    ['', 'empty data'],
    ['7b7d', 'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]'],
    ['6b387300', 'empty body'],
    ['6b3873000a05', 'unexpected EOF'],
    ['6b38730007', 'proto: Unknown: illegal tag 0 (wire type 7)'],
    ['6b3873000c', 'proto: Unknown: wiretype end group for non-group'],
    ['6b3873000b', 'proto: wrong wireType = 3 for field TypeMeta'],
    ['6b3873001001', 'proto: wrong wireType = 0 for field Raw'],
    ['6b3873000a020801', 'proto: wrong wireType = 0 for field APIVersion'],
  ])('rejects %j with the text of kube-apiserver', (bytes, message) => {
    expect(() => openEnvelope(Buffer.from(bytes, 'hex'))).toThrow(message)
  })
})

describe('decodeMessage()', () => {
  const decode = (type: string, content: string): unknown => {
    const bytes = Buffer.from(content.replaceAll(' ', ''), 'hex')
    return decodeMessage(defaultServedRelease, type, Buffer.concat([Buffer.of(bytes.length), bytes]))
  }

  test('skips unknown fields of every wire type', () => {
    const unknown = '980601 9106 0000000000000000 9a0602ffff 9306 9a060101 9406 9506 00000000'
    expect(decode('core/v1.ConfigMap', `${unknown} 2001`)).toEqual({ immutable: true })
  })

  test('merges a message that occurs several times', () => {
    const value = decode('core/v1.ConfigMap', '0a030a0161 0a032a0175')
    expect(value).toEqual({ metadata: { name: 'a', uid: 'u' } })
  })

  test('reads map entries as loosely as kube-apiserver', () => {
    // The first entry is valid; the others skip a tag 0 and read a key that ends behind the entry.
    expect(decode('core/v1.ConfigMap', '12060a016112 0162')).toEqual({ data: { a: 'b' } })
    expect(decode('core/v1.ConfigMap', '120800010a01611201 62')).toEqual({ data: { a: 'b' } })
    expect(decode('core/v1.ConfigMap', '12020a02 2001')).toEqual({ data: { ' \x01': null }, immutable: true })
  })

  test('reads packed and unpacked numbers', () => {
    expect(decode('core/v1.PodSecurityContext', '22020102 2003')).toEqual({ supplementalGroups: [1, 2, 3] })
  })

  test('keeps integers exact', () => {
    expect(decode('core/v1.PodSecurityContext', '10ffffffffffffffff7f')).toEqual({ runAsUser: 2n ** 63n - 1n })
    expect(decode('core/v1.PodSecurityContext', '10ffffffffffffffffff01')).toEqual({ runAsUser: -1 })
  })

  test.each([
    ['0801', 'proto: wrong wireType = 0 for field Metadata'],
    ['0a05', 'unexpected EOF'],
    ['12020a', 'unexpected EOF'],
    ['12021a01 61', 'unexpected EOF'],
    ['120104', 'proto: unexpected end of group'],
    ['20ffffffffffffffffffff01', 'proto: integer overflow'],
    ['0affffffff0f', 'proto: negative length found during unmarshaling'],
    ['9406', 'proto: ConfigMap: wiretype end group for non-group'],
    ['9606', 'proto: illegal wireType 6'],
  ])('rejects %s with the text of Go', (content, message) => {
    expect(() => decode('core/v1.ConfigMap', content)).toThrow(message)
  })

  test('limits the nesting of messages', () => {
    let bytes: Buffer = Buffer.alloc(0)
    const varint = (value: number): number[] => (value < 128 ? [value] : [(value & 127) | 128, ...varint(value >> 7)])
    // Field 28 of a schema is `not`, a schema.
    for (let i = 0; i < 5000; i++) bytes = Buffer.concat([Buffer.of(0xe2, 0x01, ...varint(bytes.length)), bytes])
    const framed = Buffer.concat([Buffer.from(varint(bytes.length)), bytes])
    expect(() => decodeMessage(defaultServedRelease, 'apiextensions/v1.JSONSchemaProps', framed)).toThrow(
      'proto: exceeded max recursion depth',
    )
  })

  test.each(defaultRelease.kinds.map((kind) => [`${kind.apiVersion} ${kind.kind}`, kind] as const))(
    'decodes what encodeProtobuf() encoded of %s',
    (_, kind) => {
      const type = goTypeOfKind(kind.group, kind.version, kind.kind)
      fc.assert(
        fc.property(fc.gen(), (draw) => {
          // Decoded twice, because defaults of a struct apply only once it exists.
          const object = canonical(type, canonical(type, arbitraryGoValue(type, draw)))
          const bytes = encodeProtobuf(defaultServedRelease, {
            ...(object as object),
            apiVersion: kind.apiVersion,
            kind: kind.kind,
          })
          const envelope = openEnvelope(bytes)
          expect(envelope).toMatchObject({ apiVersion: kind.apiVersion, kind: kind.kind })
          expect(canonical(type, decodeMessage(defaultServedRelease, type, envelope.message))).toEqual(object)
        }),
        { numRuns: 10 },
      )
    },
  )
})
