import { describe, expect, test } from 'vitest'
import type { MutableObject } from './object.ts'
import { encodeForm, encodeStored, StoredObject, storedForm } from './stored-object.ts'

const bytesOf = (raw: Uint8Array): unknown => JSON.parse(new StoredObject('/k', 7, raw).bytes.toString())
const encode = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value))

describe('StoredObject.bytes', () => {
  test('adds the version however long group, version and kind are', () => {
    const object: MutableObject = {
      kind: `K${'k'.repeat(62)}`,
      apiVersion: `${`${'g'.repeat(60)}.`.repeat(4)}${'h'.repeat(9)}/${'v'.repeat(63)}`,
      metadata: { name: 'a' },
    }
    expect(bytesOf(encodeStored(object))).toEqual({ ...object, metadata: { name: 'a', resourceVersion: '7' } })
  })

  test('adds the version to the metadata of the object, not to metadata inside another field', () => {
    const object = { spec: { metadata: { name: 'inner' } }, kind: 'K', apiVersion: 'v1', metadata: { name: 'a' } }
    expect(bytesOf(encode(object))).toEqual({ ...object, metadata: { name: 'a', resourceVersion: '7' } })
  })

  test('adds the version to empty metadata', () => {
    expect(bytesOf(encode({ kind: 'K', apiVersion: 'v1', metadata: {} }))).toMatchObject({
      metadata: { resourceVersion: '7' },
    })
  })

  test('throws for a kind that cannot be stored', () => {
    const stored = new StoredObject('/k', 7, encode({ kind: 'a"b', apiVersion: 'v1', metadata: { name: 'a' } }))
    expect(() => stored.bytes).toThrow('The stored object /k has an invalid kind or apiVersion')
  })
})

test('StoredObject.responseBytes() has the bytes and a newline', () => {
  const stored = new StoredObject('/k', 7, encode({ kind: 'K', apiVersion: 'v1', metadata: { name: 'a' } }))
  expect(stored.responseBytes().toString()).toBe(`${stored.bytes.toString()}\n`)
})

describe('StoredObject.keepForm()', () => {
  const object = { spec: { a: 1 }, metadata: { resourceVersion: '6', name: 'a' }, apiVersion: 'v1', kind: 'K' }

  test('saves a parse: the object is the given one, with the version, until the forms are released', () => {
    const form = storedForm(object)
    const stored = new StoredObject('/k', 7, encodeForm(form))
    expect(stored.isWorkingForm).toBe(false)
    stored.keepForm(form, true)
    expect(stored.isWorkingForm).toBe(true)
    expect(stored.object).toBe(form)
    expect(JSON.stringify(form)).toBe(JSON.stringify(new StoredObject('/k', 7, encodeStored(object)).object))
    stored.releaseForms()
    expect(stored.isWorkingForm).toBe(false)
    expect(stored.object).not.toBe(form)
    expect(stored.object).toEqual(form)
  })

  test('leaves the object from which the form was made unchanged', () => {
    const form = storedForm(object)
    new StoredObject('/k', 7, encodeForm(form)).keepForm(form, false)
    expect(object.metadata.resourceVersion).toBe('6')
  })
})

describe('StoredObject.metadataBytes()', () => {
  const metadataOf = (object: MutableObject): unknown =>
    JSON.parse(new StoredObject('/k', 7, encodeStored(object)).metadataBytes('meta.k8s.io/v1').toString())

  test('cuts out the metadata, whatever its texts contain', () => {
    const annotations = { a: '}{"', b: '\\', c: '\\"}', ü: '😀' }
    const metadata = { name: 'a', annotations, ownerReferences: [{ name: 'b' }], managedFields: [{ fieldsV1: {} }] }
    const object = { kind: 'K', apiVersion: 'v1', metadata, spec: { a: '}' } } as unknown as MutableObject
    expect(metadataOf(object)).toEqual({
      kind: 'PartialObjectMetadata',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { ...metadata, resourceVersion: '7' },
    })
  })

  test('adds the version to empty metadata', () => {
    expect(metadataOf({ kind: 'K', apiVersion: 'v1', metadata: {} })).toMatchObject({
      metadata: { resourceVersion: '7' },
    })
  })
})
