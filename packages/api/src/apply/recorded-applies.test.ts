import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../own-property.ts'
import { applyMergePatch } from '../patch/merge-patch.ts'
import { createFieldManager } from './create-field-manager.ts'
import { configMapSchema, recordedCases } from './testdata/recorded-applies.ts'

function ownersOf(object: JsonObject): Record<string, unknown> {
  const { managedFields = [] } = object['metadata'] as { managedFields?: Record<string, unknown>[] }
  return Object.fromEntries(
    managedFields.map(({ operation, manager, apiVersion, fieldsV1 }) => [
      `${operation} ${manager} ${apiVersion}`,
      fieldsV1,
    ]),
  )
}

describe('FieldManager matches the recorded responses', () => {
  test.each(recordedCases)('$title', ({ versions = { v1: configMapSchema }, steps }) => {
    let live: JsonObject | undefined
    for (const { apply, merge, manager, force = false, error, owners } of steps) {
      const body = (apply ?? merge) as JsonObject
      const apiVersion = (body['apiVersion'] ?? live?.['apiVersion']) as string
      const kind = (body['kind'] ?? live?.['kind']) as string
      const fields = createFieldManager({
        apiVersion,
        kind,
        schemaFor: (version) => versions[version],
        convert: (object, version) => (versions[version] ? { ...object, apiVersion: version } : undefined),
      })
      const current = live && { ...live, apiVersion }
      const write = (): JsonObject => {
        const options = { manager, force, now: '2026-01-02T03:04:05Z' }
        if (apply) return fields.apply(current, apply, options).object
        return fields.update(current, applyMergePatch(current as JsonObject, merge), options)
      }
      if (error !== undefined) {
        expect(write).toThrow(expect.objectContaining({ message: error }))
        continue
      }
      const next = write()
      expect(ownersOf(next)).toEqual(owners)
      expect(JSON.stringify(ownersOf(next))).toBe(JSON.stringify(sortedLike(ownersOf(next), owners)))
      live = { ...next, metadata: { ...(next['metadata'] as JsonObject), uid: 'u' } }
    }
  })
})

/** The recorded owners in our order. Within an owner, the order of fields is compared too. */
function sortedLike(ours: object, recorded: Readonly<Record<string, unknown>> = {}): object {
  return Object.fromEntries(Object.keys(ours).map((key) => [key, recorded[key]]))
}
