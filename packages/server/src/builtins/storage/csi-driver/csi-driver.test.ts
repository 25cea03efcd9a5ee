import { describe, expect, test } from 'vitest'
import { cellsOf, strategyHarness } from '../../../testdata/strategy-harness.ts'
import { csiDrivers } from './csi-driver.ts'

const { createErrors, defaulted } = strategyHarness(csiDrivers)

const driver = { apiVersion: 'storage.k8s.io/v1', kind: 'CSIDriver', metadata: { name: 'n' }, spec: {} }

describe('CSI drivers', () => {
  test('reject short tokens and duplicate audiences', async () => {
    expect(
      await createErrors({
        ...driver,
        spec: { tokenRequests: [{ audience: 'a', expirationSeconds: 1 }, { audience: 'a' }] },
      }),
    ).toEqual([
      'spec.tokenRequests[0].expirationSeconds: Invalid value: 1: may not specify a duration less than 10 minutes',
      'spec.tokenRequests[1].audience: Duplicate value: "a"',
    ])
  })

  test('default to attachment', () => {
    expect(defaulted(driver)).toMatchObject({
      spec: { attachRequired: true, fsGroupPolicy: 'ReadWriteOnceWithFSType', seLinuxMount: false },
    })
  })

  test('show the audiences of tokens', () => {
    expect(
      cellsOf(csiDrivers, { spec: { attachRequired: false, tokenRequests: [{ audience: 'a' }, { audience: 'b' }] } }),
    ).toEqual(['x', false, false, false, 'a,b', false, '<none>', '60m'])
  })
})
