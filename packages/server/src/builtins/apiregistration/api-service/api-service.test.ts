import { describe, expect, test } from 'vitest'
import { cellsOf, strategyHarness } from '../../../testdata/strategy-harness.ts'
import { apiServices } from './api-service.ts'

const { createErrors, prepared } = strategyHarness(apiServices)

const service = { apiVersion: 'apiregistration.k8s.io/v1', kind: 'APIService', metadata: { name: 'v1.g.example.com' } }
const serviceSpec = { group: 'g.example.com', version: 'v1', groupPriorityMinimum: 1000, versionPriority: 10 }

describe('API services', () => {
  test('require a name of version and group', async () => {
    expect(await createErrors({ ...service, metadata: { name: 'other' }, spec: serviceSpec })).toEqual([
      'metadata.name: Invalid value: "other": must be `spec.version+"."+spec.group`: "v1.g.example.com"',
    ])
  })

  test('mark a local API service as available', () => {
    expect(prepared({ ...service, spec: serviceSpec })['status']).toMatchObject({
      conditions: [{ type: 'Available', status: 'True', reason: 'Local', lastTransitionTime: '2026-01-02T03:04:05Z' }],
    })
  })

  test('accept finalizers without a domain', () => {
    expect(apiServices.strategy?.anyFinalizer).toBe(true)
  })

  test('show Local without a service', () => {
    expect(cellsOf(apiServices)).toEqual(['x', 'Local', 'Unknown', '60m'])
  })

  test('show the service and why it is unavailable', () => {
    expect(
      cellsOf(apiServices, {
        spec: { service: { namespace: 'n', name: 's' } },
        status: { conditions: [{ type: 'Available', status: 'False', reason: 'MissingEndpoints' }] },
      }),
    ).toEqual(['x', 'n/s', 'False (MissingEndpoints)', '60m'])
  })
})
