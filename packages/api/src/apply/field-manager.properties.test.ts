import type { JSONSchemaProps } from '@kubewright/schema'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isConflict } from '../api-error.ts'
import { FieldSet } from '../fieldset/field-set.ts'
import { fieldSetPath, formatFieldSetPath } from '../fieldset/path-element.ts'
import type { ManagedFieldsEntry } from '../object-meta.ts'
import type { JsonObject } from '../own-property.ts'
import { createFieldManager } from './create-field-manager.ts'

const text: JSONSchemaProps = { type: 'string' }
const schema: JSONSchemaProps = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        a: text,
        b: text,
        always: text,
        map: { type: 'object', additionalProperties: text },
        set: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
        list: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
          items: { type: 'object', properties: { name: text, v: text, w: text } },
        },
      },
    },
  },
}

const fields = createFieldManager({ apiVersion: 'g/v1', kind: 'K', schemaFor: () => schema })
const now = '2026-01-02T03:04:05Z'
// All apply one common field, because a spec that loses its last field becomes null, as in Kubernetes, and null differs
// from empty.
const objectOf = (spec: JsonObject): JsonObject => ({
  apiVersion: 'g/v1',
  kind: 'K',
  metadata: { name: 'x' },
  spec: { ...spec, always: 'there' },
})
const stored = (object: JsonObject): JsonObject => ({
  ...object,
  metadata: { ...(object['metadata'] as JsonObject), uid: 'u' },
})

/** The leaves of a configuration: `map.x`, `set.x`, `list.n`, `list.n.v` and the plain fields. */
type Leaves = Readonly<Record<string, string>>

const names = ['x', 'y']
const leafNames = [
  'a',
  'b',
  ...names.flatMap((n) => [`map.${n}`, `set.${n}`, `list.${n}`, `list.${n}.v`, `list.${n}.w`]),
]
const anyLeaves: fc.Arbitrary<Leaves> = fc
  .dictionary(fc.constantFrom(...leafNames), fc.constantFrom('1', '2'), { maxKeys: 6 })
  .map((leaves) => {
    // An item exists when one of its fields does; its own leaf has no value that could differ.
    const items = Object.keys(leaves).flatMap((key) => (key.startsWith('list.') ? [key.split('.', 2).join('.')] : []))
    const fixed = Object.keys(leaves).filter((key) => key.startsWith('set.'))
    return { ...leaves, ...Object.fromEntries([...items, ...fixed].map((key) => [key, 'there'])) }
  })

function specOf(leaves: Leaves): JsonObject {
  const spec: Record<string, unknown> = {}
  const list = new Map<string, Record<string, string>>()
  for (const [key, value] of Object.entries(leaves)) {
    const [head = '', name, field] = key.split('.')
    if (name === undefined) spec[head] = value
    else if (head === 'map') spec['map'] = { ...(spec['map'] as object), [name]: value }
    else if (head === 'set') spec['set'] = [...((spec['set'] as string[]) ?? []), name]
    else list.set(name, { ...list.get(name), name, ...(field !== undefined && { [field]: value }) })
  }
  if (list.size > 0) spec['list'] = [...list.values()]
  return spec
}

function leavesOf(object: JsonObject): Leaves {
  const spec = (object['spec'] ?? {}) as Record<string, unknown>
  const leaves: Record<string, string> = {}
  for (const key of ['a', 'b']) if (typeof spec[key] === 'string') leaves[key] = spec[key]
  for (const [key, value] of Object.entries((spec['map'] ?? {}) as Record<string, string>)) leaves[`map.${key}`] = value
  for (const item of (spec['set'] ?? []) as string[]) leaves[`set.${item}`] = 'there'
  for (const { name, v, w } of (spec['list'] ?? []) as Record<string, string>[]) {
    leaves[`list.${name}`] = 'there'
    if (v !== undefined) leaves[`list.${name}.v`] = v
    if (w !== undefined) leaves[`list.${name}.w`] = w
  }
  return leaves
}

/** A reference model of server-side apply over leaves. */
class Model {
  values: Record<string, string> = {}
  readonly owners = new Map<string, Set<string>>()

  apply(manager: string, config: Leaves, force: boolean): string[] {
    const conflicts = Object.keys(config).filter(
      (key) => this.values[key] !== undefined && this.values[key] !== config[key] && this.#owned(key, manager),
    )
    if (conflicts.length > 0 && !force) return conflicts
    for (const [key, value] of Object.entries(config)) {
      if (this.values[key] !== value) this.owners.set(key, new Set())
      this.values[key] = value
      this.owners.set(key, (this.owners.get(key) ?? new Set()).add(manager))
    }
    const left: string[] = []
    for (const [key, owners] of this.owners) if (!(key in config) && owners.delete(manager)) left.push(key)
    for (const key of left) if (this.owners.get(key)?.size === 0 && !this.#holdsOthers(key)) this.#remove(key)
    return []
  }

  #owned(key: string, manager: string): boolean {
    return [...(this.owners.get(key) ?? [])].some((owner) => owner !== manager)
  }

  /** An item stays while a manager owns something in it. */
  #holdsOthers(key: string): boolean {
    return [...this.owners].some(([other, owners]) => other.startsWith(`${key}.`) && owners.size > 0)
  }

  #remove(key: string): void {
    delete this.values[key]
    this.owners.delete(key)
  }
}

const managers = fc.constantFrom('m1', 'm2', 'm3')
const step = fc.record({ manager: managers, config: anyLeaves, force: fc.boolean() })

function pathsOf(object: JsonObject): Record<string, string[]> {
  const { managedFields = [] } = object['metadata'] as { managedFields?: ManagedFieldsEntry[] }
  return Object.fromEntries(
    managedFields.map(({ manager, fieldsV1 }) => [manager, FieldSet.parse(fieldsV1).paths().map(formatFieldSetPath)]),
  )
}

function pathOf(leaf: string): string {
  const [head = '', name, field] = leaf.split('.')
  if (name === undefined) return formatFieldSetPath(fieldSetPath('spec', head))
  if (head === 'map') return formatFieldSetPath(fieldSetPath('spec', 'map', name))
  if (head === 'set') return formatFieldSetPath(fieldSetPath('spec', 'set', { value: name }))
  const item = { key: { name } }
  return formatFieldSetPath(fieldSetPath('spec', 'list', item, ...(field === undefined ? [] : [field])))
}

describe('FieldManager.apply()', () => {
  test('matches the reference model for any sequence of applies', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 8 }), (steps) => {
        const model = new Model()
        let live: JsonObject | undefined
        for (const { manager, config, force } of steps) {
          let failed: unknown
          let next: JsonObject | undefined
          try {
            next = fields.apply(live, objectOf(specOf(config)), { manager, force, now }).object
          } catch (error) {
            failed = error
          }
          const conflicts = model.apply(manager, config, force)
          expect(failed !== undefined).toBe(conflicts.length > 0)
          if (next === undefined) {
            expect(isConflict(failed)).toBe(true)
            continue
          }
          live = stored(next)
          expect(leavesOf(live)).toEqual(model.values)
          const paths = pathsOf(live)
          for (const [leaf, owners] of model.owners) {
            for (const owner of ['m1', 'm2', 'm3']) {
              expect(paths[owner]?.includes(pathOf(leaf)) ?? false, `${owner} ${leaf}`).toBe(owners.has(owner))
            }
          }
        }
      }),
      { numRuns: 400 },
    )
  })

  test('never conflicts over disjoint fields', () => {
    fc.assert(
      fc.property(anyLeaves, anyLeaves, (one, other) => {
        const disjoint = Object.fromEntries(Object.entries(other).filter(([key]) => !(key in one)))
        const live = stored(fields.apply(undefined, objectOf(specOf(one)), { manager: 'm1', now }).object)
        const { object } = fields.apply(live, objectOf(specOf(disjoint)), { manager: 'm2', now })
        expect(leavesOf(object)).toEqual({ ...leavesOf(objectOf(specOf(disjoint))), ...one })
      }),
    )
  })

  test('is idempotent', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 4 }), (steps) => {
        let live: JsonObject | undefined
        for (const { manager, config } of steps) {
          live = stored(fields.apply(live, objectOf(specOf(config)), { manager, force: true, now }).object)
        }
        const { manager, config } = steps.at(-1) as (typeof steps)[number]
        const again = fields.apply(live, objectOf(specOf(config)), { manager, now: '2030-01-01T00:00:00Z' })
        expect(again.changed).toBe(false)
        expect(again.object).toEqual(live)
      }),
    )
  })

  test('removes omitted fields that only the applier owned', () => {
    fc.assert(
      fc.property(anyLeaves, anyLeaves, (mine, theirs) => {
        let live = stored(fields.apply(undefined, objectOf(specOf(theirs)), { manager: 'm2', now }).object)
        const before = leavesOf(live)
        live = stored(fields.apply(live, objectOf(specOf({ ...mine, ...theirs })), { manager: 'm1', now }).object)
        live = stored(fields.apply(live, objectOf(specOf({ a: 'kept' })), { manager: 'm1', now, force: true }).object)
        expect(leavesOf(live)).toEqual({ ...before, a: 'kept' })
      }),
    )
  })
})
