import { createFieldManager, type JsonObject } from '@kubewright/api'
import { deepCopy, deepEqual } from '@kubewright/base'
import type { JSONSchemaProps } from '@kubewright/schema'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AppliedFields, wasAppliedBy } from './applied-fields.ts'

const apiVersion = 'example.com/v1'
const port: JSONSchemaProps = {
  type: 'object',
  properties: {
    number: { type: 'integer' },
    protocol: { type: 'string', default: 'TCP' },
    name: { type: 'string' },
    cpu: { type: 'string' },
  },
}
const schema: JSONSchemaProps = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        size: { type: 'integer' },
        empty: { type: 'object', properties: { filled: { type: 'string' } } },
        labels: { type: 'object', additionalProperties: { type: 'string' } },
        ports: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['number', 'protocol'],
          items: port,
        },
        tags: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
        words: { type: 'array', 'x-kubernetes-list-type': 'atomic', items: { type: 'string' } },
      },
    },
  },
}
const manager = createFieldManager({ apiVersion, kind: 'Thing', schemaFor: () => schema })
const metadata = { name: 'a', namespace: 'default', uid: 'u', resourceVersion: '1' }
type Live = JsonObject & Parameters<AppliedFields['unchanged']>[1]

/** What servers do to every object: set defaults, and normalize some values. */
function normalised(object: JsonObject): Live {
  const copy = deepCopy(object) as { spec?: Record<string, unknown>; metadata?: Record<string, unknown> }
  copy.metadata = { ...metadata, ...copy.metadata }
  const { spec } = copy
  if (spec?.['empty']) spec['empty'] = { filled: 'by the server', ...spec['empty'] }
  for (const item of (spec?.['ports'] ?? []) as Record<string, unknown>[]) {
    item['protocol'] ??= 'TCP'
    if (item['cpu'] === '1000m') item['cpu'] = '1'
  }
  return copy as unknown as Live
}

let version = 1
const renewed = (live: Live): Live => ({ ...live, metadata: { ...live.metadata, resourceVersion: String(++version) } })

function applied(by: string, live: Live | undefined, spec: JsonObject): { live: Live; changed: boolean } {
  const config = { apiVersion, kind: 'Thing', metadata: { name: 'a' }, spec }
  const { object, changed } = manager.apply(live, config, { manager: by, now: '2025-01-01T00:00:00Z', force: true })
  // Servers change the version only when the object is different after all that.
  const next = changed ? normalised(object) : (live as Live)
  return { live: live !== undefined && deepEqual(next, live) ? live : renewed(next), changed }
}

/**
 * The values, and what we own of them. Other managers may lose fields to an apply that writes the same value in another
 * form.
 */
function essence(live: Live): unknown {
  const own = live.metadata.managedFields?.find(({ manager: by }) => by === 'ours')
  return [live['spec'], own?.fieldsV1]
}

const small = <T>(...values: readonly T[]) => fc.option(fc.constantFrom(...values), { nil: undefined })
const word = fc.constantFrom('x', 'y', 'z')
const item = fc.record(
  { number: fc.constantFrom(1, 2), protocol: small('TCP', 'UDP'), name: small('n', 'm'), cpu: small('1000m', '1') },
  { requiredKeys: ['number'] },
)
const identity = (one: { number: number; protocol?: string | undefined }): string =>
  `${one.number}${one.protocol ?? 'TCP'}`
const specs = fc.record(
  {
    size: small(1, 2),
    empty: small({}),
    labels: fc.dictionary(word, word, { maxKeys: 2 }),
    ports: fc.uniqueArray(item, { selector: identity, maxLength: 3 }),
    tags: fc.uniqueArray(word, { maxLength: 2 }),
    words: fc.array(word, { maxLength: 2 }),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<JsonObject>
const steps = fc.array(fc.tuple(fc.constantFrom('ours', 'theirs', 'update'), specs), { minLength: 1, maxLength: 5 })

describe('AppliedFields', () => {
  test('unchanged() compares the whole object when the server moved an applied value to another field', () => {
    const fields = new AppliedFields('ours')
    const config = { spec: { size: 1 } }
    const stored = (spec: object, resourceVersion: string, status = {}) => {
      const own = { manager: 'ours', operation: 'Apply', apiVersion, fieldsV1: { 'f:spec': { 'f:size': {} } } }
      return { apiVersion, metadata: { ...metadata, resourceVersion, managedFields: [own] }, spec, status }
    }
    const live = stored({ storedSize: 1 }, '1')
    fields.learn(config, live, live)
    expect(fields.unchanged(config, stored({ storedSize: 1 }, '2', { ready: true }))).toBe(true)
    expect(fields.unchanged(config, stored({ storedSize: 2 }, '3'))).toBe(false)
  })

  test('unchanged() is true only when an apply would change nothing', () => {
    let proven = 0
    fc.assert(
      fc.property(steps, fc.array(specs, { maxLength: 3 }), (script, others) => {
        const fields = new AppliedFields('ours')
        let live: Live | undefined
        for (const [who, spec] of script) {
          if (who === 'update' && live !== undefined) {
            const next = normalised({ ...live, spec })
            live = renewed(normalised(manager.update(live, next, { manager: 'editor', now: '2025-01-01T00:00:00Z' })))
          } else {
            const before = live
            live = applied(who, live, spec).live
            if (who === 'ours') fields.learn({ spec }, live, before)
          }
          for (const candidate of [...script.map(([, known]) => known), ...others]) {
            if (!fields.unchanged({ metadata: { name: 'a' }, spec: candidate }, live)) continue
            proven++
            expect(essence(applied('ours', live, candidate).live)).toEqual(essence(live))
          }
        }
      }),
      { numRuns: 500 },
    )
    expect(proven).toBeGreaterThan(100)
  })

  test('unchanged() is true for a configuration that was applied until nothing changed', () => {
    fc.assert(
      fc.property(specs, specs, (theirs, spec) => {
        const fields = new AppliedFields('ours')
        let live = applied('theirs', undefined, theirs).live
        for (let round = 0; round < 3; round++) {
          const before = live
          live = applied('ours', live, spec).live
          fields.learn({ spec }, live, before)
        }
        // An empty configuration owns nothing, which cannot be distinguished from never having applied.
        expect(fields.unchanged({ spec }, live)).toBe(wasAppliedBy(live, 'ours'))
      }),
      { numRuns: 500 },
    )
  })

  test('unchanged() without managedFields is true only for the version of the last apply', () => {
    const fields = new AppliedFields('ours')
    const { live } = applied('ours', undefined, { size: 1 })
    const { managedFields: _, ...bare } = live.metadata as unknown as Record<string, unknown>
    const cached = { ...live, metadata: bare } as unknown as Live
    expect(fields.unchanged({ spec: { size: 1 } }, cached)).toBe(false)
    fields.learn({ spec: { size: 1 } }, live, cached)
    expect(fields.unchanged({ spec: { size: 1 } }, cached)).toBe(true)
    expect(fields.unchanged({ spec: { size: 2 } }, cached)).toBe(false)
    const later = { ...cached, metadata: { ...cached.metadata, resourceVersion: 'another' } }
    expect(fields.unchanged({ spec: { size: 1 } }, later)).toBe(false)
  })
})
