import { describe, expect, test } from 'vitest'
import { cellsOf, strategyHarness } from '../../../testdata/strategy-harness.ts'
import { resourceSlices } from './resource-slice.ts'

const { createErrors, createWarnings, prepared, resourceFor } = strategyHarness(resourceSlices)

function object(kind: string, spec: object): object {
  return { apiVersion: 'resource.k8s.io/v1', kind, metadata: { name: 'r' }, spec }
}

describe('resource slices', () => {
  const slice = { driver: 'd.example.com', pool: { name: 'p', generation: 1, resourceSliceCount: 1 }, nodeName: 'n' }

  test.each<[string, object, string[]]>([
    ['accept a minimal object', { ...slice, devices: [{ name: 'a', attributes: { model: { string: 'm' } } }] }, []],
    [
      'require exactly one field that selects nodes',
      { ...slice, allNodes: true },
      [
        'spec: Invalid value: "{`nodeName`, `allNodes`}": exactly one of `nodeName`, `nodeSelector`, `allNodes`, ' +
          '`perDeviceNodeSelection` is required, but multiple fields are set',
      ],
    ],
    [
      'require exactly one value per attribute',
      { ...slice, devices: [{ name: 'a', attributes: { x: { int: 1, version: '1' } } }] },
      [
        'spec.devices[0].attributes[x].version: Invalid value: "1": must be a string compatible with semver.org spec 2.0.0',
        'spec.devices[0].attributes[x]: Invalid value: {"IntValue":1,"BoolValue":null,"StringValue":null,"VersionValue":"1"}: ' +
          'exactly one value must be specified',
      ],
    ],
    [
      'name a long key without its middle',
      { ...slice, devices: [{ name: 'a', capacity: { [`${'a'.repeat(50)}/${'b'.repeat(50)}`]: { value: '1' } } }] },
      [`spec.devices[0].capacity[${'a'.repeat(47)}...${'b'.repeat(46)}]: Too long: may not be more than 32 bytes`],
    ],
  ])('%s', async (_, spec, errors) => {
    expect(await createErrors(object('ResourceSlice', spec))).toEqual(errors)
  })

  test('support the field selector spec.nodeName', () => {
    const { selectors } = resourceFor('resource.k8s.io/v1', 'ResourceSlice')
    expect(selectors.fields['spec.nodeName']?.(prepared(object('ResourceSlice', slice)))).toBe('n')
  })

  test('drop fields whose feature gate is off', () => {
    const capacity = { memory: { value: '1Gi', requestPolicy: { default: '1Gi' } } }
    const devices = [{ name: 'a', capacity, taints: [{ key: 'k', effect: 'NoSchedule' }] }]
    expect(prepared(object('ResourceSlice', { ...slice, devices }))['spec']).toEqual({
      ...slice,
      devices: [{ name: 'a', capacity: { memory: { value: '1Gi' } } }],
    })
  })

  test('warn about driver names in upper case', () => {
    expect(createWarnings(object('ResourceSlice', { ...slice, driver: 'D.example.com' }))).toEqual([
      'spec.driver: driver names should be lowercase; "D.example.com" contains uppercase characters',
    ])
  })

  test('show node, driver and pool', () => {
    expect(cellsOf(resourceSlices, { spec: { nodeName: 'n', driver: 'd', pool: { name: 'p' } } })).toEqual([
      'x',
      'n',
      'd',
      'p',
      '60m',
    ])
  })
})
