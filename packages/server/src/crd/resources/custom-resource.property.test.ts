import { deepCopy } from '@kubewright/base'
import { checkStructural, type JSONSchemaProps } from '@kubewright/schema'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CrdServer, conditionOf, crds, definition, group, version, widget } from '../../testdata/crd-server.ts'
import { asCrd } from '../definitions/crd.ts'
import { CustomVersions } from './custom-versions.ts'

let server: CrdServer
beforeAll(async () => {
  server = await CrdServer.start()
})
afterAll(() => server[Symbol.asyncDispose]())

const names = fc.constantFrom('a', 'b', 'c', 'constructor', 'x-y', 'metadata')
const json = fc.jsonValue({ maxDepth: 4 })

/** Arbitrary structural schemas. */
const schemas: fc.Arbitrary<JSONSchemaProps> = fc.letrec<{ schema: JSONSchemaProps }>((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small' },
    fc.record(
      { type: fc.constant('string'), default: fc.constantFrom('', 'x'), maxLength: fc.nat(5) },
      { requiredKeys: ['type'] },
    ),
    fc.record({ type: fc.constant('integer'), default: fc.nat(9), nullable: fc.boolean() }, { requiredKeys: ['type'] }),
    fc.constant({ 'x-kubernetes-int-or-string': true }),
    fc.constant({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true }),
    fc.constant({
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
    }),
    tie('schema').map((items) => ({ type: 'array', items })),
    tie('schema').map((values) => ({ type: 'object', additionalProperties: values })),
    fc.record(
      {
        type: fc.constant('object'),
        properties: fc.dictionary(names, tie('schema'), { maxKeys: 4 }),
        required: fc.constantFrom(['a'], ['b', 'c']),
        default: fc.constant({}),
      },
      { requiredKeys: ['type', 'properties'] },
    ),
  ),
})).schema

const specs = schemas.filter((spec) => {
  return checkStructural({ type: 'object', properties: { spec } }, {}).length === 0
})

function versionsOf(spec: JSONSchemaProps): CustomVersions {
  const crd = asCrd(deepCopy(definition([version('v1', spec)])) as never)
  crd.status = { acceptedNames: { kind: 'Widget', plural: 'widgets' } }
  return new CustomVersions(crd)
}

describe('CustomVersions', () => {
  test('normalize() is idempotent', () => {
    fc.assert(
      fc.property(specs, json, (spec, value) => {
        const versions = versionsOf(spec)
        const object = widget('a', value) as never
        const treat = (): void => {
          versions.normalize(object, { report: true, dropInvalid: true })
          versions.default(object)
        }
        treat()
        const once = deepCopy(object)
        treat()
        expect(object).toEqual(once)
      }),
      { numRuns: 300 },
    )
  })
})

describe('the API server', () => {
  test('returns every accepted object unchanged', async () => {
    const path = `/apis/${group}/v1/namespaces/a/widgets`
    const one = `${crds}/widgets.${group}`
    await fc.assert(
      fc.asyncProperty(specs, fc.array(json, { minLength: 1, maxLength: 5 }), async (spec, values) => {
        await server.define(definition(spec))
        for (const value of values) {
          const created = await server.send(`POST ${path}`, { body: widget('x', value) })
          expect([201, 400, 422]).toContain(created.status)
          if (created.status !== 201) continue
          expect((await server.send(`GET ${path}/x`)).text).toBe(created.text)
          const again = await server.send(`PUT ${path}/x`, { body: created.body })
          expect(again.text).toBe(created.text)
          await server.send(`DELETE ${path}/x`)
        }
        await server.send(`DELETE ${one}`)
        await server.until(`GET ${one}`, ({ status }) => status === 404)
      }),
      { numRuns: 60 },
    )
  })

  test('never fails internally for arbitrary CRDs', async () => {
    const one = `${crds}/widgets.${group}`
    const keys = fc.constantFrom('names', 'versions', 'scope', 'group', 'conversion', 'preserveUnknownFields')
    const schemaKeys = fc.constantFrom('type', 'properties', 'items', 'default', 'enum', 'allOf', 'pattern', 'nullable')
    const oddVersion = fc.record(
      {
        name: fc.constantFrom('v1', 'v2', 'X'),
        served: fc.boolean(),
        storage: fc.boolean(),
        schema: fc.record({ openAPIV3Schema: fc.dictionary(schemaKeys, json) }),
        subresources: fc.oneof(json, fc.record({ scale: json, status: json })),
        additionalPrinterColumns: fc.array(json, { maxLength: 2 }),
        selectableFields: fc.array(fc.record({ jsonPath: fc.string() }), { maxLength: 2 }),
      },
      { requiredKeys: [] },
    )
    const odd = fc.oneof(
      fc.dictionary(keys, json),
      fc.record({ versions: fc.array(oddVersion, { maxLength: 2 }) }),
      fc.record({ conversion: fc.record({ strategy: fc.constantFrom('None', 'Webhook'), webhook: json }) }),
    )
    await fc.assert(
      fc.asyncProperty(odd, async (more) => {
        const body = definition({ type: 'object' }, more)
        const { status } = await server.send(`POST ${crds}`, { body })
        expect([201, 400, 422]).toContain(status)
        if (status !== 201) return
        await server.until(`GET ${one}`, (answer) => conditionOf(answer.body, 'Established') !== undefined)
        await server.send(`DELETE ${one}`)
        await server.until(`GET ${one}`, (answer) => answer.status === 404)
      }),
      { numRuns: 300 },
    )
  })
})
