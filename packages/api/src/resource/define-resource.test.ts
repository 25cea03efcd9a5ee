import { checkStructural, s } from '@kubewright/schema'
import { describe, expect, test } from 'vitest'
import { createKind } from '../kind.ts'
import { crdOf } from './crd-of.ts'
import { defineResource } from './define-resource.ts'
import { resourceOf } from './resolved-resource.ts'

const Home = defineResource({
  group: 'ajd.example.com',
  version: 'v1',
  kind: 'Home',
  shortNames: ['hm'],
  categories: ['all'],
  description: 'A small web site.',
  spec: s.object({
    image: s.string({ minLength: 1 }).describe('Container image to serve.'),
    replicas: s.int({ minimum: 1, maximum: 9 }).default(1),
    domain: s.string({ format: 'hostname' }).rule('self == oldSelf', 'is immutable').optional(),
  }),
  status: s.object({
    readyReplicas: s.int(),
    selector: s.string().optional(),
    since: s.time().optional(),
    conditions: s.conditions('Ready'),
  }),
  columns: {
    Ready: '.status.readyReplicas',
    Serving: '.status.conditions[?(@.type=="Ready")].status',
    Domain: { jsonPath: '.spec.domain', priority: 1, description: 'Where it is.' },
    Since: '.status.since',
    Age: '.metadata.creationTimestamp',
  },
  selectableFields: ['.spec.domain'],
  scale: {
    specReplicasPath: '.spec.replicas',
    statusReplicasPath: '.status.readyReplicas',
    labelSelectorPath: '.status.selector',
  },
})

describe('defineResource()', () => {
  test('returns a Kind with its names', () => {
    const { group, version, kind, apiVersion, plural, singular, listKind, scope, shortNames, subresources } = Home
    expect({ group, version, kind, apiVersion, plural, singular, listKind, scope, shortNames, subresources }).toEqual({
      group: 'ajd.example.com',
      version: 'v1',
      kind: 'Home',
      apiVersion: 'ajd.example.com/v1',
      plural: 'homes',
      singular: 'home',
      listKind: 'HomeList',
      scope: 'Namespaced',
      shortNames: ['hm'],
      subresources: ['status', 'scale'],
    })
    expect(Home.name).toBe('Home')
  })

  test('builds drafts when called', () => {
    expect(Home({ metadata: { name: 'cosy' }, spec: { image: 'nginx' } })).toEqual({
      apiVersion: 'ajd.example.com/v1',
      kind: 'Home',
      metadata: { name: 'cosy' },
      spec: { image: 'nginx' },
    })
  })

  test('creates a Kind for each version', () => {
    const Room = defineResource({
      group: 'ajd.example.com',
      kind: 'Room',
      versions: {
        v2: { spec: s.object({ beds: s.int() }), storage: true },
        v1: { spec: s.object({ size: s.string() }), served: false, deprecated: 'use v2' },
        v1beta1: { spec: s.object({ size: s.string() }), deprecated: true },
      },
    })
    expect(Room).toBe(Room.versions.v2)
    expect(Room.versions.v1beta1.apiVersion).toBe('ajd.example.com/v1beta1')
    expect(crdOf(Room.versions.v1)).toEqual(crdOf(Room))
    const versions = crdOf(Room).spec.versions.map(({ schema: _, ...facts }) => facts)
    expect(versions).toEqual([
      { name: 'v1', served: false, storage: false, deprecated: true, deprecationWarning: 'use v2' },
      { name: 'v1beta1', served: true, storage: false, deprecated: true },
      { name: 'v2', served: true, storage: true },
    ])
  })

  const base = {
    group: 'ajd.example.com',
    version: 'v1',
    kind: 'Home',
    spec: s.object({ n: s.int(), o: s.object({}) }),
  }
  test.each<[string, () => unknown, string]>([
    [
      'a kind in lower case',
      () => defineResource({ ...base, kind: 'home' }),
      'Cannot define resource home: kind must be a CamelCase name of at most 63 characters, such as "Home": "home"',
    ],
    [
      'a group without a dot',
      () => defineResource({ ...base, group: 'homes' }),
      'Cannot define resource Home: group must be a domain with a dot, such as "homes.example.com": "homes"',
    ],
    [
      'a version with a dot',
      () => defineResource({ ...base, version: '1.0' }),
      'version must consist of lower case letters and digits, such as "v1" or "v1beta1": "1.0"',
    ],
    [
      'a plural in upper case',
      () => defineResource({ ...base, plural: 'Homes' }),
      'plural must consist of lower case letters, digits and dashes and start with a letter: "Homes"',
    ],
    [
      'a column that is not in the schema',
      () => defineResource({ ...base, columns: { N: '.spec.m' } }),
      'Cannot define resource Home v1: columns.N points to a field that is not in the schema; correct the path or add the field: ".spec.m"',
    ],
    [
      'a column that is not a valid JSONPath',
      () => defineResource({ ...base, columns: { N: '.spec[' } }),
      'columns.N is not a valid JSONPath (unterminated array): ".spec["',
    ],
    [
      'a selectable object',
      () => defineResource({ ...base, selectableFields: ['.spec.o'] }),
      'selectableFields must point to a string, boolean or integer, not to object: ".spec.o"',
    ],
    [
      'a selectable name',
      () => defineResource({ ...base, selectableFields: ['.metadata.name'] }),
      'selectableFields must not point to fields of metadata, which can always be selected: ".metadata.name"',
    ],
    [
      'scaling by an object',
      () => defineResource({ ...base, scale: { specReplicasPath: '.spec.o', statusReplicasPath: '.status.n' } }),
      'scale.specReplicasPath must point to a field of type integer, not object: ".spec.o"',
    ],
    [
      'a field called spec',
      () => defineResource({ ...base, fields: { spec: s.string() } }),
      'fields must not contain "spec"',
    ],
    [
      'a status field together with statusSubresource',
      () => defineResource({ ...base, fields: { status: s.string() }, statusSubresource: true }),
      'fields must not contain "status" together with statusSubresource; use the option status instead',
    ],
    [
      'an objectName that is not a string',
      () => defineResource({ ...base, objectName: s.int() }),
      'objectName must be a string schema, such as s.string(): current type is integer',
    ],
    [
      'two storage versions',
      () => defineResource({ group: 'a.b', kind: 'A', versions: { v1: { storage: true }, v2: { storage: true } } }),
      'Cannot define resource A: exactly one version must have storage: true, but v1 and v2 have it',
    ],
    [
      'no storage version',
      () => defineResource({ group: 'a.b', kind: 'A', versions: { v1: {}, v2: {} } }),
      'exactly one version must have storage: true, but none has it',
    ],
  ])('rejects %s', (_, define, message) => {
    expect(define).toThrow(message)
  })
})

describe('crdOf()', () => {
  test('lays the manifest out as controller-gen does', () => {
    const crd = crdOf(Home)
    const { openAPIV3Schema } = crd.spec.versions[0]!.schema
    expect(JSON.stringify({ ...crd, spec: { ...crd.spec, versions: [] } })).toBe(
      '{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"homes.ajd.example.com"},' +
        '"spec":{"group":"ajd.example.com","names":{"categories":["all"],"kind":"Home","listKind":"HomeList","plural":"homes",' +
        '"shortNames":["hm"],"singular":"home"},"scope":"Namespaced","versions":[]}}',
    )
    expect(Object.keys(crd.spec.versions[0]!)).toEqual([
      'additionalPrinterColumns',
      'name',
      'schema',
      'selectableFields',
      'served',
      'storage',
      'subresources',
    ])
    expect(Object.keys(openAPIV3Schema)).toEqual(['description', 'properties', 'required', 'type'])
    expect(Object.keys(openAPIV3Schema.properties ?? {})).toEqual(['apiVersion', 'kind', 'metadata', 'spec', 'status'])
    expect(openAPIV3Schema.properties?.['metadata']).toEqual({ type: 'object' })
    expect(openAPIV3Schema.required).toEqual(['spec'])
    expect(openAPIV3Schema.properties?.['apiVersion']?.description).toBe(
      'APIVersion is the group and version of the API that defines this object.',
    )
  })

  test('produces structural schemas, including rules, that the API server accepts', () => {
    const Note = defineResource({
      group: 'ajd.example.com',
      version: 'v1',
      kind: 'Note',
      spec: s.object({ template: s.embeddedResource().optional() }).optional(),
      fields: { text: s.string({ maxLength: 99 }), port: s.intOrString().optional() },
      rules: [{ rule: "self.metadata.name != 'root'", message: 'is taken', fieldPath: '.text' }],
    })
    for (const kind of [Home, Note]) {
      const { schema, subresources } = crdOf(kind).spec.versions[0]!
      const options = { statusSubresource: subresources?.status !== undefined }
      expect(checkStructural(schema.openAPIV3Schema, options).map(String)).toEqual([])
    }
  })

  test('takes the types of columns from the schema', () => {
    expect(crdOf(Home).spec.versions[0]!.additionalPrinterColumns).toEqual([
      { jsonPath: '.status.readyReplicas', name: 'Ready', type: 'integer' },
      { jsonPath: '.status.conditions[?(@.type=="Ready")].status', name: 'Serving', type: 'string' },
      { description: 'Where it is.', jsonPath: '.spec.domain', name: 'Domain', priority: 1, type: 'string' },
      { jsonPath: '.status.since', name: 'Since', type: 'date' },
      { jsonPath: '.metadata.creationTimestamp', name: 'Age', type: 'date' },
    ])
  })

  test('includes subresources and selectable fields', () => {
    expect(crdOf(Home).spec.versions[0]).toMatchObject({
      selectableFields: [{ jsonPath: '.spec.domain' }],
      subresources: {
        scale: {
          labelSelectorPath: '.status.selector',
          specReplicasPath: '.spec.replicas',
          statusReplicasPath: '.status.readyReplicas',
        },
        status: {},
      },
    })
  })

  test('supports kinds without the spec and status convention', () => {
    const Odd = defineResource({
      group: 'odd.example.com',
      version: 'v1',
      kind: 'Odd',
      external: true,
      preserveUnknownFields: true,
      fields: { operation: s.string().optional(), status: s.object({ phase: s.string() }).optional() },
    })
    const [version] = crdOf(Odd).spec.versions
    expect(version?.subresources).toBeUndefined()
    expect(version?.schema.openAPIV3Schema).toMatchObject({
      properties: { operation: { type: 'string' }, status: { properties: { phase: { type: 'string' } } } },
      'x-kubernetes-preserve-unknown-fields': true,
    })
    expect(resourceOf(Odd)?.external).toBe(true)
    expect(resourceOf(Home)?.external).toBe(false)
    // Without the subresource, the status is an ordinary field.
    expect(Odd({ metadata: { name: 'a' }, status: { phase: 'x' } }).status).toEqual({ phase: 'x' })
  })

  test('adds the status subresource without a status schema', () => {
    const Claim = defineResource({
      group: 'odd.example.com',
      version: 'v1',
      kind: 'Claim',
      spec: s.object({ domain: s.string() }),
      statusSubresource: true,
    })
    const [version] = crdOf(Claim).spec.versions
    expect(version?.subresources).toEqual({ status: {} })
    expect(Object.keys(version?.schema.openAPIV3Schema.properties ?? {})).not.toContain('status')
    expect(Claim.subresources).toEqual(['status'])
  })

  test('includes the schema of metadata.name', () => {
    const Short = defineResource({
      group: 'odd.example.com',
      version: 'v1',
      kind: 'Short',
      objectName: s.string({ maxLength: 5 }),
    })
    const { openAPIV3Schema: schema } = crdOf(Short).spec.versions[0]!.schema
    expect(schema.properties?.['metadata']).toEqual({
      type: 'object',
      properties: { name: { type: 'string', maxLength: 5 } },
    })
    expect(checkStructural(schema)).toEqual([])
  })

  test('accepts in external definitions what API servers accept', () => {
    const column = { jsonPath: '.spec.gone[', type: 'integer' } as const
    const scale = { specReplicasPath: '.spec.gone', statusReplicasPath: '.status.gone' } as const
    const definition = { group: 'odd.example.com', version: 'v1', kind: 'my-odd', columns: { Gone: column }, scale }
    const [version] = crdOf(defineResource({ ...definition, external: true })).spec.versions
    expect(version?.additionalPrinterColumns).toEqual([{ ...column, name: 'Gone' }])
    expect(version?.subresources).toEqual({ scale })
    expect(() => defineResource({ ...definition, kind: 'Odd' })).toThrow('scale.specReplicasPath points to a field')
    expect(() => defineResource({ ...definition, external: true, kind: 'my_odd' })).toThrow('kind must be')
    expect(() => defineResource({ ...definition, external: true, columns: { Gone: '.spec.gone' } })).toThrow(
      'columns.Gone points to a field that is not in the schema',
    )
  })

  test('rejects kinds that defineResource did not create', () => {
    const Pod = createKind({ group: '', version: 'v1', kind: 'Pod', plural: 'pods', schema: () => ({}) })
    expect(() => crdOf(Pod)).toThrow(
      'Cannot create a CustomResourceDefinition for v1 Pod: the kind was not created by defineResource',
    )
  })
})
