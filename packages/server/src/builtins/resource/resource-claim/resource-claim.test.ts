import { describe, expect, test } from 'vitest'
import { cellsOf, strategyHarness } from '../../../testdata/strategy-harness.ts'
import { resourceClaims } from './resource-claim.ts'

const { createErrors, defaulted, prepared, updated } = strategyHarness(resourceClaims)

function object(kind: string, spec: object): object {
  return { apiVersion: 'resource.k8s.io/v1', kind, metadata: { name: 'r' }, spec }
}

function claim(...requests: object[]): object {
  return object('ResourceClaim', { devices: { requests } })
}

const gpu = { name: 'gpu', exactly: { deviceClassName: 'gpu.example.com' } }

describe('resource claims', () => {
  test('default to one device per request', () => {
    expect(defaulted(claim(gpu))['spec']).toMatchObject({
      devices: { requests: [{ exactly: { allocationMode: 'ExactCount', count: 1 } }] },
    })
  })

  test('drop fields whose feature gate is off', () => {
    const exactly = { ...gpu.exactly, tolerations: [{ key: 'a', operator: 'Exists' }] }
    expect(JSON.stringify(prepared(claim({ ...gpu, exactly })))).not.toContain('tolerations')
  })

  test.each<[string, object, string[]]>([
    ['accept a minimal object', claim(gpu), []],
    [
      'require a device in each request',
      claim({ name: 'x' }),
      ['spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required'],
    ],
    ['reject duplicate request names', claim(gpu, gpu), ['spec.devices.requests[1]: Duplicate value: "gpu"']],
    [
      'reject a count for the allocation mode All',
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
            { cel: { expression: "cel.bind(d, device.attributes['d'], d.model == 'm' && d.size > 1)" } },
            { cel: { expression: "device.capacity['d'].memory" } },
          ],
        },
      }),
      [
        'spec.devices.requests[0].exactly.selectors[2].cel.expression: Invalid value: "device.capacity[\'d\'].memory": ' +
          'must evaluate to bool or the unknown type, not kubernetes.Quantity',
      ],
    ],
    [
      'limit the estimated cost of selectors',
      claim({
        name: 'x',
        exactly: {
          deviceClassName: 'c',
          selectors: [
            { cel: { expression: 'device.attributes.all(d, device.attributes[d].all(i, i.matches("a+")))' } },
            { cel: { expression: `device.attributes.all(a, ${'device.attributes.all(b, '.repeat(3)}a == "x"))))` } },
          ],
        },
      }),
      ['spec.devices.requests[0].exactly.selectors[1].cel.expression: Forbidden: too complex, exceeds cost limit'],
    ],
    [
      'let the last of several requests with the same name count',
      object('ResourceClaim', {
        devices: {
          requests: [
            { name: 'x', firstAvailable: [{ name: 's', deviceClassName: 'c' }] },
            { ...gpu, name: 'x' },
          ],
          constraints: [{ requests: ['x/s'], matchAttribute: 'd/a' }],
        },
      }),
      [
        'spec.devices.requests[1]: Duplicate value: "x"',
        'spec.devices.constraints[0].requests[0]: Invalid value: "x/s": must be the name of a request in the claim or the ' +
          "name of a request and a subrequest separated by '/'",
      ],
    ],
    [
      'reject constraints on unknown requests',
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

  test('reject a reservation before the allocation', async () => {
    const { errors } = await updated(
      claim(gpu),
      (next) => {
        next['status'] = { reservedFor: [{ resource: 'pods', name: 'p', uid: 'u' }] }
      },
      'status',
    )
    expect(errors).toEqual(['status.reservedFor: Forbidden: may not be specified when `allocated` is not set'])
  })

  test('show a pending claim', () => {
    expect(cellsOf(resourceClaims)).toEqual(['x', 'pending', '60m'])
  })

  test('show all states of a claim', () => {
    expect(
      cellsOf(resourceClaims, {
        metadata: { deletionTimestamp: 'now' },
        status: { allocation: {}, reservedFor: [{}] },
      }),
    ).toEqual(['x', 'deleted,allocated,reserved', '60m'])
  })
})
