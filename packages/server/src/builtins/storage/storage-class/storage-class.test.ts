import { describe, expect, test } from 'vitest'
import { cellsOf, strategyHarness } from '../../../testdata/strategy-harness.ts'
import { storageClasses } from './storage-class.ts'

const { createErrors, defaulted, updated } = strategyHarness(storageClasses)

const storage = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'n' },
  provisioner: 'example.com/p',
}

describe('storage classes', () => {
  test('require a provisioner and a known binding mode', async () => {
    expect(await createErrors({ ...storage, provisioner: '', volumeBindingMode: 'Odd' })).toEqual([
      'provisioner: Required value',
      'volumeBindingMode: Unsupported value: "Odd": supported values: "Immediate", "WaitForFirstConsumer"',
    ])
  })

  test('report a bounded number of equal topology terms', async () => {
    const allowedTopologies = Array.from({ length: 20_000 }, () => ({}))
    expect((await createErrors({ ...storage, allowedTopologies })).length).toBeLessThanOrEqual(10_000)
  })

  test('default to Delete and Immediate', () => {
    expect(defaulted(storage)).toMatchObject({ reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' })
  })

  test('reject changes of parameters and of the binding mode', async () => {
    const { errors } = await updated(storage, (object) => {
      object['parameters'] = { a: 'b' }
      object['volumeBindingMode'] = 'WaitForFirstConsumer'
    })
    expect(errors).toEqual([
      'parameters: Forbidden: updates to parameters are forbidden.',
      'volumeBindingMode: Invalid value: "WaitForFirstConsumer": field is immutable',
    ])
  })

  test('mark the default class', () => {
    expect(
      cellsOf(storageClasses, {
        metadata: { annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
        provisioner: 'p',
        reclaimPolicy: 'Retain',
        volumeBindingMode: 'WaitForFirstConsumer',
        allowVolumeExpansion: true,
      }),
    ).toEqual(['x (default)', 'p', 'Retain', 'WaitForFirstConsumer', true, '60m'])
  })

  test('require a domain in the names of finalizers', () => {
    expect(storageClasses.strategy?.anyFinalizer).toBeUndefined()
  })
})
