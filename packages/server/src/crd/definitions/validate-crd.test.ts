import { describe, expect, test } from 'vitest'
import { asCrd, type Crd, type CrdSpec, type CrdVersion } from './crd.ts'
import { validateCrd, validateCrdStatusUpdate, validateCrdUpdate } from './validate-crd.ts'

const schema = { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object' } } } }
const v1: CrdVersion = { name: 'v1', served: true, storage: true, schema }

function crd(spec: CrdSpec = {}, more: Partial<Crd> = {}): Crd {
  return asCrd({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${spec.names?.plural ?? 'widgets'}.${spec.group ?? 'example.com'}` },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
      versions: [v1],
      conversion: { strategy: 'None' },
      ...spec,
    },
    status: { storedVersions: ['v1'] },
    ...more,
  })
}

const texts = (errors: readonly { toString(): string }[]): string[] => errors.map(String)
const established = { storedVersions: ['v1'], conditions: [{ type: 'Established', status: 'True' }] }
const label =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"

describe('validateCrd()', () => {
  test('accepts a valid CRD', () => {
    expect(validateCrd(crd())).toEqual([])
  })

  test.each<[string, Crd, string[]]>([
    [
      'a name of another resource',
      crd({}, { metadata: { name: 'x.example.com' } }),
      ['metadata.name: Invalid value: "x.example.com": must be spec.names.plural+"."+spec.group'],
    ],
    [
      'a group without a dot',
      crd({ group: 'example' }),
      ['spec.group: Invalid value: "example": should be a domain with at least one dot'],
    ],
    ['no scope', crd({ scope: '' }), ['spec.scope: Required value']],
    [
      'an unknown scope',
      crd({ scope: 'All' }),
      ['spec.scope: Unsupported value: "All": supported values: "Cluster", "Namespaced"'],
    ],
    [
      'a version without a schema',
      crd({ versions: [{ name: 'v1', served: true, storage: true }] }),
      ['spec.versions[0].schema.openAPIV3Schema: Required value'],
    ],
    [
      'a schema without a type, where all versions share it',
      crd({ versions: [{ ...v1, schema: { openAPIV3Schema: { type: 'object', properties: { a: {} } } } }] }),
      [
        'spec.validation.openAPIV3Schema.properties[a].type: Required value: must not be empty for specified object fields',
      ],
    ],
    [
      'a schema without a type in one of several versions',
      crd({
        versions: [
          v1,
          { name: 'v2', served: true, schema: { openAPIV3Schema: { type: 'object', properties: { a: {} } } } },
        ],
      }),
      [
        'spec.versions[1].schema.openAPIV3Schema.properties[a].type: Required value: must not be empty for specified object fields',
      ],
    ],
    [
      'a name that is no label',
      crd({ names: { plural: 'widgets', singular: 'W', kind: 'Widget', listKind: 'WidgetList' } }),
      [`spec.names.singular: Invalid value: "W": ${label}`],
    ],
    [
      'a column of an unknown type, and one without a path',
      crd({
        versions: [
          {
            ...v1,
            additionalPrinterColumns: [
              { name: 'a', type: 'text', jsonPath: '.a' },
              { name: 'b', type: 'date', format: 'x' },
            ],
          },
        ],
      }),
      [
        'spec.additionalPrinterColumns[0].type: Invalid value: "text": must be one of boolean,date,integer,number,string',
        'spec.additionalPrinterColumns[1].format: Invalid value: "x": must be one of byte,date,date-time,double,float,int32,int64,password',
        'spec.additionalPrinterColumns[1].JSONPath: Required value',
      ],
    ],
    [
      'paths of a scale that lead elsewhere',
      crd({
        versions: [
          {
            ...v1,
            subresources: {
              scale: {
                specReplicasPath: '.status.n',
                statusReplicasPath: 'status.n',
                labelSelectorPath: '.metadata.x',
              },
            },
          },
        ],
      }),
      [
        'spec.subresources.scale.specReplicasPath: Invalid value: ".status.n": should be a json path under .spec',
        'spec.subresources.scale.statusReplicasPath: Invalid value: "status.n": must be a simple json path starting with .',
        'spec.subresources.scale.labelSelectorPath: Invalid value: ".metadata.x": should be a json path under either .spec or .status',
      ],
    ],
    [
      'a warning of a version that is not deprecated',
      crd({ versions: [{ ...v1, deprecationWarning: 'old' }] }),
      ['spec.versions[0].deprecationWarning: Invalid value: "old": can only be set for deprecated versions'],
    ],
    [
      'a warning that cannot be printed',
      crd({ versions: [{ ...v1, deprecated: true, deprecationWarning: 'ä\n' }] }),
      [
        'spec.versions[0].deprecationWarning: Invalid value: "ä\\n": must only contain printable UTF-8 characters; non-printable character found at index 2',
      ],
    ],
    [
      'a conversion by webhook without one',
      crd({ conversion: { strategy: 'Webhook' } }),
      [
        'spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook',
        'spec.conversion.conversionReviewVersions: Required value',
      ],
    ],
    [
      'a webhook that is not used',
      crd({ conversion: { strategy: 'None', webhook: { conversionReviewVersions: ['v1'] } } }),
      ['spec.conversion.conversionReviewVersions: Forbidden: should not be set when strategy is not set to Webhook'],
    ],
    [
      'review versions that the server does not speak',
      crd({
        conversion: {
          strategy: 'Webhook',
          webhook: { clientConfig: { url: 'https://x/y' }, conversionReviewVersions: ['v9', 'v9'] },
        },
      }),
      [
        'spec.conversion.conversionReviewVersions[1]: Invalid value: "v9": duplicate version',
        'spec.conversion.conversionReviewVersions: Invalid value: ["v9","v9"]: must include at least one of v1, v1beta1',
      ],
    ],
    [
      'unknown fields that are kept',
      crd({ preserveUnknownFields: true }),
      [
        'spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
      ],
    ],
    [
      'a protected group without approval',
      crd({ group: 'x.k8s.io' }),
      [
        'metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111',
      ],
    ],
  ])('rejects %s', (_, definition, expected) => {
    expect(texts(validateCrd(definition))).toEqual(expected)
  })

  test('quotes versions in the format of Go', () => {
    const subresources = { status: {}, scale: { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n' } }
    const versions: CrdVersion[] = [
      { ...v1, subresources },
      { name: 'v2', storage: true, schema, additionalPrinterColumns: [{ name: 'A', type: 'date', jsonPath: '.a' }] },
    ]
    expect(texts(validateCrd(crd({ versions })))[0]).toBe(
      'spec.versions: Invalid value: [{"Name":"v1","Served":true,"Storage":true,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":{"Status":{},"Scale":{"SpecReplicasPath":".spec.n","StatusReplicasPath":".status.n","LabelSelectorPath":null}},"AdditionalPrinterColumns":null,"SelectableFields":null},{"Name":"v2","Served":false,"Storage":true,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":[{"Name":"A","Type":"date","Format":"","Description":"","Priority":0,"JSONPath":".a"}],"SelectableFields":null}]: must have exactly one version marked as storage version',
    )
  })
})

describe('validateCrdUpdate()', () => {
  test('rejects changes of the fields that identify stored objects', () => {
    const names = { plural: 'gadgets', singular: 'gadget', kind: 'Gadget', listKind: 'GadgetList' }
    const changed = crd({ group: 'example.org', scope: 'Cluster', names })
    expect(texts(validateCrdUpdate(changed, crd({}, { status: established })))).toEqual([
      'spec.scope: Invalid value: "Cluster": field is immutable',
      'spec.names.kind: Invalid value: "Gadget": field is immutable',
      'spec.group: Invalid value: "example.org": field is immutable',
      'spec.names.plural: Invalid value: "gadgets": field is immutable',
    ])
  })

  test('accepts another scope for a CRD that was never established', () => {
    expect(validateCrdUpdate(crd({ scope: 'Cluster' }), crd())).toEqual([])
  })

  test('rejects an invalid CA bundle of an established CRD', () => {
    const webhook = (caBundle: string): CrdSpec => ({
      conversion: {
        strategy: 'Webhook',
        webhook: { clientConfig: { url: 'https://x', caBundle }, conversionReviewVersions: ['v1'] },
      },
    })
    const bad = crd(webhook('Z2FyYmFnZQ=='))
    expect(validateCrdUpdate(bad, crd())).toEqual([])
    expect(texts(validateCrdUpdate(bad, crd({}, { status: established })))).toEqual([
      'spec.conversion.webhookClientConfig.caBundle: Invalid value: "Z2FyYmFnZQ==": unable to load root certificates: unable to parse bytes as PEM block',
    ])
    expect(validateCrdUpdate(bad, crd(webhook('Z2FyYmFnZQ=='), { status: established }))).toEqual([])
  })

  test('accepts a missing approval that was missing before', () => {
    const definition = crd({ group: 'x.k8s.io' })
    expect(validateCrdUpdate(definition, crd({ group: 'x.k8s.io' }))).toEqual([])
    const approved = { annotations: { 'api-approved.kubernetes.io': 'https://example.com/1' } }
    const before = crd({ group: 'x.k8s.io' }, { metadata: approved })
    expect(texts(validateCrdUpdate(definition, before))[0]).toMatch(/Required value: protected groups must have/)
  })
})

test('validateCrdStatusUpdate() validates accepted names', () => {
  const errors = validateCrdStatusUpdate(crd({}, { status: { acceptedNames: { plural: 'W' } } }))
  expect(texts(errors)).toEqual([`status.acceptedNames.plural: Invalid value: "W": ${label}`])
})
