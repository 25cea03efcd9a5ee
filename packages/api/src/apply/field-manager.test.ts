import type { JSONSchemaProps } from '@kubewright/schema'
import { describe, expect, test } from 'vitest'
import { isBadRequest, isConflict } from '../api-error.ts'
import { FieldSet } from '../fieldset/field-set.ts'
import { fieldSetPath } from '../fieldset/path-element.ts'
import type { ManagedFieldsEntry } from '../object-meta.ts'
import type { JsonObject } from '../own-property.ts'
import { createAsyncFieldManager } from './async-field-manager.ts'
import { createFieldManager } from './create-field-manager.ts'
import { extractApplied } from './extract-applied.ts'
import type { FieldManager, FieldManagerOptions } from './field-manager.ts'
import { keepUnchangedTimes } from './keep-unchanged-times.ts'
import { lastAppliedAnnotation } from './last-applied.ts'

const schema: JSONSchemaProps = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        a: { type: 'string' },
        b: { type: 'string' },
        c: { type: 'string' },
        map: { type: 'object', additionalProperties: { type: 'string' } },
      },
    },
    status: { type: 'object', properties: { phase: { type: 'string' } } },
  },
}

const now = '2026-01-02T03:04:05Z'
const later = '2026-01-02T03:04:06Z'

function fieldManager(options: Partial<FieldManagerOptions> = {}): FieldManager {
  return createFieldManager({
    apiVersion: 'g/v1',
    kind: 'K',
    schemaFor: (version) => (version === 'g/v1' ? schema : undefined),
    ...options,
  })
}

const fields = fieldManager()
const config = (spec: JsonObject, metadata: JsonObject = {}): JsonObject => ({
  apiVersion: 'g/v1',
  kind: 'K',
  metadata: { name: 'x', ...metadata },
  spec,
})
const stored = (object: JsonObject): JsonObject => ({
  ...object,
  metadata: { ...(object['metadata'] as JsonObject), uid: 'u', resourceVersion: '1' },
})
const managedFields = (object: JsonObject): ManagedFieldsEntry[] =>
  ((object['metadata'] as JsonObject)['managedFields'] as ManagedFieldsEntry[] | undefined) ?? []
const apply = (
  live: JsonObject | undefined,
  spec: JsonObject,
  manager: string,
  time = now,
  force = false,
): JsonObject => stored(fields.apply(live, config(spec), { manager, now: time, force }).object)

describe('FieldManager.apply()', () => {
  test('creates an object with one managedFields entry', () => {
    const { object, changed } = fields.apply(undefined, config({ a: '1' }), { manager: 'm', now })
    expect(changed).toBe(true)
    expect(object).toEqual({
      ...config({ a: '1' }),
      metadata: {
        name: 'x',
        managedFields: [
          {
            manager: 'm',
            operation: 'Apply',
            apiVersion: 'g/v1',
            time: now,
            fieldsType: 'FieldsV1',
            fieldsV1: { 'f:spec': { 'f:a': {} } },
          },
        ],
      },
    })
  })

  test('is idempotent and keeps times unchanged', () => {
    const live = apply(undefined, { a: '1', map: { x: 'y' } }, 'm')
    const { object, changed } = fields.apply(live, config({ a: '1', map: { x: 'y' } }), { manager: 'm', now: later })
    expect(changed).toBe(false)
    expect(object).toEqual(live)
  })

  test('shares ownership of equal values and sets no time for the second applier', () => {
    const live = apply(undefined, { a: '1' }, 'm')
    const { object, changed } = fields.apply(live, config({ a: '1' }), { manager: 'n', now: later })
    expect(changed).toBe(true)
    expect(managedFields(object).map(({ manager, time }) => [manager, time])).toEqual([
      ['n', undefined],
      ['m', now],
    ])
  })

  test('removes omitted fields unless other managers own them too', () => {
    let live = apply(undefined, { a: '1', b: '2', map: { x: '1', y: '2' } }, 'm')
    live = apply(live, { b: '2' }, 'n')
    live = apply(live, { map: { x: '1' } }, 'm', later)
    expect(live['spec']).toEqual({ b: '2', map: { x: '1' } })
  })

  test('keeps fields without an owner and takes them without a conflict', () => {
    const live = { ...apply(undefined, { a: '1' }, 'm'), status: { phase: 'P' } }
    expect(apply(live, { a: '2' }, 'm')).toMatchObject({ status: { phase: 'P' } })
  })

  test('rejects changes to fields of other managers with one cause per field', () => {
    let live = apply(undefined, { a: '1', b: '2' }, 'm')
    live = stored(fields.update(live, { ...live, spec: { a: '1', b: '2', c: '3' } }, { manager: 'u', now }))
    expect(() => apply(live, { a: 'x', c: 'y' }, 'n')).toThrow(
      expect.objectContaining({
        message:
          'Apply failed with 2 conflicts: conflicts with "m":\n- .spec.a\nconflicts with "u" using g/v1:\n- .spec.c',
        status: expect.objectContaining({
          code: 409,
          reason: 'Conflict',
          details: {
            causes: [
              { reason: 'FieldManagerConflict', message: 'conflict with "m"', field: '.spec.a' },
              { reason: 'FieldManagerConflict', message: 'conflict with "u" using g/v1', field: '.spec.c' },
            ],
          },
        }),
      }),
    )
  })

  test('takes over fields with force', () => {
    const live = apply(apply(undefined, { a: '1', b: '2' }, 'm'), { a: 'x' }, 'n', later, true)
    expect(live['spec']).toEqual({ a: 'x', b: '2' })
    expect(managedFields(live).map(({ manager, fieldsV1 }) => [manager, fieldsV1])).toEqual([
      ['m', { 'f:spec': { 'f:b': {} } }],
      ['n', { 'f:spec': { 'f:a': {} } }],
    ])
  })

  test('names the subresource in conflicts', () => {
    const status = fieldManager({ subresource: 'status' })
    const live = apply(undefined, { a: '1' }, 'm')
    const next = stored(status.update(live, { ...live, status: { phase: 'P' } }, { manager: 'u', now }))
    const other = { ...config({}), status: { phase: 'Q' } }
    expect(() => fields.apply(next, other, { manager: 'n', now })).toThrow(
      'Apply failed with 1 conflict: conflict with "u" with subresource "status" using g/v1: .status.phase',
    )
  })

  test('rejects a configuration of another kind or with managedFields', () => {
    const options = { manager: 'm', now }
    const wrongKind = (): unknown => fields.apply(undefined, { ...config({}), kind: 'L' }, options)
    expect(wrongKind).toThrow('invalid object type: g/v1, Kind=L')
    expect(isBadRequest(caught(wrongKind))).toBe(true)
    expect(() => fields.apply(undefined, { ...config({}), apiVersion: 'a/b/c' }, options)).toThrow(
      'invalid object type: /, Kind=',
    )
    expect(() => fields.apply(undefined, config({}, { managedFields: [] }), options)).toThrow(
      'metadata.managedFields must be nil',
    )
  })

  test('rejects a configuration that does not match the schema', () => {
    expect(() => apply(undefined, { zz: 1 }, 'm')).toThrow(
      'failed to create typed patch object (/x; g/v1, Kind=K): .spec.zz: field not declared in schema',
    )
    const live = stored(config({ zz: 1 }, { namespace: 'n' }))
    const owned = {
      ...(live['metadata'] as JsonObject),
      managedFields: managedFields(apply(undefined, { a: '1' }, 'm')),
    }
    expect(() => apply({ ...live, metadata: owned }, { a: '1' }, 'm')).toThrow(
      'failed to create typed live object (n/x; g/v1, Kind=K): .spec.zz: field not declared in schema',
    )
  })

  test('rejects managedFields that cannot be decoded', () => {
    const live = stored(config({}, { managedFields: [{ manager: 'm', operation: 'Apply', apiVersion: 'g/v1' }] }))
    expect(() => apply(live, {}, 'm')).toThrow(
      'failed to decode managed fields: missing fieldsType in managed fields entry 0',
    )
  })

  test('attributes fields of an untracked object to before-first-apply', () => {
    const live = stored(config({ a: '1', b: '2' }))
    expect(() => apply(live, { a: 'x' }, 'm')).toThrow('conflict with "before-first-apply" using g/v1: .spec.a')
    const next = apply(live, { a: '1' }, 'm')
    expect(managedFields(next).map(({ manager }) => manager)).toEqual(['m', 'before-first-apply'])
  })

  test('rejects an untracked object that does not match the schema', () => {
    expect(() => apply(stored(config({ zz: 1 })), { a: '1' }, 'm')).toThrow(
      'failed to create manager for existing fields: failed to convert new object (/x; g/v1, Kind=K) to smd typed: .spec.zz: field not declared in schema',
    )
  })

  test('drops managers of versions that no longer exist', () => {
    const live = apply(undefined, { a: '1' }, 'm')
    const gone = { ...managedFields(live)[0], apiVersion: 'g/v0', manager: 'old' }
    const metadata = { ...(live['metadata'] as JsonObject), managedFields: [...managedFields(live), gone] }
    expect(managedFields(apply({ ...live, metadata }, { a: '2' }, 'm')).map(({ manager }) => manager)).toEqual(['m'])
  })

  test('names the conversion whose result does not match its schema', () => {
    const schemas: Record<string, object> = {
      'g/v1': { type: 'object', properties: { spec: { type: 'object', properties: { a: { type: 'string' } } } } },
      'g/v2': { type: 'object', properties: { spec: { type: 'object', properties: { b: { type: 'string' } } } } },
    }
    const options = {
      schemaFor: (version: string) => schemas[version],
      convert: (object: JsonObject, apiVersion: string) => ({ ...object, apiVersion }),
    }
    const live = fieldManager({ ...options, apiVersion: 'g/v2' }).apply(
      undefined,
      { ...config({ b: '1' }), apiVersion: 'g/v2' },
      { manager: 'm', now },
    ).object
    const metadata = live['metadata'] as JsonObject
    const emptied = { ...live, apiVersion: 'g/v1', spec: {}, metadata }
    expect(() => fieldManager(options).apply(emptied, config({ a: '1' }), { manager: 'm', now })).toThrow(
      'failed to prune fields: failed to convert merged object to last applied version: .spec.a: field not declared in schema',
    )
  })

  test('never owns reset fields of the endpoint', () => {
    const main = fieldManager({ resetFields: () => FieldSet.of(fieldSetPath('status')) })
    const { object } = main.apply(undefined, { ...config({ a: '1' }), status: { phase: 'P' } }, { manager: 'm', now })
    expect(managedFields(object)[0]?.fieldsV1).toEqual({ 'f:spec': { 'f:a': {} } })
  })

  test('merges without a schema: maps by key, lists as a whole', () => {
    const untyped = fieldManager({ schemaFor: () => null })
    const options = { manager: 'm', now }
    const live = untyped.apply(undefined, config({ x: { y: 1 }, l: [1, 2] }), options).object
    expect(managedFields(live)[0]?.fieldsV1).toEqual({
      'f:spec': { '.': {}, 'f:l': {}, 'f:x': { '.': {}, 'f:y': {} } },
    })
  })
})

function caught(action: () => unknown): unknown {
  try {
    action()
  } catch (error) {
    return error
  }
  throw new Error('Expected a failure')
}

describe('FieldManager.apply() by kubectl', () => {
  const annotated = (spec: JsonObject, last: JsonObject): JsonObject => ({
    ...config(spec, { annotations: { [lastAppliedAnnotation]: JSON.stringify(last) } }),
  })
  const create = (object: JsonObject): JsonObject =>
    stored(fields.update(undefined, object, { manager: 'kubectl-client-side-apply', now }))

  test('takes over fields of client-side apply and updates the annotation', () => {
    const last = config({ a: '1' })
    const live = create(annotated({ a: '1' }, last))
    const next = fields.apply(live, config({ a: '2' }), { manager: 'kubectl', now }).object
    expect(next['spec']).toEqual({ a: '2' })
    const annotations = (next['metadata'] as { annotations: Record<string, string> }).annotations
    expect(annotations[lastAppliedAnnotation]).toBe(
      '{"apiVersion":"g/v1","kind":"K","metadata":{"name":"x"},"spec":{"a":"2"}}\n',
    )
  })

  test('conflicts over fields that changed since the client-side apply', () => {
    const live = create(annotated({ a: 'changed', b: '1' }, config({ a: '1', b: '1' })))
    const failed = caught(() => fields.apply(live, config({ a: '2', b: '2' }), { manager: 'kubectl', now }))
    expect(isConflict(failed)).toBe(true)
    expect((failed as Error).message).toBe(
      'Apply failed with 1 conflict: conflict with "kubectl-client-side-apply" using g/v1: .spec.a',
    )
  })

  test('does not take over fields for other managers', () => {
    const live = create(annotated({ a: '1' }, config({ a: '1' })))
    expect(() => apply(live, { a: '2' }, 'm')).toThrow('1 conflict')
  })
})

describe('FieldManager.update()', () => {
  test('keeps the encoded fields of a manager that changes a field again, and advances its time', () => {
    const first = stored(fields.update(undefined, config({ a: '1', b: '1' }), { manager: 'm', now }))
    const second = fields.update(first, config({ a: '2', b: '1' }), { manager: 'm', now: later })
    expect(managedFields(second)).toEqual([{ ...managedFields(first)[0], time: later }])
    expect(managedFields(second)[0]?.fieldsV1).toBe(managedFields(first)[0]?.fieldsV1)
  })

  test('owns changed fields and sets its time only when it changes something', () => {
    const created = stored(fields.update(undefined, config({ a: '1' }), { manager: 'u', now }))
    expect(managedFields(created)).toEqual([
      {
        manager: 'u',
        operation: 'Update',
        apiVersion: 'g/v1',
        time: now,
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:spec': { '.': {}, 'f:a': {} } },
      },
    ])
    expect(fields.update(created, created, { manager: 'u', now: later })).toEqual(created)
  })

  test('takes changed fields from other managers and drops ownership of removed ones', () => {
    const live = apply(undefined, { a: '1', b: '2' }, 'm')
    const next = fields.update(live, { ...live, spec: { a: 'x' } }, { manager: 'u', now: later })
    expect(managedFields(next)).toEqual([
      expect.objectContaining({ manager: 'u', fieldsV1: { 'f:spec': { 'f:a': {} } } }),
    ])
  })

  test('names a manager without a name "unknown"', () => {
    expect(managedFields(fields.update(undefined, config({ a: '1' }), { manager: '', now }))[0]?.manager).toBe(
      'unknown',
    )
  })

  test('keeps omitted managedFields, accepts edited ones and clears them on request', () => {
    const live = apply(undefined, { a: '1' }, 'm')
    const entries = managedFields(live)
    const write = (metadata: JsonObject): ManagedFieldsEntry[] =>
      managedFields(
        fields.update(live, { ...live, metadata: { name: 'x', uid: 'u', ...metadata } }, { manager: 'u', now }),
      )
    expect(write({})).toEqual(entries)
    expect(write({ managedFields: entries.map((entry) => ({ ...entry, manager: 'renamed' })) })[0]?.manager).toBe(
      'renamed',
    )
    expect(write({ managedFields: [] })).toEqual([])
    expect(write({ managedFields: [{}] })).toEqual([])
    expect(write({ managedFields: [{ manager: 'nonsense' }] })).toEqual(entries)
  })

  test('ignores managedFields of requests to subresources', () => {
    const live = apply(undefined, { a: '1' }, 'm')
    const status = fieldManager({ subresource: 'status' })
    const next = status.update(live, { ...live, metadata: { name: 'x', managedFields: [] } }, { manager: 'u', now })
    expect(managedFields(next)).toEqual(managedFields(live))
  })

  test('leaves objects without managedFields untracked until the next apply', () => {
    const live = stored(config({ a: '1' }))
    expect(managedFields(fields.update(live, config({ a: '2' }, { uid: 'u' }), { manager: 'u', now }))).toEqual([])
  })

  test('keeps ten updating managers and merges the oldest ones', () => {
    let live = stored(fields.update(undefined, config({ map: { k: '0' } }), { manager: 'u0', now }))
    for (let i = 1; i <= 11; i++) {
      const map = { ...(live['spec'] as { map: JsonObject }).map, [`k${i}`]: '1' }
      const time = `2026-01-02T03:05:${String(i).padStart(2, '0')}Z`
      live = stored(fields.update(live, { ...live, spec: { map } }, { manager: `u${i}`, now: time }))
    }
    const entries = managedFields(live)
    expect(entries.map(({ manager }) => manager)).toEqual([
      'ancient-changes',
      ...['u3', 'u4', 'u5', 'u6', 'u7', 'u8', 'u9', 'u10', 'u11'],
    ])
    expect(entries[0]).toMatchObject({
      time: '2026-01-02T03:05:02Z',
      fieldsV1: { 'f:spec': { '.': {}, 'f:map': { '.': {}, 'f:k': {}, 'f:k1': {}, 'f:k2': {} } } },
    })
  })
})

describe('FieldManager.updateNoErrors()', () => {
  test('drops managedFields instead of failing', () => {
    const live = apply(undefined, { a: '1' }, 'm')
    const next = fields.updateNoErrors(live, { ...live, spec: { zz: 1 } }, { manager: 'u', now })
    expect(managedFields(next)).toEqual([])
    expect(next['spec']).toEqual({ zz: 1 })
  })
})

describe('FieldManager with several versions', () => {
  // v2 renames spec.a to spec.alpha.
  const v2: JSONSchemaProps = {
    type: 'object',
    properties: { spec: { type: 'object', properties: { alpha: { type: 'string' }, b: { type: 'string' } } } },
  }
  const schemaFor = (version: string): JSONSchemaProps | undefined => ({ 'g/v1': schema, 'g/v2': v2 })[version]
  const convert = (object: JsonObject, version: string): JsonObject | undefined => {
    if (schemaFor(version) === undefined) return undefined
    const { a, alpha, ...rest } = (object['spec'] ?? {}) as JsonObject
    const value = a ?? alpha
    const name = version === 'g/v1' ? 'a' : 'alpha'
    return { ...object, apiVersion: version, spec: { ...rest, ...(value !== undefined && { [name]: value }) } }
  }
  const v2Config = (spec: JsonObject): JsonObject => ({ ...config(spec), apiVersion: 'g/v2' })

  test('compares in the version of each manager', () => {
    const first = fieldManager({ schemaFor, convert })
    const second = fieldManager({ apiVersion: 'g/v2', schemaFor, convert })
    const live = stored(first.apply(undefined, config({ a: '1', b: '1' }), { manager: 'm', now }).object)
    const inV2 = convert(live, 'g/v2') as JsonObject
    expect(() => second.apply(inV2, v2Config({ alpha: '2' }), { manager: 'n', now })).toThrow(
      'conflict with "m": .spec.a',
    )
    // The same applier switches to the other version; fields that it omits now are removed.
    const moved = second.apply(inV2, v2Config({ alpha: '3' }), { manager: 'm', now })
    expect(moved.object['spec']).toEqual({ alpha: '3' })
    expect(managedFields(moved.object)).toEqual([
      expect.objectContaining({ apiVersion: 'g/v2', fieldsV1: { 'f:spec': { 'f:alpha': {} } } }),
    ])
  })

  test('awaits asynchronous conversions', async () => {
    const asked: string[] = []
    const manager = createAsyncFieldManager({
      apiVersion: 'g/v2',
      kind: 'K',
      schemaFor,
      convert: async (object, version) => {
        asked.push(version)
        return convert(object, version)
      },
    })
    const first = fieldManager({ schemaFor, convert })
    const live = convert(
      stored(first.apply(undefined, config({ a: '1', b: '1' }), { manager: 'm', now }).object),
      'g/v2',
    ) as JsonObject
    const { object } = await manager.apply(live, v2Config({ b: '1' }), { manager: 'm', now })
    expect(object['spec']).toEqual({ b: '1' })
    expect(asked.length).toBeGreaterThan(0)
    await expect(manager.apply(live, v2Config({ alpha: '2' }), { manager: 'n', now })).rejects.toThrow('1 conflict')
    await expect(manager.update(live, { ...live, spec: { zz: 1 } }, { manager: 'n', now })).rejects.toThrow('zz')
    expect(
      managedFields(await manager.updateNoErrors(live, { ...live, spec: { zz: 1 } }, { manager: 'n', now })),
    ).toEqual([])
  })
})

describe('keepUnchangedTimes()', () => {
  const live = apply(undefined, { a: '1' }, 'm')
  const touched = (object: JsonObject): JsonObject => ({
    ...object,
    metadata: {
      ...(object['metadata'] as JsonObject),
      managedFields: managedFields(object).map((entry) => ({ ...entry, time: later })),
    },
  })

  test('restores the old times when nothing else changed', () => {
    expect(keepUnchangedTimes(live, touched(live))).toEqual(live)
  })

  test('keeps the new times when something changed', () => {
    const changed = touched({ ...live, spec: { a: '2' } })
    expect(keepUnchangedTimes(live, changed)).toBe(changed)
  })
})

describe('extractApplied()', () => {
  test('returns the configuration that the manager applied', () => {
    const live = apply(apply(undefined, { a: '1', map: { x: '1' } }, 'm'), { b: '2' }, 'n')
    expect(extractApplied(live, schema, 'm')).toEqual(config({ a: '1', map: { x: '1' } }))
    expect(extractApplied(live, schema, 'nobody')).toBeUndefined()
  })
})
