import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { FieldError } from './field/field-error.ts'
import type { JSONSchemaProps } from './model/json-schema.ts'
import { compileSchema, type StructuralSchema } from './validate/compile-schema.ts'

// Recorded responses of a kube-apiserver v1.35.8. Each case is a schema and a sequence of operations on objects.

type Json = Record<string, unknown>
type Cause = { readonly reason: string; readonly field: string; readonly message: string }
type Step = {
  readonly schema?: JSONSchemaProps
  readonly create?: Json
  readonly patch?: Json
  readonly patchStatus?: Json
  readonly read?: true
  readonly dryRun?: true
  readonly pick?: true
  readonly expect?: Json
  readonly causes?: readonly Cause[]
  readonly warnings?: readonly string[]
}
type Case = { readonly id: string; readonly steps: readonly Step[] }

const areas = ['cr-validation', 'defaulting', 'pruning', 'cel']

for (const area of areas) {
  const cases = JSON.parse(readFileSync(new URL(`./testdata/${area}.golden.json`, import.meta.url), 'utf8')) as Case[]
  describe(`compileSchema() answers the recorded cases of ${area}`, () => {
    test.each(cases.map((each) => [each.id, each.steps] as const))('%s', (_, steps) => replay(steps))
  })
}

function replay(steps: readonly Step[]): void {
  let schema = compileSchema({})
  let stored: Json | undefined
  steps.forEach((step, i) => {
    const where = `step ${i}`
    if (step.schema !== undefined) schema = compileSchema(step.schema)
    else if (step.read === true) expect(withoutMeta(decode(schema, stored as Json)), where).toEqual(step.expect)
    else {
      const next = submit(schema, stored, step, where)
      if (next !== undefined && step.dryRun !== true) stored = next
    }
  })
}

/**
 * Returns the object as it would be stored, or `undefined` if the step was rejected. Compares both with the recording.
 */
function submit(schema: StructuralSchema, stored: Json | undefined, step: Step, where: string): Json | undefined {
  const patch = step.patch ?? step.patchStatus
  const old = patch === undefined ? undefined : decode(schema, stored as Json)
  const sent = patch === undefined ? (step.create as Json) : (mergePatch(old, patch) as Json)
  const decoded = structuredClone(sent)
  const { error, unknown } = schema.normalize(decoded)
  expect(error, where).toBeUndefined()
  const warnings = unknown.map((path) => `unknown field "${path}"`)
  const options = { onWarning: (text: string) => warnings.push(text) }
  const errors =
    old === undefined
      ? schema.validate(decoded, options)
      : step.patchStatus === undefined
        ? schema.validateUpdate(decoded, old, options)
        : schema.validateStatusUpdate(decoded, old, options)
  expect(sorted(errors.map(causeOf)), where).toEqual(sorted([...(step.causes ?? [])]))
  if (errors.length > 0) return undefined
  // Unknown fields in the metadata of the object itself are found when it is decoded, which does not happen here.
  const expectedWarnings = (step.warnings ?? []).filter((text) => !text.startsWith('unknown field "metadata.'))
  expect(warnings, where).toEqual(expectedWarnings)
  if (step.expect !== undefined) {
    const actual = withoutMeta(decoded)
    for (const [key, value] of Object.entries(step.expect)) {
      expect(actual[key] ?? '(absent)', `${where} ${key}`).toEqual(value)
    }
    if (step.pick !== true) expect(Object.keys(actual).sort(), where).toEqual(Object.keys(step.expect).sort())
  }
  return decoded
}

function decode(schema: StructuralSchema, stored: Json): Json {
  const object = structuredClone(stored)
  schema.normalize(object)
  return object
}

function withoutMeta(object: Json): Json {
  const { apiVersion: _apiVersion, kind: _kind, metadata: _metadata, ...rest } = object
  return rest
}

function causeOf(error: FieldError): Cause {
  return { reason: error.type, field: error.field, message: error.errorBody() }
}

function sorted(causes: Cause[]): Cause[] {
  const key = (cause: Cause): string => `${cause.field}\0${cause.message}`
  return causes.sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0))
}

function mergePatch(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch
  const result: Json = typeof target === 'object' && target !== null && !Array.isArray(target) ? { ...target } : {}
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key]
    else result[key] = mergePatch(result[key], value)
  }
  return result
}
