import { describe, expect, it } from 'vitest'
import {
  createErrors,
  createWarnings,
  defaulted,
  prepared,
  resourceFor,
  updated,
} from '../../testdata/strategy-harness.ts'

function object(kind: string, spec: object): object {
  return { apiVersion: 'resource.k8s.io/v1', kind, metadata: { name: 'r' }, spec }
}

function claim(...requests: object[]): object {
  return object('ResourceClaim', { devices: { requests } })
}

const gpu = { name: 'gpu', exactly: { deviceClassName: 'gpu.example.com' } }

describe('resource claims', () => {
  it('ask for one device', () => {
    expect(defaulted(claim(gpu))['spec']).toMatchObject({
      devices: { requests: [{ exactly: { allocationMode: 'ExactCount', count: 1 } }] },
    })
  })

  it('lose what belongs to features that are off', () => {
    const exactly = { ...gpu.exactly, tolerations: [{ key: 'a', operator: 'Exists' }] }
    expect(JSON.stringify(prepared(claim({ ...gpu, exactly })))).not.toContain('tolerations')
  })

  it.each<[string, object, string[]]>([
    ['accept a plain one', claim(gpu), []],
    [
      'want something to ask for',
      claim({ name: 'x' }),
      ['spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required'],
    ],
    ['refuse the same name twice', claim(gpu, gpu), ['spec.devices.requests[1]: Duplicate value: "gpu"']],
    [
      'refuse a count of all',
      claim({ name: 'x', exactly: { deviceClassName: 'c', allocationMode: 'All', count: 2 } }),
      ["spec.devices.requests[0].exactly.count: Invalid value: 2: must not be specified when allocationMode is 'All'"],
    ],
    [
      'compile selectors',
      claim({
        name: 'x',
        exactly: {
          deviceClassName: 'c',
          selectors: [
            { cel: { expression: "device.driver == 'd' && device.attributes['d'].model == 'm'" } },
            { cel: { expression: "device.capacity['d'].memory" } },
          ],
        },
      }),
      [
        'spec.devices.requests[0].exactly.selectors[1].cel.expression: Invalid value: "device.capacity[\'d\'].memory": ' +
          'must evaluate to bool but got kubernetes.Quantity',
      ],
    ],
    [
      'refer to their requests',
      object('ResourceClaim', {
        devices: { requests: [gpu], constraints: [{ requests: ['other'], matchAttribute: 'model' }] },
      }),
      [
        'spec.devices.constraints[0].requests[0]: Invalid value: "other": must be the name of a request in the claim ' +
          "or the name of a request and a subrequest separated by '/'",
        'spec.devices.constraints[0].matchAttribute: Invalid value: "model": ' +
          'a fully qualified name must be a domain and a name separated by a slash',
      ],
    ],
  ])('%s', async (_, given, errors) => {
    expect(await createErrors(given)).toEqual(errors)
  })

  it('are reserved only once they are allocated', async () => {
    const { errors } = await updated(
      claim(gpu),
      (next) => {
        next['status'] = { reservedFor: [{ resource: 'pods', name: 'p', uid: 'u' }] }
      },
      'status',
    )
    expect(errors).toEqual(['status.reservedFor: Forbidden: may not be specified when `allocated` is not set'])
  })
})

describe('resource slices', () => {
  const slice = { driver: 'd.example.com', pool: { name: 'p', generation: 1, resourceSliceCount: 1 }, nodeName: 'n' }

  it.each<[string, object, string[]]>([
    ['accept a plain one', { ...slice, devices: [{ name: 'a', attributes: { model: { string: 'm' } } }] }, []],
    [
      'say in one way where they are',
      { ...slice, allNodes: true },
      [
        'spec: Invalid value: "{`nodeName`, `allNodes`}": exactly one of `nodeName`, `nodeSelector`, `allNodes`, ' +
          '`perDeviceNodeSelection` is required, but multiple fields are set',
      ],
    ],
    [
      'give attributes one value',
      { ...slice, devices: [{ name: 'a', attributes: { x: { int: 1, version: '1' } } }] },
      [
        'spec.devices[0].attributes[x].version: Invalid value: "1": must be a string compatible with semver.org spec 2.0.0',
        'spec.devices[0].attributes[x]: Invalid value: {"IntValue":1,"BoolValue":null,"StringValue":null,"VersionValue":"1"}: ' +
          'exactly one value must be specified',
      ],
    ],
  ])('%s', async (_, spec, errors) => {
    expect(await createErrors(object('ResourceSlice', spec))).toEqual(errors)
  })

  it('are selected by node and driver', () => {
    const { selectors } = resourceFor('resource.k8s.io/v1', 'ResourceSlice')
    expect(selectors.fields['spec.nodeName']?.(prepared(object('ResourceSlice', slice)))).toBe('n')
  })

  it('warn of drivers in upper case', () => {
    expect(createWarnings(object('ResourceSlice', { ...slice, driver: 'D.example.com' }))).toEqual([
      'spec.driver: driver names should be lowercase; "D.example.com" contains uppercase characters',
    ])
  })
})
