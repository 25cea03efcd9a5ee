import { describe, expect, test } from 'vitest'
import { cellsOf, strategyHarness } from '../../../testdata/strategy-harness.ts'
import { leases } from './lease.ts'

const { createErrors, prepared } = strategyHarness(leases)

const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'n' } }

describe('leases', () => {
  test('reject a duration of zero and negative transitions', async () => {
    expect(await createErrors({ ...lease, spec: { leaseDurationSeconds: 0, leaseTransitions: -1 } })).toEqual([
      'spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0',
      'spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0',
    ])
  })

  test('drop fields whose feature gate is off', () => {
    expect(prepared({ ...lease, spec: { strategy: 'x', preferredHolder: 'y', holderIdentity: 'z' } })['spec']).toEqual({
      holderIdentity: 'z',
    })
  })

  test('accept finalizers without a domain', () => {
    expect(leases.strategy?.anyFinalizer).toBe(true)
  })

  test('show the holder', () => {
    expect(cellsOf(leases, { spec: { holderIdentity: 'me' } })).toEqual(['x', 'me', '60m'])
  })
})
