// Scenarios about custom resources: random schemas and writes of their objects.
import type { Random } from '@kubewright/base'
import type { RequestSpec } from '../../conformance/case-format.ts'
import { chance, oddValues } from '../mutate.ts'
import type { Scenario } from './scenario.ts'

type Json = Record<string, unknown>

const merge = { 'content-type': 'application/merge-patch+json' }
const apply = { 'content-type': 'application/apply-patch+yaml' }

/** A structural schema of an object, with the rule. */
export function schemaOf(random: Random, depth: number, rule?: string): Json {
  const rules =
    rule === undefined
      ? {}
      : { 'x-kubernetes-validations': [{ rule, ...(chance(random, 0.3) ? { message: 'no' } : {}) }] }
  const leaf = (): Json =>
    random.pick<Json>([
      {
        type: 'string',
        ...(chance(random, 0.3) ? { default: 'd' } : {}),
        ...(chance(random, 0.3) ? { maxLength: 3 } : {}),
      },
      { type: 'string', enum: ['a', 'b'] },
      { type: 'string', format: random.pick(['date-time', 'ipv4', 'duration', 'x']) },
      { type: 'integer', minimum: 0, ...(chance(random, 0.3) ? { format: 'int32' } : {}) },
      { type: 'number', multipleOf: 0.5 },
      { type: 'boolean', nullable: true },
      { 'x-kubernetes-int-or-string': true },
      { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      { type: 'object', additionalProperties: { type: random.pick(['string', 'integer']) } },
      { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': random.pick(['set', 'atomic']) },
      {
        type: 'array',
        items: { type: 'object', required: ['k'], properties: { k: { type: 'string' }, v: { type: 'integer' } } },
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k'],
      },
    ])
  const properties = Object.fromEntries(
    ['a', 'b', 'c', 'data'].map((name) => [
      name,
      depth > 1 && chance(random, 0.3) ? schemaOf(random, depth - 1) : leaf(),
    ]),
  )
  return { type: 'object', properties, ...(chance(random, 0.2) ? { required: ['a'] } : {}), ...rules }
}

/** A definition with the schema as that of the spec. */
export function crdOf(id: string, schema: Json, subresources?: Json): Json {
  const plural = `things${id.replaceAll('-', '')}`
  return {
    metadata: { name: `${plural}.diff.example.com` },
    spec: {
      group: 'diff.example.com',
      scope: 'Namespaced',
      names: { plural, kind: `T${plural}` },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: { spec: schema, status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
            },
          },
          ...(subresources ? { subresources } : {}),
        },
      ],
    },
  }
}

/** A custom resource with a random schema, and writes of its objects. */
export function customScenario(random: Random, id: string): Scenario {
  const namespace = `diff-${id}`
  const definition = crdOf(
    id,
    schemaOf(random, 2, chance(random, 0.4) ? 'size(self) < 5' : undefined),
    chance(random, 0.5) ? { status: {} } : undefined,
  )
  const { names, versions } = definition['spec'] as {
    names: { plural: string; kind: string }
    versions: { schema: { openAPIV3Schema: { properties: { spec: Json } } } }[]
  }
  const collection = `/apis/diff.example.com/v1/namespaces/${namespace}/${names.plural}`
  const type = { apiVersion: 'diff.example.com/v1', kind: names.kind }
  const value = (schema: Json): unknown => {
    if (chance(random, 0.12)) return random.pick(oddValues)
    if (schema['properties']) {
      return Object.fromEntries(
        Object.entries(schema['properties'] as Record<string, Json>)
          .filter(() => chance(random, 0.6))
          .map(([name, one]) => [name, value(one)]),
      )
    }
    if (schema['type'] === 'array') return Array.from({ length: random.int(3) }, () => value(schema['items'] as Json))
    if (schema['additionalProperties']) return { x: value(schema['additionalProperties'] as Json) }
    return random.pick<unknown>(['a', 'b', 'long text', 1, 2.5, -1, true, '10.0.0.1', '1h', { q: [1] }])
  }
  const spec = (): Json => ({
    spec: value(versions[0]!.schema.openAPIV3Schema.properties.spec),
    ...(chance(random, 0.2) ? { status: { x: 1 } } : {}),
    ...(chance(random, 0.1) ? { extra: 1 } : {}),
  })
  const requests = Array.from({ length: 8 }, (): RequestSpec => {
    const path = `${collection}/o${chance(random, 0.15) ? '/status' : ''}`
    const query = chance(random, 0.2) ? { fieldValidation: random.pick(['Strict', 'Ignore', 'Warn']) } : {}
    switch (random.int(7)) {
      case 0:
        return {
          path: `${collection}${random.pick(['', '/o'])}`,
          headers: {
            accept: random.pick([
              'application/json',
              'application/yaml',
              'application/json;as=Table;v=v1;g=meta.k8s.io',
            ]),
          },
        }
      case 1:
        return { method: 'PATCH', path, query, headers: merge, body: spec() }
      case 2:
        return {
          method: 'PATCH',
          path,
          query,
          headers: { 'content-type': 'application/json-patch+json' },
          body: [
            {
              op: random.pick(['add', 'replace', 'remove', 'test']),
              path: random.pick(['/spec', '/spec/a', '/spec/b/0', '/status']),
              value: (spec()['spec'] ?? null) as unknown,
            },
          ],
        }
      case 3:
        return {
          method: 'PUT',
          path,
          query,
          body: { ...type, metadata: { name: 'o', resourceVersion: '{rv}' }, ...spec() },
        }
      case 4:
      case 5:
        return {
          method: 'PATCH',
          path,
          query: { ...query, fieldManager: random.pick(['a', 'b']), ...(chance(random, 0.4) ? { force: 'true' } : {}) },
          headers: apply,
          body: { ...type, metadata: { name: 'o' }, ...spec() },
        }
      default:
        return { method: 'POST', path: collection, query, body: { ...type, metadata: { name: 'o' }, ...spec() } }
    }
  })
  const root = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  return {
    kind: 'custom resources',
    namespace,
    setup: [{ method: 'POST', path: root, body: definition }],
    ready: { request: { path: collection }, status: 200 },
    requests: [...requests, { path: `${root}/${(definition['metadata'] as Json)['name'] as string}` }],
    created: [`${root}/${(definition['metadata'] as Json)['name'] as string}`],
  }
}
